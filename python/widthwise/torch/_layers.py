"""Layers whose numbers have a format and whose products a unit, with torch's parameter names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from .. import _widthwise as core
from .._host import check_format, env_of, text, unit_of
from .._product import Multiplier, bound_multiplier
from ._backend import check_backend, computed_on, lie_on
from ._convolution import conv1d, conv2d, conv3d
from ._multiplier import called
from ._product import linear
from ._quantize import quantize
from ._static import scaled


class Scheme(NamedTuple):
    """How a layer computes, as texts; None leaves a step as torch does it."""

    unit: str | None = None
    backward_unit: str | None = None
    input: str | None = None
    weight: str | None = None
    output: str | None = None
    backward: str | None = None
    rounding: str = "rne"
    multiplier: Multiplier = None  # a name, or what a caller gave
    backward_multiplier: Multiplier = None
    backend: str = "auto"  # where it computes

    def told(self) -> str:
        pairs = zip(self._fields, self, strict=True)
        named = [(k, v if isinstance(v, str | None) else called(v)) for k, v in pairs]
        return ", ".join(f"{k}={v}" for k, v in named if v is not None and (k, v) not in PLAIN)

    def has_bits_of(self, other: Scheme) -> bool:
        """Whether both compute the same, if at two places."""
        return self._replace(backend=other.backend) == other

    def of_products(self) -> dict[str, Any]:
        """What a product under the unit takes."""
        return {key: getattr(self, key) for key in OF_PRODUCTS}


for name in ("conv1d", "conv2d", "conv3d", "linear", "quantize", "returning", "scaled"):
    torch.fx.wrap(name)  # a symbolic trace records the call, for it has no numbers to look at

PLAIN = {("rounding", "rne"), ("backend", "auto")}
MULTIPLIERS = ("multiplier", "backward_multiplier")
OF_PRODUCTS = ("unit", "backward_unit", *MULTIPLIERS)


def scheme_of(**how: Any) -> Scheme:
    """Of what a user said, each text read once so that it fails here and not in a training."""
    unknown = how.keys() - set(Scheme._fields)
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(Scheme._fields)}")
    scheme = Scheme(**{key: v if key in MULTIPLIERS else text(v) for key, v in how.items()})
    for unit in (scheme.unit, scheme.backward_unit):
        if unit is not None:
            unit_of(unit)
    for key in OF_PRODUCTS[1:]:
        given = getattr(scheme, key)
        if given is not None and scheme.unit is None:
            raise ValueError(f"{key} = {given!r} and no unit; name both")
    for given in (scheme.multiplier, scheme.backward_multiplier):
        if given is not None:
            core.PreparedUnit(unit_of(scheme.unit)._core, 1, bound_multiplier(given))
    for format in (scheme.input, scheme.weight, scheme.output, scheme.backward):
        if format is not None:
            check_format(format)
    env_of(scheme.rounding)
    check_backend(scheme.backend)
    return scheme


class Scales(nn.Module):
    """What keeps scales of values that it rounds: buffers, that state_dict has."""

    # What sees values in place of their rounding, while `calibrate` looks.
    watchers: Mapping[str, Callable[[torch.Tensor], None]] = MappingProxyType({})

    def scale_of(self, of: str) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Scale and zero point, if there are any."""
        scale = self._buffers.get(f"{of}_scale")
        return None if scale is None else (scale, self._buffers[f"{of}_zero_point"])

    def keep_scale(self, of: str, scale: float, zero_point: int, device: torch.device) -> None:
        kept = torch.tensor(float(scale), dtype=torch.float32, device=device)
        zero = torch.tensor(zero_point, dtype=torch.int32, device=device)
        self.register_buffer(f"{of}_scale", kept)
        self.register_buffer(f"{of}_zero_point", zero)

    def forget_scales(self) -> None:
        for name in [name for name in self._buffers if name in SCALE_NAMES]:
            del self._buffers[name]

    def rounded(self, x: torch.Tensor, of: str, format: str, how: dict[str, Any]) -> torch.Tensor:
        """Values of x in a format, by the scale that is kept for them or as `quantize` does."""
        if of in self.watchers:
            self.watchers[of](x)
            return x
        kept = self.scale_of(of)
        if kept is None:
            return quantize(x, format, **how)
        y = scaled(x, format, *kept, how["rounding"], how.get("clamp", True))
        back = {key: how[key] for key in ("backward", "backward_rounding") if key in how}
        return y if how.get("backward") is None else returning(y, how["rounding"], **back)

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Any:
        """Scales go where a model goes, and stay binary32's when it becomes half."""
        before = {name: self._buffers[name] for name in self._buffers if name in SCALE_NAMES}
        super()._apply(fn, recurse)
        for name, kept in before.items():
            if kept is not None and self._buffers[name].dtype != kept.dtype:
                self._buffers[name] = kept.to(self._buffers[name].device)
        return self

    def _load_from_state_dict(self, state: Any, prefix: str, *how: Any) -> None:
        """Scales come with a state even where none were found before."""
        for name in SCALE_NAMES:
            kept = state.get(prefix + name)
            if isinstance(kept, torch.Tensor) and self.takes(name):
                mine = next(self.parameters(recurse=False), kept)  # where the layer lies
                self.register_buffer(name, torch.empty_like(kept, device=mine.device))
        super()._load_from_state_dict(state, prefix, *how)

    def takes(self, name: str) -> bool:
        raise NotImplementedError


ROLES = ("input", "weight", "output")  # of a layer's formats
SCALE_NAMES = [f"{of}_{x}" for of in (*ROLES, "value") for x in ("scale", "zero_point")]


class Converted(Scales):
    """What the layers share: a scheme, and the roundings before and after the products."""

    scheme: Scheme
    plain: type[nn.Module]  # what `revert` makes of it
    beside = ""  # what `report` tells of steps that no setting is for

    def forward(self, *args: Any, **how: Any) -> Any:
        backend = self.scheme.backend
        if backend == "auto" or (
            torch.compiler.is_compiling() and lie_on(backend, self, (args, how))
        ):
            return self.computed(*args, **how)
        return computed_on(backend, self, args, how)

    def computed(self, *args: Any, **how: Any) -> Any:
        """What it gives of tensors that lie together."""
        raise NotImplementedError

    def takes(self, name: str) -> bool:
        of = name.partition("_")[0]
        return of != "value" and getattr(self.scheme, of) is not None

    def taken_in(self, x: torch.Tensor) -> torch.Tensor:
        how = self.scheme
        if how.input is None:
            return x
        return self.rounded(x, "input", how.input, {"rounding": how.rounding})

    def weighted(self, weight: torch.Tensor) -> torch.Tensor:
        how = self.scheme
        if how.weight is None:
            return weight
        return self.rounded(weight, "weight", how.weight, {"rounding": how.rounding})

    def delivered(self, y: torch.Tensor) -> torch.Tensor:
        how = self.scheme
        if how.output is not None:
            both = {"rounding": how.rounding, "backward": how.backward}
            return self.rounded(y, "output", how.output, both)
        return y if how.backward is None else returning(y, how.rounding, how.backward)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, {self.scheme.told()}"


class OfOneProduct(Converted):
    """A layer of one input and one weight."""

    def product(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def computed(self, x: torch.Tensor) -> torch.Tensor:
        return self.delivered(self.product(self.taken_in(x), self.weighted(self.weight)))


def returning(
    y: torch.Tensor, rounding: str, backward: str, backward_rounding: str | None = None
) -> torch.Tensor:
    """The same values, whose gradients are rounded: every dtype holds its own format."""
    how = rounding if backward_rounding is None else backward_rounding
    return quantize(y, OWN[y.dtype], backward=backward, clamp=False, backward_rounding=how)


OWN = {
    torch.float16: "binary16",
    torch.bfloat16: "bfloat16",
    torch.float32: "binary32",
    torch.float64: "binary64",
}


class Linear(OfOneProduct, nn.Linear):
    """torch.nn.Linear under a unit; its parameters have the same names.

    Args:
        in_features, out_features, bias, device, dtype: as torch has them.
        how: unit, backward_unit, multiplier, backward_multiplier (as `linear` takes them), formats
            of the input, weight, output and of the gradient that comes back (backward), rounding
            and backend (as `convert` takes it). What is left out stays torch's own.

    >>> import torch
    >>> layer = Linear(2, 1, unit="mac(e4m3fn, sum=e5m10)", backward_unit="mac(e5m2, sum=e5m10)")
    >>> sorted(layer.state_dict())
    ['bias', 'weight']
    """

    plain = nn.Linear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        **how: Any,
    ) -> None:
        scheme = scheme_of(**how)
        nn.Linear.__init__(self, in_features, out_features, bias, device, dtype)
        self.scheme = scheme
        keep_own_forward(self)

    def product(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        how = self.scheme
        if how.unit is None:
            return F.linear(x, weight, self.bias)
        return linear(x, weight, self.bias, **how.of_products())


class Convolution(OfOneProduct):
    """What convolutions of one to three axes share."""

    def product(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        how = self.scheme
        if how.unit is None:
            return self._conv_forward(x, weight, self.bias)
        padding = self.padding
        if self.padding_mode != "zeros":
            x = F.pad(x, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        convolve: Any = (conv1d, conv2d, conv3d)[len(self.kernel_size) - 1]
        steps = (self.stride, padding, self.dilation, self.groups)
        return convolve(x, weight, self.bias, *steps, **how.of_products())


class Conv1d(Convolution, nn.Conv1d):
    """torch.nn.Conv1d under a unit, with the settings of `Linear`; the same parameter names.

    >>> import torch
    >>> Conv1d(1, 1, 3, padding=1, unit="mac(e5m10)")(torch.ones(1, 1, 5)).shape
    torch.Size([1, 1, 5])
    """

    plain = nn.Conv1d

    def __init__(self, *args: Any, **how: Any) -> None:
        construct(self, nn.Conv1d, args, how)


class Conv2d(Convolution, nn.Conv2d):
    """torch.nn.Conv2d under a unit, with the settings of `Linear`; the same parameter names.

    >>> import torch
    >>> Conv2d(1, 2, 3, unit="hopper.f16.f32")(torch.ones(1, 1, 3, 3)).shape
    torch.Size([1, 2, 1, 1])
    """

    plain = nn.Conv2d

    def __init__(self, *args: Any, **how: Any) -> None:
        construct(self, nn.Conv2d, args, how)


class Conv3d(Convolution, nn.Conv3d):
    """torch.nn.Conv3d under a unit, with the settings of `Linear`; the same parameter names.

    >>> import torch
    >>> Conv3d(1, 2, 2, unit="mac(e5m10)")(torch.ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 2, 2, 2])
    """

    plain = nn.Conv3d

    def __init__(self, *args: Any, **how: Any) -> None:
        construct(self, nn.Conv3d, args, how)


def construct(layer: Any, plain: Any, args: Any, how: dict[str, Any]) -> None:
    """The scheme's settings are ours, all others torch's."""
    own = {key: how.pop(key) for key in Scheme._fields if key in how}
    scheme = scheme_of(**own)
    plain.__init__(layer, *args, **how)
    layer.scheme = scheme
    keep_own_forward(layer)


def weights_of(layer: nn.Module) -> list[torch.Tensor]:
    """All that a layer multiplies by."""
    if not isinstance(layer, nn.MultiheadAttention):
        return [layer.weight]
    own = (layer.in_proj_weight, layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight)
    return [x for x in (*own, layer.out_proj.weight) if x is not None]


def own_forward(layer: nn.Module, args: Any) -> None:
    """torch's fast paths for inference (nn.TransformerEncoderLayer) take the weights of a layer and
    not its forward, but for layers that have a hook, as this one."""


def keep_own_forward(layer: nn.Module) -> None:
    if own_forward not in layer._forward_pre_hooks.values():
        layer.register_forward_pre_hook(own_forward)


def without_own_forward(layer: nn.Module) -> None:
    for key in [key for key, hook in layer._forward_pre_hooks.items() if hook is own_forward]:
        del layer._forward_pre_hooks[key]


class Quantizer(Scales):
    """`quantize` as a module, of two formats: of values and of the gradients that come back.

    Args:
        format: of values; None lets them pass.
        backward: of gradients; None lets them pass.
        rounding, backward_rounding, clamp, axis: as in `quantize`.

    >>> import torch
    >>> Quantizer("e4m3fn", backward="e5m2")(torch.tensor([0.3]))
    tensor([0.3125])
    """

    def __init__(
        self,
        format: Any = None,
        backward: Any = None,
        rounding: str = "rne",
        *,
        backward_rounding: str | None = None,
        clamp: bool = True,
        axis: int | None = None,
    ) -> None:
        super().__init__()
        self.format, self.backward = text(format), text(backward)
        for told in (self.format, self.backward):
            if told is not None:
                check_format(told)
        self.rounding, self.backward_rounding = rounding, backward_rounding
        self.clamp, self.axis = clamp, axis
        for mode in (rounding, backward_rounding or rounding):
            env_of(mode)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.format is None:
            if self.backward is None:
                return x
            return returning(x, self.rounding, self.backward, self.backward_rounding)
        how = {key: getattr(self, key) for key in ("rounding", "backward", "backward_rounding")}
        return self.rounded(x, "value", self.format, how | {"clamp": self.clamp, "axis": self.axis})

    def takes(self, name: str) -> bool:
        return name.startswith("value") and self.format is not None

    def extra_repr(self) -> str:
        back = "" if self.backward is None else f", backward={self.backward!r}"
        return f"{self.format!r}{back}, rounding={self.rounding!r}"
