"""What a Format says of blocks: texts that are theirs, and the ways to name one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

from . import _widthwise as core
from ._format_texts import said

if TYPE_CHECKING:
    from ._block_format import BlockFormat

STARTS = ("mx", "nv", "bl", "bf")  # how the texts of formats of blocks begin


class OfBlocks:
    """The part of Format that leads to BlockFormat."""

    __slots__ = ()

    def __new__(cls, text: Any = None, *more: Any, **fields: Any) -> Any:
        """A format, or a BlockFormat where the text is one's."""
        given = text is not None and not isinstance(text, str | cls)
        begins = isinstance(text, str) and text.lstrip()[:2].lower() in STARTS
        if given or (begins and core.is_block_format(text)):
            from ._block_format import BlockFormat

            if begins or isinstance(text, BlockFormat):
                return BlockFormat(text)
        return object.__new__(cls)

    @staticmethod
    def block(element: Any, block: int | tuple[int, int] | str, scale: Any) -> BlockFormat:
        """Blocks: elements that share a scale, as `ww.blocks` makes them.

        Args:
            element: a format of single numbers.
            block: n elements along an axis, (rows, columns) or '128x128', 0 (a whole axis), 'all'.
            scale: e2m0fnu to e8m0fnu, ue4m3fn or binary32.

        >>> import widthwise as ww
        >>> ww.Format.block("e4m3fn", 32, "e8m0fnu"), ww.Format.block("int4", (1, 128), "binary32")
        (BlockFormat('block(e4m3fn,32,e8m0fnu)'), BlockFormat('block(int4,128,binary32)'))
        """
        from ._block_format import BlockFormat

        return BlockFormat.of(element, block, scale)

    @staticmethod
    def bfp(mantissa: int, block: int | tuple[int, int] | str, exponent: int = 8) -> BlockFormat:
        """Block floating point: integers under a shared exponent.

        Args:
            mantissa: bits of the integers, the sign among them.
            block: as in `Format.block`.
            exponent: bits of the shared exponent, 2 to 8.

        >>> import widthwise as ww
        >>> ww.Format.bfp(8, 32, 8)
        BlockFormat('bfp(8,32,e8)')
        """
        from ._block_format import BlockFormat

        return BlockFormat.of_shared_exponent(mantissa, block, exponent)


def refuse_blocks(text: Any) -> Never:
    """Where a format of single numbers is wanted."""
    raise ValueError(
        f"format = {said(text)!r}: blocks, numbers with a scale, which ww.blocks(x, "
        f"{said(text)!r}) makes; a format of single numbers is wanted"
    )
