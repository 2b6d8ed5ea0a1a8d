"""The repository's own form: formatting, lint, types, sizes. `./dev lint` runs this file alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 500
LONGEST_ENTRY = 160
SOURCES = {".cpp", ".hpp", ".py", ".cu", ".cuh", ".v", ".sv"}


def files(*suffixes: str) -> list[str]:
    """Those of the repository, those not yet committed among them."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("git does not know this folder, so its files cannot be listed")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = [name for name in names.split("\0") if Path(name).suffix in suffixes]
    found = [name for name in found if (ROOT / name).is_file()]
    assert found, f"there is no file that ends in any of {suffixes}"
    return found


def check(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail((done.stdout + done.stderr)[:20_000], pytrace=False)


def test_cpp_is_formatted_as_clang_format_says():
    if not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    check("clang-format", "--dry-run", "--Werror", *files(".cpp", ".hpp", ".cu", ".cuh"))


def test_python_passes_ruff():
    check(sys.executable, "-m", "ruff", "check", "--quiet", ".")


def test_annotations_are_true():
    check(sys.executable, "-m", "mypy", "--no-error-summary")


@pytest.mark.parametrize("script", ["dev", ".ci/run"])
def test_scripts_parse_and_can_be_run(script):
    check("bash", "-n", script)
    assert (ROOT / script).stat().st_mode & 0o111


def test_no_source_file_is_longer_than_one_idea():
    long = {
        name: lines
        for name in files(*SOURCES)
        if name != "tests/oracle/dpu_ref.py"  # the whole specification, in executable form
        and (lines := len((ROOT / name).read_text().splitlines())) > MOST_LINES
    }
    assert not long


CONFIGURING = """
set -euo pipefail
say() { :; }
packages_of() { :; }
missing_packages() { :; }
meson() { echo "$*" >>asked; mkdir -p build && touch build/build.ninja; }
eval "$FUNCTIONS"
configure build --prefix=here
"""


def test_a_build_is_configured_anew_when_jaxlib_comes_or_changes(tmp_path):
    parts = re.findall(r"^(?:jaxlib_here|configure)\(\) \{(?:.*\}\n|\n(?:.*\n)*?\}\n)",
                       (ROOT / "dev").read_text(), re.MULTILINE)  # fmt: skip
    assert len(parts) == 2
    site = tmp_path / ".venv/lib/python3.11/site-packages"
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    site.mkdir(parents=True)

    def asked():
        environment = os.environ | {"FUNCTIONS": "".join(parts)}
        subprocess.run(["bash", "-c", CONFIGURING], cwd=tmp_path, env=environment, check=True)
        return (tmp_path / "asked").read_text().splitlines()

    assert asked() == asked() == ["setup build --prefix=here"]
    (site / "jaxlib-0.10.2.dist-info").mkdir()
    again = "setup build --prefix=here --reconfigure --clearcache"
    assert asked()[1:] == asked()[1:] == [again]
    (site / "jaxlib-0.10.2.dist-info").rename(site / "jaxlib-0.11.0.dist-info")
    assert asked()[1:] == [again] * 2


SAMPLED = """
import pytest

@pytest.mark.sample(2)
@pytest.mark.parametrize("{}", [0, 1, 2][: {}])
@pytest.mark.parametrize("{}", [0, 1, 2][: {}])
def test_pairs(x, y): pass
"""


@pytest.mark.parametrize("first, second, fate", [("x2", "y3", 4), ("y3", "x2", 0)])
def test_a_sample_meets_more_than_one_value_of_each_parameter(tmp_path, first, second, fate):
    (tmp_path / "conftest.py").write_text((ROOT / "tests/python/conftest.py").read_text())
    (tmp_path / "test_pairs.py").write_text(SAMPLED.format(*first, *second))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"]
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests/python"), "WIDTHWISE_TURN": "0"}
    env.pop("WIDTHWISE_LONG", None)
    done = subprocess.run([*command, "."], cwd=tmp_path, env=env, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == fate, said
    assert ("of x the sample takes one value alone" if fate else "3 passed, 3 skipped") in said


# --- The list of changes --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def changes() -> list[str]:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    return lines[lines.index("## Unreleased") :]


def test_a_change_is_one_line_under_a_heading(changes):
    heading = re.compile(r"#{2,3} ")
    others = [line for line in changes if line and not heading.match(line)]
    assert len(others) > 100
    assert [line for line in others if not re.match(r"- \S.*[.]$", line)] == []
    assert [line for line in others if len(line) > LONGEST_ENTRY] == []
    assert sorted(line for line in set(others) if others.count(line) > 1) == []


def test_changes_stand_in_the_four_sections_of_a_release(changes):
    order = ["New", "Changed", "Faster", "Fixed"]
    releases = re.split(r"^## ", "\n".join(changes), flags=re.MULTILINE)[1:]
    named = [release.splitlines()[0] for release in releases]
    assert named[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}", name) for name in named[1:])
    for release in releases:
        sections = re.findall(r"^### (.*)$", release, re.MULTILINE)
        assert sections == [name for name in order if name in sections]
        assert re.search(r"^#.*\n\n?(#|\Z)", release.partition("\n")[2], re.MULTILINE) is None


def test_changes_hold_no_measurements(changes):
    """Rates and times before and now are rows of docs/benchmarks.md."""
    rate = re.compile(r"million products|products a second|before and now|\d ns\b|instead of \d")
    assert [line for line in changes if rate.search(line)] == []


def test_the_version_that_is_built_has_a_release():
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())
    assert version
    assert f"## {version[1]} - " in (ROOT / "CHANGELOG.md").read_text()


def test_kernels_of_one_instruction_set_share_no_function():
    """A weak one the linker might give to all, on a machine that cannot run it, too."""
    archives = sorted((ROOT / "build/sim").glob("librows_avx*.a"))
    if not archives or not shutil.which("nm"):
        pytest.skip("this build has no such kernels, or there is no nm")
    for archive in archives:
        path = archive.stem.removeprefix("librows_")
        listing = ["nm", "--defined-only", str(archive)]
        lines = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
        symbols = [line.split()[1:] for line in lines.splitlines() if len(line.split()) == 3]
        shared = [name for kind, name in symbols if kind in "TWVu" and "kernel_" not in name]
        assert set(shared) <= {"DW.ref.__gxx_personality_v0"}, archive
        named = [name for kind, name in symbols if kind == "T"]
        assert len(named) == 5 and all(path in name for name in named), archive


def test_every_file_of_mutants_has_a_test_that_kills_them():
    """A file without one ends ./dev mutate before it begins."""
    import mutate

    assert [glob for glob in mutate.TARGETS if not any(ROOT.glob(glob))] == []
    files, sources = mutate.target_files([]), sorted(mutate.TESTS.glob("kill_*.cpp"))
    mutate.check_coverage(files, [kill for source in sources for kill in mutate.read_kills(source)])
    mutants, explained = mutate.split_off_equivalents(files)
    assert mutants and explained
