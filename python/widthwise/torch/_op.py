"""Operations as torch knows them: a kernel, a shape, a gradient, a rule for batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

from .. import _host
from ._gpu import lies_there, wherever

LIBRARY = torch.library.Library("widthwise", "DEF")  # a collected Library is an unregistered one
PLAIN = (torch.Tensor, torch.nn.Parameter)
TENSORS = ("Tensor", "Tensor?")  # in schemas
# Whether many tensors pass for one, as torch's vmap of before functorch has them.
is_batch = torch._C._functorch.is_legacy_batchedtensor
# A call is over when it returns, for which a captured graph has no place. Old torch lacks that tag.
TAGS = [torch.Tag.pt2_compliant_tag]
TAGS += [torch.Tag.cudagraph_unsafe] if hasattr(torch.Tag, "cudagraph_unsafe") else []
FORWARD_MODE = (
    "forward mode (jvp, jacfwd, dual numbers) has no rule under torch.compile, which would take "
    "derivatives for zero; call it outside of compiled code, or take reverse mode"
)


def tracing_tangents() -> bool:
    """Whether forward mode surrounds this call: functorch's jvp enters a level of its own."""
    return forward_ad._current_level >= 0


class Op:
    """One operation of the library.

    Compiled code, tracers, autocast, modes that watch what is dispatched, and tensors that are no
    plain ones call the op with the autograd that the library knows. Its way through the dispatcher
    and Python takes tens of microseconds, so plain tensors meet the kernel itself, with a Function
    around it where gradients are wanted; functorch's transforms and forward mode, which do not see
    the op's autograd, have a Function of their own.

    Args:
        schema: as torch.library takes it, without the name space.
        kernel: tensors of the CPU or of one GPU in, a new tensor out.
        shape: the same for tensors without numbers.
        save: keeps in ctx what the gradient wants.
        gradient: of (ctx, g), one for each argument.
        tangent: of (ctx, one tangent or None for each argument).
        batch: of (call, batch size, which axes are batches, arguments): the result, its axis.
    """

    def __init__(
        self,
        schema: str,
        *,
        kernel: Callable[..., Any],
        shape: Callable[..., Any],
        save: Callable[..., None],
        gradient: Callable[..., Any],
        tangent: Callable[..., Any],
        batch: Callable[..., Any],
    ) -> None:
        name, _, arguments = schema.partition("(")
        parts = enumerate(arguments.partition(")")[0].split(","))
        self.tensors = {i: part.split()[1] for i, part in parts if part.split()[0] in TENSORS}
        LIBRARY.define(schema, tags=tuple(TAGS))
        kernel = wherever(kernel, self.tensors)
        LIBRARY.impl(name, kernel, "CPU")
        LIBRARY.impl(name, kernel, "CUDA")
        # The packet of all overloads costs microseconds more than the one there is.
        self.op = op = getattr(torch.ops.widthwise, name).default
        told = f"widthwise::{name}"

        def without_numbers(*args: Any) -> Any:
            if tracing_tangents():
                raise RuntimeError(FORWARD_MODE)
            return shape(*args)

        def batched(info: Any, dims: Any, *args: Any) -> Any:
            return batch(op, info.batch_size, dims, *args)

        torch.library.register_fake(told, without_numbers, lib=LIBRARY)
        torch.library.register_autograd(told, gradient, setup_context=save, lib=LIBRARY)
        torch.library.register_vmap(told, batched, lib=LIBRARY)
        for device in ("cpu", "cuda"):
            torch.library.register_autocast(told, device, torch.float32, lib=LIBRARY)
        self.outer = outer(self, save, gradient, tangent, batch)
        self.kernel, self.eager = kernel, eager(kernel, save, gradient)

    def __call__(self, *args: Any) -> Any:
        if torch.compiler.is_compiling():
            return self.op(*args)
        if transformed():
            return self.outer.apply(*args)
        tensors = [args[i] for i in self.tensors]
        if not are_plain(tensors) or unusual_modes():
            return self.op(*args)
        return self.eager.apply(*args) if wanted(tensors) else self.kernel(*args)


def are_tensors(**named: Any) -> None:
    """What a function that computes with tensors is given: a number at every place of a shape."""
    for name, x in named.items():
        if not isinstance(x, torch.Tensor):
            raise TypeError(
                f"{name} is {type(x).__name__}; a tensor is wanted: torch.as_tensor({name})"
            )
        if x.is_nested:
            raise TypeError(
                f"{name} is nested; a tensor of one shape is wanted: {name}.to_padded_tensor(0.0)"
            )
        if x.layout is not torch.strided:
            raise TypeError(f"{name} is {x.layout}; a dense tensor is wanted: {name}.to_dense()")


def may_be_tensors(**named: Any) -> None:
    """What it may be given besides, or None."""
    are_tensors(**{name: x for name, x in named.items() if x is not None})


def transformed() -> bool:
    """Whether functorch's transforms or forward mode surround this call."""
    return torch._C._are_functorch_transforms_active() or tracing_tangents()


def met_directly(tensors: Any) -> bool:
    """Whether these tensors meet kernels without anybody between."""
    if torch.compiler.is_compiling() or transformed():
        return False
    return are_plain(tensors) and not unusual_modes()


def are_plain(tensors: Any) -> bool:
    """Whether the numbers of all tensors lie where the kernel reads them; None has none."""
    for x in tensors:
        if x is not None and not (
            type(x) in PLAIN
            and (x.is_cpu or lies_there(x))
            and x.layout is torch.strided
            and not x.is_neg()
            and not is_batch(x)  # of autograd.grad's is_grads_batched
        ):
            return False
    return True


def unusual_modes() -> bool:
    """Autocast, a mode that sees what goes through the dispatcher, or torch.jit's tracer, to which
    the result of a kernel is a constant."""
    autocast = torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
    return autocast or torch._C._len_torch_dispatch_stack() > 0 or torch._C._is_tracing()


def wanted(tensors: Any) -> bool:
    """Whether anybody will ask for gradients."""
    if torch.is_grad_enabled():
        for x in tensors:
            if x is not None and x.requires_grad:
                return True
    return False


def eager(kernel: Any, save: Any, gradient: Any) -> Any:
    """The Function that stands around a kernel in eager code."""

    def forward(ctx: Any, *args: Any) -> Any:
        output = kernel(*args)
        save(ctx, args, output)
        return output

    members = {"forward": staticmethod(forward), "backward": staticmethod(gradient)}
    return type("Eager", (torch.autograd.Function,), members)


def outer(call: Op, save: Any, gradient: Any, tangent: Any, batch: Any) -> Any:
    """The Function that stands around an op inside functorch's transforms."""

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        save(ctx, inputs, output)
        ctx.save_for_forward(*(x for x in inputs if isinstance(x, torch.Tensor)))
        ctx.inputs = [None if isinstance(x, torch.Tensor) else x for x in inputs]
        ctx.tensors = [isinstance(x, torch.Tensor) for x in inputs]

    def jvp(ctx: Any, *tangents: Any) -> Any:
        there = iter(ctx.saved_tensors)
        inputs = [next(there) if t else x for t, x in zip(ctx.tensors, ctx.inputs, strict=True)]
        return tangent(inputs, tangents)

    def vmap(info: Any, dims: Any, *args: Any) -> Any:
        return batch(call, info.batch_size, dims, *args)

    members = {
        "forward": staticmethod(lambda *args: call.op(*args)),
        "setup_context": staticmethod(keep),
        "backward": staticmethod(gradient),
        "jvp": staticmethod(jvp),
        "vmap": staticmethod(vmap),
    }
    return type("Outer", (torch.autograd.Function,), members)


def one_by_one(call: Any, size: int, dims: Any, *args: Any) -> tuple[Any, int]:
    """A batch example by example: each is computed as it would be alone."""

    def example(i: int) -> list[Any]:
        pairs = zip(args, dims, strict=True)
        return [x.select(at, i) if isinstance(at, int) else x for x, at in pairs]

    return torch.stack([call(*example(i)) for i in range(size)]), 0


def by_chance(rounding: Any, back: Any = "") -> bool:
    """Whether one of them is stochastic. Compiled code has no words for what the core refuses: no
    text comes as far."""
    if not isinstance(rounding, str):
        raise TypeError(f"rounding = {rounding!r}: a text is wanted, as 'rne'")
    if not isinstance(back, str):
        raise TypeError(f"backward_rounding = {back!r}: a text is wanted, as 'rne'")
    return "sr" in (rounding[:2], back[:2])


def drawn_seed(seed: Any, stochastic: bool) -> Any:
    """What stochastic rounding draws by, from torch's generator where none is given."""
    if not stochastic:
        return None
    if seed is None:
        return torch.randint(2**62, ())
    if not isinstance(seed, torch.Tensor):
        return torch.tensor(_host.signed_seed(seed))
    if seed.numel() != 1 or not is_integer(seed.dtype):
        raise TypeError(f"seed is {seed.dtype}, {tuple(seed.shape)}; one integer is wanted")
    return seed


def is_integer(dtype: torch.dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)


def following(seed: Any, n: int) -> Any:
    """A seed of its own for the n-th operation that comes of one call."""
    return None if seed is None else seed + n
