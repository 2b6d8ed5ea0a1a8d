"""TestFloat's lines: written, checked, and refused with their number."""

import subprocess
import sys

import numpy as np
import pytest
import widthwise as ww
from commands import widthwise
from widthwise import _widthwise as core

OPERATIONS = ["add", "sub", "mul", "div", "rem", "sqrt", "mulAdd", "eq", "le", "lt"]
OTHERS = ["roundToInt", "eq_signaling", "le_quiet", "lt_quiet"]


def check(lines, op, format, *options):
    done = widthwise("verify", "--op", op, "--format", format, *options, stdin=lines)
    return done.returncode, done.stdout.strip(), done.stderr


def made(op, format, n=3000, to="", rounding="rne", tininess="after", seed=0):
    return core.make_vectors(
        core.VectorTask(op, format, to, core.Env(rounding, tininess)), seed, 0, n
    )


def judged(lines, op, format, to="", rounding="rne", tininess="after", **rules):
    rules = {"nan_bits": False, "int_bits": False, "inexact": "either"} | rules
    task = core.VectorTask(op, format, to, core.Env(rounding, tininess))
    checker = core.VectorChecker(task, **rules)
    for at in range(0, len(lines), 997):  # pieces end anywhere
        checker.feed(lines[at : at + 997].encode())
    checker.finish()
    return checker.vectors, checker.errors


@pytest.mark.parametrize("op", OPERATIONS + OTHERS)
@pytest.mark.parametrize(
    "format", ["binary16", "binary64", "e15m112", "e4m3fn", "e20m49", "e2m1fn"]
)
def test_what_is_written_checks(op, format):
    lines = made(op, format)
    assert judged(lines, op, format) == (3000, 0)
    width = -(-ww.Format(format).width // 4)
    assert all(len(line.split()[0]) == width for line in lines.splitlines())


SYSTEMS = ["fixed8.4", "ufixed7.3;overflow=wrap", "fixed1.0", "int100", "posit8es0", "posit64es2"]
SYSTEMS += ["posit16es2", "takum11", "takum32"]


@pytest.mark.parametrize("format", SYSTEMS)
def test_what_is_written_of_number_systems_checks(format):
    digits = -(-ww.Format(format).width // 4)
    for op in OPERATIONS + OTHERS:
        lines = made(op, format, 600)
        assert judged(lines, op, format) == (600, 0)
        assert all(len(line.split()[0]) == digits for line in lines.splitlines())
    for to in ("i32", "ui64", "f16", "posit12es1", "fixed9.2"):
        assert judged(made("convert", format, 600, to), "convert", format, to) == (600, 0)
        assert judged(made("convert", to, 600, format), "convert", to, format) == (600, 0)
    lines = made("add", format, 600, rounding="sr5")
    assert judged(lines, "add", format, rounding="sr5") == (600, 0)
    wrong = "".join(f"{line[:-2]}{int(line[-2:], 16) ^ 4:02X}\n" for line in lines.splitlines())
    assert judged(wrong, "add", format, rounding="sr5") == (600, 600)


def test_vectors_of_number_systems_have_their_specials():
    rows = [line.split() for line in made("mul", "posit8es2", 5000).splitlines()]
    for code in ("00", "80", "01", "7F", "40", "C0", "FF", "81"):
        assert sum(code in row[:2] for row in rows) > 60, code  # 39 if all were alike
    flags = [int(row[3], 16) for row in rows]
    assert flags.count(5) > 30 and flags.count(3) > 30 and flags.count(0) > 300
    given = made("div", "fixed8.4", 5000).splitlines()
    assert sum(int(line[-2:], 16) & 8 > 0 for line in given) > 30  # divisors of zero


@pytest.mark.parametrize("op", ["add", "mac(posit8es2)"])
def test_printed_codes_are_of_floats(op):
    named = [] if "(" in op else ["--format", "posit8es2"]
    line = "+0F.0 " * (3 if named else 4) + ".....\n"
    status, _, err = check_design(line, op, *named, *[] if named else ["-k", "1"])
    assert status == 2 and "a = '+0F.0' is not a hexadecimal number" in err


@pytest.mark.parametrize("integer", ["i32", "ui32", "i64", "ui64"])
def test_conversions_of_integers_check(integer):
    assert judged(made("convert", "f64", to=integer), "convert", "f64", integer) == (3000, 0)
    assert judged(made("convert", integer, to="f16"), "convert", integer, "f16") == (3000, 0)
    assert judged(made("convert", "f128", to="f16"), "convert", "f128", "f16") == (3000, 0)


def test_written_vectors_are_numpys():
    lines = [line.split() for line in made("mul", "binary32", 20_000).splitlines()]
    a, b, z = (
        np.array([int(line[i], 16) for line in lines], np.uint32).view(np.float32) for i in range(3)
    )
    with np.errstate(all="ignore"):
        theirs = a * b
    nan = np.isnan(theirs)
    assert (np.isnan(z) == nan).all()
    assert (z.view(np.uint32)[~nan] == theirs.view(np.uint32)[~nan]).all()
    assert 0 < nan.sum() < 10_000


def test_directed_operands_meet_what_random_bits_do_not():
    flags = [int(line.split()[-1], 16) for line in made("add", "binary64", 5000).splitlines()]
    exact = flags.count(0)
    overflow = sum(flag & 4 > 0 for flag in flags)
    assert exact > 300 and overflow > 10 and flags.count(16) > 20
    tiny = [int(line.split()[-1], 16) & 2 for line in made("mul", "binary16", 5000).splitlines()]
    assert sum(map(bool, tiny)) > 200


@pytest.mark.parametrize(
    "change, errors",
    [("4000 00", 0), ("4001 00", 1), ("4000 01", 1), ("4000 10", 1)],
)
def test_a_wrong_result_or_flag_is_an_error(change, errors):
    status, out, err = check(f"3C00 3C00 {change}\n", "add", "binary16")
    assert out == f"1 vectors, {errors} errors"
    assert status == (1 if errors else 0)
    assert err == (
        f"line 1: 3C00 3C00: the vector has {change}, this is 4000 00\n" if errors else ""
    )


def test_nothing_checked_is_a_failure():
    assert check("", "add", "binary16")[:2] == (1, "0 vectors, 0 errors")
    assert check("// a comment\n\n", "add", "binary16")[:2] == (1, "0 vectors, 0 errors")


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "3C00 3C00 4000",
            "line 2: '3C00 3C00 4000' has 3 fields; 4 are wanted: operands a and b, result, flags",
        ),
        ("3C00 3C00 4000 00 00", "line 2: '3C00 3C00 4000 00 00' has 5 fields; 4 are wanted"),
        ("3C00 3G00 4000 00", "line 2: b = '3G00' is not a hexadecimal number"),
        ("13C00 3C00 4000 00", "line 2: a = '13C00' is too long; it has 16 bits, 4 digits"),
        ("3C00 3C00 4000 20", "line 2: flags = '20' is too long; it has 5 bits"),
        ("3C00 0x 4000 00", "line 2: b = '0x' is not a hexadecimal number"),
        ("3C00 x3C00 4000 00", "line 2: b = 'x3C00' is not a hexadecimal number"),
        ("+0F.000 +0F.G00 +10.000 .....", "line 2: b = '+0F.G00' is not a hexadecimal number"),
        ("+0F.000 +2F.000 +10.000 .....", "line 2: b = '+2F.000' is too long; it has 16 bits"),
        ("3C00 16'b3C00 4000 00", "line 2: b = '16'b3C00' is not a hexadecimal number"),
        ("3C00 3C00 4000 v...y", "line 2: flags = 'v...y' is not a hexadecimal number"),
    ],
)
def test_a_line_that_is_no_vector_is_refused_with_its_number(line, message):
    status, out, err = check(f"3C00 3C00 4000 00\n{line}\n", "add", "binary16")
    assert status == 2 and out == ""
    assert err.startswith(f"widthwise: {message}") and err.count("\n") == 1


def test_leading_zeros_and_windows_line_ends_are_of_no_matter():
    assert judged("3c00 1 3C00 1\r\n0003C00 0 3C00 00", "add", "binary16") == (2, 0)


FORMS = {
    "0x, commas and comments": "# by hand\n0x3C00, 0X3C00, 0x4000, 0x00  # 2\n3C00,3C00,4000,0\n",
    "semicolons and comments of C": "3C00;3C00;4000;00 // one\n//two\n3C00 3C00 4000 0//\n",
    "literals of Verilog": "16'h3C00 16'H3c00 'h4000 5'h0\n3C00 16'h3C00 4000 0\n",
    "a mark at the beginning": "\ufeff3C00 3C00 4000 00\n3C00 3C00 4000 00\n",
    "as TestFloat prints them": "+0F.000  +0F.000  => +10.000 .....\n"
    "-00.001 +0F.000 => +0E.3FF ....x\n",
    "its faults": "+0F.000  +0F.000\n\t=> +10.000 .....  expected +10.001 ....x\n"
    "+1F.000  -1F.000  => +1F.200 v....  expected +00.000 .....\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_lines_may_have_other_forms(form):
    assert judged(FORMS[form], "add", "binary16") == (2, form.startswith("as"))
    done = check_design(FORMS[form], "add(binary16)")
    assert done[1] == f"2 vectors, {int(form.startswith('as'))} errors", done


@pytest.mark.parametrize("format", ["e5m10", "e8m23", "e15m112", "e4m0;nan=ieee", "e4m3fn"])
def test_printed_codes_are_their_fields(format):
    f = ww.Format(format)
    lines, printed, frac = made("mul", format, 500), [], f.precision - 1
    digits = -(-frac // 4)
    for line in lines.splitlines():
        *codes, flags = line.split()
        fields = [int(code, 16) for code in codes]
        magnitudes = [x & ((1 << (f.width - 1)) - 1) for x in fields]
        signs = ["-" if x >> (f.width - 1) else "+" for x in fields]
        printed.append(
            " ".join(
                f"{s}{m >> frac:X}.{m & ((1 << frac) - 1):0{digits}X}"
                for s, m in zip(signs, magnitudes, strict=True)
            )
            + " "
            + "".join(c if int(flags, 16) >> 4 - i & 1 else "." for i, c in enumerate("vioux"))
        )
    assert judged("\n".join(printed), "mul", format, nan_bits=True) == (500, 0)
    printed[7] = printed[7].replace("+", "*").replace("-", "+").replace("*", "-")
    assert judged("\n".join(printed), "div", format)[1] > 100


def test_flags_are_left_out_where_that_is_said():
    lines = "".join(line[:-3] + "\n" for line in made("add", "binary16", 500).splitlines())
    status, out, _ = check(lines, "add", "binary16", "--flags", "no")
    assert (status, out) == (0, "500 vectors, 0 errors; flags are not compared")
    wrong = lines.replace("0000\n", "0001\n")
    assert check(wrong, "add", "binary16", "--flags", "no")[0] == 1
    status, _, err = check(lines, "add", "binary16")
    assert status == 2 and "4 are wanted" in err and "say so (--flags no)" in err


@pytest.mark.parametrize("latency", [1, 3, 4095, 4096, 4097])
def test_results_may_come_clocks_later(latency):
    lines = [line.split() for line in made("add", "binary16", 6000).splitlines()]
    unknown = [["xxxx", "xx"]] * latency
    dumped = zip([x[:2] for x in lines], unknown + [x[2:] for x in lines], strict=False)
    text = "".join(" ".join(a + z) + "\n" for a, z in dumped)
    status, out, err = check(text, "add", "binary16", "--latency", str(latency))
    assert (status, out) == (0, f"{6000 - latency} vectors, 0 errors"), err
    assert check(text.replace("x", "0"), "add", "binary16", "--latency", "2")[0] == 1
    assert check(text, "add", "binary16", "--latency", "-1")[0] == 2


def test_rmm_is_rna():
    assert made("mul", "binary16", rounding="rmm") == made("mul", "binary16", rounding="rna")
    assert made("mul", "binary16", rounding="rmm") != made("mul", "binary16", rounding="rne")
    assert str(ww.Unit("mac(e5m10, sum=e5m10:rmm)")) == "mac(e5m10, sum=e5m10:rna)"


def test_nans_agree_unless_their_bits_are_asked_for():
    lines = "7C00 FC00 FE00 10\n"
    assert judged(lines, "add", "binary16") == (1, 0)
    assert judged(lines, "add", "binary16", nan_bits=True) == (1, 1)
    assert check(lines, "add", "binary16", "--nan-bits")[0] == 1


def test_invalid_integers_are_any_unless_their_bits_are_asked_for():
    lines = "7E00 80000000 10\n7E00 7FFFFFFF 10\n"
    assert judged(lines, "convert", "binary16", "i32") == (2, 0)
    assert judged(lines, "convert", "binary16", "i32", int_bits=True) == (2, 1)
    assert judged("7E00 80000000 00\n", "convert", "binary16", "i32") == (1, 1)
    assert check(lines, "convert", "f16", "--to", "i32", "--int-bits")[0] == 1


@pytest.mark.parametrize("op, to", [("convert", "i32"), ("roundToInt", "")])
def test_inexact_integers_are_read_either_way_but_one_way(op, to):
    lines = made(op, "binary32", 4000, to)
    if op == "roundToInt":  # ours does not raise inexact
        never, raised = lines, made("round_to_integral_exact", "binary32", 4000)
    else:
        raised = lines
        never = "".join(
            line[:-2] + f"{int(line[-2:], 16) & ~1:02X}\n" for line in lines.splitlines()
        )
    assert never != raised
    half = "".join(never.splitlines(True)[:2000] + raised.splitlines(True)[2000:])
    assert judged(never, op, "binary32", to) == judged(raised, op, "binary32", to) == (4000, 0)
    assert judged(half, op, "binary32", to)[1] > 100
    assert judged(never, op, "binary32", to, inexact="raised")[1] > 200
    assert judged(raised, op, "binary32", to, inexact="never")[1] > 200
    assert judged(raised, op, "binary32", to, inexact="raised") == (4000, 0)


def test_rounding_and_tininess_reach_the_operation():
    up = made("div", "binary16", rounding="rup")
    assert judged(up, "div", "binary16", rounding="rup") == (3000, 0)
    assert judged(up, "div", "binary16", rounding="rdn")[1] > 500
    before = made("mul", "binary16", 30_000, tininess="before")
    assert judged(before, "mul", "binary16", tininess="before") == (30_000, 0)
    assert judged(before, "mul", "binary16", tininess="after")[1] > 0


def test_a_million_lines_are_judged():
    lines = made("add", "binary32", 100_000) * 10
    assert judged(lines, "add", "binary32") == (1_000_000, 0)


def test_the_commands_fit_together():
    pipe = (
        f"{sys.executable} -m widthwise vectors --op mulAdd --format e5m10 -n 30000 --seed 4 | "
        f"{sys.executable} -m widthwise verify --op mulAdd --format e5m10 --json"
    )
    done = subprocess.run(pipe, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"vectors": 30000' in done.stdout and '"errors": 0' in done.stdout


def test_whoever_stops_reading_stops_the_writer():
    pipe = f"{sys.executable} -m widthwise vectors --op add --format e5m10 -n 3000000 | head -n 2"
    done = subprocess.run(pipe, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 2 and "Traceback" not in done.stderr


# --- Whole designs --------------------------------------------------------------------------------

DESIGNS = [
    ("hopper.e4m3.f32", []),
    ("hopper.e4m3.f32", ["-k", "7"]),
    ("mac(e5m10)", []),
    ("kulisch(e4m3fn)", []),
    ("blackwell.mxfp8", []),
    ("fma(e15m112)", ["-k", "2"]),
    ("fma(e5m10, sum=e5m10)", []),
    ("fma(e5m10)", []),
    ("fma(binary32)", []),
    ("multiply(e4m3fn, b=e5m2, out=e5m10:rtz)", []),
    ("muladd(e4m3fn, b=e5m2, c=bfloat16)", []),
    ("convert(binary32, out=e4m3fn)", []),
    ("convert(binary32, out=posit8es2)", []),
    ("multiply(posit8es2, b=fixed8.4, out=takum16:rup)", []),
    ("kulisch(posit16es2)", ["-k", "5"]),
    ("mac(fixed16.8;overflow=wrap, product=fixed24.12:rdn)", ["-k", "7"]),
    ("dot(int8, c=int32, out=int32, lanes=4)", []),
]


def design_lines(design, options, n=300):
    done = widthwise("vectors", "--op", design, "-n", n, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_design(lines, design, *options):
    done = widthwise("verify", "--op", design, *options, stdin=lines)
    return done.returncode, done.stdout.strip(), done.stderr


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(("design", "options"), DESIGNS)
def test_designs_have_vectors(design, options):
    lines = design_lines(design, options)
    assert check_design(lines, design, *options)[:2] == (0, "300 vectors, 0 errors")
    rows = lines.splitlines()
    *fields, flags = rows[11].split()
    fields[-1] = f"{int(fields[-1], 16) ^ 1:X}"
    text = "\n".join([*rows[:11], " ".join([*fields, flags])])
    status, out, err = check_design(text, design, *options, "--nan-bits")
    assert (status, out) == (1, "12 vectors, 1 errors") and err.startswith("line 12: a ")


def test_a_units_lines_are_dots():
    u = ww.Unit("hopper.e4m3.f32")
    for line in design_lines("hopper.e4m3.f32", [], 40).splitlines():
        a, b, c, y, flags = (int(x, 16) for x in line.split())
        x, z = (
            ww.from_bits(np.uint8([v >> 8 * i & 255 for i in range(32)]), "e4m3fn") for v in (a, b)
        )
        want, raised = ww.dot(x, z, unit=u, c=ww.from_bits(np.uint32(c), "binary32"), flags=True)
        assert (int(want.bits), int(raised)) == (y, flags)


def test_a_design_may_come_late_without_flags_and_in_other_forms():
    rows = [x.split() for x in design_lines("mac(e5m10)", [], 100).splitlines()]
    late = zip([x[:3] for x in rows], [["xx"]] * 2 + [x[3:4] for x in rows], strict=False)
    text = "".join(
        ", ".join(f"0x{f}" if f != "xx" else f for f in a + y) + " # z\n" for a, y in late
    )
    found = check_design(text, "mac(e5m10)", "-k", "1", "--latency", "2", "--flags", "no")
    assert found[:2] == (0, "98 vectors, 0 errors; flags are not compared"), found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["add"], "--format: what are the operands of add? Give one, as e5m10"),
        (["mac(e5m10)", "--format", "e5m10"], "--format = e5m10: mac(e5m10) has its formats"),
        (["mac(e5m10)", "-k", "0"], "-k = 0: it may be 1 or more"),
        (["add(e5m10)", "-k", "2"], "-k = 2: add(e5m10) is an operation"),
        (["mac(e5m10)"], "line 1: it has 2 fields; 5 are wanted: a b c y flags"),
    ],
)
def test_what_is_no_designs_is_refused(options, message):
    status, _, err = check_design("1 2\n", *options)
    assert status == 2 and err.startswith(f"widthwise: {message}"), err


def test_a_units_lines_without_flags_lead_to_the_option():
    said = "it has 4 fields; 5 are wanted: a b c y flags; where there are no flags, say so (--flags"
    assert said in check_design("3C00 4000 0000 4000\n", "mac(e5m10)")[2]


def test_a_pair_of_operands_has_one_result():
    lines = "+0F.000  +0F.000\n=> +10.000 .....\n"
    assert check(lines, "add", "binary16")[:2] == (0, "1 vectors, 0 errors")
    status, out, err = check(lines + "=> +10.000 .....\n", "add", "binary16")
    assert status == 2 and "line 3" in err and out == ""


def as_printed(fields, columns):
    """TestFloat's print of hexadecimal fields: each element by itself, an arrow, flags."""
    *numbers, raised = (int(field, 16) for field in fields)
    shown = []
    for number, (f, count) in zip(numbers, columns, strict=True):
        e, m = f.exponent_bits, f.fraction_bits
        for code in (number >> f.width * i & (1 << f.width) - 1 for i in range(count)):
            sign = "-" if f.signed and code >> f.width - 1 else "+"
            field, fraction = code >> m & (1 << e) - 1, code & (1 << m) - 1
            shown.append(
                f"{sign}{field:0{-(-e // 4)}X}." + (f"{fraction:0{-(-m // 4)}X}" if m else "")
            )
    letters = "".join(x if raised >> 4 - i & 1 else "." for i, x in enumerate("vioux"))
    return " ".join(shown[:-1]), f"=> {shown[-1]} {letters}"


PRINTED = {
    "hopper.e4m3.f32": (
        ["-k", "8"],
        [("e4m3fn", 8), ("e4m3fn", 8), ("binary32", 1), ("binary32", 1)],
    ),
    "blackwell.mxfp8": (
        ["-k", "40"],
        [
            ("e4m3fn", 40),
            ("e4m3fn", 40),
            ("binary32", 1),
            ("e8m0fnu", 2),
            ("e8m0fnu", 2),
            ("binary32", 1),
        ],
    ),
    "kulisch(e4m3fn)": (["-k", "3"], [("e4m3fn", 3), ("e4m3fn", 3), ("e4m3fn", 1), ("e4m3fn", 1)]),
    "multiply(e4m3fn, b=e5m2, out=e5m10)": ([], [("e4m3fn", 1), ("e5m2", 1), ("e5m10", 1)]),
    "convert(e15m112, out=ue5m3)": ([], [("e15m112", 1), ("ue5m3", 1)]),
}


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("design", PRINTED)
def test_designs_are_verified_as_testfloat_prints_them(design):
    options, columns = PRINTED[design]
    columns = [(ww.Format(f), count) for f, count in columns]
    hexadecimal = [line.split() for line in design_lines(design, options, 60).splitlines()]
    lines = [as_printed(fields, columns) for fields in hexadecimal]
    in_one, in_two = ("".join(f"{a}{gap}{z}\n" for a, z in lines) for gap in ("  ", "\n"))
    told = "".join(f"{a} {z}  expected +00.0 v....\n" for a, z in lines)
    for text in (in_one, in_two, told, "# a comment\n" + in_one.replace("  =>", ", =>")):
        assert check_design(text, design, *options) == (0, "60 vectors, 0 errors", "")
    wrong = in_one.replace(" .....", " ....x", 1) if " ....." in in_one else in_one + in_one
    assert check_design(wrong, design, *options)[:2] == (1, "60 vectors, 1 errors")
    few = " ".join(lines[0][0].split()[1:]) + " " + lines[0][1]
    status, _, err = check_design(few, design, *options)
    names = sum(count for _, count in columns) + 1
    assert status == 2 and f"{names} are wanted: a" in err
    if columns[0][1] > 1:
        assert "a[0] a[1] a[2] " in err


def test_what_a_printed_element_has_no_room_for_is_told():
    for line, told in [
        ("+10.0 +07.0 +07.0 => +07.0 .....", "line 1: a = '+10.0' is too long; it has 8 bits"),
        ("+07.0 +07.8 +07.0 => +07.0 .....", "line 1: b = '+07.8' is too long; it has 8 bits"),
        ("+07.0 +07.0 +07.0 => +07.0 ....y", "flags = '....y' is not a hexadecimal number"),
        ("+07.0 +0G.0 +07.0 => +07.0 .....", "b = '+0G.0' is not a hexadecimal number"),
    ]:
        status, _, err = check_design(line + "\n", "mac(e4m3fn)", "-k", "1")
        assert status == 2 and told in err, err


def test_a_latency_past_the_last_line_is_an_error_of_designs_too():
    lines = design_lines("mac(e5m10)", ["-k", "1"], 2)
    status, out, err = check_design(lines, "mac(e5m10)", "-k", "1", "--latency", "5")
    assert status == 2 and "latency = 5: of 2 lines none has a result" in err and out == ""


def test_a_latency_past_the_last_line_is_an_error():
    status, out, err = check(made("add", "binary16", 2), "add", "binary16", "--latency", "5")
    assert status == 2 and "latency = 5: of 2 lines none has a result" in err and out == ""


def test_a_designs_settings_are_its_own():
    design = "add(e5m10, out=e4m3fn:sr8)"
    lines = design_lines(design, ["--seed", "3"])
    assert check_design(lines, design, "--seed", "3")[:2] == (0, "300 vectors, 0 errors")
    assert check_design(lines, design, "--seed", "4")[0] == 1
    for options in (["--rounding", "rtz"], ["--tininess", "before"], ["--int-bits"]):
        status, _, err = check_design(lines, design, *options)
        assert status == 2 and options[0] in err
