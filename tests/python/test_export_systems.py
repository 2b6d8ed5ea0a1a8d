"""Exports of fixed point, posits and takums: constants, vectors, benches and the golden model."""

import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww
from exported_folders import make, needs, replace
from model_calls import ROUNDINGS, Model, all_pairs

FORMATS = {
    # width, fraction, whether signed, overflow
    "fixed8.4": (8, 4, True, "SATURATE"),
    "ufixed8.12;overflow=zero": (8, 12, False, "ZERO"),
    "fixed4.-2;overflow=wrap_sm": (4, -2, True, "WRAP_SM"),
    "fixed100.30;overflow=symmetric": (100, 30, True, "SYMMETRIC"),
    "int1;overflow=keep_sign": (1, 0, True, "KEEP_SIGN"),
}
TAPERED = {
    # width, es, exponents of the least and the largest number, fraction bits
    "posit8es2": (8, 2, -24, 24, 3),
    "posit16es0": (16, 0, -14, 14, 13),
    "posit3es4": (3, 4, -16, 16, 0),
    "takum12": (12, None, -255, 254, 7),
}


def constants(folder, name):
    rows = json.loads((folder / f"{name}.json").read_text())["constants"]
    return {
        row["name"]: int(row["value"], 16) if row["kind"] == "pattern" else row["value"]
        for row in rows
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    there = tmp_path_factory.mktemp("tables")
    tables = {}
    for i, f in enumerate([*FORMATS, *TAPERED]):
        ww.export(f"convert(binary32, out={f})", there / f"x{i}", name=f"x{i}", rtl=False)
        tables[f] = constants(there / f"x{i}", f"x{i}")
    return tables


def value(table, name, f):
    code = table[f"Y_{name}"]
    limbs = [code >> 64 * i & (2**64 - 1) for i in range(-(-f.width // 64))]
    bits = np.uint64([limbs]) if f.width > 64 else np.array([code]).astype(f.dtype)
    return ww.from_bits(bits, f).to_fractions()[0]


@pytest.mark.parametrize("text", FORMATS)
def test_constants_of_fixed_point_are_what_their_names_say(tables, text):
    width, fraction, is_signed, overflow = FORMATS[text]
    table, f = tables[text], ww.Format(text)
    assert table["Y_IS_FIXED"] and not table["Y_IS_POSIT"] and not table["Y_IS_TAKUM"]
    assert (table["Y_WIDTH"], table["Y_FRAC_WIDTH"]) == (width, fraction)
    assert table["Y_INT_WIDTH"] == width - fraction and table["Y_LSB_EXP"] == -fraction
    assert table["Y_HAS_SIGN"] == is_signed and table["Y_HAS_ZERO"]
    assert not (table["Y_HAS_INF"] or table["Y_HAS_NAN"] or table["Y_HAS_SUBNORMAL"])
    assert table["Y_OVERFLOW"] == table[f"FIXED_{overflow}"]
    assert not {"Y_EXP_WIDTH", "Y_BIAS", "Y_QNAN", "Y_NEG_ZERO"} & table.keys()
    last = Fraction(2) ** -fraction
    most = 2 ** (width - is_signed) - 1
    assert value(table, "MAX_FINITE", f) == most * last
    assert value(table, "POS_ZERO", f) == 0
    assert most == 0 or value(table, "MIN_POSITIVE", f) == last
    if is_signed:  # the least code is made where the rule makes it
        least = -most if overflow == "SYMMETRIC" else -most - 1
        assert value(table, "MIN_FINITE", f) == least * last
    assert ("Y_ONE" in table) == (0 <= fraction < width - is_signed)
    assert "Y_ONE" not in table or value(table, "ONE", f) == 1


@pytest.mark.parametrize("text", TAPERED)
def test_constants_of_posits_and_takums_are_what_their_names_say(tables, text):
    width, es, least, largest, fraction = TAPERED[text]
    table, f = tables[text], ww.Format(text)
    assert table["Y_IS_POSIT"] == (es is not None) != table["Y_IS_TAKUM"]
    assert (table["Y_WIDTH"], table["Y_FRAC_WIDTH"]) == (width, fraction)
    assert table.get("Y_ES") == es and not table["Y_IS_FIXED"]
    assert (table["Y_EMIN"], table["Y_EMAX"]) == (least, largest)
    assert table["Y_HAS_NAN"] and not table["Y_HAS_INF"]
    assert math.isnan(ww.from_bits(table["Y_QNAN"], f))
    assert value(table, "ONE", f) == 1 and value(table, "POS_ZERO", f) == 0
    assert value(table, "MIN_FINITE", f) == -value(table, "MAX_FINITE", f)
    if es is not None:
        assert value(table, "MAX_FINITE", f) == Fraction(2) ** largest
        assert value(table, "MIN_POSITIVE", f) == Fraction(2) ** least
    assert table["Y_MIN_POSITIVE"] == 1 and table["Y_MAX_FINITE"] == 2 ** (width - 1) - 1


def test_headers_of_floats_have_no_word_of_other_systems(tmp_path):
    ww.export("multiply(e4m3fn)", tmp_path / "x", name="x")
    text = (tmp_path / "x" / "x.vh").read_text()
    assert "IS_FIXED" not in text and "FIXED_" not in text


FOR_FLOATS = ["_hardfloat.vh", "_fpnew_pkg.sv", "_flopoco_pkg.vhd", "_ap_float.h", "_vivado.tcl"]


def test_what_other_libraries_read_is_there_for_floats_alone(tmp_path):
    for design, letters in (("add(fixed8.4)", ""), ("add(posit8es2, b=e5m2)", "B")):
        folder = tmp_path / f"x{letters}"
        ww.export(design, folder, name="x", vectors=0)
        there = [ending for ending in FOR_FLOATS if (folder / f"x{ending}").exists()]
        assert there == (FOR_FLOATS if letters else [])
        assert ("HardFloat" in (folder / "README.md").read_text()) == bool(letters)
        if letters:
            text = (folder / "x_hardfloat.vh").read_text()
            assert set(re.findall(r"(\w)_expWidth", text)) == set(letters)


HLS = """#pragma once
#include <type_traits>
enum ap_q { AP_RND, AP_RND_ZERO, AP_RND_MIN_INF, AP_RND_INF, AP_RND_CONV, AP_TRN, AP_TRN_ZERO };
enum ap_o { AP_SAT, AP_SAT_ZERO, AP_SAT_SYM, AP_WRAP, AP_WRAP_SM };
template <int W, int I, ap_q Q = AP_TRN, ap_o O = AP_WRAP> struct ap_fixed {};
template <int W, int I, ap_q Q = AP_TRN, ap_o O = AP_WRAP> struct ap_ufixed {};
"""
TYPES = {
    "fixed8.4;overflow=wrap:rdn": "ap_fixed<8, 4>",  # HLS's own defaults
    "fixed8.4:rne": "ap_fixed<8, 4, AP_RND_CONV, AP_SAT>",
    "fixed9.12;overflow=symmetric:rnp": "ap_fixed<9, -3, AP_RND, AP_SAT_SYM>",
    "ufixed9.-2;overflow=zero:rna": "ap_ufixed<9, 11, AP_RND_INF, AP_SAT_ZERO>",
    "int6;overflow=wrap_sm:rnm": "ap_fixed<6, 6, AP_RND_MIN_INF, AP_WRAP_SM>",
    "fixed8.4:rnz": "ap_fixed<8, 4, AP_RND_ZERO, AP_SAT>",
    "fixed8.4:rtz": "ap_fixed<8, 4, AP_TRN_ZERO, AP_SAT>",
}
NO_TYPES = {"fixed8.4;overflow=keep_sign:rdn": "overflow", "fixed8.4:rup": "rounding"}


def test_hls_has_a_type_of_each_operand_and_result(tmp_path):
    needs("g++")
    (tmp_path / "ap_fixed.h").write_text(HLS)
    text = ""
    for i, (out, due) in enumerate(TYPES.items()):
        ww.export(f"add(ufixed7.3, b=e5m2, out={out})", tmp_path / f"x{i}", name=f"x{i}", rtl=False)
        text += f'#include "x{i}/x{i}_ap_fixed.h"\n'
        for name, kind in (("a", "ap_ufixed<7, 4>"), ("y", due)):
            text += f'static_assert(std::is_same<x{i}_{name}_t, {kind}>::value, "");\n'
    (tmp_path / "all.cpp").write_text(text)
    done = subprocess.run(
        ["g++", "-std=c++11", "-fsyntax-only", "-I.", "all.cpp"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    for out, lacks in NO_TYPES.items():
        ww.export(f"add(fixed8.4, out={out})", tmp_path / lacks, name="x", rtl=False)
        assert (
            f"// x_y_t: HLS has no such {lacks}." in (tmp_path / lacks / "x_ap_fixed.h").read_text()
        )
    ww.export("add(posit8es2)", tmp_path / "none", name="x", rtl=False)
    assert not (tmp_path / "none" / "x_ap_fixed.h").exists()


DESIGNS = {
    "product": ("multiply(fixed8.4;overflow=wrap)", {"vectors": 50}),
    "chain": ("mac(fixed8.4, sum=fixed16.8:sr5)", {"lanes": 3, "vectors": 50}),
    "quire": ("kulisch(posit8es2)", {"lanes": 3, "vectors": 50}),
    "filled": ("kulisch(posit8es2, width=98)", {"lanes": 2, "accumulate": True, "vectors": 50}),
    "sums": ("mac(posit8es1)", {"accumulate": True, "vectors": 60}),
    "piped": ("fma(takum8)", {"pipeline": ["exact", "pattern", "round"], "vectors": 50}),
    "bits": ("mac(uint1, c=int1, sum=uint1;overflow=wrap)", {"lanes": 1, "vectors": 50}),
    "mixed": ("dot(int8, c=e8m23, out=e8m23, lanes=4)", {"vectors": 50}),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    there = tmp_path_factory.mktemp("systems")
    for name, (design, options) in DESIGNS.items():
        ww.export(design, there / name, name=name, rtl=True, model=True, **options)
    return there


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", DESIGNS)
def test_the_folder_alone_passes(folders, name):
    needs("iverilog")
    done = make(folders / name, "icarus", "headers", "CC=none", "CXX=none")
    assert done.returncode == 0, done.stdout
    assert re.search(r"icarus: \d+ vectors, 0 errors\n", done.stdout), done.stdout


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", ["quire", "filled"])
def test_the_golden_model_judges_modules_of_other_systems(folders, name):
    needs("verilator")
    done = make(folders / name, "dpi", "CHECKS=5000")
    assert re.search(r"dpi: \d+ vectors, 0 errors\n", done.stdout), done.stdout


@pytest.mark.in_turn(3)
def test_vhdl_and_synthesis_take_them(folders):
    needs("ghdl"), needs("yosys")
    done = make(folders / "product", "ghdl", "yosys")
    assert done.returncode == 0 and "LUT4" in done.stdout, done.stdout


@pytest.mark.parametrize("op", ["add", "subtract", "multiply"])
@pytest.mark.parametrize("text", ["fixed8.4", "fixed6.2;overflow=wrap_sm", "posit8es2", "takum8"])
def test_the_golden_model_says_what_the_simulator_says(op, text):
    f = ww.Format(text)
    model = Model(f"{op}({text})")
    a, b = all_pairs(f)
    for rounding, rm in ROUNDINGS.items():
        want, raised = getattr(ww, op)(a, b, rounding=rounding, flags=True)
        y = np.empty_like(a.bits)
        flags = model.batch(y, y.size, 1, a.bits, b.bits, rm=rm)
        assert np.array_equal(y, want.bits) and np.array_equal(flags, raised)


def test_constants_of_tables_are_what_their_names_say(tmp_path):
    f = ww.Format.table([3.0, -0.5, 0.0, 1.0, math.nan], name="of_five")
    ww.export(f"convert({f}, out=binary16)", tmp_path / "x", name="x", rtl=False)
    table = constants(tmp_path / "x", "x")
    named = ("POS_ZERO", "MAX_FINITE", "MIN_FINITE", "ONE", "QNAN")
    assert [table[f"A_{name}"] for name in named] == [2, 0, 1, 3, 4]
    assert (table["A_IS_TABLE"], table["A_COUNT"], table["A_WIDTH"]) == (True, 4, 3)
    assert (table["A_EMAX"], table["A_SIG_WIDTH"], table["A_LSB_EXP"]) == (1, 2, -1)
    ww.export("convert(table(0,1,2), out=binary16)", tmp_path / "plain", name="plain", rtl=False)
    assert table["A_HAS_SIGN"] and not constants(tmp_path / "plain", "plain")["A_HAS_SIGN"]


def test_a_golden_model_has_the_values_of_tables_that_it_cannot_find(tmp_path):
    levels = tmp_path / "levels.txt"
    levels.write_text("-1 -0.3 0\n0.125, 3 nan # levels")
    made = ww.Format.table([3.0, -1.0, 0.0, 0.1], name="made_here")
    specs = []
    for name, f in (("levels", f"table({levels})"), ("made", str(made))):
        design = f"dot({f}, b=table(nf4), c=e8m7, out=e5m10, lanes=4)"
        ww.export(design, tmp_path / name, name=name)
        spec = constants(tmp_path / name, name)["SPEC"]
        specs.append(spec)
        assert spec.startswith(
            "dot(table(-1,-0.3,0" if name == "levels" else "dot(table(3,-1,0,0.1)"
        )
        assert ww.Unit(spec).a.values == pytest.approx(ww.Format(f).values, nan_ok=True, rel=0)
    levels.unlink()
    done = subprocess.run(
        [sys.executable, "-c", "from model_calls import Model\n"
         f"print([Model(spec).error for spec in {specs!r}])"],
        text=True, capture_output=True, cwd=Path(__file__).parent, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "['', '']"


def test_tables_go_through_the_benches_of_a_folder(tmp_path):
    needs("iverilog"), needs("ghdl"), needs("yosys")
    ww.export("multiply(table(nf4), b=e4m3fn, out=e5m10)", tmp_path / "x", name="x", vectors=200)
    done = make(tmp_path / "x", "icarus", "headers", "ghdl", "yosys")
    assert done.returncode == 0, done.stdout + done.stderr


def vectors_of(folder, name):
    lines = (folder / "vectors" / f"{name}.hex").read_text().splitlines()
    return [[int(x, 16) for x in line.split()] for line in lines if not line.startswith("//")]


def test_directed_vectors_meet_ends_ties_and_specials(tmp_path):
    def exported(design, name):
        ww.export(design, tmp_path / name, name=name, vectors=0)
        return vectors_of(tmp_path / name, name)

    rows = exported("convert(e5m10, out=fixed8.4)", "to_fixed")
    assert {0x7F, 0x80, 0x00} <= {y for _, y, _ in rows}
    assert {0, 1, 5, 16} <= {flags for *_, flags in rows}
    given = ww.from_bits(np.uint16([row[0] for row in rows]), "e5m10")
    exact = [x * 16 for x in given[ww.isfinite(given)].to_fractions()]
    assert sum(x.denominator == 2 and abs(x) < 128 for x in exact) > 20  # ties
    assert any(abs(x) == Fraction(255, 2) for x in exact)  # to the end, or past it

    rows = exported("multiply(posit8es2)", "posits")
    assert {0, 1, 3, 5} <= {flags for *_, flags in rows}
    assert {0x01, 0x7F, 0x80, 0x81, 0xFF} <= {y for _, _, y, _ in rows}
    a, b = (ww.from_bits(np.uint8([row[i] for row in rows]), "posit8es2") for i in (0, 1))
    finer = ww.multiply(a, b, format="posit9es2", flags=True)
    ties = (finer[1] == 0) & (finer[0].bits & 1 == 1)  # exact, and odd with a bit more
    assert ties.sum() > 20

    rows = exported("add(fixed8.4, out=fixed8.4;overflow=wrap)", "sums")
    past = [row for row in rows if row[3] == 5]
    assert len(past) > 20 and len(past) < len(rows) / 2


THRESHOLDS = {
    "ends": (
        "fixedacc(fixed8.4, width=12, frac=7, overflow=saturate, out=fixed12.6)",
        ("ww_register.v", "SATURATE && !fits", "0 && !fits"),
    ),
    "quire": (
        "kulisch(posit8es2, width=98)",
        ("ww_register.v", "STRICT && !fits(wide)", "1'b0"),
    ),
    "pattern": (
        "kulisch(posit8es2, width=98)",
        ("ww_register.v", "QUIRE && total ==", "1'b0 && total =="),
    ),
    "window": (
        "dot(posit8es2, lanes=3, align=9:rtz, out=posit16es2)",
        ("window.v", ".FX(9)", ".FX(8)"),
    ),
}


@pytest.mark.parametrize("name", THRESHOLDS)
def test_vectors_stand_at_the_thresholds_of_units(tmp_path, name):
    needs("iverilog")
    design, (file, right, fault) = THRESHOLDS[name]
    folder = tmp_path / name
    options = {} if "lanes" in design else {"lanes": 3}
    ww.export(design, folder, name=name, rtl=True, vectors=0, **options)
    assert make(folder, "icarus").returncode == 0
    replace(folder / "rtl" / file, right, fault)
    assert make(folder, "icarus").returncode != 0


def test_what_is_not_built_says_so_by_name(tmp_path):
    made = ww.export("divide(posit8es2)", tmp_path / "quotient", name="quotient")
    assert "rtl: divide is not built; add, subtract, multiply, fma and convert are" in made.no_rtl
    there = tmp_path / "quotient"
    assert not (there / "rtl").exists() and (there / "quotient.vh").exists()
    for design in ("add(table(nf4))", "mac(fixed8.4, final=table(nf4))"):
        with pytest.raises(ValueError, match=r"table\(nf4\): .* reads tables and rounds to floats"):
            ww.export(design, tmp_path / "x", name="x")
    long = ww.Format.table(range(1025), name="long")
    with pytest.raises(ValueError, match=r"codes have 11 bits, and .* looks up codes to 10"):
        ww.export(f"convert({long}, out=binary32)", tmp_path / "x", name="x")
    assert not (tmp_path / "x").exists()
    wide = '{a.fmt = "posit16", b.fmt = "posit16", c.fmt = "posit16", lanes = 4, '
    wide += 'c_level = "group", group_sum.width = 256, out.fmt = "posit16"}'
    with pytest.raises(ValueError, match=r"width of an exact sum is not built; .* fixed_lsb"):
        ww.export(wide, tmp_path / "quire", name="quire", rtl=True)


def test_the_command_exports_them(tmp_path):
    words = ["export", "fma(posit16)", str(tmp_path / "x"), "--name", "x", "--rounding-port"]
    done = subprocess.run(
        [sys.executable, "-m", "widthwise", *words], text=True, capture_output=True
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert constants(tmp_path / "x", "x")["A_ES"] == 2
