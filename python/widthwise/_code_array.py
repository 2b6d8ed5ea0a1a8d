"""What arrays of codes have in common, wherever they lie: a format and a shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from . import _codes
from ._format import Format

Self = TypeVar("Self", bound="CodeArray")


class CodeArray:
    """Codes of one format. `_bits` has their shape and strides, and on this machine the codes."""

    __slots__ = ("_bits", "_format")
    _bits: np.ndarray
    _format: Format

    def _with(self: Self, bits: np.ndarray) -> Self:
        """An array of the same codes: a view of `_bits`."""
        raise NotImplementedError

    @property
    def format(self) -> Format:
        """The format that the codes are of.

        >>> import widthwise as ww
        >>> ww.array([1.0], "half").format
        Format('e5m10')
        """
        return self._format

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the numbers; limbs of a wide code are no axis of it.

        >>> import widthwise as ww
        >>> ww.zeros((2, 3), "binary128").shape
        (2, 3)
        """
        return self._bits.shape[:-1] if self._format._limbs > 1 else self._bits.shape

    @property
    def ndim(self) -> int:
        """How many axes there are.

        >>> import widthwise as ww
        >>> ww.zeros((2, 3), "binary128").ndim
        2
        """
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are.

        >>> import widthwise as ww
        >>> ww.zeros((2, 3), "binary128").size
        6
        """
        return self._bits.size // self._format.limbs

    @property
    def _items(self) -> np.ndarray:
        return _codes.items(self._bits, self._format)

    def _from_items(self: Self, items: np.ndarray) -> Self:
        return self._with(_codes.bits(np.asarray(items), self._format))

    def reshape(self: Self, *shape: Any) -> Self:
        """The same numbers in another shape, as NumPy's: a view where the strides allow it.

        >>> import widthwise as ww
        >>> ww.array([1.0, 2.0, 3.0, 4.0], "e4m3fn").reshape(2, -1)
        Array([[1 2]
         [3 4]], e4m3fn)
        """
        return self._from_items(self._items.reshape(*shape))

    def ravel(self: Self) -> Self:
        """The same numbers along one axis.

        >>> import widthwise as ww
        >>> ww.array([[1.0], [2.0]], "e4m3fn").ravel()
        Array([1 2], e4m3fn)
        """
        return self.reshape(-1)

    def transpose(self: Self, *axes: Any) -> Self:
        """A view with the axes in another order; None turns them round.

        >>> import widthwise as ww
        >>> ww.zeros((2, 3, 4), "e4m3fn").transpose(2, 0, 1).shape
        (4, 2, 3)
        """
        return self._from_items(self._items.transpose(*axes))

    @property
    def T(self: Self) -> Self:
        """A view with the axes turned round.

        >>> import widthwise as ww
        >>> ww.array([[1.0, 2.0]], "e4m3fn").T
        Array([[1]
         [2]], e4m3fn)
        """
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single number has no length; it has a shape, ()")
        return self.shape[0]

    def __iter__(self: Self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self: Self, key: Any) -> Self:
        return self._from_items(self._items[key])
