"""Checks @NAME@ against vectors/@NAME@.hex, with cocotb 2 in Icarus Verilog.

Run it in the exported folder: the last line is "N vectors, 0 errors" if all is well. With FLAGS=0
in the environment the module need have no flags, and they are not compared.
"""

import os
import random
import re
import sys
from importlib import import_module
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

RESULTS = re.findall(r"\w+", "@RESULTS@")
COMPARED = tuple(x for x in RESULTS if x != "flags" or os.environ.get("FLAGS") != "0")
MOST_ERRORS = 20


def check_of(lines):
    """What the comment CHECK says of these lines: moved on by a digit, then the next line."""
    check, bits = 0, 4 * (len(lines[0]) + 1 if lines else 0)
    for line in lines:
        check = (check << 4 | check >> (bits - 4)) & ((1 << bits) - 1)
        check ^= int(line.replace(" ", "0"), 16)
    return check


def read_vectors(text, unit):
    said = dict(re.findall(r"^// (\w+) (.*)$", text, re.M))
    lines = [line for line in text.splitlines() if line and not line.startswith("//")]
    assert int(said["MODEL_HASH"], 16) == unit["MODEL_HASH"], "MODEL_HASH is another unit's"
    assert len(lines) == int(said["COUNT"]) > 0, "there are not as many vectors as COUNT says"
    assert check_of(lines) == int(said["CHECK"], 16), "CHECK is of other vectors: it is damaged"
    names = re.findall(r"(\w+)\[", said["FIELDS"])
    return [dict(zip(names, (int(x, 16) for x in v.split()), strict=True)) for v in lines]


async def drive(dut, **values):
    for name, value in values.items():
        getattr(dut, name).value = value
    await Timer(1, "ns")


class Bench:
    """Vectors on their way through a module, and what is wrong with what comes out.

    So many clocks as `full_speed` nothing waits, and when a result comes is looked at. Then both
    sides stall at random.
    """

    def __init__(self, dut, vectors, unit):
        self.dut, self.vectors, self.clocked = dut, vectors, hasattr(dut, "clk")
        self.latency, self.interval = unit["LATENCY"], unit.get("II", 1)
        self.full_speed = 64 + 2 * self.latency
        self.random = random.Random(1)
        self.sent, self.offered = 0, False
        self.inside, self.comes = [], [False] * (self.latency + 1)
        self.held = None  # a result that was not taken
        self.clocks = self.idle = self.errors = 0

    def fault(self, text, *values):
        self.errors += 1
        self.dut._log.error(text, *values)

    def wait(self, side):
        """Whether the giver, 0, or the taker, 1, waits in this clock."""
        phase = self.clocks // 64 % 4
        if not self.clocked or self.clocks < self.full_speed or phase in (0, 3 - side):
            return False
        return self.random.random() > (0.5 if phase == 1 else 0.25)

    async def choose_sides(self):
        sides = {"out_ready": not self.wait(1)} if self.clocked else {}
        if not self.offered and self.sent < len(self.vectors) and not self.wait(0):
            self.offered = True
            vector = self.vectors[self.sent]
            sides |= {name: x for name, x in vector.items() if name not in RESULTS}
        if self.clocked:
            sides["in_valid"] = self.offered
        await drive(self.dut, **sides)

    def bit(self, name, otherwise):
        return str(getattr(self.dut, name).value) == "1" if self.clocked else otherwise

    def results(self):
        return {name: str(getattr(self.dut, name).value) for name in COMPARED}

    def enter(self):
        vector = self.vectors[self.sent]
        comes = bool(vector.get("in_last", 1))
        if comes:
            self.inside.append(self.sent)
        self.sent, self.offered = self.sent + 1, False
        return comes

    def leave(self):
        if not self.inside:
            return self.fault("there is a result of nothing")
        i = self.inside.pop(0)
        vector, got = self.vectors[i], self.results()
        wanted = {name: f"{vector[name]:0{len(getattr(self.dut, name))}b}" for name in COMPARED}
        if got != wanted:
            given = " ".join(f"{n} {x:x}" for n, x in vector.items() if n not in RESULTS)
            self.fault("vector %d: %s: %s instead of %s", i, given, got, wanted)

    async def clock(self):
        await self.choose_sides()
        ready, valid = self.bit("in_ready", True), self.bit("out_valid", self.offered)
        at_full_speed = self.clocks < self.full_speed
        if self.offered and at_full_speed and ready != (self.clocks % self.interval == 0):
            self.fault("in_ready is wrong")
        self.idle += 1
        enters = self.offered and ready
        comes = enters and self.enter()
        self.comes = [comes, *self.comes[:-1]]
        if at_full_speed and self.clocked and valid != self.comes[-1]:
            self.fault("out_valid is wrong")
        if self.held is not None and (not valid or self.results() != self.held):
            self.fault("a result has changed, or gone, that was not taken")
        taken = valid and self.bit("out_ready", True)
        self.held = self.results() if valid and not taken else None
        if taken:
            self.leave()
        if taken or enters:
            self.idle = 0
        self.clocks += 1
        if self.clocked:
            await drive(self.dut, clk=1)
            self.dut.clk.value = 0

    async def run(self):
        if self.clocked:
            await drive(self.dut, clk=0, rst=1, in_valid=0, out_ready=1)
            await drive(self.dut, clk=1)
            await drive(self.dut, clk=0, rst=0)
        most_idle = 1000 + 16 * (self.latency + self.interval)
        while self.errors < MOST_ERRORS and (self.sent < len(self.vectors) or self.inside):
            await self.clock()
            if self.idle > most_idle:
                return self.fault("it stands still, and results are missing")
        for _ in range(self.latency + 4 if self.clocked else 0):
            await self.clock()


@cocotb.test()
async def all_vectors(dut):
    headers = import_module("@NAME@_headers")
    unit = headers.localparams()
    vectors = read_vectors(Path("vectors/@NAME@.hex").read_text(), unit)
    bench = Bench(dut, vectors, unit)
    for text in headers.faults():
        bench.fault("%s", text)
    await bench.run()
    Path("build/cocotb.verdict").write_text(f"{len(vectors)} vectors, {bench.errors} errors")
    assert bench.errors == 0


def main():
    from cocotb_tools.runner import get_runner

    verdict = Path("build/cocotb.verdict")
    verdict.parent.mkdir(exist_ok=True)
    verdict.write_text("0 vectors, 1 errors")
    runner = get_runner("icarus")
    runner.build(
        sources=sorted(Path("rtl").glob("*.v")),
        hdl_toplevel="@NAME@",
        build_dir="build/cocotb",
        timescale=("1ns", "1ps"),
    )
    bench = Path(__file__).resolve()
    sys.path.insert(0, str(bench.parent))
    runner.test(
        hdl_toplevel="@NAME@",
        test_module=bench.stem,
        test_dir=".",
        results_xml=str(Path("build/cocotb.xml").resolve()),
        timescale=("1ns", "1ps"),
    )
    print(verdict.read_text())


if __name__ == "__main__":
    main()
