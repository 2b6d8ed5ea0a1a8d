"""Fixed point, posits and takums where floats were alone: arrays' functions, every engine."""

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import number_systems_ref as page  # noqa: E402
import systems_ref  # noqa: E402


def codes(x: ww.Array) -> list[int]:
    return [int(code) for code in np.atleast_1d(x.bits).tolist()]


# --- Arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["posit8es2", "posit6es0", "takum8", "fixed8.4", "ufixed8.4", "int5", "fixed1.0"]
)
def test_arrays_are_put_in_order(text):
    """NaR, where there is one, is below all (posit_order)."""
    f = ww.Format(text)
    given = np.random.default_rng(1).permutation(1 << f.width).astype(f.dtype)
    x = ww.from_bits(given, f)
    order = [int(code) for code in np.sort(x).bits]
    if f.system == "fixed":
        assert order == sorted(codes(x), key=systems_ref.parse(text).value)
    else:
        assert order == sorted(codes(x), key=lambda code: page.posit_order(f.width, code))
    assert codes(x[np.argsort(x)]) == order
    numbers = x[~ww.isnan(x)]
    ends = [order[0] if f.system == "fixed" else order[1], order[-1]]
    assert codes(np.stack([np.min(numbers), np.max(numbers)])) == ends
    assert codes(numbers[[np.argmin(numbers), np.argmax(numbers)]]) == ends


def test_long_fixed_point_is_put_in_order():
    drawn = np.random.default_rng(2).normal(size=200) * 2.0 ** np.arange(-60, 40, 0.5)
    x = ww.array(drawn, "fixed100.50")
    assert np.sort(x).astype(object).tolist() == sorted(x.astype(object).tolist())


@pytest.mark.parametrize("text", ["posit8es2", "posit6es0", "takum12"])
def test_spacings_of_tapered_formats_are_numbers(text):
    """E11: behind the largest number lies NaR, so its spacing is that to the number before."""
    f = ww.Format(text)
    x = ww.from_bits(np.arange(1, 1 << f.width - 1, dtype=f.dtype), f)
    value = [Fraction(v) for v in x.astype(object)]
    steps = [b - a for a, b in itertools.pairwise(value)]
    due = ww.array([*steps, steps[-1]], f)
    assert codes(ww.spacing(x)) == codes(due)
    assert codes(ww.spacing(-x)) == codes(-due)
    assert ww.isnan(ww.spacing(ww.array(math.nan, f)))


def test_frexp_of_fixed_point_is_exact_or_refused():
    m, n = ww.frexp(ww.array([4, -0.5, 0.0625, 0], "fixed8.4"))
    assert m.astype(object).tolist() == [Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2), 0]
    assert n.tolist() == [3, 0, -3, 0]
    with pytest.raises(ValueError, match=r"element \[1\] is 7\.94.*ww\.logb"):
        ww.frexp(ww.array([1, 7.9375], "fixed8.4"))
    m, n = ww.frexp(ww.array([7.9375, -1e6], "posit16"))
    assert (m.to_float64() * 2.0**n).tolist() == ww.array(
        [7.9375, -1e6], "posit16"
    ).to_float64().tolist()


# --- Units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["posit3es0", "posit3es4", "posit4es3", "takum3", "takum5"])
@pytest.mark.parametrize("place", ["a", "b", "c"])
def test_nar_of_few_digits_reaches_every_engine(text, place):
    """A float of one digit would have no NaN to write it as."""
    formats = {"a": "fixed8.4", "b": "fixed8.4", "c": "fixed8.4"} | {place: text}
    a, b, c = formats.values()
    x = {name: ww.zeros((2, 2), f) for name, f in formats.items()}
    x[place].bits[...] = 1 << ww.Format(text).width - 1
    for kind in ("kulisch", "dot"):
        unit = ww.Unit(f"{kind}({a}, b={b}, c={c}, out=e5m10{', lanes=4' * (kind == 'dot')})")
        taken = [e for e in ww.explain(unit, 2, 2, 2).splitlines() if "takes it" in e]
        for engine in (line.split()[0] for line in taken):
            z = ww.matmul(x["a"], x["b"], c=x["c"], unit=unit, engine=engine)
            assert ww.isnan(z).all(), (engine, unit)
    assert any("recoded" in line for line in taken)


@pytest.mark.parametrize("text", ["posit33es1", "posit34es1", "posit57es2", "takum34"])
def test_products_of_long_patterns_have_room(text):
    """A code is read with as many digits as it has bits, most of them zeros about one."""
    numbers = ww.array([1.0, -1.5, 0.015625, 3.0], text)
    for a, b in itertools.product(numbers, repeat=2):
        exact = a.to_float64() * b.to_float64()
        for kind in ("mac", "dot"):
            slots = {"mac": "product=e8m23, sum=e8m23", "dot": "out=e8m23, lanes=1, align=25:rtz"}
            unit = f"{kind}({text}, c=e8m23, {slots[kind]})"
            for engine in ("reference", "integers"):
                assert float(ww.dot(a[None], b[None], unit=unit, engine=engine)) == exact, unit
