"""Random units as texts: any field, short forms, and relatives of presets."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import widthwise as ww
from dpu_blocks import has_answer
from dpu_ref import FORMATS, Format, Unit, presets, to_toml
from drawn import Draw, text_of

PRESETS = list(presets().values())


class DrawUnits(Draw):
    def unit_text(self) -> str:
        """A unit of any fields, a short form, or a preset with some fields of others."""
        while True:
            text = self.pick([self.any_text, *[self.short_text] * 3, self.kin_text])()
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
        """A preset, up to three of whose fields, at any depth, are those of another unit;
        perhaps of operands of few digits and any exponents."""
        while True:
            kin = self.pick(PRESETS)
            if self.one_in(2):
                a, b = (self.of_digits(self.between(2, 12)) for _ in "ab")
                kin = replace(kin, a=replace(kin.a, fmt=a), b=replace(kin.b, fmt=b))
            for _ in range(self.between(0, 3)):
                kin = self.grafted(kin, self.any_unit())
            if has_answer(kin):
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
        if self.one_in(3):
            return self.pick([self.close_text, self.close_text, self.machine_text])()
        self.usual = self.one_in(2)
        self.exp_bits = self.between(2, 9)
        self.mode = self.pick(["", "", ":rtz", ":rup", ":rdn", ":rna", f":sr{self.between(1, 17)}"])
        wide = self.one_in(6) and not self.usual
        first = self.wide_format() if wide else self.any_format()
        said = [text_of(first) if self.one_in(2) or wide else self.format_text()]
        kind = self.pick(["mac"] * 6 + ["fma"] * 4 + ["dot"] * 2 + [*SHORT_FORMS])
        said += [f"{key}={self.format_text()}" for key in ("b", "c") if self.one_in(4)]
        said += SHORT_FORMS[kind](self)
        return f"{kind}({', '.join(said + ([] if self.usual else self.further()))})"

    def close_text(self) -> str:
        """Digits that together are about those of a float or a double, in one range of exponents:
        where the fast engines begin to refuse."""
        self.usual, self.exp_bits = True, self.between(2, 9)
        total = self.pick([24, 24, 53]) + self.between(-3, 3)
        of_sum = self.pick([total // 2, self.between(2, total - 2), total - 2])
        random_bits = min(max(total - of_sum, 1), 17)
        self.mode = self.pick(["", "", "", ":rtz", ":rup", ":rdn", ":rna", f":sr{random_bits}"])
        of_products = max(total - of_sum, 2) if self.one_in(2) else total
        of_a = self.pick([of_products // 2, self.between(1, of_products - 1)])
        a, b, to = (text_of(self.of_digits(max(n, 2))) for n in (of_a, of_products - of_a, of_sum))
        said = [a, f"b={b}", f"c={self.pick([a, to, to])}"]
        kind = self.pick(
            ["mac", "mac", "fma", "fma", "fma", "dot", "window", "window", "kulisch", "kahan"]
        )
        if kind == "window":
            return f"dot({', '.join(said[:2] + self.window())})"
        if kind in ("mac", "kahan"):
            node = self.pick([a, to, text_of(self.of_digits(max(of_products, 2)))])
            said.append(f"product={node}{self.mode if self.mode[:3] != ':sr' else ''}")
        said.append(f"{'sum' if kind in ('mac', 'fma', 'kahan') else 'out'}={to}{self.mode}")
        return f"{kind}({', '.join(said + (self.lanes() if kind == 'dot' else []))})"

    def machine_text(self) -> str:
        """Sums in the machine's own formats, of operands that are its numbers or not: by its own
        modes, or each by another or by random bits."""
        self.usual, self.exp_bits = True, self.between(2, 9)
        to, other = self.pick(["binary32", "binary64"]), self.pick(["binary32", "binary64"])
        modes = [self.pick(["", "", ":rtz", ":rup", ":rdn"])]
        if self.one_in(2):
            modes += [":rna", ":rno", ":odd", ":raz", f":sr{self.between(1, 32)}", ":sr7:half"]

        def mode() -> str:
            return self.pick(modes)

        said = [self.pick([to, other, text_of(self.any_format())])]
        said += [f"{key}={self.pick([to, text_of(self.any_format())])}" for key in "bc"]
        kind = self.pick(["mac", "fma", "kahan", "neumaier", "tree", "dot", "dot"])
        if kind == "dot":
            out = self.pick([to, to, text_of(self.any_format())])
            return f"dot({', '.join(said + self.lanes())}, out={out}{mode()})"
        said += [f"fan={self.between(1, 9)}"] * (kind == "tree")
        said += [f"node={to}{mode()}"] * (kind == "tree")
        said += [f"product={self.pick([to, to, to, other])}{mode()}"] * (kind != "fma")
        return f"{kind}({', '.join(said)}, sum={to}{mode()})"

    def window(self) -> list[str]:
        """What tensor cores do with their sums."""
        out = self.pick(["e8m23:rtz", "e8m23:rtz", "e5m10", "e8m23"])
        floor = [f"floor={self.between(-140, -100)}"] * self.one_in(3)
        lanes = f"lanes={self.pick([2, 4, 8, 16, 32, 64])}"
        return [
            f"c={out.removesuffix(':rtz')}",
            f"out={out}",
            f"align={self.between(10, 30)}:rtz",
            lanes,
            *floor,
        ]

    def further(self) -> list[str]:
        """What every kind takes, and few units have."""
        interval = self.between(1, 4) * self.pick([1, 4, 8])
        said = [f"final={self.rounded()}"] * self.one_in(6)
        said += [f"promote={interval}:{self.rounded()}"] * self.one_in(6)
        of_scale = text_of(self.pick([self.format(), FORMATS["e8m0fnu"]]))
        said += [f"scale={of_scale}:{self.between(1, 40)}:term"] * self.one_in(6)
        return said

    def rounded(self, key: str = "sum") -> str:
        mode = self.mode if self.usual else f":{self.rounding()}" if self.one_in(2) else ""
        return self.format_text() + (mode if key != "product" or mode[:3] != ":sr" else "")

    def slots(self, *keys: str) -> list[str]:
        return [f"{key}={self.rounded(key)}" for key in keys if self.usual or self.one_in(2)]

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
