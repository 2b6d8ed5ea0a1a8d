"""The wheel: packed from the build the tests have, installed where nothing else is, and used."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
NUMPY = Path(np.__file__).parents[1]
# What every Linux machine has (PEP 600); all else has to be in the wheel.
EVERYWHERE = re.compile(r"lib(c|m|gcc_s|stdc\+\+)\.so")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, ROOT / "python" / "wheel.py", "--build", BUILD, "--out", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def empty_environment(wheel, tmp_path_factory):
    """Its Python has the wheel and NumPy, a link to this environment's, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    python = folder / "bin" / "python"
    options = ["--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([sys.executable, "-m", "pip", *options, wheel], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in ("numpy", "numpy.libs"):
        if (NUMPY / name).exists():
            (site / name).symlink_to(NUMPY / name)
    return python


def run(python, program, *before, cwd=None):
    """What a program prints. -I: nothing of this process's own Python comes along."""
    command = [*before, python, "-I", "-c", program]
    clean = {"PATH": "/nowhere", "HOME": str(cwd or "/")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=clean)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_is_of_any_linux_and_this_python(wheel):
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert re.fullmatch(rf"widthwise-[\d.]+-{version}-{version}-manylinux_\S+\.whl", wheel.name)


def test_the_wheel_holds_the_package_and_no_more(wheel):
    kinds = {".py", ".pyi", ".typed"}
    sources = (ROOT / "python" / "widthwise").rglob("*.*")
    package = {str(f.relative_to(ROOT / "python")) for f in sources if f.suffix in kinds}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    made = {name for name in names if re.search(r"\.dist-info/|\.so(\.[\d.]+)?$", name)}
    assert names - made == package
    assert {name.split("/")[-1] for name in made} >= {"METADATA", "RECORD", "LICENSE"}


def test_the_wheel_has_the_licence_of_every_library_it_brings(wheel):
    if not shutil.which("dpkg-query"):
        pytest.skip("dpkg is not here, which knows the licences")
    names = [name.split("/")[-1] for name in zipfile.ZipFile(wheel).namelist()]
    libraries = {name.split("-")[0] for name in names if re.search(r"-[0-9a-f]{8}\.so", name)}
    assert {"libmpfr", "libgmp"} <= libraries or not ww.build_info()["mpfr"]
    assert libraries == {name.split(".")[0] for name in names if name.endswith(".copyright")}


def test_the_example_of_the_readme_runs_in_an_empty_environment(empty_environment, tmp_path):
    program = next(
        code
        for code in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
        if "import widthwise as ww" in code
    )
    shown = run(empty_environment, program, cwd=tmp_path)
    assert "hopper.e4m3.f32" in shown


def test_every_library_of_the_wheel_comes_with_it(empty_environment):
    (package,) = empty_environment.parents[1].glob("lib/python*/site-packages/widthwise")
    needed = [
        line.split("=>")
        for library in package.rglob("*.so*")
        for line in run_ldd(library).splitlines()
        if "=>" in line
    ]
    others = {name.strip(): place.split()[0] for name, place in needed if str(package) not in place}
    assert len(needed) > len(others) > 0
    assert [name for name in others if not EVERYWHERE.match(name)] == []


def run_ldd(library):
    return subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout


def test_the_command_of_the_wheel_runs(empty_environment, tmp_path):
    done = subprocess.run(
        [empty_environment.with_name("widthwise"), "op", "add", "e5m10", "1", "2", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["code"] == "0x4200"


def test_a_golden_model_of_the_wheel_needs_nothing_of_it(empty_environment, tmp_path):
    program = f"""
import widthwise as ww
ww.export("mac(e5m10)", {str(tmp_path / "hw")!r}, model=True)"""
    run(empty_environment, program)
    shutil.move(tmp_path / "hw", tmp_path / "elsewhere")
    library = tmp_path / "elsewhere" / "libwidthwise_model.so"
    needed = [line.split("=>")[0].strip() for line in run_ldd(library).splitlines() if "=>" in line]
    assert [name for name in needed if not EVERYWHERE.match(name)] == []
    assert list(library.parent.glob("*.so*")) == [library]
    assert ctypes.CDLL(str(library)).widthwise_model_open


def test_nothing_is_compiled_for_this_very_cpu():
    """Else the wheel would die on an older one: instruction sets are chosen when it runs.

    Rows' kernels are compiled once for each set, and share no function (test_codebase.py).
    """
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    assert len(commands) > 100
    anywhere = [entry for entry in commands if "librows_avx" not in entry["output"]]
    assert len(commands) - len(anywhere) <= 12  # six sources, two sets
    flags = {word for entry in anywhere for word in entry["command"].split()}
    assert [flag for flag in flags if re.match(r"-m(arch|tune|avx|sse|bmi|fma|cpu)", flag)] == []


SUM = """
import numpy as np, widthwise as ww
x = ww.array(np.random.default_rng(0).normal(size=(24, 24)), "e5m10")
units = ["mac(e5m10)", "fma(e5m10)", "hopper.f16.f32", "kulisch(e5m10)", "mac(e9m30)"]
a = [ww.array(x.to_float64(), ww.Unit(unit).a) for unit in units]
print([ww.matmul(a, a.T, unit=unit).bits.sum() for unit, a in zip(units, a)])
print([int(op(x, x).bits.sum()) for op in (ww.add, ww.multiply, ww.divide)])"""


@pytest.mark.parametrize("cpu", ["Nehalem", "Haswell"])
def test_an_old_cpu_gives_the_same_bits(empty_environment, cpu):
    """Nehalem (2008) is the least that NumPy's own wheels run on."""
    emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("qemu-user-static is not installed")
    assert run(empty_environment, SUM, emulator, "-cpu", cpu) == run(empty_environment, SUM)


def test_build_info_names_what_made_it(empty_environment):
    program = "import json, widthwise; print(json.dumps(widthwise.build_info()))"
    there, here = json.loads(run(empty_environment, program)), ww.build_info()
    assert there == json.loads(json.dumps(here))


def test_the_source_tree_installs(tmp_path):
    if "WIDTHWISE_LONG" not in os.environ:
        pytest.skip("compiles everything anew: runs with --long")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", tmp_path]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, ROOT], check=True)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{SUM}"
    assert run(sys.executable, program) == run(sys.executable, SUM)
