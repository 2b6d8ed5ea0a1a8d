"""Models cloned with layers of ours: which ones and how is told by rules."""

from __future__ import annotations

from typing import Any

import keras

from .._layer_rules import decided, rules_of
from ._layers import SETTINGS, Conv2D, Dense, settings_of

OURS = {keras.layers.Dense: Dense, keras.layers.Conv2D: Conv2D, Dense: Dense, Conv2D: Conv2D}


def convert_model(model: Any, rules: Any) -> Any:
    """A clone of a model whose layers compute by formats and units, with the model's weights.

    Args:
        model: a Sequential or functional model, which stays as it is. Layers of the very types
            Dense and Conv2D of Keras, and ours, change, in models within it too; others are cloned
            alike.
        rules: what the layers' settings are, by which layers: {"*": "mac(e5m10)"}. A key is a glob
            on names ("block?_conv*"), a type (keras.layers.Dense) or a pair of both; the first that
            fits decides. A value is a unit's text, a dict of `Dense`'s settings, or None: stays.
            Pairs in a list do as well, and one value alone is for all layers.
    Returns:
        A new model, to be compiled.
    Raises:
        ValueError: a rule that fits no layer; a text that is no unit or format; units that scale
            blocks in a convolution; a model that Keras cannot clone.

    >>> import keras
    >>> layers = [keras.layers.Input((4,)), keras.layers.Dense(2, name="fc")]
    >>> net = convert_model(keras.Sequential(layers), {"fc": "mac(e5m10)"})
    >>> type(net.layers[0]).__module__, net.layers[0].get_config()["unit"]
    ('widthwise.tensorflow._layers', 'mac(e5m10)')
    """
    read = rules_of(rules, SETTINGS, read_how)
    layers = [(layer.name, layer) for layer in every_layer(model) if type(layer) in OURS]
    found = decided(read, layers, "there is no Dense or Conv2D that changes")
    chosen = {id(layer): how for (_, layer), how in zip(layers, found, strict=True)}

    def clone(layer: Any) -> Any:
        how = chosen.get(id(layer))
        if how is None:
            return layer.__class__.from_config(layer.get_config())
        kept = {key: x for key, x in layer.get_config().items() if key not in SETTINGS}
        ours: Any = OURS[type(layer)]
        return ours.from_config({**kept, **how})

    made = keras.models.clone_model(model, clone_function=clone, recursive=True)
    if model.built:
        if not made.built:
            made.build(model.input_shape)
        made.set_weights(model.get_weights())
    return made


def read_how(how: Any) -> dict[str, Any]:
    return settings_of(dict(how)) if isinstance(how, dict) else settings_of({"unit": how})


def every_layer(model: Any) -> list[Any]:
    """Those of models within it, too."""
    return [
        inner
        for layer in model.layers
        for inner in (every_layer(layer) if isinstance(layer, keras.Model) else [layer])
    ]
