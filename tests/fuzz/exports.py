"""Random units and operations as Verilog: the exported folder's own bench, run in Icarus."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import widthwise as ww
from drawn import drawn_format
from unit_texts import DrawUnits

MOST_BITS = 150  # of a register and of all codes: Icarus takes long over more
MOST_PRODUCTS = 6
LIMIT = 60  # seconds; what takes longer is let go
TIMED_OUT = 124
STAGES = ["unpack", "product", "normalise", "round", "pack"]
REFUSED = r"^rtl: |^accumulate |^rounding_port |^generator|^pipeline|is no float"
OPERATIONS = {"add": 2, "subtract": 2, "multiply": 2, "fma": 3, "convert": 1}


def case(seed: str) -> Iterator[str]:
    if not shutil.which("iverilog"):
        sys.exit("SKIPPED: iverilog is not installed")
    draw = DrawUnits(seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "hw"
        design, options = exported(draw, folder)
        command = ["timeout", str(LIMIT), "make", f"PYTHON={sys.executable}", "icarus"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        passed = re.fullmatch(r"icarus: (\d+) vectors, 0 errors\n", done.stdout)
        if not passed and done.returncode != TIMED_OUT:
            yield f"ww.export({design!r}, rtl=True, **{options}): {done.stdout} {done.stderr}"
        return int(passed[1]) if passed else 0


def exported(draw: DrawUnits, folder: Path) -> tuple[str, dict]:
    """The first design that RTL is built of; those that say they are not are passed over."""
    while True:
        operates = draw.one_in(4)
        design = operation_text(draw) if operates else draw.unit_text()
        options = {"vectors": draw.between(10, 40), "seed": draw.random.getrandbits(32)}
        if draw.one_in(3):
            options["pipeline"] = [draw.pick(STAGES) for _ in range(draw.between(0, 3))]
        options |= {} if operates else of_units(draw, ww.Unit(design))
        if not operates and too_large(ww.Unit(design)):
            continue
        try:
            ww.export(design, folder, name="hw", rtl=True, **options)
        except ValueError as refused:
            if re.search(REFUSED, str(refused)):
                continue
            raise
        return design, options


def operation_text(draw: DrawUnits) -> str:
    name = draw.pick(list(OPERATIONS))
    formats = [f"{key}={drawn_format(draw)}" for key in "bc"[: OPERATIONS[name] - 1]]
    tininess = [f"tininess={draw.pick(['after', 'before'])}"]
    out = [f"out={drawn_format(draw)}:{draw.rounding()}"]
    return f"{name}({drawn_format(draw)}, {', '.join(formats + out + tininess)})"


def of_units(draw: DrawUnits, u: ww.Unit) -> dict:
    options: dict = {}
    if u.lanes == 0:
        options["lanes"] = draw.between(1, MOST_PRODUCTS)
    elif u.lanes < MOST_PRODUCTS // 2 and draw.one_in(2):
        options["lanes"] = u.lanes * draw.between(1, MOST_PRODUCTS // u.lanes)
    if draw.one_in(6):
        options["accumulate"] = True
    if draw.one_in(6):
        options["generator"] = True
    return options


def too_large(u: ww.Unit) -> bool:
    widths = u.widths(MOST_PRODUCTS)
    lanes = u.lanes or MOST_PRODUCTS
    codes = lanes * (u.a.width + u.b.width) + u.c.width + u.result_format.width
    return codes > MOST_BITS or widths["accumulator_width"] > MOST_BITS
