"""Formats: what the bits of a code mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Never, overload

import numpy as np

from . import _format_texts
from . import _widthwise as core
from ._format_texts import said
from ._missing import asks_for
from ._of_blocks import OfBlocks, refuse_blocks
from ._settings import integer
from ._table import Table

if TYPE_CHECKING:
    from .display.style import Card

# Past this many bits between a format's least and largest digit no integer of it is written out.
WIDEST_RANGE = 1 << 24


class Format(OfBlocks):
    """A number format, written as text: a name, or a number system and its widths.

    `e5m10` is a float of 5 exponent and 10 fraction bits, `fixed8.4` a fixed-point number of 8 bits
    with 4 of them fraction, `int8` an integer, `posit16es2` a posit, `takum16` a takum,
    `table(nf4)` a table of values.

    >>> f = Format("e5m10")
    >>> f.width, f.precision, f.emin, f.emax
    (16, 11, -14, 15)
    >>> f.max_finite
    65504
    >>> str(Format("half")), str(Format("E5M10;bias=20;sub=no")), str(Format("posit16"))
    ('e5m10', 'e5m10;bias=20;sub=no', 'posit16es2')

    Raises:
        ValueError: the text is no format; the message gives the column and the way out.
    """

    __slots__ = ("_core", "_limbs", "_text")
    _core: core.Format
    _limbs: int
    _text: str

    @asks_for("ww.Format('e5m10')")
    def __init__(
        self,
        text: str | Format | None = None,
        *more: Never,
        sign: int = 1,
        exponent: int | None = None,
        mantissa: int | None = None,
        bias: int | None = None,
    ) -> None:
        """A format from its text, or a float from the widths of its fields.

        >>> Format(sign=1, exponent=6, mantissa=9, bias=31)
        Format('e6m9')
        """
        text = _format_texts.of_fields(text, sign, exponent, mantissa, bias)
        if more or not isinstance(text, str | Format):
            from ._format_facts import no_text

            raise TypeError(no_text((text, *more)))
        self._bind(core.Format(str(text)))

    @classmethod
    def fixed(
        cls, width: int, fraction: int = 0, *, signed: bool = True, overflow: str = "saturate"
    ) -> Format:
        """Fixed point: integers of so many bits, times 2**-fraction.

        overflow: saturate, symmetric, zero, wrap, wrap_sm or keep_sign (docs/semantics.md, F7).

        >>> Format.fixed(8, 4), Format.fixed(8, signed=False, overflow="wrap")
        (Format('fixed8.4'), Format('uint8;overflow=wrap'))
        """
        return cls(_format_texts.of_fixed(width, fraction, signed, overflow))

    @classmethod
    def posit(cls, width: int, es: int = 2) -> Format:
        """A posit of so many bits, es of them exponent bits; the standard of 2022 has 2.

        >>> Format.posit(16), Format.posit(8, 0)
        (Format('posit16es2'), Format('posit8es0'))
        """
        return cls(f"posit{integer('width', width)}es{integer('es', es)}")

    @classmethod
    def takum(cls, width: int) -> Format:
        """A linear takum of so many bits.

        >>> Format.takum(16)
        Format('takum16')
        """
        return cls(f"takum{integer('width', width)}")

    @overload
    def table(self) -> Table: ...
    @overload
    def table(self: Iterable[Any], name: str = ...) -> Format: ...  # type: ignore[misc]
    def table(self: Format | Iterable[Any], name: str = "") -> Table | Format:  # type: ignore[misc]
        """Of a format: its facts as rows. Of values, `Format.table(values)`: a table of them.

        The value of code i is `values[i]`, exactly: numbers of binary64, and NaN at most once. A
        result between two takes the nearer; ties are in docs/semantics.md, F9.

        Args:
            name: by which texts know it in this process; without one they spell the values.

        >>> Format.table([-1, 0, 1])
        Format('table(-1,0,1)')
        >>> Format.table([-3, -1, 1, 3], name="pam4")
        Format('table(pam4)')
        >>> Format("e2m1fn").table().rows[-1]
        ('max_finite', '6', '0x7')

        Raises:
            ValueError: two values are equal, one is infinite or no number of binary64, or the
                name has other values already.
        """
        from . import _format_facts

        if isinstance(self, Format):
            return _format_facts.rows(self)
        values = _format_facts.exact_values(self, name)
        return Format._of(core.table_of(name, values))

    @classmethod
    def _of(cls, bound: core.Format) -> Format:
        self = object.__new__(cls)
        self._bind(bound)
        return self

    def _bind(self, bound: core.Format) -> None:
        for name, x in (("_core", bound), ("_limbs", bound.limbs), ("_text", str(bound))):
            object.__setattr__(self, name, x)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a format does not change; write another, as '{said(self)};bias=20'")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Format('{self}')"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Format) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.system == "table":  # whose name another process need not know
            return _of_table, (core.table_name(self._core), self.values)
        return Format, (self._text,)

    # --- Fields ---

    @property
    def system(self) -> str:
        """The number system: float, fixed, posit, takum or table.

        >>> Format("e5m10").system, Format("int8").system
        ('float', 'fixed')
        """
        return self._core.system

    @property
    def is_float(self) -> bool:
        """Whether codes have exponent and fraction fields.

        >>> Format("e5m10").is_float, Format("posit8").is_float
        (True, False)
        """
        return self.system == "float"

    @property
    def width(self) -> int:
        """Bits of a code.

        >>> Format("e5m10").width
        16
        """
        return self._core.width

    @property
    def exponent_bits(self) -> int:
        """Bits of the exponent field; of a posit es, of fixed point and takums 0.

        >>> Format("e5m10").exponent_bits, Format("posit16").exponent_bits
        (5, 2)
        """
        return self._core.exp_bits

    @property
    def fraction_bits(self) -> int:
        """Bits of the fraction field; of posits, takums and tables the most that a number has.

        >>> Format("e5m10").fraction_bits, Format("fixed8.4").fraction_bits
        (10, 4)
        """
        if self.system == "fixed":
            return -self._core.least_digit
        return self._core.frac_bits if self.is_float else self.precision - 1

    @property
    def precision(self) -> int:
        """Digits of the significand, the hidden one included: the most that a number has.

        >>> Format("e5m10").precision, Format("posit16").precision
        (11, 12)
        """
        return self._core.digits

    @property
    def values(self) -> tuple[float, ...]:
        """Of a table: its values, by code.

        >>> Format("table(-1,0,1)").values
        (-1.0, 0.0, 1.0)

        Raises:
            AttributeError: the format is no table.
        """
        if self.system != "table":
            raise AttributeError(f"{said(self)} is no table; ww.from_bits has its codes' values")
        return tuple(core.table_values(self._core))

    @property
    def bias(self) -> int:
        """Exponent field minus exponent of a normal number.

        >>> Format("e5m10").bias
        15

        Raises:
            AttributeError: the format has no exponent field.
        """
        if not self.is_float:
            raise AttributeError(f"{said(self)} has no exponent field, and no bias")
        return self._core.bias

    @property
    def emin(self) -> int:
        """Exponent of the least normal number; of other systems, of the least magnitude.

        >>> Format("e5m10").emin, Format("fixed8.4").emin
        (-14, -4)
        """
        if self.is_float or self.system == "fixed":
            return self._core.emin if self.is_float else self._core.least_digit
        if self.system == "table":
            return min(math.frexp(x)[1] for x in self.values if x) - 1
        significand, exponent = self._scaled("min_normal")
        return exponent + significand.bit_length() - 1

    @property
    def emax(self) -> int:
        """Exponent of the largest magnitude, which of int8 -128 has.

        >>> Format("e5m10").emax, Format("int8").emax
        (15, 7)
        """
        return self._core.emax

    @property
    def least_digit(self) -> int:
        """Exponent of the lowest digit that any number has.

        >>> Format("e5m10").least_digit, Format("posit8").least_digit
        (-24, -24)
        """
        return self._core.least_digit

    @property
    def signed(self) -> bool:
        """Whether there is a sign bit.

        >>> Format("e5m10").signed, Format("e8m0fnu").signed
        (True, False)
        """
        return self._core.is_signed

    @property
    def has_inf(self) -> bool:
        """Whether a code is infinity.

        >>> Format("e5m2").has_inf, Format("e4m3fn").has_inf
        (True, False)
        """
        return self._core.has_inf

    @property
    def has_nan(self) -> bool:
        """Whether a code is NaN.

        >>> Format("e4m3fn").has_nan, Format("e2m1fn").has_nan
        (True, False)
        """
        return self._core.has_nan

    @property
    def has_subnormals(self) -> bool:
        """Whether exponent field 0 holds subnormal numbers.

        >>> Format("e5m10").has_subnormals, Format("e5m10;sub=no").has_subnormals
        (True, False)
        """
        return self.is_float and self._core.subnormals and self._core.zero

    @property
    def daz(self) -> bool:
        """Policy: subnormal operands are read as zero.

        >>> Format("e5m10;daz").daz, Format("e5m10").daz
        (True, False)
        """
        return self._core.daz

    @property
    def ftz(self) -> bool:
        """Policy: tiny results become zero (docs/semantics.md, R3 and F4).

        >>> Format("e5m10;ftz").ftz, Format("e5m10").ftz
        (True, False)
        """
        return self._core.ftz

    @property
    def overflow(self) -> str:
        """Policy: what a result too large becomes; ieee, inf, max, nan or satfinite.

        Of fixed point saturate, symmetric, zero, wrap, wrap_sm or keep_sign; others stop at
        their ends.

        >>> Format("e5m10").overflow, Format("e5m10;overflow=max").overflow
        ('ieee', 'max')
        """
        return self._core.overflow

    # --- Codes ---

    @property
    def dtype(self) -> np.dtype:
        """Of an array of codes; with more than 64 bits, of their limbs.

        >>> Format("e5m10").dtype, Format("binary128").dtype
        (dtype('uint16'), dtype('uint64'))
        """
        return np.dtype(f"u{min(8, self._core.item_bytes)}")

    @property
    def limbs(self) -> int:
        """uint64 limbs of a code of more than 64 bits, least significant first; else 1.

        >>> Format("e5m10").limbs, Format("binary128").limbs
        (1, 2)
        """
        return self._limbs

    @property
    def codes(self) -> dict[str, int]:
        """Named codes: zero, min_subnormal, …, max_finite, infinity, nan; those there are.

        >>> hex(Format("e4m3fn").codes["nan"])
        '0x7f'
        """
        return self._core.codes

    def _scaled(self, name: str) -> tuple[int, int]:
        """A named code's value as (integer, exponent): integer * 2**exponent."""
        code = self._core.codes.get(name)
        if code is None:
            raise ValueError(f"{said(self)} has no {name}; it has {', '.join(self._core.codes)}")
        items = np.frombuffer(code.to_bytes(self._core.item_bytes, "little"), self.dtype)
        _, negative, significand, exponent = core.values(self._core, items)[0]
        return (-significand if negative else significand), exponent

    def _exact(self, name: str) -> int | Fraction:
        if self.emax - self.emin + self.precision > WIDEST_RANGE:
            raise OverflowError(
                f"{name} of {self} would take an integer of up to 2^{self.exponent_bits - 1} bits; "
                f"take .{name}_scaled, (integer, exponent) of integer * 2**exponent"
            )
        significand, exponent = self._scaled(name)
        return significand << exponent if exponent >= 0 else Fraction(significand, 1 << -exponent)

    @property
    def max_finite(self) -> int | Fraction:
        """The largest number. OverflowError where it is too long; `_scaled` holds any.

        >>> Format("e4m3fn").max_finite
        448
        """
        return self._exact("max_finite")

    @property
    def min_normal(self) -> int | Fraction:
        """The least normal number; of other systems than floats, the least above zero.

        >>> Format("e4m3fn").min_normal, Format("fixed8.4").min_normal
        (Fraction(1, 64), Fraction(1, 16))
        """
        return self._exact("min_normal")

    @property
    def min_subnormal(self) -> int | Fraction:
        """The least number above zero.

        >>> Format("e4m3fn").min_subnormal
        Fraction(1, 512)
        """
        return self._exact(self._least())

    @property
    def max_finite_scaled(self) -> tuple[int, int]:
        """The largest number as (integer, exponent): integer * 2**exponent.

        >>> Format("e4m3fn").max_finite_scaled    # 7 * 2^6
        (7, 6)
        """
        return self._scaled("max_finite")

    @property
    def min_normal_scaled(self) -> tuple[int, int]:
        """The least normal number, likewise.

        >>> Format("e40m10").min_normal_scaled
        (1, -549755813886)
        """
        return self._scaled("min_normal")

    @property
    def min_subnormal_scaled(self) -> tuple[int, int]:
        """The least number above zero, likewise.

        >>> Format("e4m3fn").min_subnormal_scaled
        (1, -9)
        """
        return self._scaled(self._least())

    def _least(self) -> str:
        return "min_subnormal" if "min_subnormal" in self._core.codes else "min_normal"

    @property
    def epsilon(self) -> int | Fraction:
        """From 1 to the next number, as if 1 were in range: 2**-fraction_bits.

        >>> Format("e5m10").epsilon
        Fraction(1, 1024)
        """
        bits = self.fraction_bits
        return Fraction(1, 1 << bits) if bits > 0 else 1 << -bits

    # --- Shown ---

    def facts(self) -> dict[str, Any]:
        """Everything of the above, for tables: JSON's types, values as text.

        >>> facts = Format("e4m3fn").facts()
        >>> facts["precision"], facts["codes"]["max_finite"], facts["values"]["max_finite"]
        (4, '0x7e', '448')
        """
        from ._format_facts import facts

        return facts(self)

    def card(self) -> Card:
        """What a notebook shows: fields to scale, the numbers about 1, range, named codes.

        >>> print(Format("e2m1fn").card())  # doctest: +ELLIPSIS
        e2m1fn...
        """
        from .display.card import format_card

        return format_card(self)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


def _of_table(name: str, values: tuple[float, ...]) -> Format:
    return Format._of(core.table_of(name, list(values)))


def as_format(format: str | Format) -> Format:
    f = format if isinstance(format, Format) else Format(format)
    return f if isinstance(f, Format) else refuse_blocks(format)


def optional_format(format: str | Format | None) -> Format | None:
    return None if format is None else as_format(format)
