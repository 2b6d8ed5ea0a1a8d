"""Blocks beside a bare conversion to e4m3fn, and products of blocks beside the unit's own.

Times are the process's own, the best of several; what counts is the last column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import widthwise as ww
from bench_peers import ELEMENTS, best_seconds, normal

SIDE = 512
FORMATS = (
    "mxfp8_e4m3",
    "mxfp6_e2m3",
    "mxfp4",
    "mxint8",
    "nvfp4",
    "block(e4m3fn,128,binary32)",
    "block(e4m3fn,128x128,binary32)",
    "bfp(8,32,e8)",
)

NVFP4_BY: tuple[dict[str, Any], ...] = (
    {"tensor_scale": 1},
    {"arithmetic": "f32"},
    {"arithmetic": "f32", "tensor_scale": 1},
)


def row(name: str, seconds: float, bare: float) -> None:
    print(f"  {name:<42}{1e9 * seconds / ELEMENTS:>8.3f} ns{seconds / bare:>8.1f} times e4m3fn")


def conversions() -> None:
    x = normal(ELEMENTS).reshape(1024, -1)
    bare = best_seconds(lambda: ww.array(x, "e4m3fn"))
    print(f"\nbinary32 to blocks, 2^20 elements; e4m3fn: {1e9 * bare / ELEMENTS:.3f} ns an element")
    for text in FORMATS:
        row(text, best_seconds(lambda text=text: ww.blocks(x, text)), bare)
    for how in NVFP4_BY:
        words = ", ".join(f"{name}={value}" for name, value in how.items())
        row(f"nvfp4, {words}", best_seconds(lambda how=how: ww.blocks(x, "nvfp4", **how)), bare)
    for text in ("mxfp8_e4m3", "mxfp4", "nvfp4", "block(e4m3fn,128,binary32)"):
        seconds = best_seconds(lambda text=text: ww.blocks(x, text, axis=0))
        row(f"{text}, down columns", seconds, bare)
    z = ww.blocks(x, "mxfp4")
    data = z.packed()
    row("mxfp4 to binary32", best_seconds(z.to_float32), bare)
    row("mxfp4 packed", best_seconds(z.packed), bare)
    row("mxfp4 unpacked", best_seconds(lambda: ww.unpack(data, "e2m1fn")), bare)


def products() -> None:
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal((SIDE, SIDE)).astype(np.float32) for _ in range(2))
    print(f"\n{SIDE}^3 products, thousand million a second")
    for unit, text in (("blackwell.mxfp8", "mxfp8_e4m3"), ("blackwell.nvfp4", "nvfp4")):
        a, b = ww.blocks(x, text), ww.blocks(w, text, axis=0)
        scales = {"scale_a": a.scales, "scale_b": b.scales}
        parts = (a.elements, b.elements)
        beside = best_seconds(
            lambda p=parts, s=scales, u=unit: ww.matmul(*p, unit=u, threads=1, **s)
        )
        within = best_seconds(lambda a=a, b=b, u=unit: ww.matmul(a, b, unit=u, threads=1))
        rate = SIDE**3 / within / 1e9
        print(f"  {unit:<28}{rate:>8.1f}{beside / within:>8.2f} times the rate of codes and scales")


if __name__ == "__main__":
    conversions()
    products()
