"""Whole quantised layers: integer products, bias, and the next layer's codes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .affine import Affine
from .given import given
from .grouping import Grouping
from .integers import VARIANTS, integer_matmul, requantize
from .numbers import without_gradient
from .parameters import binary32
from .scheme import Scheme, scheme_of

OF_OUTPUTS = "ww.affine(y) of a layer's outputs y finds one"


def affine_linear(
    x: Affine,
    w: Affine,
    bias: Any = None,
    *,
    scale: Any,
    zero_point: Any = None,
    bits: int | None = None,
    signed: bool | None = None,
    scheme: str | None = None,
    variant: str = "exact",
    overflow: str = "wrap",
    pairs: str = "exact",
) -> Affine:
    """One quantised layer: codes of x w^T + bias, from codes.

    Sums have 32 bits (`ww.integer_matmul`) and become codes by M = sx sw / scale
    (`ww.requantize`); with variant 'fp32' M is f32(f32(sx sw) / scale), as engines have it.

    Args:
        x: an Affine with one scale, shape (..., k).
        w: an Affine with one scale or one for each row (axis 0), shape (n, k).
        bias: n floats, rounded to steps of sx sw, ties to even; or n int32 that are such steps.
        scale, zero_point: of the result; the zero point is 0, or the middle, if left out.
        bits, signed, scheme: of the result's codes, as `ww.affine` has them; x's if left out.
        variant: how sums are requantised: exact, gemmlowp, ruy, single, q31, rndnu, fp32.
        overflow, pairs: of the sums, as in `ww.integer_matmul`.
    Returns:
        An Affine with one scale, shape (..., n).
    Raises:
        ValueError: shapes that do not fit, several scales where there may be one, a bias out of 32
            bits, or what an argument may not be.

    >>> import widthwise as ww
    >>> x = ww.affine([[0.5, -1.0]], scale=1 / 64, zero_point=128)
    >>> w = ww.affine([[1.0, 0.25], [-0.5, 0.75]], symmetric=True, axis=0)
    >>> ww.affine_linear(x, w, [0.1, 0.2], scale=1 / 32, zero_point=128)
    Affine([[139, 102]], affine(uint8), scale=0.03125, zero_point=128)
    """
    check_layer("x", x, "w", w, 2)
    if x.ndim == 0 or x.shape[-1] != w.shape[1]:
        raise ValueError(
            f"x has shape {x.shape} and w {w.shape}: x's last axis is as long as w's, (n, k)"
        )
    result = Output(x, w, scale, zero_point, bits, signed, scheme, variant)
    flat = x.codes.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    sums = integer_matmul(
        flat, w.codes.T, int(x.zero_point), w.zero_point, result.bias(bias), overflow=overflow,
        pairs=pairs,
    )  # fmt: skip
    return result.of(sums.reshape(*x.shape[:-1], w.shape[0]), -1)


def affine_conv2d(
    x: Affine,
    w: Affine,
    bias: Any = None,
    *,
    scale: Any,
    zero_point: Any = None,
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] = 0,
    groups: int = 1,
    bits: int | None = None,
    signed: bool | None = None,
    scheme: str | None = None,
    variant: str = "exact",
    overflow: str = "wrap",
    pairs: str = "exact",
) -> Affine:
    """One quantised convolution: as `ww.affine_linear`, of windows.

    Args:
        x: an Affine with one scale, shape (images, channels, height, width).
        w: an Affine with one scale or one for each filter (axis 0), shape (filters, channels /
            groups, rows, columns).
        stride, padding: an integer or a pair; the padding is x's zero point, which stands for 0.
        groups: of channels, each of which has its own filters.
        bias, scale, zero_point, bits, signed, scheme, variant, overflow, pairs: as in
            `ww.affine_linear`. Sums run along channel, row, column.
    Returns:
        An Affine with one scale, shape (images, filters, height, width).
    Raises:
        ValueError: shapes that do not fit, or what an argument may not be.

    >>> import numpy as np, widthwise as ww
    >>> x = ww.affine(np.ones((1, 1, 3, 3)), scale=0.5)
    >>> w = ww.affine(np.ones((1, 1, 2, 2)), symmetric=True, scale=0.25)
    >>> ww.affine_conv2d(x, w, scale=0.5, padding=1).codes[0, 0, :2].tolist()
    [[2, 4, 4, 2], [4, 8, 8, 4]]
    """
    check_layer("x", x, "w", w, 4)
    strides, pads = pair("stride", stride, 1), pair("padding", padding, 0)
    check_windows(x.shape, w.shape, pads, groups)
    result = Output(x, w, scale, zero_point, bits, signed, scheme, variant)
    steps = result.bias(bias)
    filters, channels, terms = w.shape[0] // groups, w.shape[1], math.prod(w.shape[1:])
    panels = windows(
        x, w.shape[2:], strides, pads
    )  # images, channels, height, width, rows, columns
    n, _, height, width = panels.shape[:4]
    zeros = np.broadcast_to(w.zero_point, w.shape[0])
    parts = []
    for g in range(groups):
        mine = slice(g * filters, (g + 1) * filters)
        panel = panels[:, g * channels : (g + 1) * channels].transpose(0, 2, 3, 1, 4, 5)
        parts.append(
            integer_matmul(
                panel.reshape(n * height * width, terms),
                w.codes[mine].reshape(filters, terms).T, int(x.zero_point), zeros[mine],
                None if steps is None else steps[mine], overflow=overflow, pairs=pairs,
            )
        )  # fmt: skip
    sums = np.concatenate(parts, axis=1).reshape(n, height, width, w.shape[0])
    return result.of(np.ascontiguousarray(sums.transpose(0, 3, 1, 2)), 1)


class Output:
    """What a layer's codes are, and how its sums become them."""

    def __init__(
        self, x: Affine, w: Affine, scale: Any, zero_point: Any, bits: int | None,
        signed: bool | None, scheme: str | None, variant: str,
    ) -> None:  # fmt: skip
        if variant not in VARIANTS:
            raise ValueError(f"variant = {variant!r}: it may be {', '.join(map(repr, VARIANTS))}")
        self.scheme = self.codes_of(x, bits, signed, scheme)
        self.scale, self.zero_point = given(
            scale, zero_point, self.scheme, (), x.scale.dtype.type, OF_OUTPUTS
        )
        sx = Fraction(float(x.scale))
        self.steps = [sx * Fraction(float(s)) for s in np.atleast_1d(w.scale)]
        self.outputs = w.shape[0]
        self.variant = variant

    @staticmethod
    def codes_of(x: Affine, bits: Any, signed: Any, scheme: Any) -> Scheme:
        if bits is None and signed is None and scheme is None:
            return x.scheme
        name = x.scheme.name if scheme is None else scheme
        signed = x.scheme.signed if signed is None and scheme is None else signed
        return scheme_of(x.bits if bits is None else bits, False, signed, name)

    def bias(self, bias: Any) -> np.ndarray | None:
        """In steps of the products, int32."""
        if bias is None:
            return None
        given = np.asarray(without_gradient(bias))
        if given.shape != (self.outputs,):
            raise ValueError(
                f"bias has shape {given.shape}; one for each output is wanted, ({self.outputs},)"
            )
        if given.dtype == np.int32:
            return given
        if given.dtype.kind in "iub":
            raise TypeError(
                f"bias holds {given.dtype}: steps of sx sw are int32, numbers are floats; pass "
                "np.int32(bias) or np.float64(bias)"
            )
        steps = self.steps * (self.outputs // len(self.steps))
        try:
            exact = [Fraction(v) for v in given.tolist()]
        except (TypeError, ValueError, OverflowError):
            raise ValueError("bias holds what is no finite number") from None
        whole = [round(v / step) for v, step in zip(exact, steps, strict=True)]
        for i, steps_of in enumerate(whole):
            if not -(1 << 31) <= steps_of < 1 << 31:
                raise ValueError(
                    f"bias[{i}] = {given[i]} is {steps_of} steps of {float(steps[i]):g}, past 32 "
                    "bits; take larger scales"
                )
        return np.array(whole, np.int32)

    def of(self, sums: np.ndarray, axis: int) -> Affine:
        low, high = self.scheme.qmin, self.scheme.qmax
        m = [self.multiplier(step) for step in self.steps]
        taken = m[0] if len(m) == 1 else m
        zero, ends = int(self.zero_point), np.iinfo(np.int32)
        most = max(high, ends.max)
        free = requantize(sums, taken, zero, ends.min, most, self.variant, axis=axis)
        codes = np.clip(free, low, high)
        z = Affine._of(
            codes.astype(self.scheme.dtype), self.scale, self.zero_point, self.scheme,
            Grouping("tensor"),
        )  # fmt: skip
        z.clamped, z.nan = int(np.count_nonzero(codes != free)), 0
        return z

    def multiplier(self, step: Fraction) -> Fraction:
        if self.variant != "fp32":
            return step / Fraction(float(self.scale))
        m = Fraction(binary32(step)) / Fraction(float(self.scale))
        return Fraction(binary32(m))


def check_layer(of_x: str, x: Any, of_w: str, w: Any, axes: int) -> None:
    for name, a in ((of_x, x), (of_w, w)):
        if not isinstance(a, Affine):
            raise TypeError(
                f"{name} is {type(a).__name__}; an Affine is wanted, as ww.affine makes"
            )
        if a.device != "cpu":
            raise TypeError(
                f"{name} lies on {a.device}, and layers compute here: {name}.to_device('cpu')"
            )
    if x.grouping.kind != "tensor":
        raise ValueError(f"{of_x} is {x.format}; sums of products need one scale of {of_x}")
    if w.grouping.kind != "tensor" and (w.grouping.kind, w.grouping.axis) != ("channel", 0):
        raise ValueError(
            f"{of_w} is {w.format} (axis {w.axis}); sums of products need one scale of {of_w}, or "
            "one for each index of axis 0"
        )
    if w.ndim != axes or (axes == 4 and x.ndim != 4):
        raise ValueError(f"{of_x} has shape {x.shape} and {of_w} {w.shape}; {axes} axes are wanted")


def check_windows(
    x: tuple[int, ...], w: tuple[int, ...], pads: tuple[int, int], groups: Any
) -> None:
    if not isinstance(groups, int | np.integer) or groups < 1:
        raise ValueError(f"groups = {groups!r}: it may be 1 or more")
    if x[1] != w[1] * groups or w[0] % groups:
        raise ValueError(
            f"x has {x[1]} channels and w {w[1]} in {w[0]} filters; with groups = {groups} x has "
            f"{w[1] * groups} channels, and the filters are a multiple of {groups}"
        )
    for axis in (2, 3):
        if x[axis] + 2 * pads[axis - 2] < w[axis]:
            raise ValueError(
                f"w has shape {w} and x {x}: a filter is no larger than x with its padding"
            )


def pair(name: str, given: Any, least: int) -> tuple[int, int]:
    both = given if isinstance(given, tuple | list) else (given, given)
    if len(both) != 2 or any(
        isinstance(n, bool) or not isinstance(n, int | np.integer) or n < least for n in both
    ):
        raise ValueError(f"{name} = {given!r}: an integer from {least} is wanted, or two")
    return int(both[0]), int(both[1])


def windows(
    x: Affine, sides: tuple[int, ...], strides: tuple[int, int], pads: tuple[int, int]
) -> np.ndarray:
    around = [(0, 0), (0, 0), (pads[0],) * 2, (pads[1],) * 2]
    padded = np.pad(x.codes, around, constant_values=x.codes.dtype.type(x.zero_point))
    seen = np.lib.stride_tricks.sliding_window_view(padded, sides, axis=(2, 3))
    return seen[:, :, :: strides[0], :: strides[1]]
