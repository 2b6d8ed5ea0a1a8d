"""FloPoCo's words and what its operators make of them, by a model of their documentation.

A word is exn (00 zero, 01 a number, 10 infinity, 11 NaN), sign, exponent and fraction. Every
exponent is that of a number; results are rounded to nearest even, and what is too small is zero.
"""

import re
from fractions import Fraction
from itertools import product
from math import isqrt

import pytest
import widthwise as ww
from commands import widthwise
from exported_folders import make, needs

ZERO, NUMBER, INF, NAN = range(4)


class Model:
    """FloPoCo's arithmetic on words of wE and wF, on fractions."""

    def __init__(self, we, wf):
        self.we, self.wf, self.bias = we, wf, 2 ** (we - 1) - 1
        self.width = 3 + we + wf

    def parts(self, word):
        exn, sign = word >> self.we + self.wf + 1, word >> self.we + self.wf & 1
        e, f = word >> self.wf & 2**self.we - 1, word & 2**self.wf - 1
        size = Fraction(2**self.wf + f, 2**self.wf) * Fraction(2) ** (e - self.bias)
        return exn, sign, size if exn == NUMBER else Fraction(0)

    def word(self, exn, sign=0, rest=0):
        return (exn << 1 | sign) << self.we + self.wf | rest

    def rounded(self, sign, size):
        """The word of a magnitude above 0: its digits to nearest even, then its exponent."""
        e = 0
        while Fraction(2) ** e > size:
            e -= 1
        while Fraction(2) ** (e + 1) <= size:
            e += 1
        digits = round(size / Fraction(2) ** (e - self.wf))  # of a tie the even one
        if digits == 2 ** (self.wf + 1):
            digits, e = digits // 2, e + 1
        if e + self.bias < 0:
            return self.word(ZERO, sign)
        if e + self.bias >= 2**self.we:
            return self.word(INF, sign)
        return self.word(NUMBER, sign, e + self.bias << self.wf | digits - 2**self.wf)

    def add(self, x, y):
        (kx, sx, vx), (ky, sy, vy) = self.parts(x), self.parts(y)
        if NAN in (kx, ky) or (kx == ky == INF and sx != sy):
            return self.word(NAN)
        if INF in (kx, ky):
            return self.word(INF, sx if kx == INF else sy)
        total = (-vx if sx else vx) + (-vy if sy else vy)
        if total == 0:
            return self.word(ZERO, sx & sy if kx == ky == ZERO else 0)
        return self.rounded(int(total < 0), abs(total))

    def subtract(self, x, y):
        return self.add(x, y ^ 1 << self.we + self.wf)

    def multiply(self, x, y):
        (kx, sx, vx), (ky, sy, vy) = self.parts(x), self.parts(y)
        if NAN in (kx, ky) or {kx, ky} == {ZERO, INF}:
            return self.word(NAN)
        if INF in (kx, ky):
            return self.word(INF, sx ^ sy)
        return self.rounded(sx ^ sy, vx * vy) if vx * vy else self.word(ZERO, sx ^ sy)

    def divide(self, x, y):
        (kx, sx, vx), (ky, sy, vy) = self.parts(x), self.parts(y)
        if NAN in (kx, ky) or (kx == ky and kx != NUMBER):
            return self.word(NAN)
        if kx == INF or ky == ZERO:
            return self.word(INF, sx ^ sy)
        if kx == ZERO or ky == INF:
            return self.word(ZERO, sx ^ sy)
        return self.rounded(sx ^ sy, vx / vy)

    def sqrt(self, x):
        kind, sign, size = self.parts(x)
        if kind == NAN or (sign and kind != ZERO):
            return self.word(NAN)
        if kind != NUMBER:
            return self.word(kind, sign)
        scaled = size * Fraction(4) ** 40
        root = isqrt(scaled.numerator // scaled.denominator)
        exact = root * root * scaled.denominator == scaled.numerator
        return self.rounded(0, (Fraction(root) + (0 if exact else Fraction(1, 2))) / 2**40)

    def fma(self, x, y, z):
        wide = Model(self.we + 3, 3 * self.wf + 40)
        grown = [self.grown(w, wide) for w in (x, y, z)]
        return self.shrunk(wide.add(wide.multiply(*grown[:2]), grown[2]), wide)

    def grown(self, word, wide):
        kind, sign, size = self.parts(word)
        return wide.rounded(sign, size) if kind == NUMBER else wide.word(kind, sign)

    def shrunk(self, word, wide):
        kind, sign, size = wide.parts(word)
        return self.rounded(sign, size) if kind == NUMBER else self.word(kind, sign)

    def words(self):
        """Every word, what says nothing at 0."""
        numbers = range(2 ** (self.we + self.wf))
        yield from (self.word(NUMBER, s, x) for s in (0, 1) for x in numbers)
        yield from (self.word(kind, s) for kind in (ZERO, INF) for s in (0, 1))
        yield self.word(NAN)


def judged(op, we, wf, lines, *options):
    task = ("verify", "--op", op, "--format", f"e{we}m{wf}", "--words", "flopoco")
    return widthwise(*task, *options, stdin="\n".join(lines) + "\n")


def line(*words):
    return " ".join(f"{word:X}" for word in words)


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("we, wf", [(2, 2), (3, 2), (3, 1)])
def test_every_two_words_are_as_the_model_has_them(op, we, wf):
    model = Model(we, wf)
    lines = [line(x, y, getattr(model, op)(x, y)) for x, y in product(model.words(), repeat=2)]
    done = judged(op, we, wf, lines)
    assert f"{len(lines)} vectors, 0 errors" in done.stdout, done.stderr


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("we, wf", [(3, 4), (4, 3), (2, 6)])
def test_every_root_is_as_the_model_has_it(we, wf):
    model = Model(we, wf)
    lines = [line(x, model.sqrt(x)) for x in model.words()]
    assert "0 errors" in judged("sqrt", we, wf, lines).stdout


@pytest.mark.parametrize(
    "op, we, wf",
    [("add", 8, 23), ("mul", 8, 23), ("mulAdd", 5, 10), ("mulAdd", 2, 2), ("div", 6, 9)],
)
def test_vectors_that_are_written_are_the_models(op, we, wf):
    model = Model(we, wf)
    name = {"mul": "multiply", "mulAdd": "fma", "div": "divide"}.get(op, op)
    task = ("--op", op, "--format", f"e{we}m{wf}", "--words", "flopoco")
    lines = widthwise("vectors", *task, "-n", "1500", "--seed", "3").stdout.splitlines()
    kinds, fields = set(), set()
    for text in lines:
        *operands, result = (int(field, 16) for field in text.split())
        assert result == getattr(model, name)(*operands), text
        assert max(*operands, result) >> model.width == 0
        kinds |= {word >> model.width - 2 for word in (*operands, result)}
        fields |= {x >> wf & 2**we - 1 for x in operands if x >> model.width - 2 == NUMBER}
    assert len(lines) == 1500 and kinds == {ZERO, NUMBER, INF, NAN}
    assert {0, 2**we - 1} <= fields  # whose exponents IEEE 754 sets aside
    assert (
        "1500 vectors, 0 errors; flags are not compared"
        in widthwise("verify", *task, stdin="\n".join(lines)).stdout
    )


def test_a_wrong_word_is_found_and_what_says_nothing_is_not():
    model = Model(4, 3)
    one, two, inf = (model.word(NUMBER, 0, x << 3) for x in (7, 8)), None, model.word(INF, 1)
    one, two = one
    right = [line(one, one, two), line(inf, one, inf), line(inf, inf ^ 1 << 7, model.word(NAN))]
    assert "3 vectors, 0 errors" in judged("add", 4, 3, right).stdout
    any_rest = [
        line(one, one, two),
        line(inf | 0x55, one, inf | 0x2A),
        line(inf, inf ^ 1 << 7, model.word(NAN, 1, 0x7F)),
    ]
    assert "3 vectors, 0 errors" in judged("add", 4, 3, any_rest).stdout
    for wrong in (line(one, one, two | 1), line(inf, one, inf ^ 1 << 7), line(one, one, inf)):
        done = judged("add", 4, 3, [right[1], wrong])
        assert done.returncode == 1 and "2 vectors, 1 errors" in done.stdout
        assert "line 2: a " in done.stderr and "the vector has" in done.stderr


def test_results_of_a_pipeline_come_clocks_later():
    lines = widthwise(
        *("vectors", "--op", "mul", "--format", "e5m10", "--words", "flopoco", "-n", "50")
    ).stdout.splitlines()
    fields = [text.split() for text in lines]
    late = [
        line(*(int(x, 16) for x in (*now[:2], then[2])))
        for now, then in zip(fields[3:], fields, strict=False)
    ]
    first = [line(*(int(x, 16) for x in (*now[:2], "0"))) for now in fields[:3]]
    assert "47 vectors, 0 errors" in judged("mul", 5, 10, first + late, "--latency", "3").stdout


def test_a_conversion_goes_to_another_we_and_wf():
    model, small = Model(5, 6), Model(4, 2)
    lines = [
        line(x, small.rounded(s, v) if k == NUMBER else small.word(k, s))
        for x in model.words()
        for k, s, v in [model.parts(x)]
    ]
    done = judged("convert", 5, 6, lines, "--to", "e4m2")
    assert f"{len(lines)} vectors, 0 errors" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "options, told",
    [
        (
            ("--op", "add", "--format", "e4m3fn"),
            "e4m3fn: FloPoCo's words know wE and wF alone; take e4m3",
        ),
        (("--op", "rem", "--format", "e5m10"), "FloPoCo's words are for add, subtract, multiply"),
        (
            ("--op", "add", "--format", "e5m10", "--rounding", "rtz"),
            "FloPoCo rounds to nearest even",
        ),
        (("--op", "add", "--format", "e5m10", "--nan", "x86"), "FloPoCo's words leave no choice"),
        (
            (
                "--op",
                "add(e5m10)",
            ),
            "add(e5m10) is a design, of codes; take an operation",
        ),
        (("--op", "lt", "--format", "e5m10"), "is not known"),
    ],
)
def test_what_words_do_not_have_is_refused(options, told):
    done = widthwise("vectors", *options, "--words", "flopoco", "-n", "1")
    assert done.returncode and told in done.stderr, done.stderr


def test_a_file_of_words_is_verified_in_python(tmp_path):
    model = Model(5, 10)
    one, two = (model.word(NUMBER, 0, x << 10) for x in (15, 16))
    (tmp_path / "words.txt").write_text(f"{line(one, one, two)}\n{line(two, one, one)}\n")
    verdict = ww.verify("add", format="e5m10", vectors=tmp_path / "words.txt", words="flopoco")
    assert (verdict.vectors, verdict.errors) == (2, 1) and "wE = 5, wF = 10" in str(verdict)
    with pytest.raises(ValueError, match="words = 'posit': it may be ieee or flopoco"):
        ww.verify("add", format="e5m10", words="posit")
    with pytest.raises(ValueError, match="leaves no choice of tininess, nan and random"):
        ww.verify("add", format="e5m10", vectors="x", words="flopoco", nan="x86")
    with pytest.raises(ValueError, match="is of a file's lines; name it, as vectors="):
        ww.verify("add", format="e5m10", words="flopoco")


# --- An operator in the place of exported RTL -----------------------------------------------------

OPERATOR = """library ieee;
use ieee.std_logic_1164.all;
use ieee.std_logic_arith.all;
use ieee.std_logic_unsigned.all;

entity FPOperator_3_2_uid2 is
  port (X : in std_logic_vector(3+2+2 downto 0);
        Y : in std_logic_vector(3+2+2 downto 0);
        R : out std_logic_vector(3+2+2 downto 0));
end entity;

architecture arch of FPOperator_3_2_uid2 is
  type words is array (0 to 65535) of std_logic_vector(7 downto 0);
  constant RESULTS : words := ({rows});
begin
  R <= RESULTS(conv_integer(X & Y));
end architecture;
"""


def operator(op, spoilt=None):
    """All words' results in a table, as FloPoCo's VHDL has its ports."""
    model = Model(3, 2)
    rows = [getattr(model, op)(x, y) for x, y in product(range(256), repeat=2)]
    if spoilt is not None:
        rows[spoilt] ^= 1
    return OPERATOR.format(rows=",".join(f'"{row:08b}"' for row in rows))


@pytest.fixture
def folder(tmp_path):
    def export(design, op):
        needs("ghdl")
        ww.export(design, tmp_path / "hw", name="op", vectors=4000)
        (tmp_path / "hw" / "operator.vhdl").write_text(operator(op))
        return tmp_path / "hw"

    return export


@pytest.mark.parametrize("op", ["add", "subtract", "multiply"])
def test_an_operator_is_held_to_the_vectors_through_the_adapter(folder, op):
    here = folder(f"{op}(e3m2;daz;ftz)", op)
    count = re.search(r"COUNT (\d+)", (here / "vectors" / "op.hex").read_text())[1]
    done = make(here, "flopoco", "OPERATOR=operator.vhdl")
    assert done.stdout == f"flopoco: {count} vectors, 0 errors; flags are not compared\n"
    readme = (here / "README.md").read_text()
    assert "as here: what is subnormal is zero" in readme
    command = "FPMult wE=3 wF=2" if op == "multiply" else "FPAdd wE=3 wF=2"
    assert command + (" sub=true" if op == "subtract" else "") in readme


def test_an_operators_fault_is_found_with_its_operands(folder):
    here = folder("add(e3m2;daz;ftz)", "add")
    lines = [x.split() for x in (here / "vectors" / "op.hex").read_text().splitlines()]
    codes = [[int(field, 16) for field in x[:3]] for x in lines if x and x[0] != "//"]
    a, b, y = next(c for c in codes if all(4 <= code & 0x1F < 28 for code in c))  # numbers
    (here / "operator.vhdl").write_text(operator("add", spoilt=(a | 0x40) << 8 | b | 0x40))
    done = make(here, "flopoco", "OPERATOR=operator.vhdl")
    told = rf"vector \d+: a {a:02x} b {b:02x}: y {y ^ 1:02x} .* instead of y {y:02x}"
    assert done.returncode and re.search(told, done.stdout), done.stdout


def test_subnormal_numbers_are_what_differs_and_the_readme_says_so(folder):
    here = folder("multiply(e3m2)", "multiply")
    done = make(here, "flopoco", "OPERATOR=operator.vhdl")
    faults = re.findall(r"vector \d+: a (\w+) b (\w+): y (\w+) .* instead of y (\w+)", done.stdout)
    assert done.returncode and faults
    for fault in faults:  # a subnormal operand or result in each
        assert any(0 < int(code, 16) & 0x1F < 4 for code in (*fault[:2], fault[3])), fault
    assert "multiply(e3m2;daz;ftz)" in (here / "README.md").read_text()


@pytest.mark.parametrize(
    "design, options, why",
    [
        ("add(e4m3fn)", {}, "IEEE 754's bias, infinities and NaN"),
        ("add(e5m10, out=e5m10:rtz)", {}, "FloPoCo rounds to nearest even"),
        ("add(e5m10)", {"rounding_port": True}, "FloPoCo rounds to nearest even"),
        ("add(e5m10, nan=x86)", {}, "FloPoCo's NaN has no payload"),
        ("add(e5m10)", {"pipeline": ["exact"]}, "it has a clock"),
        ("multiply(e5m10, b=e8m7)", {}, "for formats of one wE"),
        ("fma(e5m10)", {}, "adders and multipliers alone"),
        ("mac(e5m10)", {}, "adders and multipliers alone"),
    ],
)
def test_where_there_is_no_adapter_the_readme_says_why(tmp_path, design, options, why):
    ww.export(design, tmp_path / "hw", name="op", vectors=20, **options)
    assert not (tmp_path / "hw" / "bench" / "op_flopoco.vhd").exists()
    readme = " ".join((tmp_path / "hw" / "README.md").read_text().split())
    assert why in readme and "--words flopoco" in readme
    if not options.get("pipeline"):
        needs("ghdl")
        assert make(tmp_path / "hw", "flopoco").stdout == "flopoco: skipped, README.md says why\n"


@pytest.mark.parametrize("ports", ["clk : in std_logic;", "clk, rst : in std_logic;"])
def test_an_operator_without_registers_may_have_a_clock(folder, ports):
    here = folder("add(e3m2;daz;ftz)", "add")
    text = (here / "operator.vhdl").read_text()
    (here / "operator.vhdl").write_text(text.replace("port (X", f"port ({ports}\n        X"))
    assert "vectors, 0 errors" in make(here, "flopoco", "OPERATOR=operator.vhdl").stdout


def test_an_operator_that_is_not_named_is_asked_for(folder):
    here = folder("add(e3m2;daz;ftz)", "add")
    assert "say which file has the operator, as OPERATOR=" in make(here, "flopoco").stdout
    text = (here / "operator.vhdl").read_text()
    more = "\nentity other is\nend entity;\narchitecture a of other is\nbegin\nend architecture;\n"
    (here / "operator.vhdl").write_text(text + more)
    assert make(here, "flopoco", "OPERATOR=operator.vhdl").returncode
    done = make(here, "flopoco", "OPERATOR=operator.vhdl", "ENTITY=FPOperator_3_2_uid2")
    assert "vectors, 0 errors" in done.stdout
