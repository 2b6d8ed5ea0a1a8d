"""A library's whole FP8 product: the unit, its promotions, and the epilogue in its order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from .. import _dot
from .._elementwise import add, fma, multiply
from .._host import unit_of
from .._unit import Unit
from ._gpu import wherever
from ._memory import DTYPES, codes_in, rounded_codes, tensor_of, values_of
from ._op import LIBRARY, TAGS, are_tensors, may_be_tensors

FP8 = {torch.float8_e4m3fn: "e4m3", torch.float8_e5m2: "e5m2"}
FORMATS = {"e4m3": "e4m3fn", "e5m2": "e5m2"}
# Tensor cores that add promoted sums in CUDA cores every 128 products, where fast is not asked.
PROMOTED = ("hopper", "ada")
PROFILES = (*PROMOTED, "blackwell")  # whose accumulator has all digits of binary32: no promotion
# Orders of the parts of k where none is named. The tiles of each part lie in a row, or are dealt
# out in turn; the parts are added in order, or in pairs first.
ORDERS = {"hopper": "contiguous", "ada": "serial"}
ORDER_NAMES = ("contiguous", "serial", "pairwise")
CONTIGUOUS_TILE, INTERLEAVED_TILE = 128, 64  # products
SCHEMA = (
    "scaled_mm(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, Tensor? bias, "
    "Tensor? scale_result, ScalarType out_dtype, bool use_fast_accum, str profile, int parts, "
    "str order, bool a_first) -> Tensor"
)
TENSORS = ("a", "b", "scale_a", "scale_b", "bias", "scale_result")
F32 = DTYPES[torch.float32].format
NAN = {  # NVIDIA's one NaN, of results that have such words
    torch.float32: (torch.int32, 0x7FFFFFFF),
    torch.float16: (torch.int16, 0x7FFF),
    torch.bfloat16: (torch.int16, 0x7FFF),
    torch.float8_e4m3fn: (torch.uint8, 0x7F),
    torch.float8_e5m2: (torch.uint8, 0x7F),
}


@lru_cache(maxsize=32)
def unit_for(profile: str, a: str, b: str, fast: bool) -> Unit:
    """The preset of the profile, of a's type and of the mode, with b's type."""
    sums = "promote128" if not fast and profile in PROMOTED else "f32"
    text = unit_of(f"{profile}.{a}.{sums}").to_toml()
    return Unit.from_toml(text.replace(f'b.fmt = "{FORMATS[a]}"', f'b.fmt = "{FORMATS[b]}"'))


def kernel(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None,
    scale_result: torch.Tensor | None,
    out_dtype: torch.dtype,
    use_fast_accum: bool,
    profile: str,
    parts: int,
    order: str,
    a_first: bool,
) -> torch.Tensor:
    u = unit_for(profile, FP8[a.dtype], FP8[b.dtype], use_fast_accum)
    z = scaled(summed(a, b, u, parts, order), scale_a, scale_b, a_first)
    if bias is not None:
        z = add(z, rounded_codes(bias if bias.dtype in DTYPES else bias.float(), F32))
    if scale_result is not None and out_dtype in FP8:
        z = multiply(z, rounded_codes(scale_result.reshape(1, 1), F32))
    return with_one_nan(delivered(z, out_dtype))


def summed(a: torch.Tensor, b: torch.Tensor, u: Unit, parts: int, order: str) -> Any:
    """The sums of all parts of k, and these added in binary32."""
    x, y = (t.detach().view(torch.uint8) for t in (a, b))
    sums = [
        _dot.matmul(
            codes_in(x[:, k], u.a), codes_in(y[k], u.b), unit=u, threads=torch.get_num_threads()
        )
        for k in (slice(None),) * (parts == 1) or parts_of_k(x, parts, order)
    ]
    if order == "pairwise" and parts > 1:
        half = -(-parts // 2)
        pairs = [
            add(sums[i], sums[i + half]) if i + half < parts - 1 else sums[i] for i in range(half)
        ]
        sums = [sums[-1], *pairs]
    total = sums[0]
    for part in sums[1:]:
        total = add(total, part)
    return total


def parts_of_k(x: torch.Tensor, parts: int, order: str) -> list[torch.Tensor]:
    """Which products each part has: tiles in a row, or every so-manieth tile."""
    at = torch.arange(x.shape[1], device=x.device)
    if order == "contiguous":
        tiles = -(-x.shape[1] // CONTIGUOUS_TILE)
        of = at // CONTIGUOUS_TILE // -(-tiles // parts)
    else:
        of = at // INTERLEAVED_TILE % parts
    return [at[of == part] for part in range(parts)]


def scaled(z: Any, scale_a: torch.Tensor, scale_b: torch.Tensor, a_first: bool) -> Any:
    """Of whole tensors by the scales' product, and plus +0; of rows one after the other."""
    a, b = rounded_codes(scale_a, F32), rounded_codes(scale_b, F32)
    if scale_a.numel() == scale_b.numel() == 1:
        both = multiply(a.reshape(1, 1), b.reshape(1, 1))
        return fma(z, both, rounded_codes(torch.zeros_like(scale_a).reshape(1, 1), F32))
    for scale in (a, b) if a_first else (b, a):
        z = multiply(z, scale)
    return z


def delivered(z: Any, dtype: torch.dtype) -> torch.Tensor:
    """Rounded once more; FP8 saturates, infinities too."""
    if dtype in DTYPES:
        return values_of(z.astype(DTYPES[dtype].format), dtype)
    saturated = z.astype(f"{FORMATS[FP8[dtype]]};overflow=satfinite")
    return tensor_of(saturated).view(dtype)


def with_one_nan(z: torch.Tensor) -> torch.Tensor:
    words, code = NAN[z.dtype]
    nan = (z.float() if z.dtype in FP8 else z).isnan()
    one = torch.tensor(code, dtype=words, device=z.device)
    return torch.where(nan, one, z.view(words)).view(z.dtype)


def rows_first(profile: str, m: int, n: int) -> bool:
    """Whether a kernel with scales of rows multiplies by scale_a first.

    It multiplies by the scales of its own rows first. PyTorch has it compute the transposed product
    of some shapes (RowwiseScaledMM.cu, docs/guides/torch.md), whose rows are b's columns.
    """
    if profile == "ada":
        return True
    m, n = (-(-size // 64) * 64 for size in (m, n))
    odd_m, odd_n = m % 256 > 0, n % 256 > 0
    cases = (
        (m == 64 and n >= 3072, True),
        (n == 64 and m >= 3072, False),
        (m == 192 and n >= 4096, False),
        (n == 192 and m >= 4096, True),
        (odd_m != odd_n and m * n <= 4096**2, odd_n),
        (odd_m and odd_n, (m <= n) == (m * n <= 1024**2)),
        (min(m, n) >= 4096, m >= n),
    )
    return next((answer for holds, answer in cases if holds), False)


def shape(
    a: torch.Tensor,
    b: torch.Tensor,
    sa: Any,
    sb: Any,
    bias: Any,
    scale_result: Any,
    out_dtype: Any,
    *how: Any,
) -> torch.Tensor:
    return torch.empty((a.shape[0], b.shape[1]), dtype=out_dtype, device=a.device)


LIBRARY.define(SCHEMA, tags=tuple(TAGS))
for device in ("CPU", "CUDA"):
    LIBRARY.impl("scaled_mm", wherever(kernel, dict(enumerate(TENSORS))), device)
torch.library.register_fake("widthwise::scaled_mm", shape, lib=LIBRARY)


def no_gradient(ctx: Any, g: torch.Tensor) -> Any:
    """As torch says of its own; without a rule it would warn, and leave gradients out."""
    raise RuntimeError(
        "scaled_mm has no gradient, as torch._scaled_mm has none: detach() what it is given, or "
        "take widthwise.torch.linear or matmul, which have units backward"
    )


torch.library.register_autograd("widthwise::scaled_mm", no_gradient, lib=LIBRARY)


def scaled_mm(
    a: torch.Tensor,
    b: torch.Tensor,
    scale_a: torch.Tensor,
    scale_b: torch.Tensor,
    bias: torch.Tensor | None = None,
    scale_result: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
    *,
    profile: str = "hopper",
    split: int | tuple[int, str] = 1,
    first_scale: str | None = None,
) -> torch.Tensor:
    """An FP8 product as a GPU's library computes it, with the arguments of torch._scaled_mm.

    The sum runs in the profile's tensor core; without `use_fast_accum` hopper and ada add it to
    binary32 every 128 products. Then the epilogue in binary32, one rounding each: times the scales,
    plus bias, times scale_result; last the rounding to out_dtype. Scales of whole tensors are
    multiplied with each other first, and +0 is added to the product with theirs, so no sum is -0.

    Args:
        a: float8_e4m3fn or float8_e5m2, (m, k).
        b: the same kinds, (k, n); its columns may lie side by side, as `y.t()`.
        scale_a, scale_b: float32, one number each, or (m, 1) and (1, n).
        bias: (n,), of any floats.
        scale_result: float32, one number, which results of FP8 are multiplied by; others are not.
        out_dtype: float32, float16, bfloat16, or FP8, which saturates; a's dtype where left out.
        use_fast_accum: no promotion.
        profile: 'hopper', 'ada' or 'blackwell'.
        split: into how many parts k is split, whose sums are added in binary32, or a pair with
            their order: 'contiguous' (128-wide tiles in a row; hopper's), 'serial' (64-wide tiles
            dealt out in turn, parts added in order; ada's), 'pairwise' (dealt out, in pairs).
        first_scale: 'a' or 'b', which scales of rows are multiplied by first; None asks what
            PyTorch does for this shape.
    Returns:
        A tensor of shape (m, n); its gradient is an error. NaN is NVIDIA's, all ones but the sign.
    Raises:
        ValueError: shapes or scales that do not fit, two operands of E5M2, an unknown profile or
            order, blackwell split without an order.
        TypeError: dtypes that the product has not.

    >>> import torch
    >>> x = torch.ones(2, 16).to(torch.float8_e4m3fn)
    >>> one = torch.tensor(0.5)
    >>> scaled_mm(x, x.t(), one, one, out_dtype=torch.bfloat16)
    tensor([[4., 4.],
            [4., 4.]], dtype=torch.bfloat16)
    """
    check(a, b, scale_a, scale_b, bias, profile)
    check_scale_result(scale_result)
    dtype = a.dtype if out_dtype is None else out_dtype
    if dtype not in NAN:
        raise TypeError(f"out_dtype = {dtype}: float32, float16, bfloat16 or FP8 is wanted")
    if first_scale not in (None, "a", "b"):
        raise ValueError(f"first_scale = {first_scale!r}: it may be None, 'a' or 'b'")
    a_first = rows_first(profile, *size_of(a, b)) if first_scale is None else first_scale == "a"
    op = torch.ops.widthwise.scaled_mm.default
    tensors = (a, b, scale_a, scale_b, bias, scale_result)
    return op(*tensors, dtype, use_fast_accum, profile, *split_of(split, profile), a_first)


def size_of(a: torch.Tensor, b: torch.Tensor) -> tuple[int, int]:
    return a.shape[0], b.shape[1]


def split_of(split: Any, profile: str) -> tuple[int, str]:
    """How many parts, and their order."""
    pair = split if isinstance(split, tuple | list) else (split, ORDERS.get(profile))
    parts, order = pair if len(pair) == 2 else (0, None)
    if not isinstance(parts, int) or isinstance(parts, bool) or parts < 1:
        raise ValueError(f"split = {split!r}: 1 or more parts are wanted, or (parts, order)")
    if parts == 1:
        return 1, "serial"
    if order not in ORDER_NAMES:
        known = ", ".join(map(repr, ORDER_NAMES))
        unnamed = f"nobody has measured {profile}'s order; name one: " if order is None else ""
        raise ValueError(f"split = {split!r}: {unnamed}({parts}, order) takes {known}")
    return parts, order


def check_scale_result(scale: Any) -> None:
    may_be_tensors(scale_result=scale)
    if scale is not None and (scale.dtype != torch.float32 or scale.numel() != 1):
        raise TypeError(
            f"scale_result is {scale.dtype} of shape {tuple(scale.shape)}; one float32 is wanted"
        )


def check(a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any, profile: str) -> None:
    if profile not in PROFILES:
        raise ValueError(f"profile = {profile!r}: it may be {', '.join(map(repr, PROFILES))}")
    are_tensors(a=a, b=b, scale_a=scale_a, scale_b=scale_b)
    may_be_tensors(bias=bias)
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
    if bias is not None and not bias.is_floating_point():
        raise TypeError(f"bias holds {bias.dtype}; floats are wanted")
    if bias is not None and tuple(bias.shape) != (n,):
        raise ValueError(f"bias is {tuple(bias.shape)}; ({n},) is wanted")
