"""Twelve scripts after QPyTorch's examples run on the look-alike with only their imports changed.

Each leaves `results`, tensors. To nearest, inside `ww.like`, they are the original's bits.
"""

import re
from pathlib import Path

import pytest
import widthwise as ww
from qtorch_here import NEEDED, assert_same, package

pytestmark = NEEDED
SCRIPTS = sorted((Path(__file__).parent / "qtorch_scripts").glob("*.py"))
IMPORT = re.compile(r"^(from|import) (qtorch(?:_plus)?)\b", re.MULTILINE)


def run(text):
    names = {"__name__": "script"}
    exec(compile(text, "script", "exec"), names)
    assert names["results"]
    return names["results"]


def original(text):
    """The package that a script names, and the keyword that gives its bits."""
    (name,) = set(found[1] for found in IMPORT.findall(text))
    return name, {"qtorch": "qtorch", "qtorch_plus": "fork"}[name]


def changed(text):
    return IMPORT.sub(r"\1 widthwise.compat.qtorch", text)


def test_there_are_twelve():
    assert len(SCRIPTS) == 12


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_with_only_its_imports_changed(script):
    text = script.read_text()
    lines, others = text.splitlines(), changed(text).splitlines()
    touched = [a for a, b in zip(lines, others, strict=True) if a != b]
    assert touched and all(IMPORT.match(line) for line in touched)
    for result in run(changed(text)):
        assert result.isfinite().all()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_to_nearest_its_bits_are_the_originals_where_they_are_asked_for(script):
    text = script.read_text().replace('"stochastic"', '"nearest"')
    name, like = original(text)
    package(name)
    want = run(text)
    with ww.like(like):
        got = run(changed(text))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert_same(b, a, b, script.stem)
