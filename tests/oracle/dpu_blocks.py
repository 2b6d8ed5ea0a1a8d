"""Random units and dot products with what dpu_ref.py makes of them.

    python3 dpu_blocks.py COUNT SEED

prints COUNT lines, eight fields and the result, parted by tabs: the unit (TOML, '|' for a line's
end), A, B, C, scales of A, scales of B (codes as in the vector files), seed, index, D. Every field
of the datapath page, 2.1, varies; operands are random bit patterns, numbers of like exponents
or of two far apart, cancelling pairs, named codes, and few others than zeros and ones.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import replace

from dpu_ref import (
    DETERMINISTIC,
    FLUSH,
    FORMATS,
    NAN,
    Align,
    Chain,
    Format,
    Groups,
    LanePermutation,
    LateFrac,
    Operand,
    Product,
    Promote,
    Round,
    Scale,
    Sum,
    Unit,
    decode,
    hexa,
    result,
    run_bits,
    to_toml,
)

ROWS_A_UNIT = 2
LONG = 1000  # elements: no row here has as many
COMMON = ["binary16", "bfloat16", "tf32", "binary32", "e5m2", "e4m3fn", "e4m3fnuz", "e5m2fnuz"]
COMMON += ["e2m1fn", "e3m2fn", "e8m0fnu", "ue4m3fn"]
WIDE = ["binary64", "binary128", "e8m40", "e15m20", "e4m80", "e6m120"]


class Units:
    def __init__(self, seed: int | str):
        self.random = random.Random(seed)
        self.exact_sums = False

    def between(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def one_in(self, n: int) -> bool:
        return self.random.randrange(n) == 0

    def maybe(self, make, n: int = 3):
        return make() if self.one_in(n) else None

    def pick(self, choices):
        return self.random.choice(choices)

    # --- Formats and roundings ----------------------------------------------------------------

    def odd_format(self) -> Format:
        """Of any encoding, sizes from one digit and one exponent bit."""
        while True:
            nan = self.pick(["ieee", "all_ones", "negative_zero", "none"])
            inf = self.pick(["ieee", "no"] if nan == "ieee" else ["no", "top"])
            if self.one_in(8):
                inf = "top"
            exp_bits = self.between(1, 8)
            try:
                fmt = Format(
                    exp_bits,
                    self.pick([0, 1, 2, 3, 4, 7, 10, 23]),
                    self.pick([None, None, self.between(-20, 40), 1 << exp_bits >> 1]),
                    signed=not self.one_in(5),
                    nan=nan,
                    inf=inf,
                    subnormals=not self.one_in(4),
                    zero=not self.one_in(8),
                )
            except ValueError:
                continue
            if has_codes_for_all(fmt) and not is_p3109_of_one_digit(fmt):
                return fmt

    def format(self) -> Format:
        if self.one_in(3):
            return self.odd_format()
        return FORMATS[self.pick(COMMON)]

    def wide_format(self) -> Format:
        name = self.pick(WIDE)
        if name in FORMATS:
            return FORMATS[name]
        exp_bits, frac_bits = name[1:].split("m")
        return Format(int(exp_bits), int(frac_bits))

    def result_format(self) -> Format:
        """Of out and the other slots: more often one that holds sums."""
        chosen = self.between(0, 9)
        if chosen == 0:
            return self.wide_format()
        return FORMATS["binary32"] if chosen < 4 else self.format()

    def cut(self) -> str:
        return self.pick([*DETERMINISTIC, "rtz", "rtz", "rdn"])

    def rounding(self) -> str:
        if not self.one_in(5):
            return self.pick(DETERMINISTIC)
        return f"sr{self.between(1, 64)}" + self.pick(["", ":half", ":even"])

    def round(self, fmt: Format | None = None) -> Round:
        fmt = fmt or self.result_format()
        cut = self.maybe(lambda: self.between(0, fmt.frac_bits + 8), 4)
        return Round(
            fmt,
            self.rounding(),
            self.maybe(lambda: self.between(0, fmt.frac_bits), 4),
            cut,
            "rne" if cut is None else self.cut(),
            self.pick(["keep", "keep", *FLUSH]),
            self.pick(["ieee", "ieee", "ieee", "inf", "max", "nan"]),
            self.pick(["ieee", "ieee", "plus", "always_plus"]),
            self.maybe(lambda: self.nan_of(fmt), 4),
        )

    def nan_of(self, fmt: Format) -> int | None:
        """Some code that is NaN, if there is one that TOML's integers hold."""
        low = (1 << fmt.frac_bits) - 1
        tries = [self.random.getrandbits(fmt.width) | fmt.ones & ~low for _ in range(20)]
        found = [code for code in tries if decode(fmt, code).cls == NAN and code < 1 << 63]
        return found[0] if found else None

    # --- The parts of a unit ------------------------------------------------------------------

    def operand(self, fmt: Format) -> Operand:
        kept = self.maybe(lambda: self.between(0, fmt.frac_bits), 4)
        flush = self.pick(["keep", "keep", *FLUSH])
        return Operand(fmt, flush, kept, "rne" if kept is None else self.cut())

    def align(self) -> Align:
        reference = self.pick(["max_exponent", "max_exponent", "exact", "fixed_lsb"])
        if self.exact_sums or reference == "exact":
            return Align()
        if reference == "fixed_lsb":
            return Align(reference, self.between(-10, 60), self.cut())
        floor = self.maybe(lambda: self.pick([self.between(-160, 10), self.between(-20, 0)]))
        drop = self.maybe(lambda: self.between(0, 40))
        return Align(reference, self.between(-2, 40), self.cut(), floor, drop)

    def sum(self) -> Sum:
        order = self.pick(["fused", "fused", "sequential", "pairwise_tree"])
        align = self.align()
        width = None if self.exact_sums else self.maybe(lambda: self.between(1, 80), 4)
        overflow = self.pick(["wrap", "saturate"]) if width else "wrap"
        rounds = order != "fused" and self.one_in(2)
        return Sum(order, align, width, overflow, self.round() if rounds else None)

    def groups(self) -> Groups:
        n = self.between(1, 6)
        return Groups(consecutive=n) if self.one_in(2) else Groups(strided=n)

    def chain(self, lanes: int) -> Chain:
        permutation = self.maybe(lambda: LanePermutation(self.between(1, 4), self.between(1, 4)), 5)
        last = self.one_in(4)
        promote = None
        if lanes and self.one_in(4):
            promote = Promote(lanes * self.between(1, 3), self.round())
        final = self.maybe(self.round, 4)
        return Chain(
            permutation,
            "last" if last else "first",
            self.round() if last else None,
            promote=promote,
            final=final,
        )

    def scale(self, lanes: int, groups: Groups | None, c_level: str) -> Scale:
        fmt = self.pick([FORMATS["e8m0fnu"], FORMATS["ue4m3fn"], self.format()])
        apply = "group" if c_level != "group" and self.one_in(2) else "term"
        if apply == "term":
            return Scale(fmt, self.between(1, 40), apply)
        size = groups.consecutive if groups and groups.consecutive else 1
        whole = max(lanes, 1)
        return Scale(fmt, self.pick([whole, 2 * whole, size, 3 * size, LONG * whole]), apply)

    def any_unit(self) -> Unit:
        wide = self.one_in(8)
        self.exact_sums = wide and self.one_in(2)  # whose terms may lie far apart
        a = self.wide_format() if wide else self.format()
        b = a if self.one_in(2) else self.format()
        out = self.round()
        c = out.fmt if self.one_in(2) else self.format()
        lanes = self.pick([0, 1, 1, 2, 3, 4, 4, 5, 8, 8, 12])
        c_level = self.pick(["group", "group", "block", "late"])
        groups = self.maybe(self.groups, 2) if c_level != "group" else None
        late = self.maybe(lambda: LateFrac(self.between(0, 40), self.between(0, 40)), 2)
        scale = self.maybe(lambda: self.scale(lanes, groups, c_level), 4)
        return Unit(
            a=self.operand(a),
            b=self.operand(b),
            c=self.operand(c),
            lanes=lanes,
            product=Product(
                self.maybe(self.round, 4),
                self.pick(["field_sum", "field_sum", "normalised"]),
                self.maybe(lambda: self.between(-10, 130), 6),
            ),
            groups=groups,
            group_sum=self.sum(),
            block_sum=self.sum(),
            c_sum=self.sum(),
            c_level=c_level,
            late_frac=late,
            out=out,
            scale=scale,
            chain=self.chain(lanes),
        )

    def compensated(self, u: Unit) -> Unit:
        """The same unit as a compensated chain, where it can be one."""
        if not u.out.fmt.signed:
            return u
        return replace(
            u,
            lanes=1,
            groups=None,
            group_sum=Sum(),
            block_sum=Sum(),
            c_sum=Sum(),
            c_level="late",
            late_frac=None,
            scale=u.scale and replace(u.scale, apply="term"),
            chain=replace(u.chain, compensation=self.pick(["kahan", "neumaier"])),
        )

    def unit(self) -> Unit:
        while True:
            u = self.any_unit()
            if self.one_in(6):
                u = self.compensated(u)
            if has_answer(u):
                return u

    # --- Operands -----------------------------------------------------------------------------

    def named_code(self, fmt: Format) -> int:
        """Zeros, subnormals, the ends of the range, infinities, NaNs and their neighbours."""
        hidden = 1 << fmt.frac_bits
        near = [0, 1, hidden - 1, hidden, fmt.max_mag, fmt.ones, fmt.bias << fmt.frac_bits]
        mag = (self.pick(near) + self.pick([0, 0, 0, 1, -1])) & fmt.ones
        return mag | self.between(0, int(fmt.signed)) << fmt.mag_bits

    def unit_or_special(self, fmt: Format) -> int:
        """Zeros and ones, which cancel, or now and then an infinity or NaN."""
        specials = [fmt.ones, fmt.max_mag + 1 & fmt.ones] if self.one_in(12) else []
        mag = self.pick(specials or [0, fmt.bias << fmt.frac_bits & fmt.ones])
        return mag | self.between(0, int(fmt.signed)) << fmt.mag_bits

    def finite_code(self, fmt: Format, exponent: int, spread: int) -> int:
        """Of about this exponent, or as near as the format goes, and any fraction."""
        field = exponent + fmt.bias + self.between(-spread, spread)
        field = min(max(field, 0), (1 << fmt.exp_bits) - 1)
        mag = field << fmt.frac_bits | self.random.getrandbits(fmt.frac_bits or 1)
        mag = min(mag & fmt.ones, fmt.max_mag)
        return mag | self.between(0, int(fmt.signed)) << fmt.mag_bits

    def codes(self, fmt: Format, n: int, manner: str) -> list[int]:
        if manner == "bits":
            return [self.random.getrandbits(fmt.width) for _ in range(n)]
        if manner == "named":
            return [self.named_code(fmt) for _ in range(n)]
        if manner == "few":
            return [self.unit_or_special(fmt) for _ in range(n)]
        if manner == "far":  # two clusters, anywhere
            centres = [self.between(fmt.emin, fmt.emax) for _ in range(2)]
            return [self.finite_code(fmt, self.pick(centres), 2) for _ in range(n)]
        middle = (fmt.emin + fmt.emax) // 2
        centre = self.pick([0, middle, fmt.emin, fmt.emax - 1])
        spread = self.pick([0, 1, 3, 8, 30])
        return [self.finite_code(fmt, centre, spread) for _ in range(n)]

    def operands(self, u: Unit) -> tuple:
        """A, B, C, and scales or None twice."""
        manners = ["bits", "numbers", "numbers", "numbers", "cancelling", "named", "few"]
        manner = "far" if self.exact_sums and self.one_in(2) else self.pick(manners)
        k = self.pick([u.lanes, u.lanes, self.between(0, 2 * u.lanes + 6), self.between(0, 12)])
        a, b = self.codes(u.a.fmt, k, manner), self.codes(u.b.fmt, k, manner)
        if manner == "cancelling" or (manner == "few" and self.one_in(2)):
            for i in range(0, k - 1, 2):
                a[i + 1] = a[i] ^ (u.a.fmt.signed << u.a.fmt.mag_bits)
                b[i + 1] = b[i]
        if k and self.one_in(3):
            self.pick([a, b])[self.between(0, k - 1)] = 0
        if k and self.one_in(8):
            i = self.between(0, k - 1)
            a[i], b[i] = self.named_code(u.a.fmt), self.named_code(u.b.fmt)
        c = self.codes(u.c.fmt, 1, "named" if self.one_in(6) else manner)[0]
        if not u.scale:
            return a, b, c, None, None
        n = -(-k // u.scale.block)
        if manner != "few":
            manner = self.pick(["bits", "named", "numbers", "numbers", "numbers"])
        scales = [self.codes(u.scale.fmt, n, manner) for _ in "ab"]
        return a, b, c, *scales


# --- Where dpu_ref.py and the page part, or dpu_ref.py has no answer ------------------------------


def has_answer(u: Unit) -> bool:
    return one_scale_a_group(u) and not (zeroless_group_nodes(u) or smallest_in_register(u))


def is_p3109_of_one_digit(fmt: Format) -> bool:
    """The page, 3.10, 4: these tie to the even code, dpu_ref.py to the larger magnitude."""
    return (
        fmt.frac_bits == 0
        and fmt.bias == 1 << fmt.exp_bits - 1
        and fmt.nan == ("negative_zero" if fmt.signed else "all_ones")
    )


def has_codes_for_all(fmt: Format) -> bool:
    """Without a zero, the code of -0 would be the smallest negative number, and NaN. And two codes
    are not enough for zero, a number and a special (Widthwise refuses the format)."""
    special = fmt.nan in ("ieee", "all_ones") or fmt.inf != "no"
    return (fmt.zero or fmt.nan != "negative_zero") and (fmt.mag_bits > 1 or not special)


def zeroless_group_nodes(u: Unit) -> bool:
    """dpu_ref.py takes a group of zero products for an exact zero even where its nodes, rounded to
    a format without zero, made a number of it."""
    node = u.group_sum.node_round
    return bool(u.scale and u.scale.apply == "group" and node and not node.fmt.zero)


def smallest_in_register(u: Unit) -> bool:
    """An exact sum in a register has its last digit where its terms have theirs. dpu_ref.py gives
    the smallest number of a format without zero all its digits, whatever keep_frac says."""
    rounds = [u.product.round, *(s.node_round for s in (u.group_sum, u.block_sum, u.c_sum))]
    register = any(
        s.width and s.align.reference == "exact" for s in (u.group_sum, u.block_sum, u.c_sum)
    )
    return register and any(r and r.keep_frac is not None and not r.fmt.zero for r in rounds)


def one_scale_a_group(u: Unit) -> bool:
    """dpu_ref.py compares the values of a group's scales, so it takes what happens to agree. Here
    the groups of every block along k must lie inside one scale's elements."""
    if u.scale is None or u.scale.apply == "term" or u.scale.block >= LONG:
        return True
    if u.lanes == 0 or u.chain.lane_permutation:
        return False
    strided = u.groups.strided if u.groups else None
    size = u.groups.consecutive if u.groups else u.lanes
    for first in range(0, math.lcm(u.lanes, u.scale.block), u.lanes):
        lanes = range(first, first + u.lanes)
        for i in lanes:
            group = (i - first) % strided if strided else (i - first) // size
            same = [
                j
                for j in lanes
                if ((j - first) % strided if strided else (j - first) // size) == group
            ]
            if len({j // u.scale.block for j in same}) > 1:
                return False
    return True


# --- Text -----------------------------------------------------------------------------------------


def text(fmt: Format, codes: list[int] | None) -> str:
    return "" if codes is None else "".join(hexa(fmt, code) for code in codes)


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    units = Units(seed)
    for n in range(count):
        if n % ROWS_A_UNIT == 0:
            u = units.unit()
            unit_text = to_toml(u).strip().replace("\n", "|")
        a, b, c, sa, sb = units.operands(u)
        where = {
            "seed": units.random.getrandbits(64),
            "index": units.pick([0, units.between(1, 20), units.random.getrandbits(40)]),
        }
        d = run_bits(u, a, b, c, sa, sb, **where)
        scale_fmt = u.scale.fmt if u.scale else u.a.fmt
        fields = [
            unit_text,
            text(u.a.fmt, a),
            text(u.b.fmt, b),
            hexa(u.c.fmt, c),
            text(scale_fmt, sa),
            text(scale_fmt, sb),
            f"{where['seed']:x}",
            f"{where['index']:x}",
            hexa(result(u).fmt, d),
        ]
        print("\t".join(fields))


if __name__ == "__main__":
    main()
