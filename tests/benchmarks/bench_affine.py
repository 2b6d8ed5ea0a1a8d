"""Affine integers beside a bare conversion to e4m3fn, and their products beside binary32's.

Times are the process's own, the best of several; what counts is the last column.
"""

from __future__ import annotations

import numpy as np
import widthwise as ww
from bench_peers import ELEMENTS, best_seconds, normal

SIDE = 512


def conversions() -> None:
    x = normal(ELEMENTS)
    table = x.reshape(1024, -1)
    scale = float(ww.affine(x, symmetric=True).scale)
    bare = best_seconds(lambda: ww.array(x, "e4m3fn"))
    print(f"\nbinary32 to 8 bits, 2^20 elements; e4m3fn: {1e9 * bare / ELEMENTS:.3f} ns an element")
    q = ww.affine(x, symmetric=True, scale=scale)
    for name, work in (
        ("int8, a scale given", lambda: ww.affine(x, symmetric=True, scale=scale)),
        ("int8, range found", lambda: ww.affine(x, symmetric=True)),
        ("uint8, range found", lambda: ww.affine(x)),
        ("int8, a channel a row", lambda: ww.affine(table, symmetric=True, axis=0)),
        ("int4, blocks of 32", lambda: ww.affine(x, 4, True, block=32)),
        ("uint8 as torch", lambda: ww.affine(x, arithmetic="torch")),
        ("int16", lambda: ww.affine(x, 16, True)),
        ("int8 to binary32", q.dequantise),
    ):
        row(name, best_seconds(work), bare)


def row(name: str, seconds: float, bare: float) -> None:
    print(f"  {name:<28}{1e9 * seconds / ELEMENTS:>8.3f} ns{seconds / bare:>8.1f} times e4m3fn")


def products() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (2, SIDE, SIDE)).astype(np.int8)
    wide = [ww.array(x.astype(np.float32), "binary32") for x in (a, b)]
    count = SIDE**3
    floats = best_seconds(lambda: ww.matmul(*wide, unit="mac(binary32)", threads=1))
    print(
        f"\n{SIDE}^3 products; mac(binary32): {count / floats / 1e9:.1f} thousand million a second"
    )
    for name, work in (
        ("int8", lambda: ww.integer_matmul(a, b, 3, 5)),
        ("int8, saturating", lambda: ww.integer_matmul(a, b, 3, 5, overflow="saturate")),
    ):
        seconds = best_seconds(work)
        print(f"  {name:<28}{count / seconds / 1e9:>8.1f}{floats / seconds:>8.2f} times its rate")


if __name__ == "__main__":
    conversions()
    products()
