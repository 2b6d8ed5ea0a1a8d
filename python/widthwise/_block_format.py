"""Formats of blocks: elements, which of them share a scale, and how the scale is found."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from . import _widthwise as core
from ._format import Format
from ._format_texts import said
from .containers.scheme import is_affine

NAMES = ("mx", "nvfp")  # how those of blocks begin, and of nothing else
SCALES = ("binary32", "ue4m3fn", *(f"e{bits}m0fnu" for bits in range(2, 9)))


@lru_cache(maxsize=1)
def scale_words() -> dict[str, str]:
    """The words of scales, by how these print where they stand alone."""
    return {str(BlockFormat(f"block(int8,1,{word})").scale): word for word in SCALES}


@lru_cache(maxsize=256)
def is_container(text: str) -> bool:
    """Whether numbers of a format, blocks or affine integers, have scales that it tells of: the
    text of a name that is misspelt, too, of which BlockFormat knows the nearest."""
    named = text.lstrip().lower().startswith(NAMES)
    return named or is_affine(text) or core.is_block_format(text)


def shape_text(block: Any) -> str:
    return f"{block[0]}x{block[1]}" if isinstance(block, tuple) else str(block)


class BlockFormat:
    """Elements that share a scale, as text: a name, or `block(element,block,scale)`.

    `ww.blocks` makes numbers of it. Names: mxfp8_e4m3, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, mxfp4,
    mxint8 (OCP MX 1.0), nvfp4. A block is n elements along an axis, RxC elements of the last two
    axes, 0 (a whole axis) or all (the whole array); its scale is e2m0fnu to e8m0fnu, ue4m3fn or
    binary32. `bfp(8,32,e8)` has integers of 8 bits with sign under a shared exponent of 8.

    Options follow, each behind a semicolon:

    - `scale=` the rule: floor (OCP's), ceil, rceil, even, midmax, nearest; of ue4m3fn and binary32
      amax, of binary32 pow2 too (docs/semantics.md, B2);
    - `specials=element`: NaN and infinity stay in the elements; else their block's scale is NaN;
    - `flush=block`: blocks below 2^-126 become zero;
    - `clamp=full`: integer elements reach -2^(W-1); `carry=raise`, of bfp: the exponent rises where
      rounding passes the top.

    >>> BlockFormat("mxfp8_e4m3")
    BlockFormat('block(e4m3fn,32,e8m0fnu)')
    >>> f = BlockFormat("nvfp4")
    >>> f.element, f.block, f.scale, f.bits
    (Format('e2m1fn'), 16, Format('ue4m3;nan=all_ones'), 4.5)

    Raises:
        ValueError: the text is no block format; the message gives the column and the way out.
    """

    __slots__ = ("_core", "_text")
    _core: core.BlockFormat
    _text: str

    def __init__(self, text: str | BlockFormat) -> None:
        if not isinstance(text, str | BlockFormat):
            raise TypeError(
                f"format = {text!r}: a text is wanted, as 'mxfp4' or 'block(e4m3fn,32,e8m0fnu)'"
            )
        object.__setattr__(self, "_core", core.BlockFormat(str(text)))
        object.__setattr__(self, "_text", str(self._core))

    @classmethod
    def of(cls, element: Any, block: Any, scale: Any) -> BlockFormat:
        """As `Format.block`, of an element, a block and a scale.

        >>> BlockFormat.of("e2m1fn", 16, "ue4m3fn")
        BlockFormat('nvfp4')
        """
        word = scale_words().get(str(scale), str(scale))
        return cls(f"block({element},{shape_text(block)},{word})")

    @classmethod
    def of_shared_exponent(cls, mantissa: int, block: Any, exponent: int) -> BlockFormat:
        """As `Format.bfp`, of mantissa and exponent bits and a block.

        >>> BlockFormat.of_shared_exponent(8, 32, 8)
        BlockFormat('bfp(8,32,e8)')
        """
        return cls(f"bfp({mantissa},{shape_text(block)},e{exponent})")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a format does not change; write another one, as '{said(self)};scale=ceil'"
        )

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"BlockFormat('{self}')"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, BlockFormat) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return BlockFormat, (self._text,)

    @property
    def element(self) -> Format:
        """Of the elements' codes.

        >>> BlockFormat("mxint8").element
        Format('fixed8.6')
        """
        return Format._of(self._core.element)

    @property
    def scale(self) -> Format:
        """Of the scales' codes.

        >>> BlockFormat("mxfp4").scale
        Format('e8m0fnu')
        """
        return Format._of(self._core.scale)

    @property
    def block(self) -> int | tuple[int, int] | str:
        """Which elements share a scale: n, (rows, columns), 0 for a whole axis, or 'all'.

        >>> BlockFormat("mxfp4").block, BlockFormat("block(e4m3fn,128x128,binary32)").block
        (32, (128, 128))
        """
        match self._core.shape:
            case "tile":
                return self._core.rows, self._core.columns
            case "whole_array":
                return "all"
        return self._core.columns

    @property
    def bits(self) -> float | None:
        """Bits an element takes, its share of the scale's bytes included; None where the array
        decides.

        >>> BlockFormat("mxfp4").bits
        4.25
        """
        block = self.block
        if block in (0, "all"):
            return None
        of_block = block[0] * block[1] if isinstance(block, tuple) else int(block)
        return self.element.width + 8 * self.scale.dtype.itemsize / of_block

    def facts(self) -> dict[str, Any]:
        """All of its properties, for tables: JSON's types.

        >>> BlockFormat("mxfp4").facts()["scale"]
        'e8m0fnu'
        """
        return {
            "format": str(self),
            "element": str(self.element),
            "block": list(self.block) if isinstance(self.block, tuple) else self.block,
            "scale": str(self.scale),
            "bits a number": self.bits,
        }
