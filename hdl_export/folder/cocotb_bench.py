"""Checks @NAME@ against vectors/@NAME@.hex, with cocotb 2 in Icarus Verilog.

Run it in the exported folder: the last line is "N vectors, 0 errors" if all is well.
"""

import re
import sys
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

RESULTS = ("y", "flags")


def header(text):
    """The integer constants of NAME.vh that a bench asks for."""
    found = re.findall(r"(LATENCY|MODEL_HASH) = (?:64'h)?([0-9a-f]+);", text)
    return {name: int(digits, 16) for name, digits in found}


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


@cocotb.test()
async def all_vectors(dut):
    unit = header(Path("@NAME@.vh").read_text())
    vectors = read_vectors(Path("vectors/@NAME@.hex").read_text(), unit)
    errors, latency = 0, unit["LATENCY"]
    for i in range(len(vectors) + latency):
        for name, value in vectors[min(i, len(vectors) - 1)].items():
            if name not in RESULTS:
                getattr(dut, name).value = value
        await Timer(1, "ns")
        if i >= latency:
            vector = vectors[i - latency]
            got = {name: str(getattr(dut, name).value) for name in RESULTS}
            want = {name: f"{vector[name]:0{len(got[name])}b}" for name in RESULTS}
            if got != want:
                errors += 1
                dut._log.error("vector %d: %s instead of %s", i - latency, got, want)
        if latency:
            dut.clk.value = 1
            await Timer(1, "ns")
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
        timescale=("1ns", "1ps"),
    )
    print(verdict.read_text())


if __name__ == "__main__":
    main()
