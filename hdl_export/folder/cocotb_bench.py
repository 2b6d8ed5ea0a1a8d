"""Checks @NAME@ against vectors/@NAME@.hex, with cocotb 2 in Icarus Verilog.

Run it in the exported folder: the last line is "N vectors, 0 errors" if all is well.
"""

import re
import sys
from importlib import import_module
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

RESULTS = ("y", "flags")


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


def outputs(dut, clocked):
    """The results in binary, and whether they are some."""
    if clocked and str(dut.out_valid.value) != "1":
        return None
    return {name: str(getattr(dut, name).value) for name in RESULTS}


def wanted(dut, vector, clocked):
    if clocked and not vector.get("in_last", 1):
        return None
    return {name: f"{vector[name]:0{len(getattr(dut, name))}b}" for name in RESULTS}


@cocotb.test()
async def all_vectors(dut):
    headers = import_module("@NAME@_headers")
    unit = headers.localparams()
    vectors = read_vectors(Path("vectors/@NAME@.hex").read_text(), unit)
    latency, interval = unit["LATENCY"], unit.get("II", 1)
    wrong = list(headers.faults())
    for text in wrong:
        dut._log.error(text)
    errors = len(wrong)
    clocked = hasattr(dut, "clk")
    if clocked:
        await drive(dut, clk=0, rst=1, in_valid=0, out_ready=1)
        await drive(dut, clk=1)
        await drive(dut, clk=0, rst=0, in_valid=1)
    for clock in range(len(vectors) * interval + latency):
        vector = vectors[min(clock // interval, len(vectors) - 1)]
        await drive(dut, **{name: x for name, x in vector.items() if name not in RESULTS})
        if clocked and clock < len(vectors) * interval:
            ready = str(dut.in_ready.value) == "1"
            assert ready == (clock % interval == 0), "in_ready is wrong"
        i, rest = divmod(clock - latency, interval)
        if i >= 0 and rest == 0:
            got, want = outputs(dut, clocked), wanted(dut, vectors[i], clocked)
            if got != want:
                errors += 1
                dut._log.error("vector %d: %s instead of %s", i, got, want)
        if clocked:
            await drive(dut, clk=1)
            dut.clk.value = 0
    Path("build/cocotb.verdict").write_text(f"{len(vectors)} vectors, {errors} errors")
    assert errors == 0


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
