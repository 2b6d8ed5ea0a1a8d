"""Strategies for hypothesis: codes and arrays of any format, specials far more often than chance.

>>> import widthwise as ww
>>> from hypothesis import given
>>> from widthwise.testing import arrays
>>> @given(arrays("e4m3fn", 3))
... def negation_is_its_own_inverse(x):
...     assert (ww.negate(ww.negate(x)).bits == x.bits).all()
>>> negation_is_its_own_inverse()
"""

from __future__ import annotations

from collections.abc import Callable

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    raise ImportError("hypothesis is not installed: pip install 'widthwise[testing]'") from None

from ._array import Array
from ._create import from_bits
from ._format import Format, as_format


def special_codes(format: str | Format) -> list[int]:
    """The format's named codes, their neighbours, the ends, and all of those with the sign turned.

    >>> [hex(code) for code in special_codes("e2m1fn")][:6]
    ['0x0', '0x1', '0x2', '0x3', '0x6', '0x7']
    """
    f = as_format(format)
    near = {code + step for code in (*f.codes.values(), 0, 1 << f.width) for step in (-1, 0, 1)}
    signs = (0, f.signed << (f.width - 1))
    return sorted({code ^ sign for code in near if 0 <= code < 1 << f.width for sign in signs})


def codes(format: str | Format) -> SearchStrategy[int]:
    """Codes as integers: half of them special, half of them any."""
    f = as_format(format)
    return st.sampled_from(special_codes(f)) | st.integers(0, (1 << f.width) - 1)


def numbers(
    format: str | Format, *, where: Callable[[Array], object] | None = None
) -> SearchStrategy[Array]:
    """Arrays of shape (). `where` keeps those it holds of, as `where=ww.isfinite`."""
    f = as_format(format)
    found = codes(f).map(lambda code: from_bits(code, f))
    return found if where is None else found.filter(where)


def arrays(
    format: str | Format, shape: int | tuple[int, ...] | SearchStrategy[tuple[int, ...]]
) -> SearchStrategy[Array]:
    """Arrays of a shape, or of shapes that a strategy draws."""
    f = as_format(format)
    if isinstance(shape, SearchStrategy):
        return shape.flatmap(lambda drawn: arrays(f, drawn))
    axes = (shape,) if isinstance(shape, int) else shape
    count = 1
    for length in axes:
        count *= length
    listed = st.lists(codes(f), min_size=count, max_size=count)
    return listed.map(lambda found: from_bits(found, f).reshape(axes))


def formats(
    exponent_bits: tuple[int, int] = (2, 11), fraction_bits: tuple[int, int] = (1, 52)
) -> SearchStrategy[Format]:
    """IEEE-like formats, and those with names."""
    from ._formats import formats as named

    made = st.builds("e{}m{}".format, st.integers(*exponent_bits), st.integers(*fraction_bits))
    return st.sampled_from(list(named.values())) | made.map(Format)
