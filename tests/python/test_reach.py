"""Which suites `./dev test --changed` runs."""

import pytest
import reach
from schedule import Outcome, Suite

PLAIN = reach.ROOT / "build"
MADE = {
    "module": {"python/bindings/module.cpp", "lib/widthwise/round.hpp"},
    "tests/test_rows": {"tests/sim/test_rows.cpp", "lib/widthwise/round.hpp"},
    "tests/test_text": {"tests/sim/test_text.cpp"},
    "tests/test_new": None,
}
SUITES = [
    *(
        Suite(name.removeprefix("tests/test_"), Outcome, (PLAIN, name))
        for name in MADE
        if name != "module"
    ),
    *(
        Suite(f"python/{name}", Outcome, files=(reach.ROOT / f"tests/python/test_{name}.py",))
        for name in ("dot", "docs")
    ),
]
PYTHON = ["python/dot", "python/docs"]


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        (["tests/sim/test_text.cpp"], ["text"]),
        (["lib/widthwise/round.hpp"], ["rows", *PYTHON]),
        (["python/bindings/module.cpp"], PYTHON),
        (["python/widthwise/_dot.py"], PYTHON),
        (["docs/start.md"], PYTHON),
        (["tests/python/test_dot.py"], ["python/dot"]),
        (["tests/python/test_dot.py", "tests/sim/test_text.cpp"], ["text", "python/dot"]),
        (["tests/python/calls.py"], PYTHON),
        ([], []),
    ],
)
def test_a_change_reaches_what_is_made_of_it(monkeypatch, changed, names):
    assert reached(monkeypatch, changed) == {"new", *names}  # which was never made


@pytest.mark.parametrize("stray", ["tests/data/presets.toml", "tests/oracle/dpu.py", "meson.build"])
def test_what_nobody_can_place_reaches_everything(monkeypatch, stray):
    assert reached(monkeypatch, [stray]) == {suite.name for suite in SUITES}


def reached(monkeypatch, changed):
    def made_of(folder, target):
        files = MADE[target]
        return None if files is None else {reach.ROOT / file for file in files}

    monkeypatch.setattr(reach, "made_of", made_of)
    monkeypatch.setattr(reach, "changed_files", lambda since: {reach.ROOT / f for f in changed})
    return {suite.name for suite in reach.reached(SUITES, [(PLAIN, "module")], "HEAD")}
