"""A library's whole FP8 product: the unit, its promotions, and the epilogue in its order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from .. import _dot
from .._create import array
from .._elementwise import add, multiply
from .._unit import Unit
from .._views import view
from ._memory import DTYPES, rounded_codes, unit_of, values_of
from ._op import LIBRARY

FP8 = {torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}
FORMATS = {"e4m3": "e4m3fn", "e5m2": "e5m2"}
# Tensor cores that add promoted sums in CUDA cores every so many products, where fast is not asked.
PROMOTED = {"hopper": 128, "ada": 128}
PROFILES = (*PROMOTED, "blackwell")  # whose accumulator has all digits of binary32: no promotion
SCHEMA = (
    "scaled_mm(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, Tensor? bias, "
    "ScalarType out_dtype, bool use_fast_accum, str profile) -> Tensor"
)


@lru_cache(maxsize=32)
def unit_for(profile: str, a: str, b: str, fast: bool) -> Unit:
    """The profile's preset of a's type, with b's type and the promotion that the mode has."""
    text = unit_of(f"{profile}.{a}.f32").to_toml()
    text = text.replace(f'b.fmt = "{FORMATS[a]}"', f'b.fmt = "{FORMATS[b]}"')
    if not fast and profile in PROMOTED:
        text += f'chain.promote.interval = {PROMOTED[profile]}\nchain.promote.round.fmt = "e8m23"\n'
    return Unit.from_toml(text)


def on_cpu(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None,
    out_dtype: torch.dtype,
    use_fast_accum: bool,
    profile: str,
) -> torch.Tensor:
    u = unit_for(profile, FP8[a.dtype], FP8[b.dtype], use_fast_accum)
    z = _dot.matmul(view(a), view(b), unit=u, threads=torch.get_num_threads())
    for scale in scales_in_order(scale_a, scale_b):
        z = multiply(z, scale)
    if bias is not None:
        z = add(z, array(bias.detach().float().numpy(), "binary32"))
    if out_dtype in DTYPES:
        return values_of(z.astype(DTYPES[out_dtype].format), out_dtype)
    saturated = z.astype(f"{FORMATS[FP8[out_dtype]]};overflow=satfinite")
    return torch.from_numpy(saturated.bits).view(out_dtype)


def scales_in_order(scale_a: torch.Tensor, scale_b: torch.Tensor) -> list[Any]:
    """Of whole tensors their product, rounded; of rows b's first, as CUTLASS multiplies them."""
    a, b = rounded_codes(scale_a, F32), rounded_codes(scale_b, F32)
    if scale_a.numel() == scale_b.numel() == 1:
        return [multiply(a.reshape(1, 1), b.reshape(1, 1))]
    return [b, a]


F32 = DTYPES[torch.float32].format


def shape(
    a: torch.Tensor, b: torch.Tensor, sa: Any, sb: Any, bias: Any, out_dtype: Any, *how: Any
) -> torch.Tensor:
    return torch.empty((a.shape[0], b.shape[1]), dtype=out_dtype, device=a.device)


LIBRARY.define(SCHEMA, tags=(torch.Tag.pt2_compliant_tag,))
LIBRARY.impl("scaled_mm", on_cpu, "CPU")
torch.library.register_fake("widthwise::scaled_mm", shape, lib=LIBRARY)


def scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
    *,
    profile: str = "hopper",
) -> torch.Tensor:
    """An FP8 product as a GPU's library computes it, with the arguments of torch._scaled_mm.

    The sum runs in the profile's tensor core; without `use_fast_accum` hopper and ada add it to
    binary32 every 128 products. Then the epilogue in binary32, one rounding each: times the scales,
    plus bias; last the rounding to out_dtype. Scales of whole tensors are multiplied with each
    other first (an order that NVIDIA does not publish); of rows and columns scale_b comes first.

    Args:
        a: float8_e4m3fn or float8_e5m2, (m, k).
        b: the same kinds, (k, n); its columns may lie side by side, as `y.t()`.
        scale_a, scale_b: float32, one number each, or (m, 1) and (1, n).
        bias: (n,), of any floats.
        out_dtype: float32, float16, bfloat16, or FP8, which saturates; a's dtype where left out.
        use_fast_accum: no promotion.
        profile: 'hopper', 'ada' or 'blackwell'.
    Returns:
        A tensor of shape (m, n). No gradient passes.
    Raises:
        ValueError: shapes or scales that do not fit, two operands of E5M2, an unknown profile.
        TypeError: dtypes that the product has not.

    >>> import torch
    >>> x = torch.ones(2, 16).to(torch.float8_e4m3fn)
    >>> one = torch.tensor(0.5)
    >>> scaled_mm(x, x.t(), one, one, out_dtype=torch.bfloat16)
    tensor([[4., 4.],
            [4., 4.]], dtype=torch.bfloat16)
    """
    check(a, b, scale_a, scale_b, bias, profile)
    dtype = a.dtype if out_dtype is None else out_dtype
    if dtype not in FP8 and dtype not in DTYPES or dtype == torch.float64:
        raise TypeError(f"out_dtype = {dtype}: float32, float16, bfloat16 or FP8 is wanted")
    op = torch.ops.widthwise.scaled_mm.default
    return op(a, b, scale_a, scale_b, bias, dtype, use_fast_accum, profile)


def check(a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, profile: str) -> None:
    if profile not in PROFILES:
        raise ValueError(f"profile = {profile!r}: it may be {', '.join(map(repr, PROFILES))}")
    for name, x in (("a", a), ("b", b)):
        if x.dtype not in FP8:
            raise TypeError(f"{name} holds {x.dtype}; torch.float8_e4m3fn or float8_e5m2 is wanted")
    if a.dtype == b.dtype == torch.float8_e5m2:
        raise ValueError("a and b are both float8_e5m2, which the libraries do not multiply")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(
            f"a is {tuple(a.shape)} and b is {tuple(b.shape)}; (m, k) and (k, n) are wanted"
        )
    m, n = a.shape[0], b.shape[1]
    if (scale_a.dtype, scale_b.dtype) != (torch.float32, torch.float32):
        raise TypeError(f"scale_a is {scale_a.dtype}, scale_b {scale_b.dtype}; float32 is wanted")
    whole = scale_a.numel() == scale_b.numel() == 1
    rows = tuple(scale_a.shape) == (m, 1) and tuple(scale_b.shape) == (1, n)
    if not (whole or rows):
        raise ValueError(
            f"scale_a is {tuple(scale_a.shape)} and scale_b is {tuple(scale_b.shape)}; one number "
            f"each is wanted, or ({m}, 1) and (1, {n})"
        )
    if bias is not None and tuple(bias.shape) != (n,):
        raise ValueError(f"bias is {tuple(bias.shape)}; ({n},) is wanted")
