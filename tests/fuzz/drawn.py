"""Random formats and codes as the package takes them, of dpu_blocks.py's making."""

from __future__ import annotations

import numpy as np
import systems_ref
import widthwise as ww
from dpu_ref import FORMATS, Format
from drawn_systems import SystemDraw
from format_cover import format_cover
from systems_ref import System

USUAL = ["binary16", "bfloat16", "binary32", "e5m2", "e4m3fn", "e4m3", "e2m1fn"]
# Fraction bits: half of those of a float or a double and about as many as these have.
EDGES = [10, 11, 12, 20, 21, 22, 23, 24, 25, 26, 49, 50, 51, 52]


def text_of(f: Format) -> str:
    """As widthwise reads it: [u]eXmY and every option."""
    said = [f"bias={f.bias}", f"nan={f.nan}", f"inf={f.inf}"]
    said += ["sub=no"] * (not f.subnormals) + ["zero=no"] * (not f.zero)
    return ";".join([f"{'' if f.signed else 'u'}e{f.exp_bits}m{f.frac_bits}", *said])


def encoding(f: ww.Format) -> Format | System:
    """What the codes of a format stand for, without a float's policies."""
    return systems_ref.policy_of(str(f)).fmt


def codes(x: ww.Array) -> np.ndarray:
    """As integers, whatever the number of limbs."""
    if x.format.limbs == 1:
        return x.bits
    limbs = x.bits.astype(object)
    return sum(limbs[..., i] << 64 * i for i in range(x.format.limbs))


class Draw(SystemDraw):
    """dpu_blocks.py's generator with the package's texts and arrays."""

    def __init__(self, seed: str):
        super().__init__(seed)
        self.usual = False  # formats and modes that the fastest engines have vectors for
        self.mode, self.exp_bits = "", 5  # of all roundings, and of most formats, then
        self.systems = 1 / 6  # how many formats are no floats
        self.numpy = np.random.default_rng(self.random.getrandbits(64))

    # --- Formats ------------------------------------------------------------------------------

    def plain_format(self) -> Format:
        """IEEE's encoding, of about as many digits as floats and doubles have to spare."""
        short, long, edge = self.between(1, 13), self.between(14, 52), self.pick(EDGES)
        return self.of_digits(1 + self.pick([short, short, edge, edge, long]))

    def of_digits(self, precision: int) -> Format:
        one_range = self.usual and not self.one_in(8)
        exp_bits = self.exp_bits if one_range else self.between(2, 9)
        own = (1 << exp_bits >> 1) - 1
        bias = self.maybe(lambda: own + self.pick([-1, 1, self.between(-150, 150)]), 6)
        return Format(exp_bits, precision - 1, bias)

    def any_format(self) -> Format:
        if self.usual:
            return self.plain_format() if not self.one_in(8) else FORMATS[self.pick(USUAL)]
        chosen = self.between(0, 11)
        if chosen == 0:
            return self.wide_format()
        return self.plain_format() if chosen < 5 else self.format()

    def format_text(self) -> str:
        """With a policy now and then, a corner of the fields, or of another number system."""
        if self.random.random() < self.systems:
            return self.system_text()
        return self.float_text()

    def float_text(self) -> str:
        if self.one_in(8) and not self.usual:
            return self.pick(format_cover())
        policies = [";daz", ";ftz", ";daz;ftz", ";overflow=max", ";overflow=nan", ";overflow=inf"]
        policies += [";ftz", ";overflow=satfinite"]
        has_policy = self.one_in(12) and not self.usual
        return text_of(self.any_format()) + (self.pick(policies) if has_policy else "")

    def mode_of(self, to: ww.Format) -> str:
        """To nearest, directed, or any that the oracle of a format has."""
        if self.usual:
            return self.pick(["rne", "rne", "rtz", "rup", "rdn", "rna"])
        return self.system_mode() if isinstance(encoding(to), System) else self.rounding()

    # --- Codes --------------------------------------------------------------------------------

    def array(self, f: ww.Format, shape: tuple[int, ...], manner: str, target: int = 0) -> ww.Array:
        """Numbers of one manner, or of others from row to row, and a few that stand out."""
        codes = self.pool(f, manner, target, shape)
        if len(shape) > 1 and self.one_in(4):
            rows = self.numpy.integers(0, 2, shape[0]).astype(bool)
            other = self.pool(f, self.pick(MANNERS), target, shape)
            codes[rows] = other[rows]
        if self.one_in(3):
            self.sprinkle(codes, f, self.pool(f, "named", 0, shape))
        if self.one_in(6):
            zeros = ww.from_bits([0], f).bits
            few = self.numpy.random(shape) < self.pick([0.1, 0.5, 0.95])
            codes[few] = zeros
        return ww.from_bits(codes, f)

    def pool(self, f: ww.Format, manner: str, target: int, shape: tuple[int, ...]) -> np.ndarray:
        """Codes of the shape, of a few dozen different ones and their opposites."""
        e = encoding(f)
        if isinstance(e, System):
            near = self.system_codes(e, 40, manner, target)
            near += [-code % (1 << e.width) for code in near if self.one_in(2)]
            codes = ww.from_bits(near, f).bits
            return codes[self.numpy.integers(0, len(near), shape)]
        if manner == "edge":  # of numbers whose product lies about where another format ends
            near = [self.finite_code(e, target + self.between(-1, 1), 1) for _ in range(40)]
        elif manner == "ties":
            near = [self.round_code(e) for _ in range(40)]
        elif manner == "heavy":  # of one sign, exponent and nearly all ones: sums grow as they can
            heavy = self.finite_code(e, target, 0) & e.ones | (1 << e.frac_bits) - 1
            near = [min(code, e.max_mag) for code in (heavy, heavy, heavy - (heavy & 1))]
        else:
            near = self.codes(e, 40, manner)
        if manner not in ("bits", "heavy") and self.one_in(2):  # opposites, which cancel
            near += [code ^ e.signed << e.mag_bits for code in near]
        codes = ww.from_bits(near, f).bits
        return codes[self.numpy.integers(0, len(near), shape)]

    def round_code(self, e: Format) -> int:
        """A few digits, then zeros or ones alone, but for the last: sums of these often tie."""
        code = self.finite_code(e, 0, self.pick([0, 1, 3, 8, 16, 30]))
        below = (1 << max(e.frac_bits - self.between(0, 3), 0)) - 1
        code = code | below if self.one_in(3) else code & ~below
        return code ^ 1 if self.one_in(4) else code

    def sprinkle(self, codes: np.ndarray, f: ww.Format, named: np.ndarray) -> None:
        """One to four codes that have names, and some beside each other: infinity beside NaN."""
        axes = codes.ndim - (f.limbs > 1)
        for _ in range(self.between(1, 4)):
            at = tuple(self.random.randrange(length) for length in codes.shape[:axes])
            codes[at] = named[at]
        if self.one_in(3):
            line = tuple(self.random.randrange(length) for length in codes.shape[: axes - 1])
            few = self.between(1, 3)
            codes[line][:few] = named[line][:few]


MANNERS = ["bits", "numbers", "numbers", "numbers", "named", "few", "far", "ties", "ties", "edge"]
MANNERS += ["heavy"]


def drawn_format(draw: Draw) -> ww.Format:
    while True:
        try:
            return ww.Format(draw.format_text())
        except ValueError:
            continue  # no finite number but zero is left
