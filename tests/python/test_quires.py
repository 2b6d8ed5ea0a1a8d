"""Quires that fill up, against the executable form of their specification."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import number_systems_ref as page  # noqa: E402

QUIRES = [(5, 1, 0), (8, 0, 0), (8, 0, 7), (8, 2, 1), (8, 2, 3), (16, 1, 2)]


@pytest.mark.parametrize("overflow", ["nar", "wrap"])
@pytest.mark.parametrize(("n", "es", "carry"), QUIRES)
def test_a_quire_that_is_full(n, es, carry, overflow):
    width, rng = 1 + carry + 4 * (n - 2) * 2**es, random.Random(carry)
    unit = f"kulisch(posit{n}es{es}, width={width}, overflow={overflow})"
    top = (1 << n - 1) - 1
    ends = [top, top - 1, 1 << n - 1, top + 2, 1, 0, 1 << n - 2]
    for k in (1, 2, 7, 40):
        rows = [
            [
                rng.choice(ends[:2] + ends[3:]) if rng.random() < 0.9 else rng.choice(ends)
                for _ in range(2 * k + 1)
            ]
            for _ in range(60)
        ]
        a, b, c = (
            ww.from_bits(np.array(x, ww.Format.posit(n, es).dtype), ww.Format.posit(n, es))
            for x in ([r[:k] for r in rows], [r[k:-1] for r in rows], [r[-1] for r in rows])
        )
        wanted = [filled(n, es, carry, overflow, r) for r in rows]
        for engine in ("auto", "reference", "integers"):
            z, flags = ww.dot(a, b, c=c, unit=unit, flags=True, engine=engine)
            assert list(zip(z.bits.tolist(), (flags & page.NV).tolist(), strict=True)) == wanted


def filled(n: int, es: int, carry: int, overflow: str, row: list[int]) -> tuple[int, int]:
    """The code, and NV where the register made the NaR."""
    *factors, c = row
    k = len(factors) // 2
    quire = page.Quire(n, es, carry, overflow).add(c)
    for x, y in zip(factors[:k], factors[k:], strict=True):
        quire.fma(x, y)
    made = quire.acc == page.NAR and 1 << n - 1 not in row
    return quire.posit(), page.NV if made else 0


TOO_SHORT = [
    ("kulisch(takum16, width={})", 512, 1027),
    ("kulisch(posit8, b=fixed8.4, width={})", 50, 56),
    ("kulisch(posit8, width={}, scale=e8m0fnu:4:term)", 255, 605),
]


def test_a_quire_says_how_wide_it_has_to_be():
    assert ww.Unit("kulisch(posit16, width=256)").text == "kulisch(posit16, width=256)"
    assert str(ww.Unit("kulisch(posit8, width=97)")) == "kulisch(posit8es2, width=97)"
    with pytest.raises(ValueError, match="96 bits: the largest product, .* has 97, sign and carry"):
        ww.Unit("kulisch(posit8, width=96)")
    for text, width, takes in TOO_SHORT:
        ww.Unit(text.format(takes))
        match = f"{width} bits: .* has {takes}, sign and carry bits besides; fixedacc has"
        with pytest.raises(ValueError, match=match):
            ww.Unit(text.format(width))
    for text in ("kulisch(e5m10, width=50, overflow=saturate)", "kulisch(fixed8.4, width=3)"):
        assert ww.Unit(text).text == text
    with pytest.raises(ValueError, match="overflow= goes with width="):
        ww.Unit("kulisch(posit8, overflow=nar)")
    with pytest.raises(ValueError, match=r"nar is a quire's"):
        ww.Unit.from_toml(ww.Unit("mac(e5m10)").to_toml() + '\ngroup_sum.overflow = "nar"\n')
    wide = ww.matmul(
        *[ww.array(np.ones((4, 4)), "posit16")] * 2, unit="kulisch(posit16, width=256)"
    )
    assert wide.to_float64().tolist() == [[4.0] * 4] * 4
