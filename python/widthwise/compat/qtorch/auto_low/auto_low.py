"""Models whose layers' outputs are rounded: by hooks, or by modules behind the layers."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import nn

from ....torch._convert import OURS
from ..number import Number
from ..quant.quant_module import Quantizer

__all__ = ["lower", "sequential_lower"]


def of_sizes(stem: str, sizes: str = "123") -> list[type[nn.Module]]:
    return [getattr(nn, f"{stem}{n}d") for n in sizes]


def with_ours(kinds: list[type[nn.Module]]) -> list[type[nn.Module]]:
    """And the layers that `convert` makes of these."""
    return kinds + [OURS[kind] for kind in kinds if kind in OURS]


def named(names: str) -> list[type[nn.Module]]:
    return [getattr(nn, name) for name in names.split()]


LAYERS: dict[str, list[type[nn.Module]]] = {
    "conv": with_ours([*of_sizes("Conv"), *of_sizes("ConvTranspose"), *named("Fold Unfold")]),
    "linear": with_ours(named("Linear Bilinear")),
    "pool": [
        *(kind for stem in ("MaxPool", "MaxUnpool", "AvgPool") for kind in of_sizes(stem)),
        *(kind for stem in ("AdaptiveMaxPool", "AdaptiveAvgPool") for kind in of_sizes(stem)),
        *of_sizes("FractionalMaxPool", "23"),
        *of_sizes("LPPool", "123"),
    ],
    "pad": [
        *(kind for stem in ("Reflection", "Replication") for kind in of_sizes(f"{stem}Pad")),
        *(kind for stem in ("Zero", "Constant", "Circular") for kind in of_sizes(f"{stem}Pad")),
    ],
    "activation": named(
        "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid "
        "LogSoftmax Mish PReLU ReLU ReLU6 RReLU SELU SiLU Sigmoid Softmax Softmax2d Softmin "
        "Softplus Softshrink Softsign Tanh Tanhshrink Threshold"
    ),
    "normalization": [
        *of_sizes("BatchNorm"),
        *of_sizes("InstanceNorm"),
        *named("GroupNorm LayerNorm LocalResponseNorm RMSNorm"),
    ],
    "dropout": [*named("Dropout AlphaDropout FeatureAlphaDropout"), *of_sizes("Dropout")],
    "loss": named(
        "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
        "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss "
        "MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss "
        "SmoothL1Loss SoftMarginLoss TripletMarginLoss"
    ),
}


class Rounded:
    """A hook that rounds what a layer returns; it copies and pickles with its model."""

    def __init__(self, quantizer: Quantizer) -> None:
        self.quantizer = quantizer

    def __call__(self, module: nn.Module, args: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return tuple(self(module, args, part) for part in output)
        numbers = isinstance(output, torch.Tensor) and output.is_floating_point()
        return self.quantizer(output) if numbers else output


def lower(
    model: nn.Module,
    layer_types: Iterable[str] = (),
    forward_number: Number | None = None,
    backward_number: Number | None = None,
    forward_rounding: str = "stochastic",
    backward_rounding: str = "stochastic",
    *,
    except_layers: Iterable[str] = (),
    like: str | None = None,
) -> None:
    """Let layers' outputs be rounded; the model is changed itself, its parameters' names are not.

    Args:
        model: any module.
        layer_types: of 'conv', 'linear', 'pool', 'pad', 'activation', 'normalization', 'dropout'
            and 'loss'; layers of torch's very types are rounded, subclasses are not.
        forward_number, backward_number, forward_rounding, backward_rounding, like: as `quantizer`
            takes them.
        except_layers: globs on names of layers that stay, such as 'head.*'.
    Raises:
        ValueError: another layer type; a glob that fits no layer.

    >>> import torch
    >>> from widthwise.compat.qtorch import FixedPoint
    >>> model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    >>> lower(model, ["activation"], FixedPoint(8, 2), forward_rounding="nearest")
    >>> (model(torch.randn(3, 4)) % 0.25).any().item()
    False
    """
    quant = Quantizer(
        forward_number, backward_number, forward_rounding, backward_rounding, like=like
    )
    for module in chosen(model, layer_types, except_layers):
        module.register_forward_hook(Rounded(quant))


def sequential_lower(
    model: nn.Module,
    layer_types: Iterable[str] = (),
    forward_number: Number | None = None,
    backward_number: Number | None = None,
    forward_rounding: str = "stochastic",
    backward_rounding: str = "stochastic",
    *,
    except_layers: Iterable[str] = (),
    like: str | None = None,
) -> nn.Module:
    """A copy of a model in which nn.Sequential(layer, Quantizer) stands for each layer of a kind.

    Args:
        as `lower` takes them.
    Returns:
        The copy. `model[-1] = model[-1][0]` takes the last rounding away again.
    Raises:
        ValueError: another layer type; a glob that fits no layer.

    >>> from widthwise.compat.qtorch import FloatingPoint
    >>> low = sequential_lower(nn.Sequential(nn.Linear(4, 2)), ["linear"], FloatingPoint(5, 2))
    >>> list(low.state_dict())
    ['0.0.weight', '0.0.bias']
    """
    quant = Quantizer(
        forward_number, backward_number, forward_rounding, backward_rounding, like=like
    )
    own = copy.deepcopy(model)
    pairs = {m: nn.Sequential(m, quant) for m in chosen(own, layer_types, except_layers)}
    for parent in list(own.modules()):
        for name, child in parent._modules.items():
            if child in pairs:
                parent._modules[name] = pairs[child]
    return pairs.get(own, own)


def chosen(
    model: nn.Module, layer_types: Iterable[str], except_layers: Iterable[str]
) -> list[nn.Module]:
    """The layers to round, each once however often the model has it."""
    kinds = [kind for layer_type in layer_types for kind in kinds_of(layer_type)]
    layers = {name: m for name, m in model.named_modules() if type(m) in kinds}
    globs = list(except_layers)
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in layers):
            raise ValueError(
                f"except_layers has {glob!r}, which fits none of the layers to round: "
                f"{', '.join(layers) or 'there are none'}"
            )
    return [m for name, m in layers.items() if not any(fnmatchcase(name, g) for g in globs)]


def kinds_of(layer_type: str) -> list[type[nn.Module]]:
    if layer_type not in LAYERS:
        raise ValueError(f"layer_types has {layer_type!r}; there are {', '.join(LAYERS)}")
    return LAYERS[layer_type]
