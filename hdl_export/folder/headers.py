"""Holds to @NAME@.vh, whose constants bench/@NAME@_headers.v holds, what no other bench reads:
@NAME@.json, Vivado's properties, SMT-LIB's sorts, and the design that the golden model's packages
name. Says nothing if all are right.
"""

import json
import re
from pathlib import Path

ROUNDINGS = {"RNE": 0, "RTZ": 1, "RTN": 2, "RTP": 3, "RNA": 4}


def read(ending):
    return Path(f"@NAME@{ending}").read_text()


def number(literal):
    """Of Verilog's -6, 1'b1, 8'h7e and 64'sh0000000000000007."""
    size, signed, base, digits = re.fullmatch(r"(?:(\d+)'(s?)([bh]))?(-?\w+)", literal).groups()
    value = int(digits, {"b": 2, "h": 16, None: 10}[base])
    return value - (1 << int(size)) if signed and value >> (int(size) - 1) else value


def localparams():
    text = read(".vh")
    texts = dict(re.findall(r"^// (\w+): (.*)$", text, re.M))
    return texts | {
        name: number(literal)
        for name, literal in re.findall(r"^localparam .*?(\w+) = (.*?);", text, re.M)
    }


def table():
    rows = json.loads(read(".json"))["constants"]
    return {
        row["name"]: int(row["value"], 16) if row["kind"] == "pattern" else row["value"]
        for row in rows
    }


def fault(ending, name, value, due):
    """What is wrong with a constant, or nothing: a list of texts."""
    return [] if value == due else [f"@NAME@{ending}: {name} is {value} instead of {due}"]


def json_faults(constants):
    found = table()
    for name in sorted(constants.keys() | found.keys()):
        yield from fault(".json", name, found.get(name), constants.get(name))


def are_floats(constants, letters):
    """Those of the operands and the result that are."""
    return [x for x in letters if f"{x}_EXP_WIDTH" in constants]


def vivado_faults(constants):
    if not are_floats(constants, "ABCY"):
        return  # there is no such file
    found = re.findall(r"CONFIG\.C_(\w+)_(Exponent|Fraction)_Width {(\d+)}", read("_vivado.tcl"))
    due = 2 * len(are_floats(constants, "AY"))
    yield from fault("_vivado.tcl", "the number of widths", len(found), due)
    for port, part, width in found:
        letter = {"A": "A", "Result": "Y"}[port]
        kind = {"Exponent": "EXP_WIDTH", "Fraction": "SIG_WIDTH"}[part]
        name = f"C_{port}_{part}_Width"
        yield from fault("_vivado.tcl", name, int(width), constants[f"{letter}_{kind}"])


def smtlib_faults(constants):
    if not are_floats(constants, "ABCY"):
        return
    text = read(".smt2")
    widths = {
        x: (constants[f"{x}_EXP_WIDTH"], constants[f"{x}_SIG_WIDTH"])
        for x in are_floats(constants, "ABCY")
    }
    sort = r"define-sort @NAME@_(\w) \(\) \(_ FloatingPoint (\d+) (\d+)\)"
    for x, exponent, significand in re.findall(sort, text):
        yield from fault(".smt2", f"sort {x}", (int(exponent), int(significand)), widths[x])
    code = r"define-fun @NAME@_(\w)_(\w+) \(\) @NAME@_(\w) \(\(_ to_fp (\d+) (\d+)\) #b(\d+)\)"
    for x, name, of, exponent, significand, digits in re.findall(code, text):
        found = of, int(exponent), int(significand), int(digits, 2)
        yield from fault(".smt2", f"{x}_{name}", found, (x, *widths[x], constants[f"{x}_{name}"]))
    for rounding in re.findall(r"_rm \(\) RoundingMode (\w+)", text):
        yield from fault(".smt2", "rm", ROUNDINGS.get(rounding), constants["RM_DEFAULT"])


def model_faults(constants):
    spec, number = constants["SPEC"], constants["MODEL_HASH"]
    signed, quoted = number - (number >> 63 << 64), spec.replace('"', '""')
    for ending, name, pattern, due in [
        ("_dpi_pkg.sv", "SPEC", r"SPEC = (.*);", json.dumps(spec)),
        ("_dpi_pkg.sv", "MODEL_HASH", r"MODEL_HASH = 64'h(\w+);", f"{number:016x}"),
        ("_vhpi_pkg.vhd", "DESIGN", r" DESIGN .*?:= (.*) & nul;", f'"{quoted}"'),
        ("_vhpi_pkg.vhd", "DESIGN_HASH", r"DESIGN_HASH .*:= (-?\d+) fs;", str(signed)),
    ]:
        yield from fault(ending, name, re.search(pattern, read(ending))[1], due)


def faults():
    constants = localparams()
    for faults_of in json_faults, vivado_faults, smtlib_faults, model_faults:
        yield from faults_of(constants)


if __name__ == "__main__":
    for text in faults():
        print(text)
