"""A unit as a pipeline: its stages in the order of a value's path, the widths on the wires.

Stages bear the design's names (docs/architecture.md); a width is one of `Unit.widths()`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._format import Format
from .._table import Table
from .._unit import Unit, titled
from .style import FIELD_COLOURS, LINE, Card, Drawing, Html, label, stroke, svg, tag

ROUND = "normalise, round, pack"
ALL_OF_K = "k"  # products of a unit that takes all of them at once


class Step(NamedTuple):
    """A stage: what it does, and what leaves it."""

    stage: str
    does: str
    wire: str
    a_lane: bool = False  # there are several side by side
    takes: str = ""  # what enters from the side


def unit_card(u: Unit) -> Card:
    steps = pipeline(u)
    drawing = Drawing(lambda: pipeline_text(u, steps), lambda: pipeline_svg(u, steps))
    return Card(titled(u), drawing, Details(u.table()))


class Details:
    """A table that a page folds away."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return tag("details", tag("summary", "all fields and widths"), self.table)


# --- What the stages are --------------------------------------------------------------------------


def times(n: Any) -> str:
    return "" if n == 1 else f" × {n}"


class Reading:
    """A unit's fields by their dotted names, and its widths."""

    def __init__(self, u: Unit) -> None:
        self.unit = u
        self.widths = u.widths()
        self._fields = u.fields
        self.each = times(u.lanes or ALL_OF_K)
        self.late_c = self("chain.c_at") == "last"
        apart = self.late_c or self("chain.promote.interval")  # C is added elsewhere
        self.addend = "the sum so far" if apart else "c"
        self.running = "0" if apart else f"c {u.c}"  # what a chain begins with
        self.groups = self.widths.get("block_sum.terms", 1) - (self("c_level") == "block")

    def __call__(self, name: str, default: Any = None) -> Any:
        value: Any = self._fields
        for key in name.split("."):
            value = value.get(key, {})
        return default if value == {} else value

    def rounding(self, name: str) -> str:
        """A rounding as short forms write it, and what else it does."""
        said = []
        if (cut := self(f"{name}.post_norm_frac")) is not None:
            said.append(f"cut to {cut} fraction bits, {self(f'{name}.post_norm_rm', 'rne')}")
        said.append(f"to {self(f'{name}.fmt')}, {self(f'{name}.rm', 'rne')}")
        if (kept := self(f"{name}.keep_frac")) is not None:
            said.append(f"{kept} fraction bits")
        return "; ".join(said)

    def aligning(self, name: str) -> str:
        """Where the digits of a sum end."""
        reference = self(f"{name}.align.reference", "exact")
        if reference == "exact":
            return "no digit lost"
        digits, mode = self(f"{name}.align.frac_bits", 0), self(f"{name}.align.rm", "rne")
        if reference == "fixed_lsb":
            return f"to a last digit of 2^{-digits}, {mode}"
        floor = self(f"{name}.align.e_floor")
        above = "" if floor is None else f" ≥ {floor}"
        return f"below the top exponent{above}: {digits} bits, {mode}"

    def bits(self, name: str) -> str:
        return f"{self.widths[name]} bits"


def pipeline(u: Unit) -> list[Step]:
    read = Reading(u)
    return [*product_steps(read), *group_steps(read), *join_steps(read), *chain_steps(read)]


def product_steps(read: Reading) -> list[Step]:
    several = read.unit.lanes != 1
    digits = f"{read.widths['significand_a']} and {read.widths['significand_b']} bits{read.each}"
    steps = [Step("unpack", unpacking(read), digits, several)]
    rounding = read("product.round.fmt")
    bits = Format(rounding).precision if rounding else read.widths["product_significand"]
    does = read.rounding("product.round") if rounding else "exact"
    if limit := read("product.overflow_to_inf_at"):
        does += f"; infinite from 2^{limit}"
    steps.append(Step("product", does, f"{bits} bits{read.each}", several))
    if read("scale.apply") == "term":
        steps.append(Step("scale", scaling(read), f"{bits} bits{read.each}", several))
    return steps


def unpacking(read: Reading) -> str:
    said = []
    if (kept := read("a.keep_frac")) is not None:
        said.append(f"{kept} fraction bits kept, {read('a.keep_rm', 'rne')}")
    if read("a.subnormals", "keep") != "keep":
        said.append("subnormals are zero")
    return "; ".join(said) or "significands and exponents"


def scaling(read: Reading) -> str:
    return f"by the scales of a and b, {read('scale.fmt')}, one for {read('scale.block')}"


def group_steps(read: Reading) -> list[Step]:
    """The sum of the products; where there are groups also theirs."""
    level = read("c_level", "group")
    steps = summing(read, "group_sum", "product", level == "group", read.groups)
    if read("scale.apply") == "group":
        steps.append(Step("scale", scaling(read), f"exact{times(read.groups)}", True))
    if read.groups > 1:
        steps += summing(read, "block_sum", "group", level == "block", 1)
    return steps


def summing(read: Reading, name: str, of: str, takes_c: bool, sums: int) -> list[Step]:
    """Aligning and adding, in so many sums side by side; nothing for one product alone."""
    terms = read.widths[f"{name}.terms"]
    if terms == 1:
        return []
    others = terms - takes_c if read.unit.lanes else ALL_OF_K
    does = f"{others} {of}{'s' * (others != 1)}{f' and {read.addend}' * takes_c}"
    if node := read(f"{name}.node_round.fmt"):
        does += f", {read(f'{name}.order').replace('_', ' ')}, nodes {node}"
        return [Step(name, does, f"{Format(node).precision} bits{times(sums)}", sums > 1)]
    term = f"{read.bits(f'{name}.magnitude')} × {terms if read.unit.lanes else ALL_OF_K}"
    return [
        Step("align", read.aligning(name), term, True, read.running * takes_c),
        Step(
            name, does + overflowing(read, name), read.bits(f"{name}.width") + times(sums), sums > 1
        ),
    ]


def overflowing(read: Reading, name: str) -> str:
    if not read.widths[f"{name}.can_overflow"]:
        return ""
    return f"; may overflow: {read(f'{name}.overflow', 'wrap')}"


def join_steps(read: Reading) -> list[Step]:
    steps = []
    if read("c_level", "group") == "late":
        does = f"{read.addend} added; {read.aligning('c_sum')}"
        steps.append(Step("join", does, read.bits("c_sum.width"), takes=read.running))
    width = Format(read("out.fmt")).width
    return [*steps, Step(ROUND, read.rounding("out"), f"{width} bits")]


def chain_steps(read: Reading) -> list[Step]:
    """What a chain of blocks adds to each of them."""
    u, steps = read.unit, []
    if interval := read("chain.promote.interval"):
        outer = read("chain.promote.round.fmt")
        does = f"every {interval} products, and at the end: added to the outer sum"
        begins = "0" if read.late_c else f"c {u.c}"
        steps.append(Step("promote", does, f"{Format(outer).width} bits, {outer}", takes=begins))
    if last := read("chain.c_round.fmt"):
        wire = f"{Format(last).width} bits"
        steps.append(Step("c last", read.rounding("chain.c_round"), wire, takes=f"c {u.c}"))
    if final := read("chain.final.fmt"):
        steps.append(Step("final", read.rounding("chain.final"), f"{Format(final).width} bits"))
    return steps


def around(u: Unit) -> list[str]:
    """What the path itself does not show."""
    read = Reading(u)
    said = []
    if kind := read("chain.compensation"):
        said.append(f"{kind} compensation: three more roundings a step")
    if run := read("chain.lane_permutation.run"):
        ways = read("chain.lane_permutation.ways")
        said.append(f"k is dealt in runs of {run} to {ways} streams")
    if not u.lanes:
        said.append("widths hold for k to 2^32")
    elif read.late_c:
        said.append("blocks follow each other from 0, c is added at the end")
    elif read("chain.promote.interval"):
        said.append("until it is promoted, the sum is the next block's; then it is 0")
    else:
        said.append("the result is the next block's c")
    return said


# --- As text --------------------------------------------------------------------------------------


def inputs(u: Unit) -> str:
    each = times(u.lanes or ALL_OF_K)
    return f"a {u.a}{each},  b {u.b}{each},  c {u.c}"


def pipeline_text(u: Unit, steps: list[Step]) -> str:
    rows = [(step.stage, step.does, step.wire, step.takes) for step in steps]
    table = Table(["stage", "does", "leaves", "takes"], rows)
    return "\n".join([inputs(u), str(table), f"{u.result_format}: {'; '.join(around(u))}"])


# --- As a drawing ---------------------------------------------------------------------------------

LEFT, BOX, HEIGHT, GAP = 84, 400, 36, 30  # pixels
WIDTH = LEFT + BOX + 20
DIGIT = 6.7  # a character's width
TOP = 26  # of the first box; the operands stand above


def pipeline_svg(u: Unit, steps: list[Step]) -> Html:
    tops = [TOP + i * (HEIGHT + GAP) for i in range(len(steps))]
    end = tops[-1] + HEIGHT + GAP
    middle = LEFT + BOX / 2
    named = {"a": u.a, "b": u.b}
    each = times(u.lanes or ALL_OF_K)
    parts = [
        operand(middle + side * BOX / 4, f"{name} {f}{each}")
        for side, (name, f) in zip((-1, 1), named.items(), strict=True)
    ]
    for step, top in zip(steps, tops, strict=True):
        parts += [box(step, top), wire(middle, top + HEIGHT, step.wire)]
    parts += [entry(step, top) for step, top in zip(steps, tops, strict=True) if step.takes]
    if u.lanes:
        parts.append(loop(steps, tops))
    parts.append(label(middle, end + 14, str(u.result_format), font_weight="bold"))
    parts += [
        label(middle, end + 32 + 14 * i, line, fill_opacity=0.75)
        for i, line in enumerate(around(u))
    ]
    height = end + 28 + 14 * len(around(u))
    return svg(WIDTH, height, f"the pipeline of {u}", *parts)


def operand(x: float, text: str) -> Html:
    return Html(label(x, 10, text, font_weight="bold") + arrow(x, 14, TOP))


def arrow(x: float, top: float, bottom: float) -> Html:
    head = f"{x - 3:.1f},{bottom - 6:.1f} {x + 3:.1f},{bottom - 6:.1f} {x:.1f},{bottom:.1f}"
    return Html(stroke(x, top, x, bottom) + tag("polygon", points=head))


def wire(x: float, top: float, text: str) -> Html:
    colour = FIELD_COLOURS["fraction"]
    return Html(arrow(x, top, top + GAP) + label(x + 10, top + 16, text, "start", fill=colour))


def box(step: Step, top: float) -> Html:
    """A stage; behind one of every lane the edges of others."""
    behind = [edges_behind(top, by) for by in (4, 8)] if step.a_lane else []
    name = label(LEFT + BOX / 2, top + 15, step.stage, font_weight="bold")
    place = {"x": LEFT, "y": top, "width": BOX, "height": HEIGHT, "rx": 3}
    front = tag("rect", **place, fill=LINE, fill_opacity=0.15, stroke="currentColor")
    return Html("".join([*behind, front, name, label(LEFT + BOX / 2, top + 29, step.does)]))


def edges_behind(top: float, by: float) -> Html:
    """Of a box that stands a little higher and to the right: what the front one leaves to see."""
    x, y = LEFT + by, top - by
    edge = f"M {x} {y + 4} V {y} H {x + BOX} V {y + HEIGHT} H {x + BOX - 4}"
    return tag("path", d=edge, fill="none", stroke="currentColor", stroke_opacity=0.6)


def entry(step: Step, top: int) -> Html:
    """What comes into a stage from the left."""
    y = top + HEIGHT / 2
    head = f"{LEFT - 6},{y - 3:.1f} {LEFT - 6},{y + 3:.1f} {LEFT},{y:.1f}"
    named = label(LEFT - 58, y - 6, step.takes, "start", font_weight="bold")
    return Html(stroke(LEFT - 56, y, LEFT, y) + tag("polygon", points=head) + named)


def loop(steps: list[Step], tops: list[int]) -> Html:
    """From the rounded sum back to where the next block takes it in."""
    first = next(top for step, top in zip(steps, tops, strict=True) if step.takes)
    last = next(top for step, top in zip(steps, tops, strict=True) if step.stage == ROUND)
    low, high = last + HEIGHT + GAP - 9, first + HEIGHT / 2
    bend = f"M {LEFT + BOX / 2:.1f} {low:.1f} H {LEFT - 40} V {high:.1f}"
    return tag("path", d=bend, fill="none", stroke="currentColor", stroke_dasharray="4 3")
