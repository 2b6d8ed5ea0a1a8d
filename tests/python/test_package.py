"""The package as a whole: documentation that runs, the build's facts, the demo."""

import csv
import doctest
import importlib.util
import inspect
import json
import pkgutil
import re
import subprocess
import sys

import pytest
import widthwise as ww
from widthwise import _widthwise as core

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(ww.__path__, "widthwise.")
    if not module.name.endswith(("_widthwise", "__main__"))
)
FRAMEWORKS = {"jax", "onnx", "tensorflow", "torch"}  # each imported by a module of its own alone
CALLED = {"widthwise.onnx._torch": "onnxscript"}  # what examples want besides what is imported


def test_no_framework_is_imported_before_its_module():
    code = f"import sys, widthwise; assert not {FRAMEWORKS} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(FRAMEWORKS - {"tensorflow"}))  # which takes ten seconds
def test_a_framework_brings_no_study_no_cards_and_no_command(name):
    if not importlib.util.find_spec(name):
        pytest.skip(f"{name} is not installed: --long installs what is large")
    code = f"import sys, widthwise.{name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert f"widthwise.{name}" in loaded
    assert not {f"widthwise.{part}" for part in ("study", "display", "cli")} & loaded


@pytest.mark.parametrize("name", sorted(FRAMEWORKS))
def test_a_framework_that_is_missing_is_named_with_what_installs_it(name):
    code = f"import sys; sys.modules['{name}'] = None; import widthwise.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: widthwise.{name} ")
    assert f"pip install 'widthwise[{name}]'" in last


def test_every_public_name_is_there_and_documented():
    assert len(ww.__all__) > 60
    undocumented = [
        name for name in ww.__all__ if callable(getattr(ww, name)) and not getattr(ww, name).__doc__
    ]
    assert undocumented == []


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_documentation_run(name):
    try:
        module = importlib.import_module(name)
    except ImportError as why:
        if why.name not in FRAMEWORKS:
            raise
        pytest.skip(f"{why.name} is not installed: --long installs what is large")
    if name in CALLED:
        pytest.importorskip(CALLED[name], reason=f"{CALLED[name]} is large: --long installs it")
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [
        test
        for name in MODULES
        if name.split(".")[1] not in FRAMEWORKS
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(found) >= 10


def test_a_result_can_name_its_build():
    facts = ww.build_info()
    assert facts["version"] == ww.__version__
    assert {"compiler", "build", "architecture", "fmt", "boost", "mpfr", "numpy"} <= set(facts)
    json.dumps(facts)


def test_the_demo_shows_a_unit_that_loses(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "widthwise.demo", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "digits.csv").open()))
    right = {row["unit"]: int(row["digits right"]) for row in rows}
    assert len(rows) >= 8
    assert right["hopper.e4m3.f32"] - right["mac(e4m3fn)"] > 100  # of 1,797; the same operands
    assert max(right.values()) > 1700
    if core.mpfr_version:
        assert {row["differ from MPFR"] for row in rows} == {"0 of 200"}
    assert "The sum before and after is the same" in done.stdout
    assert (tmp_path / "error_growth.png").read_bytes().startswith(b"\x89PNG")
    assert "ACC_WIDTH" in (tmp_path / "mac_e4m3fn" / "mac_e4m3fn.vh").read_text()
    assert len((tmp_path / "trace.csv").read_text().splitlines()) > 500


PUBLIC = sorted(set(ww.__all__) - {"study"})


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_what_it_takes_and_shows_it(name):
    value = getattr(ww, name)
    text = inspect.getdoc(value) or ""
    assert ">>> " in text, "an example is wanted; the tests run it"
    if inspect.isfunction(value):
        assert missing_parts(value) == []


def missing_parts(function):
    """Of a docstring: what a function takes, delivers and refuses, each parameter by its name."""
    text = inspect.getdoc(function)
    parameters = inspect.signature(function).parameters
    parts = ["Returns:", *(["Args:", "Raises:"] if parameters else [])]
    taken = text.partition("Args:")[2].partition("Returns:")[0]
    named = "Others: as in" in taken  # by another's docstring
    untold = [name for name in parameters if not (named or re.search(rf"\b{name}\b", taken))]
    return [part for part in parts if part not in text] + untold


CLASSES = [getattr(ww, name) for name in PUBLIC if name[0].isupper()]
CLASSES += [getattr(ww.study, name) for name in ww.study.__all__ if name[0].isupper()]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_public_class_shows_each_of_its_members(kind):
    members = {
        key: value
        for key, value in inspect.getmembers(kind)
        if not key.startswith("_")
        and (isinstance(value, property) or inspect.isroutine(value))
        and inspect.getmodule(value.fget if isinstance(value, property) else value).__name__[:9]
        == "widthwise"
    }
    texts = {key: inspect.getdoc(value) or "" for key, value in members.items()}
    assert [key for key, text in texts.items() if ">>> " not in text] == []
    parameters = {
        key: set(inspect.signature(value).parameters) - {"self"}
        for key, value in members.items()
        if inspect.isfunction(value)
    }
    assert [
        (key, name)
        for key, names in parameters.items()
        for name in names
        if not re.search(rf"\b{name}\b", texts[key].partition(">>> ")[0])
    ] == []


@pytest.mark.parametrize("name", ww.study.__all__)
def test_a_study_says_what_it_takes_and_shows_it(name):
    value = getattr(ww.study, name)
    assert ">>> " in inspect.getdoc(value)
    if inspect.isfunction(value):
        assert missing_parts(value) == []
