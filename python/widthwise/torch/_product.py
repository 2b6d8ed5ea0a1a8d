"""Matrix products under a unit, and their gradients under another."""

from __future__ import annotations

from typing import Any

import torch

from .. import _dot, _host
from .._host import one_dtype, text, unit_of, whole_seed
from .._unit import Unit
from ._containers import exact_numbers
from ._memory import held_format, rounded_codes, values_of
from ._multiplier import multiplier_text, told_multiplier
from ._op import Op, are_tensors, drawn_seed, following, may_be_tensors, one_by_one

How = tuple[str, str, str | None, str | None]  # units and multipliers, forward and backward
PRODUCT = (
    "product(Tensor a, Tensor b, Tensor? c, str unit, str backward_unit, str? multiplier, "
    "str? backward_multiplier, Tensor? seed) -> Tensor"
)


def compute(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor | None,
    unit: str,
    backward_unit: str,
    multiplier: str | None,
    backward_multiplier: str | None,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    one_dtype(a=a, b=b, c=c)  # asked inside the op, where autocast has made them one
    u = unit_of(unit)
    held_format(str(u.result_format), a.dtype)
    if u.scale_format is not None and not (a.numel() and b.numel()):
        return of_nothing(a, b, c, u)
    z = _dot.matmul(
        operand(a, u, "a", -1),
        operand(b, u, "b", -2),
        unit=u,
        c=None if c is None else rounded_codes(c, u.c),
        threads=torch.get_num_threads(),
        seed=whole_seed(seed),
        multiplier=told_multiplier(multiplier),
    )
    return values_of(z, a.dtype)


def of_nothing(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None, u: Unit) -> torch.Tensor:
    """What sums of no products are, for no number gives a block its scale."""
    nothing = torch.zeros(shape(a, b, None).shape, dtype=a.dtype, device=a.device)
    if c is None:
        return nothing
    return nothing + values_of(rounded_codes(c, u.c).astype(u.result_format), a.dtype)


def operand(x: torch.Tensor, u: Unit, name: str, axis: int) -> Any:
    """A tensor rounded to what the unit takes: codes, or blocks along the axis that it sums."""
    to = u.a if name == "a" else u.b
    if u.scale_format is None:
        return rounded_codes(x, to)
    return _host.in_blocks(exact_numbers(x), to, u, axis)


def shape(a: torch.Tensor, b: torch.Tensor, c: Any, *how: Any) -> torch.Tensor:
    one_dtype(a=a, b=b, c=c)
    lead = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*lead, a.shape[-2], b.shape[-1]))


def save(ctx: Any, inputs: Any, output: Any) -> None:
    a, b, c, *how, seed = inputs
    ctx.how = backward_of(*how)
    ctx.save_for_backward(a, b, seed)
    ctx.of_c = None if c is None else c.shape


def gradient(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    """What comes back is the backward unit's a in both products, and b what was kept."""
    a, b, seed = ctx.saved_tensors
    to_a = to_b = to_c = None
    if ctx.needs_input_grad[0]:
        to_a = derived(g, b.mT, ctx.how, following(seed, 1)).sum_to_size(a.shape)
    if ctx.needs_input_grad[1]:
        to_b = derived(g.mT, a, ctx.how, following(seed, 2)).mT.sum_to_size(b.shape)
    if ctx.of_c is not None and ctx.needs_input_grad[2]:
        to_c = g.sum_to_size(ctx.of_c)
    return to_a, to_b, to_c, *(None,) * 5


def backward_of(
    unit: str, backward_unit: str, multiplier: str | None, backward_multiplier: str | None
) -> How:
    """What derivatives compute by, and theirs in turn."""
    return backward_unit, backward_unit, backward_multiplier, backward_multiplier


def derived(a: torch.Tensor, b: torch.Tensor, how: How, seed: Any) -> torch.Tensor:
    return call(a, b, None, *how, seed)


def tangent(inputs: Any, tangents: Any) -> Any:
    a, b, _, *how, seed = inputs
    da, db, dc, *_ = tangents
    of = backward_of(*how)
    parts = [] if da is None else [derived(da, b, of, following(seed, 1))]
    if db is not None:
        parts.append(derived(db.mT, a.mT, of, following(seed, 2)).mT)
    parts += [] if dc is None else [dc]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def batch(call: Any, size: int, dims: Any, *args: Any) -> tuple[Any, int]:
    """Products of single numbers go together; what is drawn or scaled stays with its example."""
    a, b, c, *how, seed = args
    if seed is not None or c is not None or scales_blocks(how[0]):
        return one_by_one(call, size, dims, *args)
    axes = max(x.ndim - (at is not None) for x, at in zip((a, b), dims, strict=False))
    x, y = (leading(x, at, axes) for x, at in zip((a, b), dims, strict=False))
    return call(x, y, None, *how, None), 0


def leading(x: torch.Tensor, at: int | None, axes: int) -> torch.Tensor:
    """The batch before so many axes of an example."""
    if at is None:
        return x
    moved = x.movedim(at, 0)
    return moved.reshape(x.shape[at], *(1,) * (axes + 1 - x.ndim), *moved.shape[1:])


call = Op(
    PRODUCT,
    kernel=compute,
    shape=shape,
    save=save,
    gradient=gradient,
    tangent=tangent,
    batch=batch,
)


@torch.compiler.assume_constant_result
def draws(unit: str) -> bool:
    """Whether a unit rounds stochastically anywhere."""
    return _host.draws(unit)


@torch.compiler.assume_constant_result
def scales_blocks(unit: str) -> bool:
    return _host.scales_blocks(unit)


def units(unit: Any, backward: Any, multiplier: Any = None, backward_multiplier: Any = None) -> How:
    """As texts: the gradients' unit is the forward one where none is named."""
    forward = text(unit)
    back = forward if backward is None else text(backward)
    return forward, back, multiplier_text(multiplier), multiplier_text(backward_multiplier)


def seed_for(of: How, seed: Any) -> Any:
    return drawn_seed(seed, draws(of[0]) or draws(of[1]))


def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    c: torch.Tensor | None = None,
    seed: Any = None,
) -> torch.Tensor:
    """c + a @ b as the unit computes it, on values; gradients as another unit computes them.

    Operands are rounded to the unit's formats, to nearest even, and gradients pass that rounding
    straight. A unit that scales blocks gets them quantised along the axis that it sums.

    Args:
        a: values, (..., m, k) or (k,), of one dtype with b.
        b: values, (..., k, n) or (k,); leading axes broadcast.
        unit: a `ww.Unit` or its text; its result's numbers have to be a's dtype's.
        backward_unit: of both gradients' products, in which what comes back is the operand a and
            what was kept the operand b; the same unit where left out.
        multiplier: in place of the exact product of two significands, as in `ww.dot`: 'mitchell',
            'drum6', a `ww.product`, a function of integers. Compiled code takes names.
        backward_multiplier: likewise, in both gradients' products. Left out it is exact: gradients
            pass the approximation straight, as if `multiplier` multiplied exactly.
        c: what is added to, rounded to the unit's c; it broadcasts to the result. Its gradient is
            torch's sum.
        seed: as in `quantize`, of units that round stochastically.
    Returns:
        A tensor of shape (..., m, n), without the axes that a and b have not.
    Raises:
        ValueError: k differs; the dtype does not hold the unit's results.
        TypeError: a, b and c are of several dtypes.

    >>> import torch
    >>> a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> matmul(a, a.T, unit="hopper.e4m3.f32", backward_unit="mac(e5m2, sum=e5m10)")
    tensor([[ 5., 11.],
            [11., 25.]])
    """
    are_tensors(a=a, b=b)
    may_be_tensors(c=c)
    if not (a.ndim and b.ndim) or a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        raise ValueError(
            f"a is {tuple(a.shape)} and b is {tuple(b.shape)}; a's last axis and b's last but one "
            "(or only one) must match"
        )
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    row, column = a.ndim == 1, b.ndim == 1
    x, y = a[None] if row else a, b[:, None] if column else b
    if c is not None and (row or column):
        c = c.expand(result_shape(a, b)).reshape(call_shape(x, y))
    z = call(x, y, c, *of, seed_for(of, seed))
    z = z.squeeze(-1) if column else z
    return z.squeeze(-1 if column else -2) if row else z


def call_shape(x: torch.Tensor, y: torch.Tensor) -> tuple[int, ...]:
    return (*torch.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])


def result_shape(a: torch.Tensor, b: torch.Tensor) -> tuple[int, ...]:
    lead = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*lead, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))


def bmm(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    seed: Any = None,
) -> torch.Tensor:
    """A batch of matrix products, as `matmul` computes them.

    Args:
        a: values, (batch, m, k).
        b: values, (batch, k, n).
        unit, backward_unit, multiplier, backward_multiplier, seed: as in `matmul`.
    Returns:
        A tensor of shape (batch, m, n).
    Raises:
        ValueError: a or b has other axes, or what `matmul` refuses.

    >>> import torch
    >>> bmm(torch.ones(1, 1, 3), torch.ones(1, 3, 1), unit="mac(e5m10)")
    tensor([[[3.]]])
    """
    are_tensors(a=a, b=b)
    if a.ndim != 3 or b.ndim != 3 or a.shape[0] != b.shape[0]:
        raise ValueError(
            f"a is {tuple(a.shape)} and b is {tuple(b.shape)}; bmm takes (batch, m, k) and "
            "(batch, k, n) of one batch; matmul broadcasts"
        )
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    return call(a, b, None, *of, seed_for(of, seed))


def linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    seed: Any = None,
) -> torch.Tensor:
    """bias + x @ weight.T, as torch.nn.functional.linear has it, computed as by `matmul`.

    Args:
        x: values, (..., inputs).
        weight: (outputs, inputs).
        bias: (outputs,), with which the unit's sum begins; None is +0.
        unit, backward_unit, multiplier, backward_multiplier, seed: as in `matmul`.
    Returns:
        A tensor of shape (..., outputs).
    Raises:
        ValueError, TypeError: what `matmul` refuses.

    >>> import torch
    >>> linear(torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0]]), unit="mac(e5m10)")
    tensor([11.])
    """
    are_tensors(x=x, weight=weight)
    may_be_tensors(bias=bias)
    if weight.ndim != 2 or x.ndim == 0 or x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"x is {tuple(x.shape)} and weight is {tuple(weight.shape)}; (..., inputs) and "
            "(outputs, inputs) are wanted"
        )
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    rows = x.flatten(0, -2) if x.ndim > 1 else x[None]
    z = call(rows, weight.t(), bias, *of, seed_for(of, seed))
    return z.reshape(*x.shape[:-1], weight.shape[0])
