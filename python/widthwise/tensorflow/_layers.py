"""Keras' layers whose numbers have a format and whose products a unit; they save and load."""

from __future__ import annotations

from functools import partial
from typing import Any

import keras
import tensorflow as tf

from .. import _host
from ._product import conv2d, matmul
from ._quantize import quantize

if keras.config.backend() != "tensorflow":
    raise ImportError(
        f"widthwise.tensorflow has layers for Keras on TensorFlow, and Keras runs on "
        f"{keras.config.backend()}; set KERAS_BACKEND=tensorflow before keras is imported",
        name="keras",
    )

SETTINGS = ("unit", "backward_unit", "input", "weight", "output", "backward", "rounding")
OWN = {"float16": "binary16", "float32": "binary32", "float64": "binary64"}
registered = partial(keras.saving.register_keras_serializable, package="widthwise")


def settings_of(how: dict[str, Any]) -> dict[str, Any]:
    """As texts, each read once so that it fails here and not in a training."""
    if unknown := how.keys() - set(SETTINGS):
        raise TypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(SETTINGS)}")
    told = {key: _host.text(value) for key, value in how.items() if value is not None}
    for key in ("unit", "backward_unit"):
        if key in told:
            _host.unit_of(told[key])
    if "backward_unit" in told and "unit" not in told:
        raise ValueError(f"backward_unit = '{told['backward_unit']}' and no unit; name both")
    for key in ("input", "weight", "output", "backward"):
        if key in told:
            _host.check_format(told[key])
    _host.env_of(told.get("rounding", "rne"))
    return told


class Converted:
    """What the layers share: settings, and the roundings before and after the product."""

    how: dict[str, Any]

    def configure(self: Any, how: dict[str, Any], plain: Any, others: dict[str, Any]) -> None:
        """The settings are ours, all others Keras'."""
        told = settings_of({key: how[key] for key in SETTINGS if key in how})
        plain.__init__(self, **{key: x for key, x in how.items() if key not in SETTINGS}, **others)
        self.how = told
        self.supports_jit = False  # XLA has no calls of the host: Keras does without it then

    def rounded(self: Any, x: tf.Tensor, which: str) -> tf.Tensor:
        format = self.how.get(which)
        return x if format is None else quantize(x, format, self.how.get("rounding", "rne"))

    def finished(self: Any, y: tf.Tensor) -> tf.Tensor:
        """After the product: the activation, then the result's format and its gradients'."""
        y = y if self.activation is None else self.activation(y)
        return returned(y, self.how.get("output"), self.how.get("backward"), self.how)

    def bias_of(self: Any, y: tf.Tensor) -> tf.Tensor:
        return tf.cast(self.bias, y.dtype) if self.use_bias else None

    def with_settings(self: Any, config: dict[str, Any]) -> dict[str, Any]:
        return {**config, **self.how}


def returned(y: tf.Tensor, format: Any, backward: Any, how: Any) -> tf.Tensor:
    """The same values where there is no format: every dtype holds its own."""
    if format is None and backward is None:
        return y
    own = OWN.get(y.dtype.name, y.dtype.name)
    rounding = how.get("rounding", "rne")
    if format is None:
        return quantize(y, own, "rne", backward, clamp=False, backward_rounding=rounding)
    return quantize(y, format, rounding, backward)


@registered()
class Dense(Converted, keras.layers.Dense):
    """keras.layers.Dense under a unit; its weights have the same names.

    Args:
        units and others: as Keras has them.
        how: unit, backward_unit (as `matmul` takes them), formats of the input, weight, output and
            of the gradient that comes back (backward), and rounding. What is left out stays Keras'
            own. The output's format is that of what the activation gives.

    >>> layer = Dense(1, unit="mac(e4m3fn, sum=e5m10)", kernel_initializer="ones")
    >>> layer(tf.constant([[1.0, 2.0]])).numpy().tolist()
    [[3.0]]
    """

    def __init__(self, units: int, **how: Any) -> None:
        self.configure(how, keras.layers.Dense, {"units": units})

    def call(self, inputs: tf.Tensor, training: Any = None) -> tf.Tensor:
        x = self.rounded(inputs, "input")
        kernel = self.rounded(tf.cast(self.kernel, x.dtype), "weight")
        bias = self.bias_of(x)
        if "unit" not in self.how:
            y = tf.linalg.matmul(x, kernel) if bias is None else tf.linalg.matmul(x, kernel) + bias
            return self.finished(y)
        of = {key: self.how.get(key) for key in ("unit", "backward_unit")}
        return self.finished(matmul(x, kernel, c=bias, **of))

    def get_config(self) -> dict[str, Any]:
        return self.with_settings(keras.layers.Dense.get_config(self))


@registered()
class Conv2D(Converted, keras.layers.Conv2D):
    """keras.layers.Conv2D under a unit, with the settings of `Dense`; the same weights' names.

    >>> layer = Conv2D(2, 3, padding="same", unit="hopper.f16.f32")
    >>> layer(tf.ones((1, 5, 5, 1))).shape
    TensorShape([1, 5, 5, 2])
    """

    def __init__(self, filters: int, kernel_size: Any, **how: Any) -> None:
        others = {"filters": filters, "kernel_size": kernel_size}
        self.configure(how, keras.layers.Conv2D, others)
        _host.no_blocks(*units_named(self.how))

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        x = self.rounded(inputs, "input")
        kernel = self.rounded(tf.cast(self.kernel, x.dtype), "weight")
        first = self.data_format == "channels_first"
        if "unit" not in self.how:
            y = self.convolution_op(x, kernel)
            if self.use_bias:
                y = tf.nn.bias_add(y, self.bias_of(y), "NCHW" if first else "NHWC")
            return self.finished(y)
        y = conv2d(
            x, kernel, self.bias_of(x), self.strides, self.padding, self.dilation_rate,
            unit=self.how["unit"], backward_unit=self.how.get("backward_unit"),
            data_format="NCHW" if first else "NHWC",
        )  # fmt: skip
        return self.finished(y)

    def get_config(self) -> dict[str, Any]:
        return self.with_settings(keras.layers.Conv2D.get_config(self))


def units_named(how: dict[str, Any]) -> list[str]:
    return [how[key] for key in ("unit", "backward_unit") if key in how]


@registered()
class Quantizer(keras.layers.Layer):
    """`quantize` as a layer, of two formats: of values and of the gradients that come back.

    Args:
        format: of values; None lets them pass.
        backward: of gradients; None lets them pass.
        rounding, backward_rounding, clamp, axis: as in `quantize`.

    >>> Quantizer("e4m3fn", backward="e5m2")(tf.constant([0.3])).numpy().tolist()
    [0.3125]
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
        **others: Any,
    ) -> None:
        super().__init__(**others)
        self.format, self.backward = _host.text(format), _host.text(backward)
        for told in (self.format, self.backward):
            if told is not None:
                _host.check_format(told)
        for mode in (rounding, backward_rounding or rounding):
            _host.env_of(mode)
        self.rounding, self.backward_rounding = rounding, backward_rounding
        self.clamp, self.axis = clamp, axis
        self.supports_jit = False

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        if self.format is None and self.backward is None:
            return inputs
        own = OWN.get(inputs.dtype.name, inputs.dtype.name)
        return quantize(
            inputs,
            own if self.format is None else self.format,
            "rne" if self.format is None else self.rounding,
            self.backward,
            clamp=self.clamp and self.format is not None,
            backward_rounding=self.backward_rounding or self.rounding,
            axis=self.axis,
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        own = ("format", "backward", "rounding", "backward_rounding", "clamp", "axis")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}
