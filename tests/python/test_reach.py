"""Which suites `./dev test --changed` runs, and which of them share a process."""

import pytest
import reach
import run
from schedule import Outcome, Suite, measured

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


def test_files_inside_pytorch_have_one_name_by_which_their_seconds_are_kept():
    there = run.python_suites()
    (whole,) = [s for s in run.together(there) if s.name == run.ALL_INSIDE_TORCH]
    assert len(whole.files) == len(run.inside_torch(there)) > 10
    assert measured()[whole.name] > 15
    some = run.together(run.inside_torch(there)[:2])
    assert [s.name for s in some] == [f"{run.SOME}2 inside PyTorch"]


def reached(monkeypatch, changed):
    def made_of(folder, target):
        files = MADE[target]
        return None if files is None else {reach.ROOT / file for file in files}

    monkeypatch.setattr(reach, "made_of", made_of)
    monkeypatch.setattr(reach, "changed_files", lambda since: {reach.ROOT / f for f in changed})
    return {suite.name for suite in reach.reached(SUITES, [(PLAIN, "module")], "HEAD")}


def test_each_sanitized_suite_has_its_turn(monkeypatch):
    there = [{"name": name} for name in ("lib", "blocks", "exact", "text", *run.SANITIZED_LATER)]
    monkeypatch.setattr(run, "repeated_tests", lambda folder: list(there))

    def taken(turn):
        monkeypatch.setenv("WIDTHWISE_TURN", str(turn))
        return {test["name"] for test in run.sanitized_in_turn()}

    turns = [taken(turn) for turn in (6, 7, 8)]
    assert set.union(*turns) == {"lib", "blocks", "exact", "text"}
    assert sum(map(len, turns)) == 4
