"""Optimizers whose numbers have formats: weights, gradients, momenta, accumulators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from itertools import count
from typing import Any

import torch
from torch.optim import Optimizer

from .._format_texts import said
from .._host import check_format, env_of, text
from ._by_name import ByName, Change, by_name, check_globs, nameless, names_among, names_in
from ._quantize import quantize

Values = dict[torch.Tensor, torch.Tensor]  # of parameters
COUNTER = "step"  # of a state: a number of steps, which has no format
KEPT = "accumulators"  # in a state_dict


class ToFormat:
    """A rounding that copies and pickles."""

    def __init__(self, format: str, rounding: str) -> None:
        self.format, self.rounding = format, rounding

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return quantize(x, self.format, self.rounding, clamp=False)

    def __repr__(self) -> str:
        return self.format if self.rounding == "rne" else f"{self.format} by {self.rounding}"


class Steps:
    """What is done around an optimizer's step.

    Args:
        weight, grad, accumulator: of tensors, None where nothing is done; or by parameters' names.
        momentum: the same, or one for each key of the state.
        grad_scale: what gradients are multiplied by before they are rounded.
        accumulators: of parameters, where there is `accumulator`; others begin as they are.
        left: the weights as the last step left them: what is another number since then was set by
            somebody else, and the accumulator goes on from there. None: nobody looks.
        names: of parameters; an optimizer's own are added.
    """

    def __init__(
        self,
        weight: Change | ByName | None = None,
        grad: Change | ByName | None = None,
        momentum: Change | ByName | Mapping[str, Change | ByName] | None = None,
        accumulator: Change | ByName | None = None,
        grad_scale: float = 1.0,
        accumulators: Values | None = None,
        left: Values | None = None,
        names: dict[torch.Tensor, str] | None = None,
    ) -> None:
        self.weight, self.grad, self.momentum = weight, grad, momentum
        self.accumulator, self.grad_scale = accumulator, grad_scale
        self.accumulators = {} if accumulators is None else accumulators
        self.left = left
        self.names = {} if names is None else names
        self.weights: Values = {}  # where they lie, while accumulators take a step in their place
        self.moving: set[torch.Tensor] = set()  # by a step that has begun, and not yet rounded

    def of(self, p: torch.Tensor, told: Any) -> Change | None:
        """What is done to a parameter's numbers."""
        if not isinstance(told, ByName):
            found: Change | None = told
            return found
        if p not in self.names:
            raise nameless(p)
        return told.of(self.names[p])

    def check(self, optimizer: Optimizer, excluded: Iterable[str] = ()) -> None:
        """That rules fit parameters, all of which have names where there are any."""
        momenta = self.momentum.values() if isinstance(self.momentum, Mapping) else [self.momentum]
        rules = [("weight", self.weight), ("grad", self.grad), ("accumulator", self.accumulator)]
        rules += [("momentum", told) for told in momenta]
        for p in parameters(optimizer):
            for _, told in rules:
                self.of(p, told)
        names = [self.names[p] for p in parameters(optimizer) if p in self.names]
        check_globs("except_layers", ByName((glob, None) for glob in excluded), names)
        for name, told in rules:
            check_globs(name, told, names)

    def take_up(self, optimizer: Optimizer) -> None:
        """An accumulator for each parameter that has none, and what was written to the others."""
        for p, name in names_in(optimizer):
            self.names.setdefault(p, name)
        if self.accumulator is None:
            return
        for p in parameters(optimizer):
            if self.of(p, self.accumulator) is None:
                continue
            if p not in self.accumulators:
                self.accumulators[p] = p.detach().clone()
                self.leave(p)
            elif self.left is not None and p in self.left:
                held, written = self.accumulators[p], p.detach() != self.left[p]
                if written.any():
                    self.accumulators[p] = torch.where(written, p.detach(), held)
                    self.leave(p)

    def leave(self, p: torch.Tensor) -> None:
        if self.left is not None:
            self.left[p] = p.detach().clone()

    def begin(self, optimizer: Optimizer, closure: Any) -> Any:
        """Before a step; a closure comes back as one whose gradients are rounded."""
        self.take_up(optimizer)
        if closure is None:
            self.round_gradients(optimizer)
        self.weights = {p: p.data for p in parameters(optimizer) if p in self.accumulators}
        self.moving = set(parameters(optimizer))
        show(self.accumulators, self.weights)
        return None if closure is None else self.around(optimizer, closure)

    def around(self, optimizer: Optimizer, closure: Any) -> Any:
        """Gradients are taken at the weights, and steps from the accumulators."""
        calls = count()

        def evaluated() -> Any:
            moving, again = {p: p.data for p in self.weights}, next(calls)
            for p, x in moving.items() if again else ():
                self.lay(p, x)
            show(self.weights, self.weights)
            try:
                loss = closure()
                self.round_gradients(optimizer)
            except BaseException:
                if not again:
                    self.weights, self.moving = {}, set()  # all is as before the step
                raise
            finally:
                show(moving, self.weights)
            return loss

        return evaluated

    def lay(self, p: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Rounded weights where weights lie: others may have views of that memory, or share it."""
        return self.weights.get(p, p.data).copy_(self.low(p, x))

    def low(self, p: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        change = self.of(p, self.weight)
        return x if change is None else change(x).detach()

    def round_gradients(self, optimizer: Optimizer) -> None:
        if self.grad is None:
            return
        for p in parameters(optimizer):
            change = self.of(p, self.grad)
            if p.grad is not None and change is not None:
                p.grad.data = of_numbers(change, p.grad.data * self.grad_scale)

    @torch.no_grad()
    def end(self, optimizer: Optimizer) -> None:
        """After a step."""
        for p in parameters(optimizer):
            self.settle(p)
            if p.grad is not None:
                self.round_momenta(p, optimizer.state.get(p, {}))

    @torch.no_grad()
    def settle(self, p: torch.Tensor) -> None:
        """The accumulator and the weight from what a step has left in its place."""
        change = self.of(p, self.accumulator)
        if change is not None:
            self.accumulators[p] = change(p.data).detach()
        if change is not None or self.of(p, self.weight) is not None:
            p.data = self.lay(p, self.accumulators.get(p, p.data))
        if change is not None:
            self.leave(p)
        self.weights.pop(p, None)
        self.moving.discard(p)

    @contextmanager
    def given_up(self, optimizer: Optimizer) -> Iterator[None]:
        """Around a step, that it leaves rounded weights when it raises: accumulators are as far as
        it came, and weights those, or what the step itself has made of them, rounded. Where that
        raises, too, both are the weights of before; a weight without an accumulator, of which
        nothing is kept, is what the step has left."""
        try:
            yield
        except BaseException:
            for p in filter(self.moving.__contains__, parameters(optimizer)):
                try:
                    self.settle(p)
                except Exception:  # as of a NaN, which the format has not
                    self.restore(p)
            raise

    def restore(self, p: torch.Tensor) -> None:
        """The weight of before a step, where it lies yet."""
        self.moving.discard(p)
        if p in self.weights:
            p.data = self.weights.pop(p)
            self.accumulators[p] = p.detach().clone()
            self.leave(p)

    def round_momenta(self, p: torch.Tensor, state: dict[str, Any]) -> None:
        for key, value in state.items():
            told = self.momentum.get(key) if isinstance(self.momentum, Mapping) else self.momentum
            change = self.of(p, told)
            if change is not None and is_momentum(key, value, p):
                state[key] = change(value)

    # --- What is saved ---------------------------------------------------------------------------

    def saved(self, optimizer: Optimizer) -> dict[int, torch.Tensor]:
        self.take_up(optimizer)
        every = enumerate(parameters(optimizer))
        return {i: self.accumulators[p] for i, p in every if p in self.accumulators}

    def load(self, optimizer: Optimizer, saved: Mapping[int, torch.Tensor]) -> None:
        """Accumulators from a state_dict, whose weights may be loaded later; those that it lacks
        begin at the weights."""
        self.accumulators.clear()
        if self.left is not None:
            self.left.clear()
        for i, p in enumerate(parameters(optimizer)):
            if i in saved and self.of(p, self.accumulator) is not None:
                self.accumulators[p] = saved[i].to(p.device, p.dtype, copy=True)
        self.take_up(optimizer)


def of_numbers(change: Change, g: torch.Tensor) -> torch.Tensor:
    """A gradient changed; of a sparse one the numbers that it has."""
    if g.layout is not torch.sparse_coo:
        return change(g)
    g = g.coalesce()
    return torch.sparse_coo_tensor(g.indices(), change(g.values()), g.shape, is_coalesced=True)


def show(values: Values, of: Values) -> None:
    """Let parameters have these values."""
    for p in of:
        p.data = values[p]


def parameters(optimizer: Optimizer) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def is_momentum(key: str, value: Any, p: torch.Tensor) -> bool:
    """Whether a state's entry is of numbers that go with those of the parameter."""
    if key == COUNTER or not isinstance(value, torch.Tensor):
        return False
    return value.shape == p.shape and value.is_floating_point()


class Quantised:
    """Stands before an optimizer's own class; its hooks come again where torch forgets them."""

    _steps: Steps
    plain: type[Optimizer]

    def attach(self: Any) -> None:
        self.register_step_pre_hook(before)
        self.register_step_post_hook(after)

    def state_dict(self: Any) -> dict[str, Any]:
        found = self.plain.state_dict(self)
        if self._steps.accumulator is not None:
            found[KEPT] = self._steps.saved(self)
        return found

    def load_state_dict(self: Any, state_dict: dict[str, Any]) -> None:
        given = dict(state_dict)
        kept = given.pop(KEPT, {})
        self.plain.load_state_dict(self, given)
        self._steps.load(self, kept)

    def __getstate__(self: Any) -> dict[str, Any]:
        """All but hooks, and the step that a scheduler has put its own around: LBFGS keeps lists
        of its own, which torch's state forgets."""
        own = vars(self).items()
        kept = {k: v for k, v in own if not k.startswith("_optimizer_") and k != "step"}
        return kept | self.plain.__getstate__(self)

    def __setstate__(self: Any, state: dict[str, Any]) -> None:
        fresh = "_steps" in state  # torch's load_state_dict comes here as well, without
        self.plain.__setstate__(self, state)
        if fresh:
            self.attach()

    def __reduce__(self: Any) -> Any:
        return blank, (self.plain,), self.__getstate__()


@cache
def quantised(plain: Any) -> Any:
    """A class of the same name, which isinstance takes for the plain one."""
    own = {"plain": plain, "__doc__": plain.__doc__, "step": or_given_up(plain.step)}
    return type(plain.__name__, (Quantised, plain), own)


def or_given_up(step: Any, of: Optimizer | None = None) -> Any:
    """A method, or one of an optimizer's own, that leaves rounded weights when it raises."""

    @wraps(step)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        optimizer: Any = args[0] if of is None else of
        with optimizer._steps.given_up(optimizer):
            return step(*args, **kwargs)

    return guarded


def blank(plain: Any) -> Any:
    own = quantised(plain)
    return own.__new__(own)


def before(optimizer: Any, args: Any, kwargs: Any) -> Any:
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
    wrapped = optimizer._steps.begin(optimizer, closure)
    if wrapped is None:
        return None
    return (args[0], wrapped, *args[2:]), {k: v for k, v in kwargs.items() if k != "closure"}


def after(optimizer: Any, args: Any, kwargs: Any) -> None:
    optimizer._steps.end(optimizer)


def quantize_optimizer(
    optimizer: Optimizer,
    weight: Any = None,
    grad: Any = None,
    momentum: Any = None,
    accumulator: Any = None,
    *,
    rounding: str = "rne",
    grad_scale: float = 1.0,
    names: Any = None,
    except_layers: Iterable[str] = (),
) -> Optimizer:
    """Let an optimizer's numbers have formats; it is changed itself, and keeps its state.

    A step rounds gradients, moves the accumulators, rounds these, takes the weights from them, and
    rounds the momenta; before the first one nothing is rounded. One that raises leaves rounded
    weights, of accumulators or of what it made of the weights itself. Closures are called at the
    weights, as often as the optimizer calls them, and their gradients are rounded each time.
    Schedulers go on, those made before included. Accumulators are in state_dict, deep copies and
    pickles.

    Args:
        optimizer: any of torch.optim, or of a subclass.
        weight: the format of weights, as in `quantize`; or a function of a tensor that returns one;
            or rules on names, {"head": None, "*": "e4m3fn"}, of which the first that fits decides:
            globs on names of parameters, or of layers that hold them.
        grad: of gradients, the same.
        momentum: of what the optimizer keeps for each number of a parameter (all tensors of its
            state that have the parameter's shape); or a dict of them by key, {"exp_avg": "e5m10"},
            each with rules on names where that is wanted.
        accumulator: of copies of the weights that steps are added to; None: of none, so that steps
            are added to the rounded weights. Where weights are set between two steps, as
            `load_state_dict` of the model does, it goes on from there. Rules as in `weight`.
        rounding: of these formats; 'sr32' is stochastic.
        grad_scale: what gradients are multiplied by before they are rounded.
        names: the model, or its named_parameters(), where there are rules on names; an optimizer
            that was made of named_parameters() knows them.
        except_layers: globs on names, as in rules, of what stays as the optimizer leaves it.
    Returns:
        The optimizer.
    Raises:
        ValueError: a text that is no format; a scale that is not positive; a glob that fits no
            parameter; rules, and a parameter without a name.
        TypeError: it is no optimizer of torch, or quantised already.

    >>> import torch
    >>> p = torch.nn.Parameter(torch.tensor([1.0]))
    >>> opt = torch.optim.SGD([p], lr=0.01)
    >>> opt = quantize_optimizer(opt, weight="e4m3fn", accumulator="e8m7")
    >>> p.grad = torch.tensor([1.0])
    >>> opt.step()
    >>> p.item(), opt.state_dict()["accumulators"][0].item()    # the weight alone would stay
    (1.0, 0.98828125)
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer is {type(optimizer).__name__}, and one of torch is taken")
    if isinstance(optimizer, Quantised):
        raise TypeError("optimizer has formats already; give them all in one call")
    if not grad_scale > 0:
        raise ValueError(f"grad_scale = {grad_scale}: it is positive")
    env_of(rounding)
    excluded = list(except_layers)

    def read(name: str, told: Any) -> Any:
        return by_name(told, excluded, lambda how: change(name, how, rounding))

    check_states(momentum)
    steps = Steps(
        read("weight", weight),
        scaling(read("grad", grad), grad_scale),
        {key: read("momentum", told) for key, told in momentum.items()}
        if isinstance(momentum, Mapping)
        else read("momentum", momentum),
        read("accumulator", accumulator),
        grad_scale,
        left={},
        names=names_among(names, optimizer),
    )
    steps.check(optimizer, excluded)
    own: Any = optimizer
    own.__class__ = quantised(own.__class__)
    own._steps = steps
    if "step" in vars(own):  # a scheduler has put its own around the plain class's
        own.step = or_given_up(own.step, own)
    own.attach()
    steps.take_up(optimizer)
    return optimizer


def check_states(momentum: Any) -> None:
    """Keys of `momentum` name what an optimizer keeps: a rule on parameters stands behind one."""
    for key in momentum if isinstance(momentum, Mapping) else ():
        if set(str(key)) & set("*?["):
            raise ValueError(
                f"momentum = {{{key!r}: …}}: its keys are names of an optimizer's state; write "
                f"{{'momentum_buffer': {{{key!r}: …}}}}"
            )


def change(name: str, told: Any, rounding: str) -> Change | None:
    """A format's text as the rounding to it; functions are taken as they are."""
    if told is None or (callable(told) and not isinstance(told, str)):
        return told
    try:
        check_format(text(told))
    except ValueError as why:
        raise ValueError(f"{name} = {said(told)!r}: {why}") from None
    return ToFormat(text(told), rounding)


def scaling(grad: Any, scale: float) -> Any:
    """A scale acts without a format, too."""
    if scale == 1.0:
        return grad
    if isinstance(grad, ByName):
        return ByName([(glob, how or same) for glob, how in grad.rules] + [("*", same)])
    return same if grad is None else grad


def same(x: torch.Tensor) -> torch.Tensor:
    return x
