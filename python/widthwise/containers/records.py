"""Numbers with a scale out of NumPy's files: `a["nvfp4 axis=-1"]["elements"]` to anybody."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._create import code_array
from .._format import Format
from .affine import Affine
from .blocks import Blocks
from .coded import Coded
from .given import checked_dtype
from .scaled import Scaled, checked_scale
from .scaled_steps import How, held, known

NAME = re.compile(r"(\S+)((?: \w+=\S+)*)")


def of_record(name: str, a: np.ndarray) -> Any:
    """What `as_record` made."""
    (field,) = a.dtype.names or ("",)
    told = NAME.fullmatch(field)
    if told is None or a.shape != ():
        raise ValueError(
            f"{name} holds a record {field!r}, which is no numbers with scales of ours"
        )
    kind, _, _ = told[1].partition("(")
    settings = dict(word.split("=", 1) for word in told[2].split())
    try:
        return READERS.get(kind, blocks)(told[1], settings, a[field])
    except KeyError as missing:
        raise ValueError(f"{name} is named {field!r} and has no {missing.args[0]}") from None
    except (ValueError, TypeError) as why:
        raise ValueError(f"{name}: {why}") from None


def blocks(text: str, settings: dict[str, str], parts: np.ndarray) -> Blocks:
    scale = parts["tensor_scale"] if "tensor_scale" in (parts.dtype.names or ()) else None
    elements, scales = part(parts, "elements"), part(parts, "scales")
    return Blocks.of(elements, scales, text, axis=int(settings["axis"]), tensor_scale=scale)


def affine(text: str, settings: dict[str, str], parts: np.ndarray) -> Affine:
    codes, scale, zero_point = (part(parts, name) for name in ("codes", "scale", "zero_point"))
    axis = int(settings["axis"]) if "axis" in settings else None
    dtype = f"binary{8 * scale.itemsize}"
    made = Affine(codes, scale, zero_point, bits=text, axis=axis, scale_format=dtype)
    checked_dtype(dtype, settings["arithmetic"])
    made.arithmetic = settings["arithmetic"]
    return made


def scaled(text: str, settings: dict[str, str], parts: np.ndarray) -> Scaled:
    k = known(inside(text))
    data, scale = part(parts, "data"), float(part(parts, "scale"))
    given = code_array("data", data, k.format) if k.is_float else data
    how = How(settings.get("rounding"), settings.get("like"), int(settings["seed"]))
    checked = checked_scale(f"scale = {scale}", np.float32(scale), how)
    return Scaled._made(held(given, k), checked, k, how)


def coded(text: str, settings: dict[str, str], parts: np.ndarray) -> Coded:
    codes, scale = part(parts, "codes"), part(parts, "scale")
    return Coded(code_array("codes", codes, Format(inside(text))), scale)


READERS = {"affine": affine, "scaled": scaled, "coded": coded}


def part(parts: np.ndarray, name: str) -> np.ndarray:
    if name not in (parts.dtype.names or ()):
        raise KeyError(name)
    return np.asarray(parts[name])


def inside(text: str) -> str:
    """The text between the outermost brackets."""
    return text[text.index("(") + 1 : text.rindex(")")]
