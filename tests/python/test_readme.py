"""The README is short, and its examples, and those of docs/install.md in C++, do what they say."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
INSTALL = (ROOT / "docs" / "install.md").read_text()
COMPILER = os.environ.get("CXX", "c++")
needs_a_compiler = pytest.mark.skipif(not shutil.which(COMPILER), reason="no C++ compiler is here")


def examples(page, language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found
    return found


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_is_read_in_five_minutes():
    assert len(README.split()) <= 900
    limits = re.search(r"^## Limits\n\n((?:- .*\n)+)", README, re.MULTILINE)[1].splitlines()
    assert len(limits) == 10 and max(map(len, limits)) <= 90


def test_the_python_of_the_readme_prints_what_its_comments_say(tmp_path):
    code = "\n".join(examples(README, "python"))
    code += "\nprint(y.to_float64().tolist()[2], flags.tolist(), len(units))"
    shown = run(sys.executable, "-c", code, cwd=tmp_path)
    assert shown.splitlines()[-1] == "inf [0, 0, 5] 18"
    assert "hopper.e4m3.f32" in shown and "not_finite" in shown


@needs_a_compiler
def test_the_cpp_of_the_readme_compiles_as_the_readme_says(tmp_path):
    assert "`c++ -std=c++20 -I lib`" in README
    program = tmp_path / "example.cpp"
    program.write_text("\n".join(examples(README, "cpp")))  # its static_asserts are the test
    run(COMPILER, "-std=c++20", "-fsyntax-only", "-I", ROOT / "lib", program)


def flags_of_pkg_config():
    """What the build has for its own folder; None where it or pkg-config is missing."""
    folder = ROOT / "build" / "meson-uninstalled"
    if not shutil.which("pkg-config") or not (folder / "widthwise-uninstalled.pc").exists():
        return None
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    return run("pkg-config", "--cflags", "widthwise", env=environment).split()


@needs_a_compiler
@pytest.mark.parametrize("way", ["-I lib", "pkg-config"])
def test_the_program_of_the_install_page_prints_what_it_says(way, tmp_path):
    flags = ["-std=c++20", "-I", ROOT / "lib"] if way == "-I lib" else flags_of_pkg_config()
    if flags is None:
        pytest.skip("pkg-config, or a configured build, is not here")
    (code,) = examples(INSTALL, "cpp")
    (tmp_path / "program.cpp").write_text(code)
    run(COMPILER, *flags, tmp_path / "program.cpp", "-o", tmp_path / "program")
    assert run(tmp_path / "program") == re.search(r"// (7c00.*)", code)[1] + "\n"


def test_the_hardware_of_the_readme_is_exported(tmp_path):
    widthwise = f'widthwise() {{ "{sys.executable}" -m widthwise "$@"; }}\n'
    for command in "".join(examples(README, "sh")).splitlines():
        assert command.startswith("widthwise export ")
        run("bash", "-c", widthwise + command, cwd=tmp_path)
    assert (tmp_path / "out" / "mul" / "Makefile").exists()
    assert (tmp_path / "out" / "dot32" / "libwidthwise_model.so").exists()
