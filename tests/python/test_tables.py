"""Tables of values against the executable form of their specification."""

from __future__ import annotations

import hashlib
import itertools
import math
import operator
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import number_systems_ref as page  # noqa: E402

MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz"]
NX, OF, NV = 1, 4, 16

NF4 = [
    -1,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1,
]


def rows_of(format: ww.Format) -> list[tuple[int, Any]]:
    """Codes and values as the page takes them; a second zero is nobody's result."""
    return [
        (code, page.NAN if math.isnan(x) else Fraction(x))
        for code, x in enumerate(format.values)
        if not (x == 0 and math.copysign(1, x) < 0 and 0.0 in format.values[:code])
    ]


def some_tables(count: int) -> list[ww.Format]:
    """Of few values, near each other and far apart, on one side of zero and on both."""
    rng = random.Random(count)
    tables = []
    while len(tables) < count:
        signs = rng.choice([(1,), (-1,), (1, -1)])
        values = {
            rng.choice(signs)
            * rng.randint(0, 40)
            * 2.0 ** rng.choice([-3, 0, 1, rng.randint(-30, 30), rng.randint(-900, 900)])
            for _ in range(rng.randint(3, 20))
        }
        listed = [x or 0.0 for x in values]
        rng.shuffle(listed)
        if len(set(listed)) > 2:
            tables.append(ww.Format.table(listed + [math.nan] * rng.randint(0, 1)))
    return tables


def places_between(format: ww.Format) -> list[Fraction]:
    """Values, borders, and numbers on both sides of either; the ends and what lies past them."""
    rng = random.Random(7)
    values = sorted({Fraction(x) for x in format.values if x == x})
    near, far = Fraction(1, 2**200), Fraction(1, 3)
    places = [Fraction(0), *values, *(x + s * near for x in values for s in (1, -1))]
    for low, high in itertools.pairwise(values):
        middle = (low + high) / 2
        places += [middle, middle + near, middle - near]
        places += [low + (high - low) * Fraction(rng.randint(1, 7), 8), low + (high - low) * far]
    return [*places, values[0] - far, values[-1] + far, values[0] * 2**50 - 1, values[-1] * 3 + 1]


def wanted_flags(x: Fraction, format: ww.Format, code: int) -> int:
    values = [Fraction(v) for v in format.values if v == v]
    past = x < min(values) or x > max(values)
    return (NX if Fraction(format.values[code]) != x else 0) | (OF if past else 0)


@pytest.mark.parametrize("format", some_tables(40), ids=lambda f: f"{len(f.values)} values")
def test_every_mode_takes_the_neighbour_that_the_page_takes(format):
    places, rows = places_between(format), rows_of(format)
    for mode in MODES:
        z, flags = ww.array(places, format, rounding=mode, flags=True)
        want = [page.table_code(rows, x, mode) for x in places]
        assert z.bits.tolist() == want
        pairs = zip(places, want, strict=True)
        assert flags.tolist() == [wanted_flags(x, format, c) for x, c in pairs]
    for bits in (1, 3, 8):
        rng = random.Random(bits)
        drawn = [rng.randrange(1 << bits) for _ in places]
        z = ww.array(places, format, rounding=f"sr{bits}", random=np.array(drawn, np.uint64))
        pairs = zip(places, drawn, strict=True)
        assert z.bits.tolist() == [page.table_code(rows, x, "sr", bits, r) for x, r in pairs]


OPERATIONS: list[tuple[Any, Callable[[Any, Any], Any]]] = [
    (ww.add, operator.add),
    (ww.subtract, operator.sub),
    (ww.multiply, operator.mul),
]


@pytest.mark.parametrize("text", ["table(nf4)", "table(fp4)", "table(-3,-1,1,3)", "table(-1,0,1)"])
def test_operations_on_all_pairs(text):
    format = ww.Format(text)
    rows, listed = rows_of(format), len(format.values)
    pairs = list(itertools.product(range(listed), repeat=2))
    a, b = (ww.from_bits(np.array(x, np.uint8), format) for x in zip(*pairs, strict=True))
    values = [(Fraction(format.values[i]), Fraction(format.values[j])) for i, j in pairs]
    for (ours, exact), mode in itertools.product(OPERATIONS, MODES):
        z, flags = ours(a, b, rounding=mode, flags=True)
        results = [exact(*pair) for pair in values]
        want = [page.table_code(rows, x, mode) for x in results]
        assert z.bits.tolist() == want
        both = zip(results, want, strict=True)
        assert flags.tolist() == [wanted_flags(x, format, c) for x, c in both]
    assert ww.less(a, b).tolist() == [x < y for x, y in values]
    assert ww.equal(a, b).tolist() == [x == y for x, y in values]


def test_sums_of_a_table_go_to_a_float_and_back():
    a = ww.from_bits(np.arange(16, dtype=np.uint8), "table(nf4)")
    wide = a.astype("binary64")
    assert wide.to_float64().tolist() == list(ww.Format("table(nf4)").values)
    assert wide.astype("table(nf4)").bits.tolist() == list(range(16))
    assert (-a).bits.tolist() == [
        page.table_code(rows_of(a.format), -Fraction(x)) for x in a.format.values
    ]


def test_order_is_that_of_the_values():
    f = ww.Format.table([2, -1, math.nan, 0.0, -0.0, 7, -3])
    x = ww.from_bits(np.arange(7, dtype=np.uint8), f)
    assert np.sort(x).bits.tolist() == [6, 1, 4, 3, 0, 5, 2]
    assert ww.next_up(x).bits.tolist() == [5, 3, 2, 0, 0, 5, 1]
    assert ww.next_down(x).bits.tolist() == [3, 6, 2, 1, 1, 0, 6]
    assert str(ww.maximum(x[0], x[5])) == "7"


@pytest.mark.parametrize("beside", [ww.next_up, ww.next_down])
def test_what_is_beside_no_number_is_nan_or_what_0_becomes(beside):
    for values, code, raised in (([-3, 2, -1, 4, 9], 2, NV), ([-3, 2, math.nan, 4, 9], 2, 0)):
        unlisted = ww.from_bits(np.array([5, 7], np.uint8), ww.Format.table(values))
        z, flags = beside(unlisted, flags=True)
        assert z.bits.tolist() == [code] * 2 and flags.tolist() == [raised] * 2


def test_what_is_no_number():
    given = [math.nan, math.inf, -math.inf]
    z, flags = ww.array(given, ww.Format.table([4, math.nan, -2, 1]), flags=True)
    assert z.bits.tolist() == [1, 0, 2] and flags.tolist() == [0, NX | OF, NX | OF]
    z, flags = ww.array(given, ww.Format.table([4, -2, 1, -8]), nan="zero", flags=True)
    assert z.bits.tolist() == [2, 0, 3] and flags.tolist() == [NV, NX | OF, NX | OF]
    with pytest.raises(ValueError, match=r"element 0 is NaN and table\(nf4\) has no NaN"):
        ww.array(given, "table(nf4)")
    three = ww.from_bits(np.array([0, 1, 2], np.uint8), "table(-1,0,1)")
    assert str(three) == "[-1 0 1]"


def test_shipped_values_are_their_authors():
    assert ww.Format("table(nf4)").values == tuple(float(np.float32(x)) for x in NF4)
    assert ww.Format("table(af4)").values[:3] == tuple(
        float(np.float32(x)) for x in (1, 0.72424863, 0.55496234)
    )
    assert ww.Format("table(fp4)").values[1:4] == tuple(
        float(np.float32(x)) for x in (0.0052083333, 0.66666667, 1)
    )
    tree = np.array(ww.Format("table(dynamic8)").values, np.float32)
    # create_dynamic_map() of bitsandbytes 0.50.2 with torch 2.13
    assert hashlib.sha256(tree.tobytes()).hexdigest().startswith(TREE)
    levels = {a + b for a in (0, 1 / 2, 1 / 4, 1 / 16) for b in (0, 1 / 8)}
    assert set(ww.Format("table(apot4)").values) == {s * x for x in levels for s in (1, -1)}


TREE = "e732639a65f497b4"


def test_texts_files_and_other_processes(tmp_path):
    file = tmp_path / "Levels.txt"
    file.write_text("# four levels\n-1.5, -0.5\n0.5 1.5\n")
    from_file = ww.Format(f"table({file})")
    assert from_file.values == (-1.5, -0.5, 0.5, 1.5)
    named = ww.Format.table([-3, -1, 1, 3.5], name="Skewed4")
    assert str(named) == "table(skewed4)" and ww.Format("TABLE(Skewed4)") == named
    assert ww.Format.table([1, 0.1, math.nan]) == ww.Format("table(1, 0.1, nan)")
    for f in (from_file, named, ww.Format("table(-1,0,1)"), ww.Format("table(nf4)")):
        assert ww.Format(str(f)) == f == pickle.loads(pickle.dumps(f))
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).values)"
    there = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(named), capture_output=True, check=True
    )
    assert there.stdout.decode().strip() == str(named.values)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("table(nf5)", "no such table; there are nf4, af4, fp4, apot4, dynamic8, a file's name"),
        ("table(1,1)", "values 0 and 1 are both 1: each may stand there once"),
        ("table(0,1,0)", "values 0 and 2 are both 0"),
        ("table(1,inf)", "value 1 is inf: a table has finite values and NaN"),
        ("table(1,x)", "'x' is no number of binary64, nor nan"),
        (
            "table(0,1,2,3,… of 9 values, #3411f910)",
            "an error left values out here; take the format",
        ),
        ("table(./none.txt)", "no such file can be read"),
        ("table(nan,1)", "fewer than two numbers"),
        ("table(nf4);daz", "takes no option 'daz'"),
        ("table", "no format 'table'"),
    ],
)
def test_a_wrong_text_names_the_way_out(text, way_out):
    with pytest.raises(ValueError) as wrong:
        ww.Format(text)
    assert way_out in str(wrong.value)


def test_wrong_values_name_the_way_out():
    with pytest.raises(
        ValueError, match=r"values\[0\] is 1/3, which binary64 has not; take the float 0\.33"
    ):
        ww.Format.table([Fraction(1, 3), 1])
    with pytest.raises(TypeError, match=r"values\[1\] is 'a'; a table has numbers"):
        ww.Format.table([1, "a"])
    with pytest.raises(ValueError, match=r"shape \(2, 2\); a table takes a row: values\.ravel\(\)"):
        ww.Format.table(np.eye(2))
    with pytest.raises(TypeError, match=r"values = 5: a table takes several"):
        ww.Format.table(5)
    with pytest.raises(ValueError, match="there may be 2 to 65536"):
        ww.Format.table(np.arange(65537))
    ww.Format.table([1, 2], name="taken")
    with pytest.raises(ValueError, match=r"other values have this name already"):
        ww.Format.table([1, 3], name="taken")
    with pytest.raises(ValueError, match=r"the name of a shipped table with other values"):
        ww.Format.table([1, 3], name="nf4")
    with pytest.raises(ValueError, match=r"rounding odd to table\(nf4\).*take rno"):
        ww.array([0.3], "table(nf4)", rounding="odd")
    with pytest.raises(ValueError, match=r"out\.rm.*take rno"):
        ww.Unit("kulisch(e5m10, out=table(nf4):odd)")


def random_codes(format: ww.Format, shape: tuple[int, int]) -> ww.Array:
    rng = np.random.default_rng(3)
    finite = ww.from_bits(np.arange(1 << format.width, dtype=format.dtype), format)
    return ww.from_bits(rng.choice(finite.bits[ww.isfinite(finite)], shape), format)


@pytest.mark.parametrize(
    "text",
    [
        "kulisch(table(nf4), out=binary32)",
        "mac(table(nf4), product=binary32, sum=binary32)",
        "kulisch(table(dynamic8), b=e4m3fn, out=e5m10)",
        "kulisch(e4m3fn, out=table(nf4))",
        "mac(table(-3,-1,1,3))",
    ],
)
def test_units_of_tables_by_every_engine(text):
    u = ww.Unit(text)
    a, b = random_codes(u.a, (5, 9)), random_codes(u.b, (9, 4))
    want = ww.matmul(a, b, unit=u, engine="reference").bits
    assert (ww.matmul(a, b, unit=u).bits == want).all()
    if not text.startswith("mac(table(-3"):
        assert (ww.matmul(a, b, unit=u, engine="recoded").bits == want).all()
    wide = [x.astype("binary64").to_fractions() for x in (a, b)]
    if u.text.startswith("kulisch"):
        exact = wide[0] @ wide[1]
        assert (ww.array(exact, u.result_format).bits == want).all()
    with pytest.raises(ValueError, match="looked up, one at a time|is no float"):
        ww.matmul(a, b, unit=u, engine="integers")


def test_traces_and_cards_show_tables():
    x, y = ww.array([0.3, 0.6], "table(nf4)")
    rounded, packed = str(ww.trace_operation("multiply", x, y)).splitlines()[-3:-1]
    assert rounded.split()[4:] == ["101001001100101011100011", "2^-26", "inexact"]
    assert packed.split()[-1] == "0x9"
    card = str(ww.Format("table(nf4)").card())
    assert "16 values" in card and "steps of 0.277" in card
    assert ww.Format("table(-2,-1)").facts()["values"]["max_finite"] == "-1"
    assert str(ww.Format("table(-2,-1)").card())


def test_zeros_and_signs_are_those_of_the_values():
    assert ww.zeros(3, "table(nf4)").to_float64().tolist() == [0.0] * 3
    x = ww.from_bits(np.arange(6, dtype=np.uint8), ww.Format.table([0.0, -0.0, -2, 3, math.nan]))
    assert np.signbit(x).tolist() == [False, True, True, False, False, False]
    with pytest.raises(ValueError, match="has no spacing: its values lie as they like"):
        ww.spacing(x)
    with pytest.raises(ValueError, match=r"has not between 0\.5 and 1"):
        ww.frexp(ww.array([-1.0, 0.3], "table(nf4)"))
    with pytest.raises(ValueError, match=r"has not between 0\.5 and 1"):
        ww.frexp(ww.array([3.0], "fixed4.1"))


def test_decimals_tell_values_apart():
    tiny = [5e-324, 1e-323, 1.5e-323]
    assert str(ww.array(tiny, ww.Format.table(tiny))) == "[5e-324 1e-323 1.5e-323]"
    far = ww.Format("table(0,1e-200,1e200)")
    assert "1e-200" in str(far.card())
    assert ww.Unit("kulisch(table(0,1,0.25), out=binary32)").widths(4)["product_exponent"] == (
        -4,
        0,
    )


def test_files_and_pickles_bring_values_along(tmp_path):
    mine = ww.Format.table([1, 2, 4.5], name="only_here")
    x, unit = ww.array([1, 4], mine), ww.Unit("mac(table(only_here))")
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "pickled").write_bytes(pickle.dumps((x, unit)))
    code = (
        "import pickle, sys, widthwise as ww; ww.Format.table([7, 8], name='other'); "
        "x, unit = pickle.loads(open(sys.argv[1] + '/pickled', 'rb').read()); "
        "print(x, ww.load(sys.argv[1] + '/x.npy'), unit.a.values)"
    )
    there = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True, text=True
    )
    assert there.stdout.strip() == "[1 4.5] [1 4.5] (1.0, 2.0, 4.5)"
    with pytest.raises(ValueError, match="has 5000 values, for which these files have no room"):
        np.save(tmp_path / "y.npy", ww.array([1], ww.Format.table(np.arange(5000))))
    path = tmp_path / "levels.txt"
    path.write_text("1 2")
    from_file = ww.Format(f"table({path})")
    path.unlink()
    assert ww.Unit(f"mac({from_file})").a == from_file


def test_what_is_no_list_of_exact_numbers():
    from decimal import Decimal

    with pytest.raises(ValueError, match=r"values\[0\] is 0\.1, which binary64 has not"):
        ww.Format.table([Decimal("0.1"), 1])
    for given in ("12", {1: 2}, {1, 2}):
        with pytest.raises(TypeError, match="a list, or an array, has an order"):
            ww.Format.table(given)
    with pytest.raises(ValueError, match="name = '3,4': letters"):
        ww.Format.table([1, 2], name="3,4")
    with pytest.raises(ValueError) as long:
        ww.Format.table(np.arange(65537))
    assert len(str(long.value)) < 200
    with pytest.raises(ValueError, match="no such file can be read"):
        ww.Format("table(/tmp)")


def test_compensated_sums_and_studies_take_tables():
    assert ww.Unit("kahan(table(nf4))")
    with pytest.raises(ValueError, match="take a signed format"):
        ww.Unit("kahan(table(0,1,2))")
    assert "odd" not in ww.study.roundings("table(nf4)")


# --- In errors ------------------------------------------------------------------------------------


def test_a_value_that_stands_twice_is_told_with_the_count_of_all():
    with pytest.raises(ValueError, match=r"… of 256 values, #db6227ce\): values 5 and 255 are"):
        ww.Format(f"table({','.join(map(str, [*range(255), 5]))})")


def test_what_is_no_text_to_other_languages_is_no_name():
    assert ww.formats.get("\ud800") is None and ww.units.get("\ud800") is None


LONG, OTHER = (ww.Format(f"table({','.join(map(str, range(i, i + 4000)))})") for i in (0, 1))
SHORT = r"table\(0,1,2,3,… of 4000 values, #a4d60275\)"
SUMS = f"mac({LONG}, sum=e5m10)"
REFUSALS = (ValueError, TypeError, KeyError, AttributeError)
REFUSED = {
    "NaN": lambda x, y: ww.array([math.nan], x.format),
    "two formats": lambda x, y: ww.add(x, y),
    "an operator": lambda x, y: x + y,
    "a number beside it": lambda x, y: x + np.float64(0.5),
    "a unit": lambda x, y: ww.dot(x, y, unit=f"mac({x.format}, sum=e5m10)"),
    "another unit": lambda x, y: ww.sum(x, unit="mac(e5m10)"),
    "a code": lambda x, y: ww.from_bits(np.array([1 << 15], np.uint16), x.format),
    "spacing": lambda x, y: ww.spacing(x),
    "a matrix": lambda x, y: x @ y,
    "two joined": lambda x, y: np.concatenate([x, y]),
    "no preset": lambda x, y: ww.units[f"mac({x.format})"],
    "no format's name": lambda x, y: ww.formats[str(x.format)],
    "no array": lambda x, y: ww.dot([0.5], x, unit=f"mac({x.format}, sum=e5m10)"),
    "an engine": lambda x, y: ww.dot(x, x, unit=f"mac({x.format}, sum=e5m10)", engine="lanes"),
    "another format": lambda x, y: ww.total_order(x, y),
    "an option": lambda x, y: ww.Format(f"{x.format};daz"),
    "a change": lambda x, y: setattr(x.format, "bias", 1),
    "a bias": lambda x, y: x.format.bias,
    "hardware": lambda x, y: ww.export(f"convert({x.format}, out=e5m10)", "never"),
    "hardware's lanes": lambda x, y: ww.export(f"convert({x.format}, out=e5m10)", "never", lanes=2),
    "blocks": lambda x, y: ww.array([1.0], f"block({x.format},32,e8m0fnu)"),
    "blocks to a unit": lambda x, y: ww.matmul(blocks_of(x), blocks_of(x), unit="mac(e5m10)"),
    "random bits": lambda x, y: ww.blocks([1.0], f"block({x.format},1,ue4m3fn)", rounding="sr64"),
    "a grid": lambda x, y: ww.grid(f"mac({x.format}, sum=e{{e}}m10)"),
    "a study's units": lambda x, y: ww.study.accumulation(x, None, SUMS).ulps["mac(e5m10)"],
    "the best of a sweep": lambda x, y: ww.sweep(SUMS, [1.0], [np.inf]).best("max_abs"),
    "a width": lambda x, y: ww.study.smallest_width(f"mac({x.format})", [4], x, tolerance=0),
    "studies": lambda x, y: ww.study.stagnation(x, x, f"pairwise({x.format}, sum=e5m10)"),
}


def blocks_of(x):
    return ww.blocks([[1.0]], f"block({x.format},1,e8m0fnu)")


@pytest.mark.parametrize("case", REFUSED)
def test_an_error_says_the_beginning_of_a_long_table(case):
    x, y = ww.array([1.0], LONG), ww.array([1.0], OTHER)
    with pytest.raises(REFUSALS, match=SHORT) as found:
        REFUSED[case](x, y)
    assert len(str(found.value)) < 400 and "\n" not in str(found.value)


def test_tables_that_begin_and_end_alike_are_told_apart():
    x, y = (ww.array([1.0], ww.Format.table([*range(20), last])) for last in (30, 31))
    for differ in (ww.total_order, ww.add, ww.max_num):
        with pytest.raises((TypeError, ValueError), match=r"#[0-9a-f]{8}.*#[0-9a-f]{8}") as found:
            differ(x, y)
        first, second = re.findall("#[0-9a-f]{8}", str(found.value))[:2]
        assert first != second


def test_what_parses_back_is_whole():
    assert ww.Format(str(LONG)) == LONG == eval(repr(LONG), {"Format": ww.Format})
    eight = ww.Format("table(0,1,2,3,4,5,6,7)")
    with pytest.raises(ValueError, match=r"table\(0,1,2,3,4,5,6,7\) has no NaN"):
        ww.array([math.nan], eight)
