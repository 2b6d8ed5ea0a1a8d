"""Models whose layers change their class: which ones and how is told by rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from .._format_texts import said
from .._layer_rules import covers, decided, rules_of
from .._table import Table
from ._attention import MultiheadAttention
from ._backend import check_backend
from ._layers import (
    ROLES,
    Conv1d,
    Conv2d,
    Conv3d,
    Converted,
    Linear,
    Scheme,
    keep_own_forward,
    scheme_of,
    without_own_forward,
)
from ._product import scales_blocks

OURS: dict[type[nn.Module], type[Converted]] = {
    nn.Linear: Linear,
    nn.Conv1d: Conv1d,
    nn.Conv2d: Conv2d,
    nn.Conv3d: Conv3d,
    nn.MultiheadAttention: MultiheadAttention,
}
COLUMNS = ("name", "type", "how")


def convert(
    model: nn.Module, rules: Any, *, preserve: Iterable[Any] = (), backend: str = "auto"
) -> nn.Module:
    """Let a model's layers compute by formats and units; it is changed itself, its numbers not.

    Parameters stay the same objects under the same names: state_dict loads both ways, and an
    optimizer that has them goes on.

    Args:
        model: any module. Layers of the very types nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d
            and nn.MultiheadAttention, and those converted before, change; all others stay, and
            `report` says so.
        rules: what the layers' settings are, by which layers: {"*": "mac(e5m10)"}. New settings
            drop the scales that `calibrate` found for a layer. A key is a glob
            on names ("encoder.*.fc?"), a type (nn.Linear) or a pair of both; the first that fits
            decides. A value is a unit's text, a dict of `Linear`'s settings, or None: stays.
            Pairs in a list do as well, and one value alone is for all layers.
        preserve: keys as of rules, of what stays whatever the rules say: ["head", nn.Conv2d].
        backend: where layers compute whose rule has no `backend` of its own, or 'auto', which is
            where their tensors lie. 'cpu' and 'cuda' bring tensors that lie elsewhere there, and
            the results back, to the same bits; torch.compile breaks its graph at those.
    Returns:
        The model.
    Raises:
        ValueError: a rule that fits no layer, or a key to preserve that fits no module; a text
            that is no unit or format; units that scale blocks in a convolution; backend='cuda',
            and torch finds no GPU or Widthwise cannot use it. The model is not changed.

    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> net = convert(net, {"2": None, nn.Linear: {"unit": "mac(e5m10)", "weight": "e4m3fn"}})
    >>> type(net[0]).__module__, type(net[2]).__module__
    ('widthwise.torch._layers', 'torch.nn.modules.linear')
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is {type(model).__name__}; a torch.nn.Module is wanted")
    check_backend(backend)
    read = rules_of(rules, Scheme._fields, read_scheme)
    layers = left(model, preserve)
    schemes = decided(read, list(layers.items()), none_of(model))
    pairs = zip(layers, schemes, strict=True)
    found = {name: placed(how, backend) for name, how in pairs if how is not None}
    for name, scheme in found.items():
        check_fits(name, layers[name], scheme)
    for name, scheme in found.items():
        layer = layers[name]
        if isinstance(layer, Converted) and not scheme.has_bits_of(layer.scheme):
            layer.forget_scales()
        become(layer, OURS[kind_of(layer)], scheme)
    settle_nesting(model)
    return model


def revert(model: nn.Module) -> nn.Module:
    """Let all layers be torch's own again; it is changed itself, its numbers not.

    Layers of subclasses of ours, parametrized ones among them, keep their class and compute without
    settings, as torch's do.

    Args:
        model: any module.
    Returns:
        The model.

    >>> from torch import nn
    >>> net = revert(convert(nn.Sequential(nn.Linear(4, 2)), "mac(e5m10)"))
    >>> type(net[0]) is nn.Linear
    True
    """
    for module in model.modules():
        if isinstance(module, Converted):
            module.forget_scales()
            plain_again(module)
    settle_nesting(model)
    return model


def report(model: nn.Module) -> Table:
    """Of each layer that has parameters: its type, and how it computes or why torch does it.

    Args:
        model: any module.
    Returns:
        A table, a row a layer.

    >>> from torch import nn
    >>> print(report(convert(nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)), "mac(e5m10)")))
    name  type         how
    ----  -----------  --------------------------------
    0     Linear       unit=mac(e5m10)
    1     BatchNorm1d  torch's: no rule is for its type
    """
    inner = {
        module.out_proj: name
        for name, module in model.named_modules()
        if isinstance(module, MultiheadAttention)
    }
    rows = [
        (name, type(module).__name__, how_it_computes(module, inner))
        for name, module in model.named_modules()
        if any(True for _ in module.parameters(recurse=False))
    ]
    return Table(COLUMNS, rows)


def how_it_computes(module: nn.Module, inner: Mapping[nn.Module, str]) -> str:
    if module in inner:
        return f"by '{inner[module]}'"
    if isinstance(module, Converted):
        kept = [of for of in ROLES if module.scale_of(of) is not None]
        scales = f"; kept scales: {', '.join(kept)}" if kept else ""
        if module.scheme == Scheme():
            return f"torch's: {type(module).__name__} has no settings"
        return f"{module.scheme.told()}{module.beside}{scales}"
    if type(module) in OURS:
        return "torch's: no rule changes it"
    return f"torch's: {why_not(module)}"


def why_not(module: nn.Module) -> str:
    if nn.parameter.is_lazy(next(module.parameters(recurse=False))):
        return "its parameters have no shapes before the first forward"
    if isinstance(module, tuple(OURS)):
        return f"{type(module).__name__} computes in a way of its own"
    return "no rule is for its type"


def kind_of(module: nn.Module) -> Any:
    """Which of torch's layers it is, if one that changes."""
    if type(module) in OURS:
        return type(module)
    return module.plain if isinstance(module, Converted) else None


def changeable(model: nn.Module) -> dict[str, Any]:
    """The layers that change, by their names."""
    return {name: m for name, m in model.named_modules() if kind_of(m) is not None}


def left(model: nn.Module, preserve: Iterable[Any]) -> dict[str, Any]:
    """The layers that change but for those that are preserved."""
    keys = [key for key, _ in rules_of([(key, None) for key in preserve], (), read_scheme)]
    for key in keys:
        if not any(covers(key, name, module) for name, module in model.named_modules()):
            raise ValueError(
                f"preserve has {key!r}, which fits no module of {type(model).__name__}"
            )
    layers = changeable(model).items()
    return {name: m for name, m in layers if not any(covers(key, name, m) for key in keys)}


def become(module: nn.Module, kind: type[nn.Module], scheme: Scheme) -> None:
    """What is made of one of our layers (a subclass, a parametrized one) keeps its class."""
    if not isinstance(module, Converted):
        module.__class__ = kind
    module.scheme = scheme
    keep_own_forward(module)


def plain_again(module: Converted) -> None:
    if type(module) not in OURS.values():
        module.scheme = Scheme()
        return
    module.__class__ = module.plain  # type: ignore[assignment]
    del module.scheme
    without_own_forward(module)


def settle_nesting(model: nn.Module) -> None:
    """torch's encoders make nested tensors of padded batches, but not where our layers are: no unit
    takes these."""
    for encoder in model.modules():
        if isinstance(encoder, nn.TransformerEncoder):
            ours = any(isinstance(module, Converted) for module in encoder.modules())
            if ours and encoder.use_nested_tensor:
                encoder.use_nested_tensor, encoder.nested_before = False, True
            elif not ours and vars(encoder).pop("nested_before", False):
                encoder.use_nested_tensor = True


def placed(scheme: Scheme, backend: str) -> Scheme:
    """A scheme that names no place of its own computes at this one."""
    return scheme._replace(backend=backend) if scheme.backend == "auto" else scheme


def read_scheme(how: Any) -> Scheme:
    if isinstance(how, Scheme):
        return how
    return scheme_of(**how) if isinstance(how, Mapping) else scheme_of(unit=how)


def check_fits(name: str, module: nn.Module, scheme: Scheme) -> None:
    if kind_of(module) in (nn.Linear, nn.MultiheadAttention):
        return
    for unit in (scheme.unit, scheme.backward_unit):
        if unit is not None and scales_blocks(unit):
            raise ValueError(
                f"'{name}' is a convolution and unit {said(unit)} scales blocks, which it has not; "
                "give it a rule of its own before"
            )


def none_of(model: nn.Module) -> str:
    """What is said of a model without a layer that changes."""
    return f"{type(model).__name__} has no {', '.join(t.__name__ for t in OURS)} that changes"
