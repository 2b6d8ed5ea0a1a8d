"""The same memory as another library's numbers: NumPy's and ml_dtypes' dtypes, torch's tensors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._array import Array, kind_of
from ._create import code_array, from_bits, from_dtype, is_tensor
from ._device import found_on_gpu
from ._format import Format
from ._format_texts import said

INTEGERS = {"bool"} | {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def view(x: Any) -> Any:
    """Another library's floats as an Array that shares their memory.

    Args:
        x: a NumPy array of a dtype that is a format here (float16, float32, float64, and those of
            ml_dtypes), or a torch tensor (of those, bfloat16, and the kinds of float8). A tensor
            on a GPU becomes a DeviceArray.
    Returns:
        An Array of x's shape, or a DeviceArray.
    Raises:
        TypeError: it is neither, or its dtype is no format here.

    >>> import numpy as np, widthwise as ww
    >>> x = np.array([1.0, 2.5], np.float16)
    >>> y = ww.view(x)
    >>> x[0] = 3
    >>> y
    Array([3 2.5], e5m10)
    """
    if is_tensor(x):
        check_memory("x", x)
        return view_of_tensor(x)
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x is {kind_of(x)}; a NumPy array of floats or a tensor is wanted")
    viewed = from_dtype(x)
    if viewed is None or not np.shares_memory(viewed.bits, x):
        raise TypeError(
            f"x holds {x.dtype}, whose memory is no codes of a format; take ww.array(x, format), "
            "or ww.from_bits(x, format) of codes"
        )
    return viewed


def from_tensor(x: Any) -> Any:
    """What ww.array takes for a tensor: a view of its floats, NumPy's integers or, on a GPU, its
    own."""
    check_memory("x", x)
    if name_of(x.dtype) not in INTEGERS:
        return view_of_tensor(x)
    return x.numpy() if x.device.type == "cpu" else x


def codes_of_tensor(x: Any) -> Any:
    """A tensor of integers as what ww.from_bits takes."""
    check_memory("bits", x)
    if (name := name_of(x.dtype)) not in INTEGERS:
        raise TypeError(f"bits holds {name}; codes are integers. ww.view(bits) takes floats")
    return x.numpy() if x.device.type == "cpu" else x


def view_of_tensor(x: Any) -> Any:
    torch = sys.modules["torch"]
    name = name_of(x.dtype)
    try:
        format = Format(name)
    except ValueError:
        raise TypeError(f"x holds {name}, which is no format here; {way_out(name)}") from None
    if name in INTEGERS:  # whose codes say nothing of the format they are of
        raise TypeError(f"x holds {name}, which is no float; {way_out(name)}")
    words = x.detach().view(getattr(torch, word_of(format)))
    if words.device.type == "cpu":
        return code_array("x", words.numpy().view(format.dtype), format)
    found = found_on_gpu(words)  # torch computes with signed words alone
    return from_bits(found._replace(dtype=format.dtype.name) if found else words, format)


def check_memory(name: str, x: Any) -> None:
    """Refuses a tensor whose numbers do not lie in memory as they are."""
    way = ""
    if x.device.type not in ("cpu", "cuda"):
        way = f"lies on {x.device.type}, whose memory is not read here; take {name}.cpu()"
    elif x.is_nested:
        way = f"is nested; take the tensors of {name}.unbind() one by one"
    elif x.layout != sys.modules["torch"].strided:
        way = f"is {x.layout}; take {name}.to_dense()"
    elif x.is_neg():
        way = f"is negated when it is read; take {name}.resolve_neg()"
    if way:
        raise TypeError(f"{name} {way}")


def name_of(dtype: Any) -> str:
    """A dtype's short name: float32 of torch.float32 and of NumPy's."""
    return str(dtype).removeprefix("torch.")


def way_out(dtype: str) -> str:
    if dtype.endswith("_x2"):
        return "it holds two numbers a byte: ww.unpack(x, 'e2m1fn') takes them apart"
    if dtype.startswith(("qint", "quint")):
        return "ww.Affine(x.int_repr(), x.q_scale(), x.q_zero_point()) is it here"
    takes_integers = "ww.array takes integers, ww.from_bits codes"
    return takes_integers if dtype in INTEGERS else "convert it to float64"


def word_of(format: Format) -> str:
    """The integers of a format's width that every version of torch knows."""
    bits = 8 * format.dtype.itemsize
    return "uint8" if bits == 8 else f"int{bits}"


def as_dtype(x: Array, dtype: Any) -> Any:
    """The Array's codes as an array, or a tensor, of a dtype that is its very format."""
    torch = sys.modules.get("torch")
    of_torch = torch is not None and isinstance(dtype, torch.dtype)
    name = name_of(dtype) if of_torch else np.dtype(dtype).name
    try:
        format = Format(name)
    except ValueError:
        format = None
    if format != x.format:
        raise TypeError(
            f"dtype is {name} and the array is {said(x.format)}: a view changes no bit. "
            + (f"Round first, as .astype('{said(format)}').view(...)" if format else "Take .bits")
        )
    if torch is not None and of_torch:
        if any(step < 0 for step in x.bits.strides):
            raise ValueError(
                "x runs backward along an axis, and tensors do not; take x.copy().view(dtype)"
            )
        words = np.dtype(word_of(x.format))
        return torch.from_numpy(x.bits.view(words)).view(dtype)
    return x.bits.view(np.dtype(dtype))
