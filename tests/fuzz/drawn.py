"""Random formats, units and codes as the package takes them, of dpu_blocks.py's making."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace

import numpy as np
import widthwise as ww
from dpu_blocks import Units
from dpu_ref import FORMATS, Format, Unit, parse_format, presets, to_toml

USUAL = ["binary16", "bfloat16", "binary32", "e5m2", "e4m3fn", "e4m3", "e2m1fn"]
PRESETS = list(presets().values())
POLICIES = re.compile(r";(daz|ftz|overflow=\w+)")  # of a format's text; dpu_ref.py has none


def text_of(f: Format) -> str:
    """As widthwise reads it: [u]eXmY and every option."""
    said = [f"bias={f.bias}", f"nan={f.nan}", f"inf={f.inf}"]
    said += ["sub=no"] * (not f.subnormals) + ["zero=no"] * (not f.zero)
    return ";".join([f"{'' if f.signed else 'u'}e{f.exp_bits}m{f.frac_bits}", *said])


def encoding(f: ww.Format) -> Format:
    """What the codes of a format stand for, without its policies."""
    return parse_format(POLICIES.sub("", str(f)))


def codes(x: ww.Array) -> np.ndarray:
    """As integers, whatever the number of limbs."""
    if x.format.limbs == 1:
        return x.bits
    limbs = x.bits.astype(object)
    return sum(limbs[..., i] << 64 * i for i in range(x.format.limbs))


class Draw(Units):
    """dpu_blocks.py's generator with the package's texts and arrays."""

    def __init__(self, seed: str):
        super().__init__(seed)
        self.usual = False  # formats and modes that the fastest engines have vectors for
        self.numpy = np.random.default_rng(self.random.getrandbits(64))

    # --- Formats ------------------------------------------------------------------------------

    def plain_format(self) -> Format:
        """IEEE's encoding, sizes about those that vectors of floats and doubles hold."""
        return Format(self.between(2, 9), self.pick([1, 2, 3, 4, 6, 7, 10, 11, 12, 15, 23, 25]))

    def any_format(self) -> Format:
        if self.usual:
            return self.pick([self.plain_format(), FORMATS[self.pick(USUAL)]])
        chosen = self.between(0, 11)
        if chosen == 0:
            return self.wide_format()
        return self.plain_format() if chosen < 5 else self.format()

    def format_text(self) -> str:
        """With a policy now and then."""
        policies = [";daz", ";ftz", ";daz;ftz", ";overflow=max", ";overflow=nan", ";overflow=inf"]
        has_policy = self.one_in(12) and not self.usual
        return text_of(self.any_format()) + (self.pick(policies) if has_policy else "")

    # --- Units --------------------------------------------------------------------------------

    def unit_text(self) -> str:
        """A unit of any fields, a short form, or a preset with some fields of others."""
        while True:
            text = self.pick([self.any_text, self.short_text, self.short_text, self.kin_text])()
            try:
                return str(ww.Unit(text))
            except ValueError:
                continue  # what check() refuses: a node's NaN that is none, too many digits

    def any_text(self) -> str:
        return self.braced(self.unit())

    def braced(self, u: Unit) -> str:
        """The long form in braces. Registers may raise a flag, too, which dpu_ref.py calls wrap."""
        lines = to_toml(u).splitlines()
        for name in ("group_sum", "block_sum", "c_sum"):
            wraps = getattr(u, name).width and getattr(u, name).overflow == "wrap"
            if wraps and self.one_in(3):
                lines.append(f'{name}.overflow = "flag"')
        return "{" + ", ".join(lines) + "}"

    def kin_text(self) -> str:
        """A preset, up to three of whose fields, at any depth, are those of another unit."""
        kin = self.pick(PRESETS)
        for _ in range(self.between(0, 3)):
            kin = self.grafted(kin, self.any_unit())
        return self.braced(kin)

    def grafted(self, to, donor):
        """One field of `to` replaced, or one inside it; what would contradict itself stays out."""
        name = self.pick([field.name for field in fields(to)])
        ours, theirs = getattr(to, name), getattr(donor, name)
        inside = is_dataclass(ours) and type(ours) is type(theirs) and type(ours) is not Format
        if inside and not self.one_in(4):
            theirs = self.grafted(ours, theirs)
        try:
            return replace(to, **{name: theirs})
        except ValueError:
            return to

    def short_text(self) -> str:
        self.usual = self.one_in(2)
        wide = self.one_in(6)
        first = self.wide_format() if wide else self.any_format()
        said = [text_of(first) if self.one_in(2) or wide else self.format_text()]
        kind = self.pick(["mac"] * 6 + ["fma"] * 4 + ["dot"] * 2 + [*SHORT_FORMS])
        said += [f"{key}={self.format_text()}" for key in ("b", "c") if self.one_in(4)]
        said += SHORT_FORMS[kind](self)
        if self.one_in(8):
            said.append(f"final={self.rounded()}")
        if self.one_in(8):
            said.append(f"promote={self.between(1, 4) * self.pick([1, 4, 8])}:{self.rounded()}")
        if self.one_in(10):
            said.append(f"scale={text_of(self.format())}:{self.between(1, 40)}:term")
        return f"{kind}({', '.join(said)})"

    def rounded(self) -> str:
        mode = self.pick(["rtz", "rup", "rdn", "rna", f"sr{self.between(1, 20)}"])
        mode = mode if self.usual else self.rounding()
        return self.format_text() + (f":{mode}" if self.one_in(2) else "")

    def slots(self, *keys: str) -> list[str]:
        return [f"{key}={self.rounded()}" for key in keys if self.one_in(2)]

    def lanes(self) -> list[str]:
        return [f"lanes={self.pick([1, 2, 3, 4, 8, 16, 32])}"] * (not self.one_in(4))

    def aligned(self) -> list[str]:
        if self.one_in(4):
            return []
        floor = [f"floor={self.between(-160, 10)}"] * self.one_in(3)
        return [f"align={self.between(0, 40)}:{self.cut()}", *floor]

    def register(self) -> list[str]:
        width = [f"width={self.between(2, 80)}"] * (not self.one_in(3))
        overflow = [f"overflow={self.pick(['wrap', 'saturate', 'flag'])}"] * bool(width)
        return [f"frac={self.between(-4, 40)}", *width, *overflow]

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
        if manner == "edge":  # of numbers whose product lies about where another format ends
            near = [self.finite_code(e, target + self.between(-1, 1), 1) for _ in range(40)]
        elif manner == "ties":  # few digits and, now and then, the last one
            near = [self.round_code(e) for _ in range(40)]
        else:
            near = self.codes(e, 40, manner)
        near += [code ^ e.signed << e.mag_bits for code in near] if manner != "bits" else []
        codes = ww.from_bits(near, f).bits
        return codes[self.numpy.integers(0, len(near), shape)]

    def round_code(self, e: Format) -> int:
        code = self.finite_code(e, 0, self.pick([0, 1, 3]))
        kept = code & ~((1 << max(e.frac_bits - self.between(0, 3), 0)) - 1)
        return kept | self.between(0, 1) if self.one_in(3) else kept

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
SHORT_FORMS = {
    "mac": lambda draw: draw.slots("product", "sum"),
    "fma": lambda draw: draw.slots("sum"),
    "tree": lambda draw: [f"fan={draw.between(1, 9)}", *draw.slots("product", "node", "sum")],
    "dot": lambda draw: [*draw.slots("out"), *draw.lanes(), *draw.aligned()],
    "kulisch": lambda draw: draw.slots("out"),
    "fixedacc": lambda draw: [*draw.register(), *draw.slots("out")],
    "kahan": lambda draw: draw.slots("product", "sum"),
    "neumaier": lambda draw: draw.slots("product", "sum"),
}


def drawn_format(draw: Draw) -> ww.Format:
    while True:
        try:
            return ww.Format(draw.format_text())
        except ValueError:
            continue  # no finite number but zero is left
