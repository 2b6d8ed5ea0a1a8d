"""The kinds of numbers that QPyTorch and its posit fork have, as formats of this library."""

from __future__ import annotations

from ast import literal_eval
from functools import lru_cache
from typing import Any

__all__ = ["BlockFloatingPoint", "FixedPoint", "FloatingPoint", "Number", "Posit", "Positbf"]
FULL = -1  # the word length that stands for full precision in the examples
WHOLE = -1  # the axis that stands for none: one block


class Number:
    """What the numbers of a tensor are rounded to; its kinds are below."""

    kind = "Number"

    @property
    def format(self) -> str:
        """The format, as `ww.Format` or `ww.BlockFormat` takes it.

        Raises:
            ValueError: no format does what the number does.
        """
        raise NotImplementedError

    @property
    def identity(self) -> bool:
        """Whether numbers stay as they are."""
        return False

    def arguments(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{type(self).__name__} ()"

    def __repr__(self) -> str:
        return str(self)


class FixedPoint(Number):
    """Fixed point of wl bits, fl of them behind the point.

    Args:
        wl: bits, the sign among them; -1 (and fl = -1) leaves numbers as they are.
        fl: bits behind the point; zero and negative ones are taken, too.
        clamp: numbers past the range become its ends; without, there is no range.
        symmetric: the range's lower end is its upper end's negative.

    >>> FixedPoint(8, 4), FixedPoint(8, 4, symmetric=True).format
    (FixedPoint (wl=8, fl=4), 'fixed8.4;overflow=symmetric')
    """

    kind = "FixedPoint"

    def __init__(self, wl: int, fl: int, clamp: bool = True, symmetric: bool = False) -> None:
        self.wl, self.fl = whole("wl", wl, FULL), whole("fl", fl)
        if wl == FULL and fl != FULL:
            raise ValueError(f"fixed point wl = -1 and fl = {fl}; full precision has -1 for both")
        if wl == 0:
            raise ValueError("wl = 0: a word has at least one bit")
        self.clamp, self.symmetric = flag("clamp", clamp), flag("symmetric", symmetric)

    @property
    def format(self) -> str:
        refuse_identity(self)
        if not self.clamp:
            raise ValueError(f"{self} has clamp=False, and formats have a range; clamp=True has it")
        return f"fixed{self.wl}.{self.fl}" + (";overflow=symmetric" if self.symmetric else "")

    @property
    def identity(self) -> bool:
        return self.wl == FULL

    def arguments(self) -> tuple[Any, ...]:
        return self.wl, self.fl, self.clamp, self.symmetric

    def __str__(self) -> str:
        return f"FixedPoint (wl={self.wl}, fl={self.fl})"


class FloatingPoint(Number):
    """Floats whose codes are all numbers: no infinity, no NaN, the largest one at overflow.

    Args:
        exp: bits of the exponent, whose bias is 2^(exp-1) - 1.
        man: bits of the fraction.
        subnormals: whether exponent field 0 has them; without, all of its codes but zero are normal
            numbers, too (docs/semantics.md, F3).
        saturate: what is past the largest number becomes it; without, infinity, which has the
            largest exponent to itself, as in IEEE 754.

    >>> FloatingPoint(5, 2), FloatingPoint(5, 2).format
    (FloatingPoint(5, 2), 'e5m2;inf=no;nan=none')
    >>> print(FloatingPoint(5, 2))
    FloatingPoint (exponent=5, mantissa=2)
    >>> FloatingPoint(5, 2, subnormals=False, saturate=False).format
    'e5m2;sub=no'
    """

    kind = "FloatingPoint"

    def __init__(self, exp: int, man: int, subnormals: bool = True, saturate: bool = True) -> None:
        self.exp, self.man = whole("exp", exp, 1), whole("man", man, 0)
        self.subnormals, self.saturate = flag("subnormals", subnormals), flag("saturate", saturate)
        if (self.exp, self.man, self.saturate) == (1, 0, False):
            raise ValueError(
                "exp = 1, man = 0, saturate = False: infinity takes the only code above zero; take "
                "exp = 2, man = 1, or saturate = True"
            )

    @property
    def format(self) -> str:
        infinite = "" if self.man else ";nan=ieee"  # one code has the largest exponent: infinity's
        ends = ";inf=no;nan=none" if self.saturate else infinite
        return f"e{self.exp}m{self.man}{ends}{'' if self.subnormals else ';sub=no'}"

    def arguments(self) -> tuple[Any, ...]:
        return self.exp, self.man, self.subnormals, self.saturate

    def unusual(self) -> str:
        """What is not as QPyTorch has it."""
        return "".join(f", {x}=False" for x in ("subnormals", "saturate") if not getattr(self, x))

    def __str__(self) -> str:
        return f"FloatingPoint (exponent={self.exp}, mantissa={self.man}{self.unusual()})"

    def __repr__(self) -> str:
        """As it is read back."""
        return f"FloatingPoint({self.exp}, {self.man}{self.unusual()})"


class BlockFloatingPoint(Number):
    """Integers of wl bits under one exponent, which the largest magnitude has.

    Args:
        wl: bits of an integer, the sign among them; -1 leaves numbers as they are.
        dim: -1, and the whole tensor has one exponent; else each index along this axis has its own.

    `format` is that of the whole tensor, or of one row for each index along `dim`.

    >>> BlockFloatingPoint(8, dim=0), BlockFloatingPoint(8).format
    (BlockFloatingPoint (wl=8, dim=0), 'bfp(8,all,e8)')
    """

    kind = "BlockFloatingPoint"

    def __init__(self, wl: int, dim: int = -1) -> None:
        self.wl, self.dim = whole("wl", wl, FULL), whole("dim", dim, WHOLE)
        if wl == 0:
            raise ValueError("wl = 0: a word has at least one bit")

    @property
    def format(self) -> str:
        refuse_identity(self)
        return f"bfp({self.wl},{'all' if self.dim == WHOLE else 0},e8)"

    @property
    def identity(self) -> bool:
        return self.wl == FULL

    def arguments(self) -> tuple[Any, ...]:
        return self.wl, self.dim

    def __str__(self) -> str:
        return f"BlockFloatingPoint (wl={self.wl}, dim={self.dim})"


class Posit(Number):
    """Posits of nsize bits; numbers are multiplied by a scale before, and divided after.

    Args:
        nsize: bits of a code.
        es: bits of the exponent.
        scale: moves the range in which posits are most precise.

    >>> Posit(8, 1), Posit(8, 1).format
    (Posit (exponent=1, wordlength=8, scale=1.0), 'posit8es1')
    """

    kind = "Posit"

    def __init__(self, nsize: int, es: int, scale: float = 1.0) -> None:
        self.nsize, self.es = whole("nsize", nsize, 3), whole("es", es, 0)
        if not 0 < abs(float(scale)) < float("inf"):
            raise ValueError(f"scale = {scale}: numbers are multiplied and divided by it; take 1.0")
        self.scale = float(scale)

    @property
    def format(self) -> str:
        return f"posit{self.nsize}es{self.es}"

    def arguments(self) -> tuple[Any, ...]:
        return self.nsize, self.es, self.scale

    def __str__(self) -> str:
        return f"{self.kind} (exponent={self.es}, wordlength={self.nsize}, scale={self.scale})"


class Positbf(Posit):
    """Posits of up to 8 bits whose scaling is rounded to bfloat16, where the tensor is one.

    >>> Positbf(8, 2).format
    'posit8es2'
    """

    kind = "Positbf"

    def __init__(self, nsize: int, es: int, scale: float = 1.0) -> None:
        if nsize > 8:
            raise ValueError(f"Positbf(nsize={nsize}): it has at most 8 bits; take Posit")
        super().__init__(nsize, es, scale)


KINDS = {k.kind: k for k in (FixedPoint, FloatingPoint, BlockFloatingPoint, Posit, Positbf)}


def told(number: Number | None) -> str | None:
    """A number as the text that an operation of torch takes."""
    return None if number is None else f"{number.kind}{number.arguments()}"


@lru_cache(maxsize=256)
def read(text: str) -> Number:
    """The number that `told` tells."""
    kind, bracket, arguments = text.partition("(")
    return KINDS[kind](*literal_eval(bracket + arguments))


def known(name: str, number: Any) -> Number | None:
    if number is None or (isinstance(number, Number) and number.kind in KINDS):
        return number
    raise TypeError(
        f"{name} = {number!r} is no number of {', '.join(KINDS)}; for other formats there is "
        "widthwise.torch.quantize"
    )


def refuse_identity(number: Number) -> None:
    if number.identity:
        raise ValueError(f"{number} leaves numbers as they are, which is no format")


def number_of(kind: type[Number], **settings: Any) -> Any:
    """What functions round to: a number that stands in the first setting's place, or one of a kind
    that is made of the settings; None are those left out."""
    first, value = next(iter(settings.items()))
    beside = {name: x for name, x in settings.items() if name != first and x is not None}
    if not isinstance(value, Number):
        made: Any = kind
        return made(value, **beside)
    if not isinstance(value, kind):
        raise TypeError(f"{value} is no {kind.kind}, which this function rounds to")
    if beside:
        own = {name: getattr(value, name) for name in settings if name != first}
        raise TypeError(
            f"{first} = {value} has its own {' and '.join(own)} ({listed(own)}), and beside it "
            f"there is {listed(beside)}; leave that out, or give {first} in bits"
        )
    return value


def listed(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {x!r}" for name, x in settings.items())


def whole(name: str, value: Any, least: int | None = None) -> int:
    if isinstance(value, bool) or not is_whole(value):
        raise TypeError(f"{name} = {value!r}: it is a number of bits or of an axis, an integer")
    if least is not None and value < least:
        raise ValueError(f"{name} = {value}: it is at least {least}")
    return int(value)


def is_whole(value: Any) -> bool:
    try:
        return bool(int(value) == value)
    except (TypeError, ValueError, OverflowError):
        return False


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} = {value!r}: it is True or False")
    return value
