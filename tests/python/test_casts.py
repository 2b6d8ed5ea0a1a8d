"""The guide's table of casts to 8 bits: each cell, by us and by whoever of them is here."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import widthwise as ww

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/moving.md"
TOO_LARGE, INFINITE = 1e30, np.inf


def rows():
    """(cast, [(format, what is too large, an infinity)], policy) of every line of the table."""
    lines = GUIDE.read_text().partition("## Casts to 8 bits")[2].partition("\n- ")[0].splitlines()
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    formats = table[0][1:-1]
    for cast, *cells, here in table[2:]:
        said = [(f, *cell.split(", ")) for f, cell in zip(formats, cells, strict=True) if cell]
        policy = re.search(r";overflow=\w+", here)
        yield cast, said, policy[0] if policy else ""


TABLE = list(rows())


def named(x: float, f: ww.Format) -> str:
    if np.isnan(x):
        return "NaN"
    return "inf" if np.isinf(x) else "max" if abs(x) == float(f.max_finite) else str(x)


@pytest.mark.parametrize("cast, cells, policy", TABLE, ids=[row[0] for row in TABLE])
def test_every_cell_is_what_the_policy_gives(cast, cells, policy):
    assert cells
    for format, too_large, infinite in cells:
        f = ww.Format(format + policy)
        for sign in (1, -1):
            x, flags = ww.convert(
                ww.array([sign * TOO_LARGE, sign * INFINITE, np.nan], "binary64"), f, flags=True
            )
            got = [named(v, f) for v in x.to_float64()]
            assert got == [too_large, infinite, "NaN"], f"{cast} of {format}: {got}"
            overflows = [5, 0 if infinite == "inf" else 5, 0]
            assert flags.tolist() == overflows
            stays = x.to_float64()[:2]
            assert all(np.isnan(v) or np.sign(v) == sign for v in stays)


def cast_by_ml_dtypes(format):
    x = np.array([TOO_LARGE, INFINITE], np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        return x.astype(getattr(ml_dtypes, f"float8_{format}")).astype(np.float64)


def cast_by_torch(format):
    torch = pytest.importorskip("torch", reason="torch is large: --long installs it")
    x = torch.tensor([TOO_LARGE, INFINITE])
    return x.to(getattr(torch, f"float8_{format}")).double().numpy()


@pytest.mark.parametrize(
    ("library", "cast"), [("ml_dtypes", cast_by_ml_dtypes), ("torch", cast_by_torch)]
)
def test_a_librarys_row_is_what_it_does(library, cast):
    told = [cell for name, cells, _ in TABLE if name.startswith(library) for cell in cells]
    assert len(told) == 4
    for format, *said in told:
        assert [named(v, ww.Format(format)) for v in cast(format)] == said, format


def test_infinities_saturate_in_arrays_and_units():
    f = "e5m2;overflow=satfinite"
    assert ww.array(np.inf, f).to_float64() == 57344
    assert ww.array(-np.inf, f).to_float64() == -57344
    assert np.isnan(ww.array(np.nan, f).to_float64())
    assert ww.array(np.inf, "e5m2;overflow=max").to_float64() == np.inf
    assert ww.divide(ww.array(1.0, f), ww.array(0.0, f)).to_float64() == 57344
    x, y = ww.array([[np.inf, 1.0]], "e5m2"), ww.array([[1.0], [1.0]], "e5m2")
    for unit in ("mac(e5m2, sum=e5m2;overflow=satfinite)", "kulisch(e5m2, out=e5m10)"):
        want = 57344 if "satfinite" in unit else np.inf
        for engine in ww.engines():
            try:
                z = ww.matmul(x, y, unit=unit, engine=engine)
            except ValueError:
                continue
            assert z.to_float64().item() == want, engine
    assert str(ww.Format(f)) == f and ww.Format(f).overflow == "satfinite"
    assert ww.verify("mac(e5m2, product=e4m3;overflow=satfinite)", n=300, k=5)
    assert ww.verify("multiply", format=f, n=3000) and ww.verify("convert", format="e5m10", to=f)
