"""What is asked for in vain, in another library's words, or by an older name: what is said."""

import json
import operator
import re
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from widthwise import _names
from widthwise.cli import main

# --- Names of the package ------------------------------------------------------------------------


def test_tab_offers_the_interface_and_nothing_else():
    offered = dir(ww)
    assert set(ww.__all__) < set(offered) and "study" in offered
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(offered)
    assert all(hasattr(ww, name) for name in offered)
    assert [name for name in offered if name.startswith("st")] == ["study"]


def test_tab_offers_the_names_of_presets_and_formats():
    assert ww.units._ipython_key_completions_() == list(ww.units)
    assert "binary16" in ww.formats._ipython_key_completions_()


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("mean", "divide what ww.sum(x, unit=...) gives"),
        ("finfo", "ww.Format(text) has them"),
        ("quantize", "ww.array(x, format) rounds values; x.astype(format)"),
        ("quantise", "ww.array(x, format) rounds values"),
        ("exp", "the operations of IEEE 754-2019"),
        ("einsum", "ww.matmul(a, b, unit=...)"),
        ("bfloat16", "formats are texts: ww.Format('bfloat16')"),
        ("e5m10", "formats are texts: ww.Format('e5m10')"),
        ("mulitply", "ww.multiply there is"),
        ("Unit_", "ww.Unit there is"),
        ("mul", "ww.multiply"),
        ("posit", "ww.array(x, 'posit16')"),
        ("fixed", "ww.array(x, 'fixed8.4')"),
        ("takum", "ww.array(x, 'takum16')"),
        ("nf4", "ww.array(x, 'table(nf4)')"),
        ("mxfp8", "ww.blocks(x, 'mxfp8_e4m3')"),
        ("stochastic_round", "rounding='sr8'"),
        ("relu", "np.maximum(x, 0)"),
        ("softmax", "the operations of IEEE 754-2019"),
        ("isclose", "np.isclose(x, y) takes Arrays"),
        ("smallest_width", "ww.study.smallest_width there is"),
        ("accumulations", "ww.study.accumulation there is"),
    ],
)
def test_a_name_that_is_not_there_leads_on(name, way):
    with pytest.raises(AttributeError, match=re.escape(f"'{name}'; ") + ".*" + re.escape(way)):
        getattr(ww, name)
    assert not hasattr(ww, name)


def test_a_part_that_is_imported_on_its_own_is_told_of():
    for name in ("torch", "jax", "tensorflow", "onnx", "compat"):
        said = str(_names.NoSuchName(name, "widthwise"))
        assert said.endswith(f"; import widthwise.{name}, which brings it")


def test_studies_offer_their_names_and_lead_on():
    assert dir(ww.study) == sorted(ww.study.__all__)
    for name, way in {"sweep": "ww.sweep there is", "acumulation": "ww.study.accumulation"}.items():
        with pytest.raises(AttributeError, match=f"'widthwise.study' has no .*{way}"):
            getattr(ww.study, name)


def test_tab_offers_the_columns_of_findings():
    found = ww.sweep("mac(e5m10)", [1.0], [1.0])
    assert found._ipython_key_completions_() == found.columns


def test_every_way_on_names_what_there_is():
    for name, way in _names.WAYS.items():
        assert name not in ww.__all__
        for found in re.findall(r"ww\.(\w+)", way):
            assert found in ww.__all__, (name, found)
        for found in re.findall(r"np\.(\w+)", way):
            assert hasattr(np, found)


def test_a_name_of_nothing_says_only_so():
    with pytest.raises(AttributeError) as why:
        ww.qqqqqq  # noqa: B018
    assert str(why.value) == "module 'widthwise' has no attribute 'qqqqqq'"


def test_ones_and_full_round_once():
    assert (ww.ones((2, 3), "e5m10").bits == 0x3C00).all() and ww.ones(2, "e5m10").shape == (2,)
    assert (
        ww.full(2, "1/3", "e4m3fn").bits.tolist() == ww.array(["1/3"] * 2, "e4m3fn").bits.tolist()
    )
    assert ww.full((2, 2), float("nan"), "binary128").shape == (2, 2)
    assert ww.full(3, -0.0, "binary256").bits.shape == (3, 4)
    with pytest.raises(ValueError, match=r"value has shape \(2,\); one number is wanted"):
        ww.full(3, [1.0, 2.0], "e5m10")


# --- Names of earlier versions -------------------------------------------------------------------


def test_the_preset_mac_f32_is_found_by_its_old_name_with_a_warning():
    with pytest.warns(DeprecationWarning, match="muladd.f32 is called mac.f32 now") as told:
        unit = ww.Unit(" MulAdd.F32 ")
    assert told[0].filename == __file__
    assert unit == ww.Unit("mac.f32") == ww.Unit("mac(binary32)") and str(unit) == "mac.f32"
    x = ww.ones(3, "binary32")
    with pytest.warns(DeprecationWarning, match="mac.f32") as told:
        ww.dot(x, x, unit="muladd.f32")
    assert told[0].filename == __file__
    for ask in (ww.units.__getitem__, ww.units.evidence, ww.units.source):
        with pytest.warns(DeprecationWarning, match="mac.f32"):
            assert ask("muladd.f32") == ask("mac.f32")
    assert "muladd.f32" not in list(ww.units)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ww.Unit("mac.f32"), ww.units["mac.f32"]


def test_the_operation_is_fma_and_its_old_name_warns():
    with pytest.warns(DeprecationWarning, match="ww.muladd is called ww.fma now"):
        assert ww.muladd is ww.fma
    x = ww.array([3.0, 0.1], "e5m10")
    for name in ("fma", "muladd", "mulAdd"):
        assert (
            ww.trace_operation(name, x[1], x[1], x[0]).result.bits == ww.fma(x[1], x[1], x[0]).bits
        )


def test_the_command_line_tells_of_an_old_name_on_one_line(capsys):
    assert main(["info", "muladd.f32"]) == 0
    out, err = capsys.readouterr()
    assert err == "widthwise: muladd.f32 is called mac.f32 now\n" and out.startswith("mac.f32\n")


def test_an_export_of_fma_is_the_operation_unless_a_unit_is_meant(tmp_path):
    x = {"vectors": 0, "rtl": False, "name": "dut"}
    said = {}
    for folder, design, how in (
        ("a", "fma(e4m3)", {}),
        ("b", "mulAdd(e4m3)", {}),
        ("c", "fma(e4m3, sum=e4m3)", {}),
        ("d", ww.Unit("fma(e4m3)"), {}),
    ):
        ww.export(design, tmp_path / folder, **x, **how)
        made = json.loads((tmp_path / folder / "dut.json").read_text())
        # SPEC is the text that was asked for.
        made["constants"] = [each for each in made["constants"] if each["name"] != "SPEC"]
        said[folder] = made
    assert said["a"] == said["b"] != said["c"] == said["d"]
    assert "fma(e4m3)" in json.dumps(said["a"]) and "muladd" not in json.dumps(said["a"])
    assert "fma(e4m3, sum=e4m3)" in json.dumps(said["c"])
    ww.export("fma(e4m3)", tmp_path / "e", name="dut", accumulate=True, vectors=0)
    assert "fma(e4m3, sum=e4m3)" in (tmp_path / "e" / "README.md").read_text()


# --- What a call lacks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: ww.sum(x), "ww.sum asks for unit: as ww.sum(x, unit='mac(e5m10)')"),
        (lambda x: ww.sum([1.0, 2.0]), "ww.sum asks for unit: as"),
        (lambda x: ww.dot(x, x), "ww.dot asks for unit: as ww.dot(a, b, unit='mac(e5m10)')"),
        (lambda x: ww.dot(x, x, "mac(e5m10)"), "a call is ww.dot(a, b, unit='mac(e5m10)')"),
        (lambda x: ww.matmul(x, x), "ww.matmul asks for unit"),
        (lambda x: ww.cumsum(x), "ww.cumsum asks for unit"),
        (lambda x: ww.conv1d(x, x), "ww.conv1d asks for unit"),
        (lambda x: ww.conv2d(x, x), "ww.conv2d asks for unit"),
        (lambda x: ww.array([1, 2, 3]), "ww.array asks for format: as ww.array(x, 'e5m10')"),
        (lambda x: ww.array([1], "e5m10", "rtz"), "a call is ww.array(x, 'e5m10')"),
        (lambda x: ww.array([1], "e5m10", round="rtz"), "'round'; a call is ww.array(x, 'e5m10')"),
        (lambda x: ww.zeros(3), "ww.zeros asks for format: as ww.zeros((2, 3), 'e5m10')"),
        (lambda x: ww.ones(3), "ww.ones asks for format"),
        (lambda x: ww.from_bits(x.bits), "ww.from_bits asks for format"),
        (lambda x: ww.Format(9, 14), "format = 9, 14: a text as 'e9m14' is wanted"),
        (lambda x: ww.Format(9), "format = 9: a text as 'e5m10' is wanted"),
        (lambda x: ww.Format("e5m10", "rtz"), "format = 'e5m10', 'rtz': a text as 'e5m10'"),
        (lambda x: ww.Unit("mac", "e5m10"), "unit = 'mac', 'e5m10': a text as 'mac(e5m10)'"),
        (lambda x: ww.Format(e=5, m=10), "'e'; a call is ww.Format('e5m10')"),
        (lambda x: ww.Unit(), "ww.Unit asks for text: as ww.Unit('mac(e5m10)')"),
        (lambda x: ww.Unit("mac(e5m10)", rounding="rtz"), "a call is ww.Unit('mac(e5m10)')"),
        (lambda x: ww.export("mac(e5m10)"), "ww.export asks for directory: as ww.export('mac(e5m"),
        (lambda x: ww.sweep("mac(e5m10)", x), "ww.sweep asks for b: as ww.sweep(['mac(e5m10)'], a"),
        (lambda x: ww.trace("mac(e5m10)"), "ww.trace asks for a and b: as ww.trace('mac(e5m10)',"),
        (lambda x: ww.trace_operation(), "ww.trace_operation asks for op: as"),
        (lambda x: ww.verify(), "ww.verify asks for what: as ww.verify('add', format='e5m10')"),
        (lambda x: ww.explain("mac(e5m10)", 9), "ww.explain asks for n and k: as ww.explain("),
        (lambda x: ww.study.sources(x, x), "ww.study.sources asks for unit: as ww.study.sources("),
        (lambda x: ww.study.stagnation(x, x), "ww.study.stagnation asks for unit"),
        (lambda x: ww.study.error_growth(x, x), "ww.study.error_growth asks for units: as"),
        (lambda x: ww.study.streamed(x), "ww.study.streamed asks for units"),
        (lambda x: ww.study.accumulation(units=[]), "ww.study.accumulation asks for a"),
        (
            lambda x: ww.study.smallest_width("mac(e{width}m10)", range(2, 9), x, 1e-3),
            "ww.study.smallest_width asks for tolerance: as ww.study.smallest_width(",
        ),
        (lambda x: sum(x), "sum(x) leaves the order of its sums unsaid; ww.sum(x, unit='mac("),
        (lambda x: sum([x, x]), "sum(x) leaves the order of its sums unsaid"),
        (lambda x: sum(y for y in x), "sum(x) leaves the order"),
    ],
)
def test_a_call_that_lacks_something_is_shown_one(call, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        call(ww.array([1.0, 2.0], "e5m10"))


def test_errors_from_within_a_function_are_its_own():
    with pytest.raises(TypeError) as why:
        ww.dot([1.0], [1.0], unit="mac(e5m10)")
    assert "asks for" not in str(why.value) and "a call is" not in str(why.value)


def test_methods_that_an_array_has_not_lead_on():
    x = ww.array([1.0], "e5m10")
    ways = {"sum": "ww.sum(x, unit=", "mean": "ww.sum(", "dot": "ww.dot(", "numpy": ".to_float64()"}
    ways |= {"codes": ".bits", "cast": ".astype(format)", "to_fraction": ".to_fractions is there"}
    for name, way in ways.items():
        with pytest.raises(AttributeError, match=rf"'{name}': .*{re.escape(way)}"):
            getattr(x, name)


def test_plus_after_zero_is_not_taken_for_a_sum():
    x = ww.array([1.0, 2.0], "e5m10")
    for total in (0 + x, np.add(0, x), operator.add(0, x)):
        assert total.bits.tolist() == x.bits.tolist()
    assert (0 + x[0]).bits == x[0].bits


def test_a_pipeline_is_a_list_or_one_text(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder, stages in zip(folders, (["product", "round"], "product, round"), strict=True):
        ww.export("mac(e4m3)", folder, name="dut", pipeline=stages, vectors=0)
    tops = [(folder / "rtl" / "dut.v").read_text() for folder in folders]
    assert tops[0] == tops[1]
    with pytest.raises(ValueError, match="names prodct"):
        ww.export("mac(e4m3)", tmp_path / "c", name="dut", pipeline="prodct,round")


# --- Texts of units ------------------------------------------------------------------------------


def test_the_long_form_is_read_as_text_and_as_a_path(tmp_path):
    for text in ("mac(e4m3fn, sum=e8m13:rtz)", "cdna3.fp8", "kulisch(e5m10)"):
        u = ww.Unit(text)
        assert ww.Unit.from_toml(u.to_toml()) == ww.Unit.from_toml(u.to_toml("mine")) == u
    path = tmp_path / "a = b.toml"
    path.write_text(u.to_toml())
    assert ww.Unit.from_toml(str(path)) == ww.Unit.from_toml(path) == u
    with pytest.raises(ValueError, match="^unit text, line 1, column 9: a.fmt: wanted a format"):
        ww.Unit.from_toml("a.fmt = 7")
    with pytest.raises(FileNotFoundError, match="none.toml"):
        ww.Unit.from_toml("none.toml")


@pytest.mark.parametrize(
    ("asked", "evidence"),
    [
        ("ampere.f16.f32", "checked on silicon"),
        ("ADA.f16.f32", "checked on silicon"),
        ("turing.f16.f32", "agrees with two models"),
        ("ampere.f16.f16", "checked on silicon, but for its floor"),
        ("blackwell.bf16.f32", "checked on silicon, but for its floor"),
    ],
)
def test_info_shows_the_evidence_of_the_preset_that_was_asked_for(asked, evidence, capsys):
    name = asked.lower()
    assert main(["info", asked, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["unit"] == name and facts["canonical"] == str(ww.Unit(name))
    assert facts["evidence"] == evidence == ww.units.evidence(name)
    assert facts["source"] == ww.units.source(name)
    assert main(["info", asked]) == 0
    out = capsys.readouterr().out
    assert out.startswith(name) and f"evidence: {evidence}\n" in out
    same = [other for other in ww.units if ww.units[other] == ww.units[name] and other != name]
    assert facts.get("same as", []) == same


def test_info_of_a_short_form_bears_its_text(capsys):
    assert main(["info", "mac(bfloat16)", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["unit"] == "mac(bfloat16)" and facts["canonical"] == "mac(e8m7)"
    assert "evidence" not in facts


# --- The command ---------------------------------------------------------------------------------


def test_the_command_alone_and_help_list_the_commands(capsys):
    texts = []
    for words in ([], ["help"], ["--help"]):
        try:
            assert main(words) == 0
        except SystemExit as done:
            assert done.code == 0
        out, err = capsys.readouterr()
        assert err == ""
        texts.append(out)
    assert texts[0] == texts[1] == texts[2] and "export" in texts[0] and "doctor" in texts[0]
    assert main(["help", "op"]) == 0
    assert "widthwise op add e5m10 0x3c00 0x4000" in capsys.readouterr().out
    assert main(["help", "oop"]) == 2
    assert "there is no command 'oop'; there are info, " in capsys.readouterr().err


def test_the_version_is_told():
    program = [sys.executable, "-m", "widthwise", "--version"]
    said = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert said == f"widthwise {ww.__version__}\n"


# --- What must not take long ---------------------------------------------------------------------


def least_seconds(work):
    import time

    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def test_negative_numbers_of_a_format_without_sign_take_linear_time():
    x = [-1.0] * 100_000
    z, raised = ww.array(x, "ue4m4;nan=none;inf=no", flags=True)
    assert (raised == 16).all() and (z.bits == 0).all()
    with pytest.raises(ValueError, match="element 99999 is NaN and ue4m4"):
        ww.array([*x[:-1], float("nan")], "ue4m4;nan=none;inf=no")
    with pytest.raises(ValueError, match="element 3 is NaN"):
        ww.array(["1", "-2", -3.0, "nan"], "ue4m4;nan=none;inf=no")
    with pytest.raises(ValueError, match="element 1 is NaN"):
        ww.array(ww.array([-1.0, float("nan")], "e5m10"), "ue4m4;nan=none;inf=no")
    few, many = (
        least_seconds(lambda n=n: ww.array(x[:n], "ue4m4;nan=none;inf=no"))
        for n in (10_000, 100_000)
    )
    assert many < 30 * few + 0.05


def test_long_texts_of_numbers_are_rounded_as_python_does():
    """CPython's own conversion is correctly rounded, of any length."""
    rng = np.random.default_rng(0)
    checked = 0
    for length in (1, 17, 18, 19, 287, 288, 289, 575, 576, 577, 1153, 5000):
        digits = "".join(map(str, rng.integers(0, 10, length)))
        point = int(rng.integers(0, length))
        texts = [
            f"{digits}e-{length}",
            f"{digits[:point]}.{digits[point:]}e{-point}",
            f"0.{digits}",
        ]
        texts += [f"-{'9' * length}e-{length + 300}", f"1{'0' * length}1e-{length}"]
        texts += [f"9007199254740993{'0' * length}e-{length}"]  # a tie
        got = ww.array(texts, "binary64").bits.view(np.float64)
        assert got.tolist() == [float(text) for text in texts]
        wide = 16**length
        ratio = f"0x{wide + 12345:x}/0x{wide * 3 + 1:x}"
        assert ww.array(ratio, "binary64").bits.view(np.float64) == float(
            Fraction(wide + 12345, wide * 3 + 1)
        )
        checked += len(texts) + 1
    assert checked == 12 * 7


def test_long_texts_of_numbers_take_no_square_of_their_length():
    """Of eight times the length a square would take 64 times as long."""
    digits = "1234567890" * 80_000
    for make in ("{}", "0.{}", "0x{}", "{}/{}"):
        texts = [make.format(*[digits[:n]] * 2) for n in (100_000, 800_000)]
        few, many = (least_seconds(lambda text=text: ww.array(text, "e40m52")) for text in texts)
        assert many < 40 * few + 0.02, make


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ww.study.sources("mac(e5m10)", x, x), "^unit = array.*: a text as 'mac"),
        (lambda x: ww.array("e5m10", x), "^format = array.*: a text as 'e5m10' is wanted"),
        (lambda x: ww.Unit(x), "^unit = array.*: a text as 'mac"),
        (lambda x: ww.study.accumulation(x, x, 5), "^unit = 5: a text as 'mac"),
        (lambda x: ww.sweep(None, x, x), "^unit = None: a text as 'mac"),
        (lambda x: ww.study.accumulation(x, x, "mac(e5m10)", seeds=x[0]), "^seeds = .*: several"),
        (
            lambda x: ww.sum(ww.ones(3, "e5m10"), unit="mac(e5m10)", threads="2"),
            "^threads = '2': an",
        ),
        (
            lambda x: ww.study.accumulation(x, x, "mac(e5m10)", lengths=[1.5]),
            "^lengths = 1.5: an i",
        ),
        (lambda x: ww.array(x, "e5m10", rounding=5), "^rounding = 5: a text is wanted, as 'rne'"),
        (lambda x: ww.array(x, "e5m10", tininess=None), "^tininess = None: a text is wanted, as"),
        (
            lambda x: ww.add(ww.ones(3, "e5m10"), ww.ones(3, "e5m10"), nan=True),
            "^nan = True: a text",
        ),
        (lambda x: ww.blocks(x), r"^ww.blocks asks for format: as ww.blocks\(x, 'mxfp4'\)"),
        (lambda x: ww.scaled(x), r"^ww.scaled asks for dtype: as ww.scaled\(x, 'sint8'\)"),
        (
            lambda x: ww.export("mac(e5m10)", None),
            "^directory = None, name = None: a path and a te",
        ),
        (lambda x: ww.export("mac(e5m10)", "x", name=5), "^directory = 'x', name = 5: a path and"),
        (lambda x: ww.export("mac(e5m10)", "x", pipeline=3), "^pipeline = 3: several are wanted"),
    ],
)
def test_what_is_of_another_kind_is_told_in_a_line(call, message):
    with pytest.raises(TypeError, match=message) as error:
        call(np.random.default_rng(0).normal(size=1000))
    assert len(str(error.value)) < 140 and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: ww.blocks([1.0], "e4m3fn"), "of elements in it, as block\\(e4m3fn,32,e8m0fnu\\)"),
        (lambda: ww.affine([1.0], "int8"), "write affine\\(int8\\), or bits as a number"),
        (lambda: ww.sweep("mac(e5m10)", [1.0], [1.0]).best("max_abs", 0), "count = 0: one row at"),
    ],
)
def test_what_is_nearly_right_leads_on(call, message):
    with pytest.raises(ValueError, match=message):
        call()
