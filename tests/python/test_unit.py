"""Units: text, TOML, fields, widths, the registry of presets."""

import pickle
import tomllib
from pathlib import Path

import pytest
import widthwise as ww

PRESETS = Path(__file__).resolve().parents[1] / "data" / "units" / "presets.toml"


@pytest.mark.parametrize(
    "text, printed",
    [
        ("mac(e5m10)", "mac(e5m10)"),
        ("MAC( half )", "mac(e5m10)"),
        ("mac(e4m3fn, b=e5m2, product=e5m7:rtz, sum=e8m13)", None),
        ("fma(e9m6)", "fma(e9m6)"),
        ("hopper.e4m3.f32", "hopper.e4m3.f32"),
        ("kulisch(e5m10)", None),
    ],
)
def test_text_is_read_and_printed_back(text, printed):
    u = ww.Unit(text)
    assert ww.Unit(str(u)) == u == pickle.loads(pickle.dumps(u)) == ww.Unit(u)
    assert hash(ww.Unit(str(u))) == hash(u)
    assert printed is None or str(u) == printed


def test_every_preset_is_the_one_of_the_table():
    table = tomllib.loads(PRESETS.read_text())
    for name, unit in ww.units.items():
        assert ww.Unit(name) == unit
        assert ww.units.evidence(name) and ww.units.source(name)
    assert table and set(flat_names(table)) == set(ww.units)


def flat_names(table, prefix=""):
    """Tables that hold a unit's keys; their names have dots."""
    for name, value in table.items():
        if isinstance(value, dict):
            if "lanes" in value:
                yield prefix + name
            else:
                yield from flat_names(value, f"{prefix}{name}.")


def test_the_long_form_comes_back_from_a_file(tmp_path):
    for name in ("hopper.e4m3.f32", "mac(e4m3fn, sum=e8m13:rtz)"):
        u = ww.Unit(name)
        path = tmp_path / "unit.toml"
        path.write_text(u.to_toml("mine"))
        assert ww.Unit.from_toml(path) == u
        path.write_text(u.to_toml())
        assert ww.Unit.from_toml(str(path)) == u
    assert u.fields["lanes"] == 1
    assert u.fields["out"]["fmt"] == "e8m13"


def test_a_wrong_file_is_named(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text("lanes = 'many'\n")
    with pytest.raises(ValueError, match=r"wrong.toml: unit text, line 1"):
        ww.Unit.from_toml(path)
    with pytest.raises(FileNotFoundError, match=r"none.toml"):
        ww.Unit.from_toml(tmp_path / "none.toml")
    for neither in (3, None, 1.5):  # 3 would be an open file
        with pytest.raises(TypeError, match=f"source = {neither}: TOML's text is wanted, or"):
            ww.Unit.from_toml(neither)


def test_formats_and_widths_are_visible():
    u = ww.Unit("hopper.f16.f32")
    assert [str(f) for f in (u.a, u.b, u.c, u.result_format)] == [
        "e5m10",
        "e5m10",
        "e8m23",
        "e8m23",
    ]
    assert u.lanes == 16 and u.scale_format is None and u.scale_block is None
    widths = u.widths()
    assert widths["product_significand"] == 22
    assert widths["accumulator_width"] == 33
    assert widths["exponent_width"] == 9
    assert ww.Unit("kulisch(e5m10)").widths(k=64)["accumulator_width"] < 100


def test_a_unit_does_not_change():
    with pytest.raises(AttributeError, match="a unit does not change"):
        ww.Unit("mac(e5m10)").lanes = 4


@pytest.mark.parametrize(
    "text, message",
    [
        ("mac(e5m11x)", r"unit 'mac\(e5m11x\)', column 10: found 'x'"),
        ("mac(e5m10", r"unit 'mac\(e5m10', column 10"),
        ("mac(e5m10, color=3)", r"unit .*column 12"),
        ("hopper.f16.f33", r"nearest name: 'hopper.f16.f32'"),
    ],
)
def test_a_malformed_text_is_refused_with_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        ww.Unit(text)


def test_the_registry_prints_a_table():
    assert "hopper.e4m3.f32" in repr(ww.units) and "checked on silicon" in repr(ww.units)
    assert "<table>" in ww.units._repr_html_()
    assert "accumulator_width" in ww.Unit("mac(e5m10)")._repr_html_()
    with pytest.raises(KeyError, match=r"ww.Unit\('mac\(e5m10\)'\) reads every form"):
        ww.units["mac(e5m10)"]
    with pytest.raises(KeyError, match="no preset is named 'hopper'; .* there are hopper.e4m3.f32"):
        ww.units["hopper"]
    assert "hopper" not in ww.units and 3 not in ww.units
