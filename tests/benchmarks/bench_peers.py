"""Widthwise beside NumPy, ml_dtypes, gfloat and APyTypes: the same work in one run, one thread.

Every figure is the best of several, of this process's own time, so that what others do meanwhile
counts little. Where a peer gives codes of the same format, they are compared before it is timed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import widthwise as ww

ELEMENTS = 1 << 20
BUDGET = 0.4  # seconds a figure


def best_seconds(work: Callable[[], object]) -> float:
    best, start = float("inf"), time.process_time()
    while time.process_time() - start < BUDGET:
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def peer(name: str) -> Any:
    """The module, or None with a word about it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: its rows are missing (pip install {name})")
        return None


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


class Table:
    """Rows of one piece of work, each beside Widthwise's time."""

    def __init__(self, title: str, count: int, rates: bool = False):
        print(f"\n{title}")
        self.count, self.rates, self.own = count, rates, 0.0

    def row(self, who: str, work: Callable[[], object]) -> None:
        seconds = best_seconds(work)
        self.own = self.own or seconds
        rate = self.count / seconds
        figure = rate / 1e6 if self.rates else 1e9 / rate
        unit = "million products/s" if self.rates else "ns an element"
        print(f"  {who:<34}{figure:>12.3f} {unit:<22}{seconds / self.own:>8.1f} times widthwise")


def agree(what: str, own: Any, other: np.ndarray) -> None:
    if not np.array_equal(own.bits, other):
        raise AssertionError(f"{what} gives other codes")


def quantise(ml_dtypes: Any, gfloat: Any) -> None:
    x = normal(ELEMENTS)
    table = Table("float32 to codes, to nearest even", ELEMENTS)
    table.row("widthwise e4m3fn", lambda: ww.array(x, "e4m3fn"))
    table.row("widthwise e5m10", lambda: ww.array(x, "e5m10"))
    table.row("memcpy of the floats", lambda: x.copy())
    agree("NumPy", ww.array(x, "e5m10"), x.astype(np.float16).view(np.uint16))
    table.row("NumPy float16", lambda: x.astype(np.float16))
    if ml_dtypes:
        dtype = ml_dtypes.float8_e4m3fn
        agree("ml_dtypes", ww.array(x, "e4m3fn"), x.astype(dtype).view(np.uint8))
        table.row("ml_dtypes float8_e4m3fn", lambda: x.astype(dtype))
    if gfloat:
        from gfloat.formats import format_info_ocp_e4m3 as e4m3

        wide = x.astype(np.float64)

        def encode() -> np.ndarray:
            rounded = gfloat.round_ndarray(e4m3, wide, gfloat.RoundMode.TiesToEven)
            return gfloat.encode_ndarray(e4m3, rounded)

        agree("gfloat", ww.array(x, "e4m3fn"), encode())
        table.row("gfloat OCP E4M3", encode)


def add(ml_dtypes: Any, apytypes: Any) -> None:
    x, y = normal(ELEMENTS), normal(ELEMENTS)[::-1].copy()
    table = Table("x + y, codes to codes", ELEMENTS)
    a, b = ww.array(x, "e5m10"), ww.array(y, "e5m10")
    table.row("widthwise e5m10", lambda: ww.add(a, b))
    c, d = x.astype(np.float16), y.astype(np.float16)
    agree("NumPy", ww.add(a, b), (c + d).view(np.uint16))
    table.row("NumPy float16", lambda: c + d)
    if ml_dtypes:
        e, f = x.astype(ml_dtypes.float8_e4m3fn), y.astype(ml_dtypes.float8_e4m3fn)
        g, h = ww.array(x, "e4m3fn"), ww.array(y, "e4m3fn")
        table.row("widthwise e4m3fn", lambda: ww.add(g, h))
        table.row("ml_dtypes float8_e4m3fn", lambda: e + f)
    if apytypes:
        i = apytypes.APyFloatArray.from_float(x, 5, 10)
        j = apytypes.APyFloatArray.from_float(y, 5, 10)
        table.row("APyTypes e5m10", lambda: i + j)


def matmul(apytypes: Any) -> None:
    n = 256
    x, y = normal(n, n), normal(n, n)
    table = Table(f"{n} x {n} x {n}, each product and sum rounded", n**3, rates=True)
    for unit in ("mac(e5m10)", "mac(e4m3fn)", "hopper.e4m3.f32", "mac(binary32)"):
        u = ww.Unit(unit)
        a, b = ww.array(x, u.a), ww.array(y, u.b)
        table.row(f"widthwise {unit}", lambda u=u, a=a, b=b: ww.matmul(a, b, unit=u, threads=1))
    if apytypes:
        i = apytypes.APyFloatArray.from_float(x, 5, 10)
        j = apytypes.APyFloatArray.from_float(y, 5, 10)
        with apytypes.APyFloatAccumulatorContext(exp_bits=5, man_bits=10):
            table.row("APyTypes e5m10, accumulator e5m10", lambda: i @ j)
    table.row("NumPy float32, its own order", lambda: x @ y)


def main() -> None:
    names = ("ml_dtypes", "gfloat", "apytypes")
    modules = dict(zip(names, map(peer, names), strict=True))
    versions = [f"{name} {importlib.metadata.version(name)}" for name in names if modules[name]]
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {', '.join(versions)}")
    quantise(modules["ml_dtypes"], modules["gfloat"])
    add(modules["ml_dtypes"], modules["apytypes"])
    matmul(modules["apytypes"])


if __name__ == "__main__":
    main()
