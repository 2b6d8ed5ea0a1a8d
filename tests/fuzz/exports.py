"""Random units and operations as Verilog: the exported folder's own bench, run in Icarus."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
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
        operates, floats = draw.one_in(4), not draw.one_in(3)
        some_format = drawn_format if floats else system_format
        design = (
            operation_text(draw, some_format)
            if operates
            else draw.unit_text()
            if floats
            else system_unit_text(draw)
        )
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


def operation_text(draw: DrawUnits, some_format: Callable[[DrawUnits], object]) -> str:
    name = draw.pick(list(OPERATIONS))
    formats = [f"{key}={some_format(draw)}" for key in "bc"[: OPERATIONS[name] - 1]]
    tininess = [f"tininess={draw.pick(['after', 'before'])}"]
    out = [f"out={some_format(draw)}:{draw.rounding()}"]
    return f"{name}({some_format(draw)}, {', '.join(formats + out + tininess)})"


RULES = ["saturate", "symmetric", "zero", "wrap", "wrap_sm", "keep_sign"]


def system_format(draw: DrawUnits) -> str:
    """Fixed point, a posit or a takum, and a float now and then."""
    kind = draw.pick(["fixed", "fixed", "ufixed", "posit", "posit", "takum", "float"])
    width = draw.between(3, 17)
    if kind == "float":
        return draw.pick(["e4m3fn", "e5m2", "e5m10", "e8m7"])
    if kind == "posit":
        return f"posit{width}es{draw.between(0, 4)}"
    if kind == "takum":
        return f"takum{draw.between(3, 12)}"
    rule = draw.pick([rule for rule in RULES if kind == "fixed" or rule != "wrap_sm"])
    return f"{kind}{draw.between(1, 20)}.{draw.between(-4, 14)};overflow={rule}"


def quire_text(draw: DrawUnits, out: str) -> str:
    """One that few products fill, for the largest of them takes all of it or nearly so."""
    width, es = draw.between(3, 6), draw.between(0, 2)
    register = 4 * (width - 2 << es) + 1 + draw.between(0, 4)
    overflow = draw.pick(["", ", overflow=wrap"])
    return f"kulisch(posit{width}es{es}, width={register}{overflow}, out={out})"


def system_unit_text(draw: DrawUnits) -> str:
    a, b, c, to, node = (system_format(draw) for _ in range(5))
    mode = draw.rounding()
    return draw.pick(
        [
            f"mac({a}, b={b}, product={node}, sum={to}:{mode})",
            f"mac({a}, b={b}, sum={to}:{mode})",
            f"fma({a}, b={b}, c={c}, sum={to}:{mode})",
            f"dot({a}, b={b}, c={c}, out={to}:{mode}, lanes={draw.between(1, 5)})",
            f"dot({a}, b={b}, c={c}, out={to}, lanes=4, align={draw.between(3, 14)}:rtz)",
            f"tree({a}, b={b}, fan={draw.between(2, 4)}, node={node}:{mode}, sum={to})",
            f"kulisch({a}, b={b}, c={c}, out={to}:{mode})",
            quire_text(draw, f"{to}:{mode}"),
            f"fixedacc({a}, b={b}, c={c}, width={draw.between(8, 40)}, frac={draw.between(0, 12)}, "
            f"overflow={draw.pick(['wrap', 'saturate', 'flag'])}, out={to})",
        ]
    )


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
