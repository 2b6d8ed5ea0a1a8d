"""Scales of what flows through a model, found from data and kept in its state_dict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import nn

from .._block_format import is_container
from .._create import array
from .._format import Format
from .._format_facts import highest, lowest
from .._format_texts import said
from .._table import Findings
from ..containers.affine import affine
from ..containers.calibration import GRID, METHODS, check_data, check_method
from ..containers.calibrator import Calibrator
from ..containers.coded import saturating, scales_lead_to
from ..containers.parameters import binary32
from ..containers.scheme import is_affine, parsed
from ..containers.sketch import LOST, Counts
from ._gpu import lies_there
from ._layers import ROLES, Converted, Quantizer, Scales, weights_of

COLUMNS = ("name", "of", "format", "lo", "hi", "scale", "zero_point", "past", "how")
WIDE = 1 << 64  # a format that reaches so far needs no scale
KEPT, IN_EACH, NONE = "kept", "found in each tensor", "none: its range does without"
OF_FLOATS = ("minmax", "percentile", "mse")  # others count the levels of integers


def calibrate(
    model: nn.Module,
    loader: Iterable[Any],
    method: str = "minmax",
    percentile: float | None = None,
) -> Findings:
    """Find one scale for each `input`, `weight` and `output` format of a model, and keep it.

    Such formats find their scale in every tensor anew, or have none, until this is called. Weights'
    scales come from the weights, the others from data: while these are observed, none of what gets
    a scale is rounded; units stay as they are. The scales become buffers of their layers
    (`input_scale`, `input_zero_point`, …), so that state_dict has them, and a converted model loads
    them. Formats whose blocks or channels have scales of their own
    keep finding them; posits, takums and floats that reach 2^64 need none.

    Args:
        model: converted, or with `Quantizer`s; it is changed itself.
        loader: batches: a tensor, a tuple whose first is the input, or a dict of arguments.
        method: 'minmax', 'percentile', 'mse', 'entropy' or 'cross_entropy', as in `ww.calibrate`.
            Affine integers get the range that it finds; a bare format gets the larger end / its
            largest number, mse by its own numbers. Formats of floats have no entropy.
        percentile: of 'percentile', as in `ww.calibrate`.
    Returns:
        A table, a row a format: the range that its codes reach, the scale and zero point, the
        share of values past the range, and whether a scale is kept or why not.
    Raises:
        ValueError: the model has no such format, the loader no batch, a layer sees no number or
            one that is not finite; a method that a format does not take. The model is not changed.

    >>> import torch
    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> import widthwise.torch as wt
    >>> net = wt.convert(net, {"0": {"input": "affine(uint8)"}, "2": {"unit": "mac(e5m10)"}})
    >>> print(wt.calibrate(net, [torch.tensor([[0.0, 1.0], [2.0, 5.1]])]))
    name  of     format         lo   hi  scale  zero_point  past  how
    ----  -----  -------------  --  ---  -----  ----------  ----  ----
    0     input  affine(uint8)   0  5.1   0.02           0     0  kept
    >>> sorted(net.state_dict())[1:3]
    ['0.input_scale', '0.input_zero_point']
    """
    if method not in METHODS:
        raise ValueError(f"method = {method!r}: it may be {', '.join(map(repr, METHODS))}")
    places = list(places_of(model))
    if not places:
        raise ValueError(
            f"{type(model).__name__} has no layer with an `input`, `weight` or `output` format and "
            "no Quantizer; convert(model, {'*': {'input': 'affine(uint8)'}}) gives its layers one"
        )
    watched = [place for place in places if place.how == KEPT]
    try:
        for place in watched:
            place.begin(method, percentile)
        run(model, loader)
    finally:
        for place in watched:
            place.layer.__dict__.pop("watchers", None)  # the class's own, which are none
    found = {place: place.scale() for place in watched}
    for place, (scale, zero_point) in found.items():
        place.layer.keep_scale(place.of, scale, zero_point, place.home)
    return Findings(COLUMNS, [place.row() for place in places])


class Place:
    """One format of one layer, and what was seen there."""

    def __init__(self, name: str, layer: Scales, of: str, format: str) -> None:
        self.name, self.layer, self.of, self.format = name, layer, of, format

    @property
    def how(self) -> str:
        if is_affine(self.format):
            return KEPT if parsed(self.format)[1] in ("", "all") else IN_EACH
        if is_container(self.format):
            return IN_EACH
        f = Format(self.format)
        return NONE if f.system in ("posit", "takum") or f.max_finite >= WIDE else KEPT

    def begin(self, method: str, percentile: float | None) -> None:
        """Look at what comes; or an error before anything has changed."""
        bits = 8
        if is_affine(self.format):
            bits = parsed(self.format)[0].bits
        else:
            f = Format(self.format)
            if not scales_lead_to(f):
                raise ValueError(f"{said(self)}: its largest number is zero; it takes no scale")
            if f.system == "fixed":
                bits = f.width
            elif method not in OF_FLOATS:
                raise ValueError(
                    f"{said(self)}: method '{method}' counts levels of integers; it may be "
                    f"{', '.join(map(repr, OF_FLOATS))}"
                )
        try:
            check_method(method, bits, percentile)
        except ValueError as why:
            raise ValueError(f"{said(self)}: {why}") from None
        self.method = method
        self.seen = Calibrator(method, bits, percentile)
        keeps = method != "minmax"
        self.counted = self.seen if keeps else Calibrator("mse")  # what the share is of
        watch = self.observe
        if self.of == "weight":
            watch = pass_by
            for weight in weights_of(self.layer):
                self.observe(weight)
        self.layer.watchers = {**self.layer.watchers, self.of: watch}

    def observe(self, x: torch.Tensor) -> None:
        self.device = x.device
        try:
            for calibrator in {self.seen, self.counted}:
                look_at(x, calibrator)
        except ValueError as why:
            raise ValueError(f"{said(self)}: {why}") from None

    @property
    def home(self) -> torch.device:
        """Where the layer lies, which may compute elsewhere; of one without parameters where its
        data came."""
        own = next(self.layer.parameters(), None)
        return self.device if own is None else own.device

    def scale(self) -> tuple[float, int]:
        if not self.seen.count:
            raise ValueError(f"{said(self)}: no batch of loader reached it; it needs one")
        if is_affine(self.format):
            lo, hi = self.seen.range(exact=True)
            ends = np.array(lo, object), np.array(hi, object)
            made = affine([0.0], self.format, range=ends)
            return float(made.scale), int(made.zero_point)
        f = Format(self.format)
        if self.method == "mse" and f.system != "fixed":
            return self.least_error(f), 0
        top = self.seen.threshold(exact=True)
        return binary32(top / Fraction(f.max_finite)) or 1.0, 0

    def least_error(self, f: Format) -> float:
        """The scale of least squared error among a hundred, the largest on ties."""
        values, counts = self.seen._counted()
        exact = Format(str(saturating(f)))
        top, best = self.seen_largest(), (np.inf, 1.0)
        for i in range(GRID, 0, -1):
            scale = np.float32(binary32(top * i / GRID / Fraction(f.max_finite)) or 1.0)
            near = array(values.astype(np.float32) / scale, exact, nan="zero").to_float64()
            lost = values.astype(np.float64) - near * np.float64(scale)
            error = float(np.average(lost * lost, weights=counts))
            if error < best[0]:
                best = error, float(scale)
        return best[1]

    def seen_largest(self) -> Fraction:
        return Fraction(max(-self.seen._low, self.seen._high))

    def row(self) -> tuple[Any, ...]:
        kept = self.layer.scale_of(self.of)
        if self.how != KEPT or kept is None:
            return self.name, self.of, self.format, *(None,) * 5, self.how
        scale, zero = kept
        if is_affine(self.format):
            rule = parsed(self.format)[0]
            ends = [(q - int(zero)) * float(scale) for q in (rule.qmin, rule.qmax)]
        else:
            f = Format(self.format)
            ends = [x * float(scale) for x in (lowest(f), highest(f))]
        values, counts = self.counted._counted()
        past = (values < ends[0]) | (values > ends[1])
        share = float(np.average(past, weights=counts))
        return self.name, self.of, self.format, *ends, float(scale), int(zero), share, KEPT

    def __str__(self) -> str:
        return f"{self.of} of '{self.name}', {self.format}"


def in_floats(x: torch.Tensor) -> torch.Tensor:
    return x.detach() if x.dtype == torch.float64 else x.detach().float()


def values_here(x: torch.Tensor) -> np.ndarray:
    return in_floats(x).cpu().numpy()


def look_at(x: torch.Tensor, calibrator: Calibrator) -> None:
    if lies_there(x):
        calibrator._see(BatchThere(x))
    else:
        calibrator.observe(values_here(x))


class BatchThere:
    """A tensor on a GPU as a calibrator asks for it: its numbers come here where they are kept,
    else how often they occur."""

    def __init__(self, x: torch.Tensor) -> None:
        self._numbers = in_floats(x)
        if not (x.numel() and self._numbers.isfinite().all()):
            check_data(values_here(x))

    @property
    def size(self) -> int:
        return self._numbers.numel()

    def ends(self) -> tuple[float, float]:
        low, high = self._numbers.aminmax()
        return float(low), float(high)

    def values(self) -> np.ndarray:
        return values_here(self._numbers)

    def counts(self) -> Counts:
        doubles = self._numbers.double().reshape(-1) + 0.0
        keys, counts = torch.unique(doubles.view(torch.int64) >> LOST, return_counts=True)
        return keys.cpu().numpy(), counts.cpu().numpy()


def pass_by(x: torch.Tensor) -> None:
    """Weights are known, and not rounded while data are observed."""


def places_of(model: nn.Module) -> Iterator[Place]:
    for name, module in model.named_modules():
        if isinstance(module, Converted):
            for of in ROLES:
                format = getattr(module.scheme, of)
                if format is not None:
                    yield Place(name, module, of, format)
        elif isinstance(module, Quantizer) and module.format is not None:
            yield Place(name, module, "value", module.format)


# --- Running -------------------------------------------------------------------------------------


def run(model: nn.Module, loader: Iterable[Any]) -> None:
    """The model over all batches, as it computes when it is used."""
    with torch.no_grad(), evaluating(model):
        for batch in loader:
            fed(model, batch)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def fed(model: nn.Module, batch: Any) -> Any:
    """What the model makes of a batch's input."""
    if isinstance(batch, Mapping):
        return model(**batch)
    return model(batch[0] if isinstance(batch, tuple | list) else batch)
