"""What each layer of a model loses in each format, here and at the model's output."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from .._settings import Progress, told
from .._table import Findings, Table, Titled
from ._calibrate import evaluating, fed
from ._candidates import Candidate, Losses, candidates_of, wasted_bits, weight_bits
from ._convert import OURS, become, changeable, kind_of, none_of, plain_again
from ._layers import Converted, Scheme, weights_of

if TYPE_CHECKING:
    from ._suggestion import Suggestion

COLUMNS = (
    "layer", "type", "format", "bits", "numbers", "input_least", "input_largest", "weight_least",
    "weight_largest", "input_wasted", "weight_wasted", "overflow", "underflow", "error_here",
    "error_output",
)  # fmt: skip
SHOWN = ("layer", "format", "bits", "inputs", "weights", "wasted", "past range", "to zero",
         "error here", "at output")  # fmt: skip


def profile_model(
    model: nn.Module, loader: Iterable[Any], formats: Any, *, progress: Progress = None
) -> Profile:
    """Let each layer alone compute in each format, and measure what that costs.

    The error of a layer's result, given the same input, is `error_here`; that of the model's
    result is `error_output`: the root of the mean square of what changes, over that of what it was.
    All is measured in evaluation mode, and the model is left as it was.

    Args:
        model: any module with Linear, Conv1d, Conv2d, Conv3d or MultiheadAttention in it. Converted
            layers are measured against what they compute now.
        loader: batches, as `calibrate` takes them; all are kept in memory, and the model runs
            over them once for each layer and format.
        formats: what a layer's input and weight may be in ('e4m3fn', 'nvfp4', 'affine(int8)'; where
            weights have a scale a channel, inputs have one), units ('hopper.e4m3.f32'), or dicts of
            `Linear`'s settings.
        progress: True, or a function of (done, of how many).
    Returns:
        A Profile: a row for each layer and format, the worst at the output first.
    Raises:
        ValueError: the model has no such layer, the loader no batch; what is no format or unit; the
            model's result has no tensor of floats.

    >>> import torch
    >>> from torch import nn
    >>> torch.manual_seed(0)
    <torch._C.Generator object at ...>
    >>> net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> found = profile_model(net, [torch.rand(16, 8)], ["e4m3fn", "e2m1fn"])
    >>> len(found), found.worst().rows[0][2]
    (4, 'e2m1fn')
    """
    batches = list(loader)
    if not batches:
        raise ValueError("loader has no batch; one or more are wanted")
    layers = changeable(model)
    if not layers:
        raise ValueError(none_of(model))
    candidates = candidates_of(formats)
    tell, done = told(progress), 0
    with torch.no_grad(), evaluating(model):
        bench = Bench(model, batches)
        ranges = bench.ranges(layers)
        rows = []
        for name, layer in layers.items():
            for candidate in candidates:
                rows.append(bench.row(name, layer, candidate, ranges[name]))
                done += 1
                tell(done, len(layers) * len(candidates))
    rows.sort(key=lambda row: -row[-1])
    named = {candidate.name: candidate for candidate in candidates}
    return Profile(rows, type(model).__name__, named, Measure(bench, layers))


# --- Measuring -----------------------------------------------------------------------------------


NOTHING = (math.inf, 0.0)


class Ranges(NamedTuple):
    """The least and the largest magnitude above zero, of inputs and of weights."""

    inputs: tuple[float, float]
    weights: tuple[float, float]


class Measure:
    """The model's error while several layers compute otherwise."""

    def __init__(self, bench: Bench, layers: Mapping[str, nn.Module]) -> None:
        self.bench, self.layers = bench, layers

    def __call__(self, chosen: Mapping[str, Candidate]) -> float:
        states = {self.layers[name]: State(how.scheme, {}) for name, how in chosen.items()}
        with torch.no_grad(), evaluating(self.bench.model), changed(states):
            return self.bench.error()


class Error:
    """What changed, relative to what there was, both as roots of mean squares."""

    def __init__(self) -> None:
        self.signal = self.noise = 0.0

    def add(self, wanted: Any, got: Any) -> None:
        for one, other in zip(floats_in(wanted), floats_in(got), strict=True):
            wide = one.double()
            seen = wide.isfinite()  # a masked score stays what it was
            self.signal += float(wide[seen].square().sum())
            self.noise += float((other.double() - wide)[seen].square().sum())

    def relative(self) -> float:
        if not math.isfinite(self.noise):
            return math.inf
        if self.signal == 0:
            return math.inf if self.noise else 0.0
        return math.sqrt(self.noise / self.signal)


def floats_in(result: Any) -> list[torch.Tensor]:
    """All tensors of floats that a model or a layer gives."""
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() else []
    if isinstance(result, Mapping):
        result = list(result.values())
    if isinstance(result, tuple | list):
        return [x for part in result for x in floats_in(part)]
    return []


class Bench:
    """A model, batches, and what it makes of them as it stands."""

    def __init__(self, model: nn.Module, batches: list[Any]) -> None:
        self.model, self.batches = model, batches
        self.wanted = [fed(model, batch) for batch in batches]
        if not floats_in(self.wanted):
            raise ValueError(f"{type(model).__name__} gives no tensor of floats to compare")

    def ranges(self, layers: Mapping[str, nn.Module]) -> dict[str, Ranges]:
        """Of what comes in at each layer, and of its weights."""
        seen: dict[str, tuple[float, float]] = dict.fromkeys(layers, NOTHING)

        def hook(name: str) -> Callable[..., None]:
            def see(layer: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
                seen[name] = magnitudes(inputs_of(args, kwargs), seen[name])

            return see

        with hooked({layer: hook(name) for name, layer in layers.items()}):
            for batch in self.batches:
                fed(self.model, batch)
        return {
            name: Ranges(seen[name], magnitudes(weights_of(layer), NOTHING))
            for name, layer in layers.items()
        }

    def row(
        self, name: str, layer: nn.Module, candidate: Candidate, ranges: Ranges
    ) -> tuple[Any, ...]:
        here, losses, own = Error(), Losses(), state_of(layer)
        of_input, of_weight = candidate.formats

        def compare(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            with changed({module: own}):
                here.add(module.forward(*args, **kwargs), output)
            for x in inputs_of(args, kwargs):
                losses.add(x, of_input)

        with changed({layer: State(candidate.scheme, {})}), hooked({layer: compare}):
            at_output = self.error()
        for weight in weights_of(layer):
            losses.add(weight, of_weight)
        weights = weights_of(layer)
        bits, numbers = weight_bits(weights, of_weight), sum(x.numel() for x in weights)
        wasted = [wasted_bits(of[1], f) for of, f in zip(ranges, candidate.formats, strict=True)]
        sizes = [None if size in NOTHING else size for of in ranges for size in of]
        what = (name, plain_name(layer), candidate.name, bits, numbers)
        return (*what, *sizes, *wasted, *losses.shares(), here.relative(), at_output)

    def error(self) -> float:
        """Of what the model gives now."""
        total = Error()
        for batch, wanted in zip(self.batches, self.wanted, strict=True):
            total.add(wanted, fed(self.model, batch))
        return total.relative()


def plain_name(layer: nn.Module) -> str:
    kind: type = kind_of(layer)
    return kind.__name__


def inputs_of(args: Any, kwargs: Any) -> list[torch.Tensor]:
    return floats_in([*args, *kwargs.values()][:3])  # query, key and value; then come masks


def magnitudes(tensors: list[torch.Tensor], seen: tuple[float, float]) -> tuple[float, float]:
    least, largest = seen
    for x in tensors:
        sizes = x[x != 0].abs()
        if sizes.numel():
            least, largest = min(least, float(sizes.min())), max(largest, float(sizes.max()))
    return least, largest


# --- Layers that compute otherwise for a while ---------------------------------------------------


@contextmanager
def hooked(hooks: Mapping[nn.Module, Callable[..., None]]) -> Iterator[None]:
    handles = [m.register_forward_hook(hook, with_kwargs=True) for m, hook in hooks.items()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class State(NamedTuple):
    """How a layer computes: None is torch's way. Its buffers are the scales that it keeps."""

    scheme: Scheme | None
    buffers: dict[str, Any]


def state_of(layer: nn.Module) -> State:
    scheme = layer.scheme if isinstance(layer, Converted) else None
    return State(scheme, dict(layer._buffers))


def put(layer: nn.Module, state: State) -> None:
    layer._buffers.clear()
    layer._buffers.update(state.buffers)
    if state.scheme is not None:
        become(layer, OURS[kind_of(layer)], state.scheme)
    elif isinstance(layer, Converted):
        plain_again(layer)


@contextmanager
def changed(states: Mapping[nn.Module, State]) -> Iterator[None]:
    before = {layer: state_of(layer) for layer in states}
    try:
        for layer, state in states.items():
            put(layer, state)
        yield
    finally:
        for layer, state in before.items():
            put(layer, state)


# --- The result ----------------------------------------------------------------------------------


class Profile(Titled, Findings):
    """A row for each layer and format, the worst at the model's output first.

    Columns: layer, type, format, bits of a weight with its share of scales, numbers of
    weights; the least and the largest magnitude of inputs and of weights, zero left out; the
    doublings that the format has above each; the shares of numbers past the format's range and of
    numbers that become zero; the relative error of the layer's result, and of the model's.

    Printed, in a notebook and by `plot` it shows what matters of that; `records()`, `to_json()` and
    `to_dataframe()` give all.
    """

    def __init__(
        self,
        rows: Iterable[Sequence[Any]],
        model: str,
        candidates: Mapping[str, Candidate],
        measure: Measure | None = None,
    ) -> None:
        super().__init__(COLUMNS, rows)
        self.model = model
        self._candidates, self._measure = dict(candidates), measure

    @property
    def layers(self) -> list[str]:
        """Their names, the one of the worst row first."""
        return list(dict.fromkeys(row[0] for row in self.rows))

    @property
    def formats(self) -> list[str]:
        """As they were asked for."""
        return list(self._candidates)

    def worst(self, count: int = 1) -> Profile:
        """The rows of the largest errors at the output.

        count: how many.
        """
        return Profile(self.rows[:count], self.model, self._candidates, self._measure)

    def suggest(self, budget: float) -> Suggestion:
        """The fewest bits of weights with which the model's error stays within a budget.

        It begins with each layer in its cheapest format, and gives way where that buys most error
        for a bit, as if errors of layers added up as squares do; then it measures, and goes on
        while the model's own error is above the budget. Last each layer is made as cheap as the
        measured error still allows. A search by steps: the least is not proven.

        Args:
            budget: the largest error_output that will do, as 0.01.
        Returns:
            A Suggestion, whose `rules` are for `convert`.
        Raises:
            ValueError: no choice of these formats keeps to the budget; the text has the least
                error that was measured. RuntimeError: the profile was copied or stored, and has
                the model no more.
        """
        from ._suggestion import suggested

        if self._measure is None:
            raise RuntimeError("this profile was stored without its model; profile_model anew")
        return suggested(self, budget, self._measure)

    def table(self) -> Table:
        """What is printed."""
        return Table(SHOWN, map(shown, self.records()))

    def plot(self, axes: Any = None, title: str | None = None) -> Any:
        """Draw the error at the output of each layer and format, and the ranges (matplotlib).

        Args:
            axes: two axes of yours to draw on, the errors' and the ranges'; a new figure's if left
                out.
            title: above both.
        Returns:
            The two axes.
        """
        from ._profile_plot import draw

        return draw(self, axes, title)

    def to_json(self) -> str:
        """All rows as JSON; what is infinite as the text "inf"."""
        rows = [{key: finite(value) for key, value in row.items()} for row in self.records()]
        return json.dumps({"model": self.model, "rows": rows})

    def _title(self) -> str:
        formats = len(self._candidates)
        return f"{self.model}: {len(self.layers)} layers, each alone in {formats} formats"

    def _printed(self) -> Table:
        return self.table()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_measure": None}


def finite(value: Any) -> Any:
    return "inf" if value == math.inf else value


def shown(row: Mapping[str, Any]) -> tuple[Any, ...]:
    wasted = [x for x in (row["input_wasted"], row["weight_wasted"]) if x is not None]
    return (
        row["layer"], row["format"], row["bits"], powers(row, "input"), powers(row, "weight"),
        f"{min(wasted):.1f}" if wasted else "", percent(row["overflow"]),
        percent(row["underflow"]), row["error_here"], row["error_output"],
    )  # fmt: skip


def powers(row: Mapping[str, Any], of: str) -> str:
    ends = row[f"{of}_least"], row[f"{of}_largest"]
    if None in ends:
        return ""
    return " to ".join(f"2^{math.log2(end):.1f}" for end in ends)


def percent(share: float) -> str:
    return "0" if share == 0 else f"{share:.1%}" if share >= 0.001 else "<0.1%"
