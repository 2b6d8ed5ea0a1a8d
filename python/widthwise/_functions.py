"""NumPy's functions of Arrays: those that move or choose elements, and no others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from . import _codes, _numbers
from ._code_array import CodeArray
from ._format import Format
from ._format_texts import said

# Which of a function's operands hold elements: the first, all, or those at the places named.
FIRST, ALL = (0,), ()
ON_CODES: dict[Callable[..., Any], tuple[int, ...]] = {
    np.append: (0, 1),
    np.insert: (0, 2),
    np.where: (1, 2),
    **dict.fromkeys((np.atleast_1d, np.atleast_2d, np.atleast_3d), ALL),
    **dict.fromkeys((np.array_split, np.block, np.broadcast_to, np.column_stack), FIRST),
    **dict.fromkeys((np.concatenate, np.copy, np.delete, np.diagonal, np.dsplit, np.dstack), FIRST),
    **dict.fromkeys((np.expand_dims, np.flip, np.fliplr, np.flipud, np.hsplit, np.hstack), FIRST),
    **dict.fromkeys((np.moveaxis, np.ravel, np.repeat, np.reshape, np.resize, np.roll), FIRST),
    **dict.fromkeys((np.rollaxis, np.rot90, np.split, np.squeeze, np.stack, np.swapaxes), FIRST),
    **dict.fromkeys((np.take, np.take_along_axis, np.tile, np.transpose, np.vsplit), FIRST),
    np.vstack: FIRST,
}
WAY_OUT = {
    "sum": "ww.sum(x, unit=...) sums in an order that is written down",
    "cumsum": "ww.cumsum(x, unit=...) sums in an order that is written down",
    "dot": "ww.dot(x, y, unit=...) sums in an order that is written down",
    "inner": "ww.dot(x, y, unit=...) sums in an order that is written down",
    "vdot": "ww.dot(x, y, unit=...) sums in an order that is written down",
    "einsum": "ww.matmul(x, y, unit=...) sums in an order that is written down",
    "outer": "x[:, None] * y rounds each product once",
    "diff": "x[1:] - x[:-1] rounds each difference once",
    "unique": "np.sort(x) puts equal ones beside each other",
    "norm": "ww.sqrt(ww.dot(x, x, unit=...)) says in which order it sums",
    **dict.fromkeys(("mean", "average"), "divide what ww.sum(x, unit=...) gives"),
    **dict.fromkeys(("std", "var"), "square by *, sum by ww.sum(x, unit=...), ww.sqrt"),
    **dict.fromkeys(("prod", "cumprod"), "multiply by * in an order of your own"),
    "convolve": "ww.conv1d(x, w, unit=...) sums in an order that is written down",
    "savetxt": "np.save keeps every bit, and ww.load reads it",
}


def own() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Those done in our own way. Filled late, for these modules import Array."""
    from . import _compare, _create, _elementwise, _files, _order

    def of_truths(function: Callable[..., Any]) -> Callable[..., Any]:
        """NaN is true, too: all that is not zero."""
        return lambda x, *args, **how: function(~_compare.iszero(x), *args, **how)

    truths = (np.any, np.all, np.nonzero, np.flatnonzero, np.argwhere, np.count_nonzero)
    return {
        **{function: of_truths(function) for function in truths},
        np.allclose: lambda x, y, *how, **more: bool(close(x, y, *how, **more).all()),
        np.argmax: _order.argmax,
        np.argmin: _order.argmin,
        np.argsort: _order.argsort,
        np.around: rounded,
        np.array_equal: array_equal,
        np.broadcast_arrays: broadcast_arrays,
        np.clip: _order.clip,
        np.empty_like: partial(like, _create.zeros),
        np.full_like: lambda x, value, *args, **how: like(
            lambda shape, format: _create.full(shape, value, format), x, *args, **how
        ),
        np.isclose: close,
        np.ones_like: partial(like, _create.ones),
        np.zeros_like: partial(like, _create.zeros),
        np.fix: partial(_elementwise.round_to_integral, rounding="rtz"),
        np.max: _order.greatest,
        np.min: _order.least,
        np.ndim: lambda x: x.ndim,
        np.round: rounded,
        np.save: _files.save,
        np.savez: _files.savez,
        np.savez_compressed: _files.savez_compressed,
        np.shape: lambda x: x.shape,
        np.may_share_memory: lambda x, y: np.may_share_memory(bits_of(x), bits_of(y)),
        np.shares_memory: lambda x, y: np.shares_memory(bits_of(x), bits_of(y)),
        np.size: lambda x: x.size,
        np.sort: _order.sort,
    }


_own: dict[Callable[..., Any], Callable[..., Any]] = {}


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not _own:
        _own.update(own())
    if function in _own:
        return _own[function](*args, **kwargs)
    name = function.__name__
    if function not in ON_CODES:
        hint = WAY_OUT.get(name, "x.to_float64() leaves exact arithmetic to you")
        raise TypeError(f"{full_name(function)} is not defined on Arrays: {hint}")
    if "out" in kwargs:
        raise TypeError(f"np.{name} with out is not defined on Arrays: assign, as z[...] = x")
    places = ON_CODES[function] or range(len(args))
    args = tuple(weak_taken(x, args) if i in places else x for i, x in enumerate(args))
    format = common_format(name, [args[i] for i in places if i < len(args)])
    taken = [codes(x, format) if i in places else x for i, x in enumerate(args)]
    return arrays(function(*taken, **kwargs), format)


def full_name(function: Callable[..., Any]) -> str:
    """np.linalg.norm."""
    module = (function.__module__ or "numpy").removeprefix("numpy").removesuffix("._linalg")
    return f"np{module if module in ('.linalg', '.fft') else ''}.{function.__name__}"


METHODS = {
    "fill": "x[...] = value rounds it once",
    "flat": ".ravel() is there",
    "itemsize": ".bits.itemsize is what a code takes",
    "dtype": ".format is the numbers', .bits.dtype their codes'",
    "flatten": ".ravel() and .copy() are there",
    "item": "float(x) is one number's value, .to_fractions() exact",
    "nbytes": ".bits.nbytes is what the codes take",
    "to_float32": ".astype('binary32').view(np.float32) rounds each once",
    "to_float16": ".astype('binary16').view(np.float16) rounds each once",
    **dict.fromkeys(
        ("numpy", "to_numpy", "values", "value", "decode", "to_float"),
        ".to_float64() has the values, .to_fractions() all digits of them, .bits the codes",
    ),
    **dict.fromkeys(("code", "codes", "to_bits", "raw", "data"), ".bits has the codes"),
    **dict.fromkeys(("convert", "cast", "quantize", "quantise", "to"), ".astype(format) rounds"),
    **dict.fromkeys(("cpu", "cuda"), ".to_device('cpu') and .to_device('cuda') are there"),
}


def way_of_method(name: str) -> str:
    """What an ndarray's user takes in place of a method; nothing for any other name."""
    function = getattr(np, name, None) if hasattr(np.ndarray, name) else None
    if name in METHODS or name in WAY_OUT:
        return f": {METHODS.get(name) or WAY_OUT[name]}"
    if callable(function) and (function in ON_CODES or function in own()):
        return f": np.{name}(x) takes Arrays"
    return "" if name.startswith("_") else nearest_method(name)


def nearest_method(name: str) -> str:
    from difflib import get_close_matches

    from ._array import Array

    close = get_close_matches(name, [x for x in dir(Array) if x[0] != "_"], n=1, cutoff=0.75)
    return f": .{close[0]} is there" if close else ""


def weak_taken(x: Any, args: tuple[Any, ...]) -> Any:
    """A Python number beside Arrays of one format as one of them."""
    arrays = [y for y in args if isinstance(y, CodeArray)]
    return _numbers.taken(x, arrays[0]) if arrays and _numbers.is_weak(x) else x


def common_format(name: str, operands: list[Any]) -> Format:
    """The one format of all; a number or another library's array among them is refused."""
    from ._array import kind_of

    found = list(leaves(operands))
    if not all(isinstance(x, CodeArray) for x in found) or len({x.format for x in found}) != 1:
        kinds = " and ".join(dict.fromkeys(map(kind_of, found))) or "nothing"
        raise TypeError(
            f"np.{name} of {kinds}: it moves Arrays of one format, given by position; make them "
            "with ww.array(value, format), or convert with .astype(format)"
        )
    format: Format = found[0].format
    return format


def leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for element in x:
            yield from leaves(element)
    else:
        yield x


def codes(x: Any, format: Format) -> Any:
    return x._items if isinstance(x, CodeArray) else type(x)(codes(y, format) for y in x)


def arrays(result: Any, format: Format) -> Any:
    from ._array import Array

    if isinstance(result, list | tuple):
        return type(result)(arrays(x, format) for x in result)
    return Array._of(_codes.bits(np.asarray(result), format), format)


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """Each of one shape and its own kind; beside other numbers, as matplotlib has it, as values."""
    if all(isinstance(x, CodeArray) for x in args):
        shape = np.broadcast_shapes(*(x.shape for x in args))
        return tuple(x._from_items(np.broadcast_to(x._items, shape)) for x in args)
    return np.broadcast_arrays(*map(np.asarray, args))


def like(
    made: Callable[..., Any], x: Any, dtype: Any = None, *layout: Any, shape: Any = None, **how: Any
) -> Any:
    """An Array of x's shape and format, where x lies; `layout` and `how` are of NumPy's memory."""
    if dtype is not None:
        raise TypeError(
            f"dtype = {dtype!r}: what is like an Array has its format, {said(x.format)}; NumPy's "
            "are made by np.zeros(x.shape, dtype)"
        )
    return made(x.shape if shape is None else shape, x.format).to_device(x.device)


def close(x: Any, y: Any, *tolerances: Any, **how: Any) -> Any:
    """np.isclose of values: nothing is rounded but what NumPy works out of them."""
    return np.isclose(np.asarray(x), np.asarray(y), *tolerances, **how)


def array_equal(x: Any, y: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and values agree: -0 is 0, and NaN is NaN only if asked. Beside Arrays other
    values are taken as NumPy takes them."""
    from . import _compare

    if not (isinstance(x, CodeArray) and isinstance(y, CodeArray)):
        return bool(np.array_equal(np.asarray(x), np.asarray(y), equal_nan))
    if x.shape != y.shape:
        return False
    same = _compare.equal(x, y)
    if equal_nan:
        same = same | (_compare.isnan(x) & _compare.isnan(y))
    return bool(same.all())


def rounded(x: Any, decimals: int = 0) -> Any:
    """np.round: the nearest number of so many decimal places, halves to even, rounded once to x's
    format."""
    from . import _elementwise
    from ._create import array

    places = operator.index(decimals)
    if places == 0:
        return _elementwise.round_to_integral(x)
    z = x.copy()
    items = z._items.reshape(-1)
    for i, (kind, negative, significand, exponent) in enumerate(x._values()):
        if kind != "finite" or (places > 0 and exponent >= 0):
            continue  # zero, a special, or an integer
        value = round(x._fraction(i, kind, negative, significand, exponent), places)
        text = f"-{-value}" if negative else str(value)  # -0, too
        items[i : i + 1] = array([text], x.format)._items
    return z


def bits_of(x: Any) -> Any:
    return x._bits if isinstance(x, CodeArray) else x
