"""Random fixed-point, posit and takum formats, and codes of them that arithmetic gets wrong."""

from __future__ import annotations

from fractions import Fraction

from dpu_blocks import Units
from dpu_ref import DETERMINISTIC
from systems_ref import System

RULES = ["saturate", "symmetric", "zero", "wrap", "wrap_sm", "keep_sign"]
WIDTHS = [3, 4, 5, 6, 7, 8, 8, 8, 12, 16, 16, 16, 24, 31, 32, 33, 63, 64]


class SystemDraw(Units):
    # --- Formats ------------------------------------------------------------------------------

    def system_text(self) -> str:
        kind = self.pick(["fixed", "fixed", "posit", "posit", "takum"])
        width = self.pick(WIDTHS) if self.one_in(2) else self.between(3, 64)
        if kind == "fixed":
            return self.fixed_text(width)
        return f"takum{width}" if kind == "takum" else f"posit{width}es{self.between(0, 4)}"

    def fixed_text(self, width: int) -> str:
        if self.one_in(12):
            width = self.pick([1, 2, 65, 130, 300])
        fraction = self.pick([0, width // 2, self.between(-12, width + 12)])
        sign = self.pick(["", "", "u"])
        rules = [rule for rule in RULES if not (sign and rule == "wrap_sm")]
        rule = f";overflow={self.pick(rules)}" if self.one_in(2) else ""
        return f"{sign}fixed{width}.{fraction}{rule}"

    def system_mode(self) -> str:
        """Any that number_systems_ref.py has: few random bits, whose variants differ most."""
        if not self.one_in(3):
            return self.pick(DETERMINISTIC)
        bits = self.pick([1, 2, 3, 4, self.between(1, 64)])
        return f"sr{bits}{self.pick(['', ':half'])}"

    # --- Codes --------------------------------------------------------------------------------

    def system_code(self, f: System, exponent: int, spread: int) -> int:
        """Of about this exponent, as near as the format goes, and any fraction."""
        e = min(max(exponent + self.between(-spread, spread), f.emin - 2), f.emax + 2)
        x = Fraction(2) ** e * (1 + Fraction(self.random.getrandbits(70), 1 << 70))
        return self.either_sign(f, f.code(x, self.pick(["rne", "rtz", "raz"])))

    def either_sign(self, f: System, code: int) -> int:
        return code if self.one_in(2) or not f.signed else -code & (1 << f.width) - 1

    def landmark(self, f: System) -> int:
        """Zero, one, the ends, NaR or the least integer, powers of two, and the codes beside: both
        sides of each change of a regime's length."""
        top = (1 << f.width) - 1 if not f.signed else f.nar - 1
        power = 1 << self.between(0, f.width - 1)
        near = self.pick([0, f.code(Fraction(1), "rne"), 1, top, f.nar, power, top ^ power - 1])
        return self.either_sign(f, (near + self.pick([-1, 0, 0, 0, 1])) % (1 << f.width))

    def system_codes(self, f: System, n: int, manner: str, target: int) -> list[int]:
        if manner == "bits":
            return [self.random.getrandbits(f.width) for _ in range(n)]
        if manner in ("named", "few"):
            return [self.landmark(f) for _ in range(n)]
        if manner == "edge":
            return [self.system_code(f, target, 1) for _ in range(n)]
        if manner == "ties":  # few digits, or nearly all ones
            return [self.round_system_code(f) for _ in range(n)]
        if manner == "heavy":
            heavy = self.system_code(f, target, 0)
            return [heavy, heavy, heavy ^ 1]
        middle, any_of = (f.emin + f.emax) // 2, self.between(f.emin, f.emax)
        centre = self.pick([0, middle, f.emin, f.emax, any_of])
        spread = self.pick([0, 1, 3, 8, 30])
        return [self.system_code(f, centre, spread) for _ in range(n)]

    def round_system_code(self, f: System) -> int:
        low = (1 << self.between(0, f.width - 1)) - 1
        code = self.system_code(f, 0, self.pick([0, 1, 3, 8]))
        return code | low if self.one_in(3) else code & ~low ^ self.between(0, 1)
