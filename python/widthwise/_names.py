"""Names of the package that are not there at once: loaded later, renamed, or another library's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Few programs make studies or test by hypothesis.
LATE = ("study", "testing")
RENAMED = {"muladd": "fma"}
# What other libraries call it, or have and we have not: where the way leads on.
ARRAYS = "ww.array(x, format) rounds values"
ORDERED = "ww.sum(x, unit=...) sums in an order that is written down"
WAYS: dict[str, str] = {
    **dict.fromkeys(
        ("mean", "average"), "divide what ww.sum(x, unit=...) gives by how many there are"
    ),
    **dict.fromkeys(("nansum", "add_reduce", "reduce", "accumulate"), ORDERED),
    **dict.fromkeys(("std", "var", "norm"), "square by *, sum by ww.sum(x, unit=...), ww.sqrt"),
    **dict.fromkeys(("prod", "cumprod"), "multiply by * in an order of your own"),
    **dict.fromkeys(
        ("einsum", "tensordot", "inner", "vdot", "mm", "bmm", "linear"),
        "ww.matmul(a, b, unit=...) and ww.dot(a, b, unit=...) multiply and sum",
    ),
    **dict.fromkeys(
        ("finfo", "iinfo"), "ww.Format(text) has them: .max_finite, .epsilon, .facts()"
    ),
    **dict.fromkeys(
        ("quantize", "quantise", "round_to", "to_format", "from_float", "asarray", "tensor"),
        f"{ARRAYS}; x.astype(format) rounds an Array; ww.blocks and ww.affine share scales",
    ),
    **{
        name: f"{ways} are texts of formats: ww.array(x, {text!r})"
        for name, ways, text in (
            ("fixed", "fixed8.4 and other widths", "fixed8.4"),
            ("fixed_point", "fixed8.4 and other widths", "fixed8.4"),
            ("posit", "posit16 and other widths", "posit16"),
            ("takum", "takum16 and other widths", "takum16"),
            ("table", "table(nf4) and others", "table(nf4)"),
            ("nf4", "table(nf4) and others", "table(nf4)"),
        )
    },
    **dict.fromkeys(
        ("mx", "mxfp8", "mxfp6", "block", "block_quantize"), "ww.blocks(x, 'mxfp8_e4m3') makes them"
    ),
    **dict.fromkeys(
        ("stochastic", "stochastic_round", "stochastic_rounding"),
        "ww.array(x, format, rounding='sr8', seed=0)",
    ),
    **dict.fromkeys(("isclose", "allclose", "array_equal"), "np.isclose(x, y) takes Arrays"),
    "relu": "ww.maximum(x, ww.zeros(x.shape, x.format)), or np.maximum(x, 0)",
    **dict.fromkeys(
        ("quantize_linear", "fake_quantize", "quantize_per_tensor", "quantize_per_channel"),
        "ww.affine(x, bits=8, arithmetic=...) makes integers with a scale, as an engine does",
    ),
    "requantise": "ww.requantize(acc, M, variant=...)",
    **dict.fromkeys(("cast", "astype"), "x.astype(format), or ww.convert(x, format, rounding=...)"),
    **dict.fromkeys(
        ("round", "rint", "around", "nearbyint", "trunc", "floor", "ceil"),
        "ww.round_to_integral(x, rounding='rne') rounds to integers, in any mode",
    ),
    **dict.fromkeys(("empty", "zeros_like", "empty_like"), "ww.zeros(shape, format)"),
    **dict.fromkeys(("ones_like", "full_like"), "ww.ones(x.shape, x.format), ww.full likewise"),
    **dict.fromkeys(
        ("arange", "linspace", "eye", "identity", "random", "rand", "randn"),
        f"{ARRAYS}, NumPy's too: ww.array(np.arange(4), 'e5m10')",
    ),
    **dict.fromkeys(
        ("stack", "concatenate", "where", "reshape", "transpose", "sort", "clip"),
        "NumPy's own takes Arrays, as np.stack(...)",
    ),
    **dict.fromkeys(("max", "amax"), "np.max(x); of two arrays ww.maximum(x, y)"),
    **dict.fromkeys(("min", "amin"), "np.min(x); of two arrays ww.minimum(x, y)"),
    **dict.fromkeys(
        (
            "softmax",
            "sigmoid",
            "exp",
            "log",
            "log2",
            "sin",
            "cos",
            "tan",
            "tanh",
            "power",
            "pow",
            "rsqrt",
            "reciprocal",
        ),
        "there are the operations of IEEE 754-2019, 5, and no others; ww.array rounds what another "
        "library works out",
    ),
    "mul": "ww.multiply",
    "sub": "ww.subtract",
    "div": "ww.divide",
    "true_divide": "ww.divide",
    "rem": "ww.remainder",
    "mod": "ww.remainder",
    "neg": "ww.negate",
    "negative": "ww.negate",
    "absolute": "ww.abs",
    "mulAdd": "ww.fma",
    "kinds": "ww.Unit('mac(e5m10)'); docs/semantics.md, T2 to T4 have the kinds",
    "presets": "ww.units",
    "unit": "ww.Unit(text), and ww.units has the presets",
    "format": "ww.Format(text), and ww.formats has those with names",
    "dtype": "ww.Format(text)",
    "decode": "x.to_float64(), x.to_fractions()",
    "encode": ARRAYS,
    "from_float64": ARRAYS,
    "save": "np.save(path, x), and ww.load(path) reads it",
    "convolve": "ww.conv1d(x, w, unit=...)",
    **{
        name: f"import widthwise.{name}, which brings it"
        for name in ("torch", "jax", "tensorflow", "onnx", "compat")
    },
    "inf": "float('inf')",
    "nan": "float('nan')",
}


class NoSuchName(AttributeError):
    """Python asks for every module's name in vain before it imports it: hints wait for a reader."""

    def __str__(self) -> str:
        name, module = self.args
        return f"module {module!r} has no attribute {name!r}{hint(name)}"


def found(name: str) -> Any:
    import widthwise

    if name in LATE:
        return import_module(f".{name}", __package__)
    if name in RENAMED:
        from ._unit import warn_of_name

        warn_of_name(f"ww.{name}", f"ww.{RENAMED[name]}")
        return getattr(widthwise, RENAMED[name])
    raise NoSuchName(name, "widthwise")


def hint(name: str) -> str:
    """ "; ...": what somebody who wrote the name may have meant."""
    if name.startswith("_"):
        return ""
    if name in WAYS:
        return f"; {WAYS[name]}"
    return as_text(name) or nearest(name)


def as_text(name: str) -> str:
    """Formats and presets are texts here, where other libraries have names of a module."""
    from ._format import Format

    try:
        Format(name)
    except ValueError:
        return ""
    return f"; formats are texts: ww.Format({name!r})"


def nearest(name: str) -> str:
    """Of the package's names and the studies'."""
    from difflib import get_close_matches

    import widthwise
    from widthwise import study

    there = {x: f"ww.study.{x}" for x in study.__all__} | {x: f"ww.{x}" for x in widthwise.__all__}
    close = get_close_matches(name, there, n=1, cutoff=0.75)
    return f"; {there[close[0]]} there is" if close else ""
