"""Functions of tensors that round values by one number and gradients by another."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from ....torch._memory import DTYPES
from .._faults import fixed_ends
from .._ops import PACKAGES, having, round_by, whom
from .._rounding import ends, mode_of
from ..number import FixedPoint, Number, known

Hook = Callable[[torch.Tensor], torch.Tensor]


class Rounding:
    """What `quantizer` returns: a function of tensors, which copies, pickles and compiles."""

    def __init__(
        self,
        forward_number: Number | None,
        backward_number: Number | None,
        roundings: tuple[str, str],
        clamping_grad_zero: bool,
        backward_hooks: Iterable[Hook],
        like: str | None,
    ) -> None:
        self.forward_number = known("forward_number", forward_number)
        self.backward_number = known("backward_number", backward_number)
        for rounding in roundings:
            mode_of(rounding)
        self.roundings = roundings
        self.clamping_grad_zero = clamping_grad_zero
        self.backward_hooks = list(backward_hooks)
        self.like = like
        whom(like, having(forward_number, backward_number))
        self.ends: dict[torch.dtype | None, tuple[float, float]] = {}
        if clamping_grad_zero and forward_number is not None:
            self.ends = ends_of(forward_number)  # compiled code finds none by itself

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        like = whom(self.like, having(self.forward_number, self.backward_number))
        mask = self.clamping_grad_zero and isinstance(self.forward_number, FixedPoint)
        hooks = self.backward_hooks
        if like in PACKAGES:  # which forget both without a backward number, and hooks without mask
            mask = mask and self.backward_number is not None
            hooks = hooks if self.clamping_grad_zero and self.backward_number is not None else []
        if mask:
            return self.returning(self.masked(x, like), hooks, like)
        if hooks:
            return self.returning(self.rounded(x, self.forward_number, None, like), hooks, like)
        return self.rounded(x, self.forward_number, self.backward_number, like)

    def rounded(
        self, x: torch.Tensor, forward: Number | None, backward: Number | None, like: str | None
    ) -> torch.Tensor:
        if forward is None and backward is None:
            return x
        return round_by(x, forward, backward, self.roundings, like)

    def masked(self, x: torch.Tensor, like: str | None) -> torch.Tensor:
        """Rounded without a range and clamped then, where no gradient passes."""
        number = self.forward_number
        assert isinstance(number, FixedPoint)
        if number.identity:
            return x
        free = FixedPoint(number.wl, number.fl, clamp=False)
        y = round_by(x, free, None, self.roundings, like)
        low, high = self.ends[None if like in PACKAGES else x.dtype]
        return torch.where(y > high, high, torch.where(y < low, low, y))

    def returning(self, y: torch.Tensor, hooks: list[Hook], like: str | None) -> torch.Tensor:
        """The same values, whose gradients go through the hooks and are rounded then."""
        if not hooks and self.backward_number is None:
            return y
        y = round_by(y, None, self.backward_number, self.roundings, like)
        if y.requires_grad:
            for hook in hooks:
                y.register_hook(hook)
        return y

    def __repr__(self) -> str:
        return f"quantizer({self.forward_number}, {self.backward_number}, {self.roundings})"


def ends_of(number: Number) -> dict[torch.dtype | None, tuple[float, float]]:
    """Where fixed point clamps, in each dtype and, under None, in the packages."""
    if not isinstance(number, FixedPoint):
        raise ValueError(f"clamping_grad_zero is for fixed point, and forward_number is {number}")
    if not number.clamp:
        raise ValueError(
            f"clamping_grad_zero, and forward_number = {number} has clamp=False: nothing is clamped"
        )
    if number.identity:
        return {}
    own = {dtype: ends(number.format, dtype) for dtype in DTYPES}
    return own | {None: fixed_ends(number)}


def quantizer(
    forward_number: Number | None = None,
    backward_number: Number | None = None,
    forward_rounding: str = "stochastic",
    backward_rounding: str = "stochastic",
    clamping_grad_zero: bool = False,
    backward_hooks: Iterable[Hook] = (),
    *,
    like: str | None = None,
) -> Rounding:
    """A function that rounds tensors by one number and their gradients by another.

    Args:
        forward_number, backward_number: None lets values or gradients pass.
        forward_rounding, backward_rounding: 'stochastic', 'nearest' or 'floor'.
        clamping_grad_zero: the gradient is zero where fixed point clamped.
        backward_hooks: functions that gradients go through before they are rounded.
        like: 'qtorch' or 'fork', whose results it gives, faults included; without, those of the
            `ww.like` around its call. The gradient's are those that were chosen with the values.
    Returns:
        The function: a tensor in, a new one of its dtype and shape out.
    Raises:
        ValueError: another rounding; clamping_grad_zero, and the number does not clamp.
        TypeError: a number of another kind.

    >>> import torch
    >>> from widthwise.compat.qtorch import FloatingPoint
    >>> q = quantizer(FloatingPoint(5, 2), FloatingPoint(5, 2), "nearest", "nearest")
    >>> x = torch.tensor([1.1, 1e9], requires_grad=True)
    >>> (q(x) * torch.tensor([1.1, 1.0])).sum().backward()
    >>> q(x).tolist(), x.grad.tolist()
    ([1.0, 114688.0], [1.0, 1.0])
    """
    roundings = forward_rounding, backward_rounding
    return Rounding(
        forward_number, backward_number, roundings, clamping_grad_zero, backward_hooks, like
    )
