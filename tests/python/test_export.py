"""Exported headers: every language says what the JSON says, and that is what the simulator does."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww

FORMATS = [
    "e4m3fn",
    "e5m2",
    "bfloat16",
    "binary16",
    "binary32",
    "e6m9",
    "e8m15",
    "e15m112",
    "e20m49",
    "e62m3",
    "e4m3fnuz",
    "e8m0fnu",
    "binary8p3sf",
    "e5m10;daz;ftz",
]
UNITS = [
    "fix24.sat",
    "kulisch.f32",
    "hopper.e4m3.f32",
    "cdna3.fp8",
    "blackwell.nvfp4",
    "mac(e5m10, sum=e8m13:sr8:half)",
    "fma(e62m1, sum=e62m1)",
    "kahan(e4m3fn, product=e5m10, sum=binary32)",
    '{a.fmt = "e5m10", b.fmt = "e5m10", c.fmt = "e5m10", lanes = 1, c_level = "group", '
    'out.fmt = "e5m10", out.nan_bits = 0x7e01}',
]
OPERATIONS = [
    "multiply(e5m2, b=e4m3fn, out=e5m10:rtz, tininess=before)",
    "fma(bfloat16, c=binary32, out=binary32:odd)",
    "convert(binary32, out=e4m3fn;overflow=max:sr8:half)",
    "add(e62m4095)",
]
DESIGNS = [f"fma({f})" for f in FORMATS] + UNITS + OPERATIONS
SYSTEMS = [
    "fma(fixed8.4;overflow=wrap)",
    "add(ufixed100.-40, out=fixed70.20;overflow=symmetric)",
    "mac(posit16es1, sum=posit32)",
    "kulisch(takum12, c=e5m10, out=fixed24.12)",
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The text of each file of each design, by design and ending."""
    texts = {}
    for i, design in enumerate(DESIGNS + SYSTEMS):
        paths = ww.export(design, tmp_path_factory.mktemp("hw") / "out", name=f"Unit{i}")
        texts[design] = {p.name.removeprefix(f"Unit{i}"): p.read_text() for p in paths}
    return texts


def facts(text):
    """The JSON's constants as (kind, width, value), an integer's width being 64."""
    table = {}
    for c in json.loads(text)["constants"]:
        value = int(c["value"], 16) if c["kind"] == "pattern" else c["value"]
        width = {"integer": 64, "flag": 1, "pattern": c.get("width"), "text": 0}[c["kind"]]
        assert c["name"] not in table
        table[c["name"]] = (c["kind"], width, value)
    return table


def integer(table, name):
    kind, _, value = table[name]
    assert kind == "integer"
    return value


def fits(value):
    return -(2**31) < value < 2**31


def signed(value, width=64):
    return value - 2**width if value >> (width - 1) else value


# --- The languages, each read by its own rules ----------------------------------------------------

COMMENT = r"(?:  (?://|--) .*)?"


def sized(literal):
    """A sized literal of Verilog: its width, whether it is signed, its digits' value."""
    width, sign, base, digits = re.fullmatch(r"(\d+)'(s?)([bhd])([0-9a-f]+)", literal).groups()
    return int(width), sign == "s", int(digits, {"b": 2, "h": 16, "d": 10}[base])


def verilog_constant(kind, literal):
    if kind in ("integer", "int"):
        assert fits(int(literal))
        return "integer", 64, int(literal)
    width, is_signed, value = sized(literal)
    if "signed" in kind:
        assert kind.endswith("signed [63:0]") and is_signed and width == 64
        assert not fits(signed(value))
        return "integer", 64, signed(value)
    if kind in ("", "bit"):
        assert width == 1
        return "flag", 1, bool(value)
    assert f"[{width - 1}:0]" in kind and value < 2**width
    return "pattern", width, value


def verilog(text, keyword, end):
    rows = re.findall(rf"^ *{keyword} (.*?) ?(\w+) = (\S+?){end}{COMMENT}$", text, re.MULTILINE)
    return {name: verilog_constant(kind, literal) for kind, name, literal in rows}


def localparams(text):
    return verilog(text, "localparam", ";")


def parameters(text):
    return verilog(text, "parameter", ",?")


def package(text):
    return verilog(text, "localparam", ";")


def macro(literal):
    if literal.startswith('"'):
        return "text", 0, json.loads(literal)
    minus = re.fullmatch(r"\(-(.+)\)", literal)
    width, is_signed, value = sized(minus[1] if minus else literal)
    if is_signed:
        assert width == (32 if fits(signed(value)) else 64)
        return "integer", 64, -value if minus else signed(value, width)
    return ("flag", 1, bool(value)) if width == 1 else ("pattern", width, value)


def macros(text, prefix):
    rows = re.findall(rf"^`define {prefix}_(\w+) (\".*\"|\S+){COMMENT}$", text, re.MULTILINE)
    return {name: macro(literal) for name, literal in rows}


def vhdl_constant(kind, literal):
    if kind == "integer":
        assert fits(int(literal))
        return "integer", 64, int(literal)
    if kind == "string":
        return "text", 0, literal[1:-1].replace('""', '"')
    if kind == "std_logic":
        return "flag", 1, literal == "'1'"
    width = int(re.fullmatch(r"std_logic_vector\((\d+) downto 0\)", kind)[1]) + 1
    base, digits = re.fullmatch(r'(x?)"([0-9a-f]+)"', literal).groups()
    assert len(digits) * (4 if base else 1) == width
    return "pattern", width, int(digits, 16 if base else 2)


def vhdl(text):
    rows = re.findall(
        rf"^ *constant (\w+) : (\S+|std_logic_vector\(.*?\)) := (\".*\"|\S+);{COMMENT}$",
        text,
        re.MULTILINE,
    )
    return {name: vhdl_constant(kind, literal) for name, kind, literal in rows}


def c_value(literal):
    if literal.startswith('"'):
        return json.loads(literal)
    words = re.findall(r"UINT32_C\(0x([0-9a-f]{8})\)", literal)
    if literal.startswith("{"):
        return sum(int(word, 16) << 32 * i for i, word in enumerate(words))
    return int(eval(re.sub(r"U?INT\d+_C", "", literal)))  # brackets, minus and numbers


def c_macros(text, prefix):
    rows = re.findall(
        rf"^#define {prefix}_(\w+) (\".*\"|\{{.*?\}}|.+?){COMMENT}$", text, re.MULTILINE
    )
    return {name: c_value(literal) for name, literal in rows}


# --- What they say --------------------------------------------------------------------------------


def without_text(table):
    return {name: fact for name, fact in table.items() if fact[0] != "text"}


@pytest.mark.parametrize("design", DESIGNS + SYSTEMS)
def test_every_language_says_what_the_json_says(exported, design):
    files = exported[design]
    table = facts(files[".json"])
    prefix = table["UNIT_NAME"][2].upper()
    assert localparams(files[".vh"]) == without_text(table)
    assert parameters(files["_params.vh"]) == without_text(table)
    assert package(files["_pkg.sv"]) == without_text(table)
    assert macros(files["_defs.vh"], prefix) == table
    assert c_macros(files[".h"], prefix) == {n: value for n, (_, _, value) in table.items()}

    def vector_if_wide(kind, width, value):
        wide = kind == "integer" and not fits(value)
        return ("pattern", 64, value % 2**64) if wide else (kind, width, value)

    assert vhdl(files["_pkg.vhd"]) == {n: vector_if_wide(*fact) for n, fact in table.items()}
    assert len(table) > 70


@pytest.mark.parametrize("design", DESIGNS + SYSTEMS)
def test_texts_stand_in_every_language(exported, design):
    table = facts(exported[design][".json"])
    assert ww._export.core.design_text(table["SPEC"][2]) == table["CANONICAL"][2]
    assert table["SPEC"][2] == design
    for ending in (".vh", "_params.vh", "_pkg.sv"):
        for name, (kind, _, value) in table.items():
            assert kind != "text" or f"// {name}: {value}\n" in exported[design][ending]


@pytest.mark.parametrize("format", FORMATS)
def test_codes_are_the_numbers_that_their_names_say(exported, format):
    table = facts(exported[f"fma({format})"][".json"])
    f = ww.Format(format.replace(";daz;ftz", ""))

    def code(name):
        _, width, value = table[f"Y_{name}"]
        assert width == f.width
        limbs = [value >> 64 * i & (2**64 - 1) for i in range(-(-width // 64))]
        bits = np.uint64([limbs]) if width > 64 else np.array([value]).astype(f.dtype)
        return ww.from_bits(bits, f)

    def scaled(name):
        ((significand, exponent),) = code(name).to_scaled()
        return int(significand), int(exponent)

    def is_power(name, exponent):
        significand, e = scaled(name)
        return (
            significand > 0
            and significand & (significand - 1) == 0
            and (e + significand.bit_length() - 1 == exponent)
        )

    def follows(name, later):
        return np.array_equal(ww.next_up(code(name)).bits, code(later).bits)

    if "Y_ONE" in table:
        assert is_power("ONE", 0)
    if table["Y_HAS_SUBNORMAL"][2]:
        assert is_power("MIN_SUBNORMAL", integer(table, "Y_LSB_EXP"))
        assert follows("MAX_SUBNORMAL", "MIN_NORMAL") and follows("POS_ZERO", "MIN_SUBNORMAL")
    assert is_power("MIN_NORMAL", integer(table, "Y_EMIN"))
    significand, exponent = scaled("MAX_FINITE")
    assert exponent + significand.bit_length() - 1 == integer(table, "Y_EMAX")
    assert follows("MAX_FINITE", "POS_INF" if table["Y_HAS_INF"][2] else "MAX_FINITE")
    assert integer(table, "Y_BIAS") == f.bias
    assert integer(table, "Y_SIG_WIDTH") == f.precision


def test_a_register_holds_what_the_simulator_says_and_wraps_past_it(exported):
    table = facts(exported["fix24.sat"][".json"])
    unit = ww.Unit("fix24.sat")
    assert integer(table, "ACC_WIDTH") == 24 and table["ACC_CAN_OVERFLOW"][2]
    top = Fraction(2) ** integer(table, "ACC_MSB_EXP") - Fraction(2) ** integer(
        table, "ACC_LSB_EXP"
    )
    big = unit.a.max_finite
    terms = int(top / (big * big)) + 2
    a = ww.array([float(big)] * terms, unit.a)
    result = ww.dot(a, a, unit=unit)
    assert result.to_fractions() == ww.array([float(top)], unit.result_format).to_fractions()[0]


# --- Adapters -------------------------------------------------------------------------------------

NAMES = ["A", "B", "C", "Y"]
HARDFLOAT_MODES = {"RM_RNE": 0, "RM_RTZ": 1, "RM_RDN": 2, "RM_RUP": 3, "RM_RMM": 4, "RM_ODD": 6}


@pytest.mark.parametrize("design", DESIGNS)
def test_adapters_count_as_their_libraries_do(exported, design):
    files = exported[design]
    table = facts(files[".json"])
    prefix = table["UNIT_NAME"][2].upper()
    hardfloat = localparams(files["_hardfloat.vh"])
    fpnew = package(files["_fpnew_pkg.sv"])
    flopoco = vhdl(files["_flopoco_pkg.vhd"])
    ap_float = c_macros(files["_ap_float.h"], f"{prefix}_AP_FLOAT")
    letters = [x for x in NAMES if f"{x}_EXP_WIDTH" in table]
    assert letters[0] == "A" and letters[-1] == "Y"
    for x in letters:
        e, m = integer(table, f"{x}_EXP_WIDTH"), integer(table, f"{x}_FRAC_WIDTH")
        assert integer(hardfloat, f"{x}_expWidth") == e
        assert integer(hardfloat, f"{x}_sigWidth") == m + 1
        assert integer(hardfloat, f"{x}_recWidth") == 1 + e + m + 1
        assert integer(fpnew, f"{x}_EXP_BITS") == e and integer(fpnew, f"{x}_MAN_BITS") == m
        assert integer(flopoco, f"{x}_wE") == e and integer(flopoco, f"{x}_wF") == m
        assert integer(flopoco, f"{x}_WORD_WIDTH") == 3 + e + m
        assert ap_float[f"{x}_W"] == 1 + e + m and ap_float[f"{x}_E"] == e
        sort = f"(define-sort {table['UNIT_NAME'][2]}_{x} () (_ FloatingPoint {e} {m + 1}))"
        assert (sort in files[".smt2"]) == is_ieee(table, x)
        kept = is_ieee(table, x) and table[f"{x}_FLUSH"][2] == 0
        assert hardfloat[f"{x}_SAME_CODES"][2] == fpnew[f"{x}_SAME_CODES"][2] == kept
        assert ap_float[f"{x}_SAME_CODES"] == (is_ieee(table, x) and not kept)
    config = dict(re.findall(r"CONFIG\.(\w+) \{(\w+)\}", files["_vivado.tcl"]))
    for x, port in (("A", "A"), ("Y", "Result")):
        assert int(config[f"C_{port}_Exponent_Width"]) == integer(table, f"{x}_EXP_WIDTH")
        assert int(config[f"C_{port}_Fraction_Width"]) == integer(table, f"{x}_FRAC_WIDTH") + 1


def is_ieee(table, x):
    """Whether the format is IEEE 754's of its widths: ww's own text of it says so."""
    e, m = integer(table, f"{x}_EXP_WIDTH"), integer(table, f"{x}_FRAC_WIDTH")
    return (
        m > 0
        and ("flag", 1, True) == table[f"{x}_HAS_SIGN"] == table[f"{x}_HAS_SUBNORMAL"]
        and f"{x}_POS_INF" in table
        and table[f"{x}_POS_INF"][2] == (2**e - 1) << m
        and table[f"{x}_MAX_FINITE"][2] == ((2**e - 1) << m) - 1
        and integer(table, f"{x}_BIAS") == 2 ** (e - 1) - 1
    )


def test_round_to_odd_is_6_for_hardfloat_and_5_for_cvfpu(exported):
    files = exported["fma(bfloat16, c=binary32, out=binary32:odd)"]
    assert localparams(files["_hardfloat.vh"])["roundingMode"] == ("pattern", 3, 6)
    assert package(files["_fpnew_pkg.sv"])["RND_MODE"] == ("pattern", 3, 5)
    assert "RoundingMode" not in files[".smt2"]  # it has no such mode
    rtz = exported["multiply(e5m2, b=e4m3fn, out=e5m10:rtz, tininess=before)"]
    assert localparams(rtz["_hardfloat.vh"])["roundingMode"] == ("pattern", 3, 1)
    assert localparams(rtz["_hardfloat.vh"])["control"] == ("flag", 1, False)
    assert "RoundingMode RTZ)" in rtz[".smt2"]
    stochastic = exported["convert(binary32, out=e4m3fn;overflow=max:sr8:half)"]
    assert "roundingMode" not in localparams(stochastic["_hardfloat.vh"])
    assert "RND_MODE" not in package(stochastic["_fpnew_pkg.sv"])
    table = facts(exported["fma(binary16)"][".json"])
    assert {n: v for n, (_, _, v) in table.items() if re.match(r"RM_[RO]", n)} == HARDFLOAT_MODES


# --- The folder -----------------------------------------------------------------------------------


def contents(folder):
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def test_two_exports_are_the_same_bytes_wherever_they_lie(tmp_path):
    for where in ("one", "deep/two"):
        ww.export("hopper.e4m3.f32", tmp_path / where)
    assert contents(tmp_path / "one") == contents(tmp_path / "deep" / "two")
    assert str(tmp_path) not in "".join(map(repr, contents(tmp_path / "one").values()))
    ww.export("hopper.e4m3.f32", tmp_path / "one")
    assert contents(tmp_path / "one") == contents(tmp_path / "deep" / "two")


def test_a_unit_object_its_text_and_its_table_are_one_design(tmp_path):
    unit = ww.Unit("mac(e5m10)")
    for i, design in enumerate([unit, str(unit), unit.to_toml()]):
        assert ww.export(design, tmp_path / str(i))[0].name == "mac_e5m10.vh"
    assert contents(tmp_path / "0") == contents(tmp_path / "1") == contents(tmp_path / "2")


@pytest.mark.parametrize(
    ("design", "name", "message"),
    [
        ("add(e4m3fn)", "module", "it is a reserved word"),
        ("add(e4m3fn)", "3x", "it begins with '3'"),
        ("add(e4m3fn)", "a__b", "no VHDL identifier: it has two _ in a row"),
        ("add(e63m3)", "x", "e63m3.*column"),
        ("mac(e5m5000)", "x", "4096|4095"),
        ("add(e5m10", "x", "column"),
        ("dot(e5m10, lanes=2000000)", "x", "2000000 is not in 0 to 1048576"),
        ("nonsense", "x", "nonsense"),
    ],
)
def test_bad_input_is_one_error_and_leaves_nothing(tmp_path, design, name, message):
    with pytest.raises(ValueError, match=message):
        ww.export(design, tmp_path / "hw", name=name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_ours_stays_as_it_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match=r"holds thesis\.tex, and no widthwise_export\.txt"):
        ww.export("add(e4m3fn)", tmp_path)
    assert contents(tmp_path) == {"thesis.tex": b"mine"}
    with pytest.raises(OSError):
        ww.export("add(e4m3fn)", tmp_path / "thesis.tex")
    with pytest.raises(TypeError, match="a text as"):
        ww.export(5, tmp_path / "hw")
    assert contents(tmp_path) == {"thesis.tex": b"mine"}


@pytest.mark.parametrize(
    "asked, canonical",
    [
        ("mac(bfloat16)", "mac(e8m7)"),
        ("add(bfloat16)", "add(e8m7)"),
        (ww.Unit("mac( bfloat16 )"), "mac(e8m7)"),
        ("ampere.f16.f32", str(ww.Unit("ampere.f16.f32"))),
        ("mac(e5m10)", "mac(e5m10)"),
    ],
)
def test_an_exports_spec_is_the_text_that_was_asked_for(asked, canonical, tmp_path):
    ww.export(asked, tmp_path / "x", name="x", rtl=False)
    told = facts((tmp_path / "x" / "x.json").read_text())
    assert told["SPEC"][2] == (asked if isinstance(asked, str) else asked.text)
    assert told["CANONICAL"][2] == canonical
    ww.export(canonical, tmp_path / "y", name="x", rtl=False)
    same = facts((tmp_path / "y" / "x.json").read_text())
    assert {n for n in told if told[n] != same[n]} <= {"SPEC"}


def test_an_export_is_named_after_the_text_that_was_asked_for(tmp_path):
    for i, (asked, name) in enumerate(
        [("ampere.f16.f32", "ampere_f16_f32"), ("add(bfloat16)", "add_bfloat16")]
    ):
        first, *_ = ww.export(asked, tmp_path / str(i), rtl=False)
        assert first.name == f"{name}.vh"


def test_a_folder_called_like_an_option_keeps_its_name(tmp_path):
    folder = tmp_path / "options.lanes"
    folder.mkdir()
    (folder / "mine").write_text("mine")
    with pytest.raises(ValueError, match="/options.lanes"):
        ww.export("mac(e5m10)", folder)
    with pytest.raises(TypeError, match="^lanes = 2.5: an integer is wanted"):
        ww.export("kulisch(e5m10)", tmp_path / "x", lanes=2.5)
