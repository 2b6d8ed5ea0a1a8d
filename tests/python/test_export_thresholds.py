"""The vectors of an export tell a unit's threshold from the one beside it: mutants of RTL die."""

import re
import shutil

import numpy as np
import pytest
import widthwise as ww
from exported_folders import make, needs

FLOORED = "dot(e5m2, lanes=33, align=20:rtz, floor=-20, out=e8m23:rtz)"
SATURATING = "fixedacc(e4m3fn, width=14, frac=6, overflow=saturate, out=e8m23)"
DESIGNS = {
    "floored": (FLOORED, {}),
    "lower": ("dot(e5m2, lanes=3, align=20:rtz, floor=-20, out=e8m23:rtz)", {}),
    "half": ("volta.f16.f16", {}),
    "dropped": ("cdna3.fp8", {}),
    "limited": ("cdna3.bf16", {}),
    "window": ("dot(e4m3fn, lanes=3, align=13:rtz, c=e8m23, out=e8m13:rtz)", {}),
    "saturated": (SATURATING, {"lanes": 3}),
    "kept": (SATURATING, {"lanes": 2, "accumulate": True}),
}
LATER = ("ww_sum.v", r"voted_largest < FLOOR\)", "voted_largest < FLOOR - 1)")
FULL = r"\{wide\[TW-1\], \{\(W-1\)\{!wide\[TW-1\]\}\}\}"
MUTANTS = [
    ("floored", *LATER),
    ("lower", "ww_sum.v", r"voted_largest < FLOOR\)", "voted_largest < FLOOR - 2)"),
    ("lower", "lower.v", r"\.FLOOR\(\d+'h(?!0+\))(\w+)\)", 1),
    ("half", *LATER),
    ("half", "half.v", r"\.FLOOR\(\d+'h(?!0+\))(\w+)\)", 1),
    ("dropped", "dropped.v", r"\.DROP_C\(\d+'h(?!0+\))(\w+)\)", 1),
    ("dropped", "dropped.v", r"\.DROP_C\(\d+'h(?!0+\))(\w+)\)", -1),
    ("limited", "limited.v", r"\.LIMIT\(\d+'h(\w+)\)", 1),
    ("limited", "limited.v", r"\.LIMIT\(\d+'h(\w+)\)", -1),
    ("limited", "limited.v", r"\.KEEP\(31\)", ".KEEP(30)"),
    ("limited", "limited.v", r"\.FX\(32\)", ".FX(31)"),
    ("limited", "limited.v", r"\.FX\(24\)", ".FX(23)"),
    ("window", "window.v", r"\.FX\(13\)", ".FX(12)"),
    ("window", "window.v", r"\.FC\(13\)", ".FC(12)"),
    ("saturated", "ww_register.v", r"SATURATE && !fits", "0 && !fits"),
    ("saturated", "ww_register.v", FULL, "{wide[TW-1], {(W-2){!wide[TW-1]}}, wide[TW-1]}"),
    ("kept", "ww_register.v", FULL, "{wide[TW-1], {(W-2){!wide[TW-1]}}, wide[TW-1]}"),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    there = tmp_path_factory.mktemp("thresholds")
    for name, (design, options) in DESIGNS.items():
        ww.export(design, there / name, name=name, rtl=True, vectors=20, **options)
    return there


def mutated(path, pattern, by):
    """The file with a text in the pattern's place, or with its number moved by one."""

    def moved(found):
        digits = f"{(int(found[1], 16) + by) % 16 ** len(found[1]):0{len(found[1])}x}"
        return found[0].replace(f"h{found[1]}", f"h{digits}")

    text = path.read_text()
    assert re.search(pattern, text), f"{path.name} has no {pattern}"
    path.write_text(re.sub(pattern, moved if isinstance(by, int) else by, text))


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", DESIGNS)
def test_the_unit_itself_passes(folders, name):
    needs("iverilog")
    assert make(folders / name, "icarus").returncode == 0


@pytest.mark.in_turn(4)
@pytest.mark.parametrize(("name", "file", "pattern", "by"), MUTANTS)
def test_a_threshold_one_off_is_seen(folders, tmp_path, name, file, pattern, by):
    needs("iverilog")
    folder = shutil.copytree(folders / name, tmp_path / name, ignore=lambda *_: ["build"])
    mutated(folder / "rtl" / file, pattern, by)
    done = make(folder, "icarus")
    assert done.returncode != 0 and "instead of" in done.stdout, done.stdout


def test_c_alone_below_a_floor_is_cut_at_the_floor():
    """Of 2^-21 * 1.99 the digits below 2^(-20 - 20) are cut; at a floor one lower, of one less."""
    a = ww.from_bits(np.zeros(33, np.uint8), "e5m2")
    c = ww.from_bits(np.uint32(0x357FFFFF), "binary32")
    unit = FLOORED.replace("lanes", "c=e8m23, lanes")
    assert int(ww.dot(a, a, unit=unit, c=c).bits) == 0x357FFFF0
    unit = unit.replace("floor=-20", "floor=-21")
    assert int(ww.dot(a, a, unit=unit, c=c).bits) == 0x357FFFF8
