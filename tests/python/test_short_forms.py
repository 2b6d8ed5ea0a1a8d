"""The page of short forms against the parser: each kind, key, option and mode, its default."""

import importlib
import re
from pathlib import Path

import pytest
import widthwise as ww

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "short_forms.md").read_text()
FIRST = ["e5m10", "e4m3", "e8m7"]  # formats in front of which a default has to be true
FIELDS = {"floor": "e_floor"}  # keys that a unit's TOML calls otherwise


def table(heading):
    """The rows of the table whose head begins with these words, each a list of cells."""
    head = r"\| " + r" \| ".join(heading) + r" \|.*\n\|[-|]+\|\n"
    rows = re.search(head + r"((?:\|.*\|\n)+)", PAGE).group(1).splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


KINDS = {code(row[0])[0]: row for row in table(["kind", "what it is"])}
KEYS = table(["key", "what it says"])
OPTIONS = table(["option", "what it says"])
MODES = [code(row[0])[0] for row in table(["mode", "where it sends what"])]


def words(read, text, pattern):
    """The words that the parser lists where it refuses a text."""
    with pytest.raises(ValueError) as refused:
        read(text)
    listed = re.search(pattern, str(refused.value)).group(1)
    return {word.strip("= ") for word in re.split(r", | and | or ", listed)}


def kinds_of(row):
    return list(KINDS) if row[2] == "all" else row[2].split(", ")


def least(kind, first="e5m10"):
    return code(KINDS[kind][3])[0].replace("e5m10", first)


def with_key(kind, key, value, first):
    return f"{least(kind, first)[:-1]}, {key}={value})"


def without_key(text, key):
    return re.sub(rf", {key}=[^,)]*", "", text)


def test_every_kind_is_on_the_page():
    assert words(ww.Unit, "nothing(e5m10)", "there are (.*)") == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_kind_is_on_the_page(kind):
    refused = least(kind)[:-1] + ", nothing=1)"
    said = {code(row[0])[0] for row in KEYS if kind in kinds_of(row)}
    assert words(ww.Unit, refused, "its keys are (.*)") == said
    assert {code(KINDS[kind][2])[0]} == said & {"sum", "out"}


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("row", KEYS, ids=lambda row: f"{row[0]} {row[2]}")
def test_the_default_of_a_key_is_true(row, first):
    key = code(row[0])[0]
    for kind in kinds_of(row):
        if row[3] == "has to be given":
            with pytest.raises(ValueError, match=f"{key}= is missing"):
                ww.Unit(without_key(least(kind, first), key))
        elif row[3].startswith("none"):
            field = re.compile(rf"\b{FIELDS.get(key, key)}\b")
            assert not field.search(ww.Unit(least(kind, first)).to_toml())
            assert field.search(ww.Unit(code(row[4])[0]).to_toml())
        else:
            value = code(row[3])[0].replace("F", first)
            unit = ww.Unit(with_key(kind, key, value, first))
            assert unit == ww.Unit(least(kind, first))


def test_b_without_a_word_is_a():
    for kind in KINDS:
        a = with_key(kind, "a", "e5m2", "e5m10")
        assert ww.Unit(a) == ww.Unit(f"{a[:-1]}, b=e5m2)")


@pytest.mark.parametrize("row", KEYS, ids=lambda row: f"{row[0]} {row[2]}")
def test_the_example_of_a_key_says_something(row):
    (key,), (text,) = code(row[0]), code(row[4])
    assert text.split("(")[0] in kinds_of(row)
    if row[3] == "has to be given":
        ww.Unit(text)
    else:
        assert ww.Unit(text) != ww.Unit(without_key(text, key))


@pytest.mark.parametrize(
    "key, text",
    [
        ("overflow", "fixedacc(e5m10, frac=4, overflow=nothing)"),
        ("tininess", "mac(e5m10, tininess=nothing)"),
        ("scale", "mac(e5m10, scale=e8m0fnu:32:nothing)"),
    ],
)
def test_every_word_of_a_key_is_on_the_page(key, text):
    said = next(row[1] for row in KEYS if code(row[0])[0] == key)
    assert words(ww.Unit, text, "it may be (.*)") == set(code(said)) - {"ftz"}


def test_every_option_of_a_format_is_on_the_page():
    listed = words(ww.Format, "e5m10;nothing", "there are (.*)")
    assert listed == {code(row[0])[0] for row in OPTIONS}


@pytest.mark.parametrize("row", OPTIONS, ids=lambda row: row[0])
def test_values_and_defaults_of_an_option_are_true(row):
    (option,), (example,) = code(row[0]), code(row[4])
    assert ww.Format(f"e5m10;{option}={code(row[3])[0]}") == ww.Format("e5m10")
    assert ww.Format(example) != ww.Format(re.sub(rf";{option}\b[^;]*", "", example))
    if row[2] != "an integer":
        listed = words(ww.Format, f"e5m10;{option}=nothing", "it may be (.*)")
        assert listed == set(code(row[2]))


def test_the_inf_that_another_nan_brings_is_true():
    for nan in ("all_ones", "negative_zero", "none"):
        assert ww.Format(f"e4m3;nan={nan}") == ww.Format(f"e4m3;nan={nan};inf=no")


def test_every_rounding_mode_is_on_the_page():
    listed = words(ww.Unit, "mac(e5m10, sum=e5m10:nothing)", r"there are ([^()]*) \(")
    assert listed == set(MODES)
    assert ww.Unit("mac(e5m10, sum=e5m10:sr)") == ww.Unit("mac(e5m10, sum=e5m10:sr32)")
    assert ww.Unit("mac(e5m10, sum=e5m10:rmm)") == ww.Unit("mac(e5m10, sum=e5m10:rna)")
    with pytest.raises(ValueError):
        ww.Unit("mac(e5m10, sum=e5m10:sr65)")


def test_every_unit_and_format_that_the_page_names_is_read():
    units = re.findall(rf"`((?:{'|'.join(KINDS)})\(.*?\))`", PAGE)
    formats = re.findall(r"`(u?e\d+m\d+[^` ]*|binary[^` ]*)`", PAGE)
    assert len(units) > 25 and len(formats) > 10
    for text in units:
        ww.Unit(text)
    for text in formats:
        ww.Format(text)


def test_the_pictures_have_every_mode_and_ties_of_both_kinds_and_signs(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(DOCS)
    drawing = importlib.import_module("rounding_modes")
    assert [*drawing.MODES, "sr"] == MODES
    assert {value for value in drawing.VALUES if value % 1 == 0.5} == {4.5, 5.5}
    assert drawing.sent("rne")[:3] == [-6, -6, -5]  # -5.75, -5.5, -5.25
