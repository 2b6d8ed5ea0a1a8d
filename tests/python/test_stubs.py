"""The compiled module and what its stub says of it: the same names, the same arguments."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from widthwise import _widthwise as core

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "python" / "widthwise" / "_widthwise.pyi"
# What pybind11 writes for a type, and what a stub may.
TYPES = [
    (r"typing.SupportsInt \| typing.SupportsIndex", "int"),
    (r"typing.SupportsFloat \| typing.SupportsIndex", "float"),
    (r"widthwise\._widthwise\.(\w+)", r"\1"),
    (r"collections\.abc\.Sequence\[(.*)\]", r"list[\1]"),
    (r"typing\.Annotated\[(.*), \"FixedSize\(\d+\)\"\]", "Any"),
    (r"numpy\S*|typing\.Annotated\[.*\]|object|typing_extensions\.CapsuleType", "Any"),
]


def defined():
    """Names of the stub and their syntax, in its order."""
    names = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
    return names


DEFINED = defined()


def of_cuda():
    """Those that a build without CUDA has not, as the stub says: DeviceMemory to DeviceProducts."""
    order = list(DEFINED)
    return set(order[order.index("DeviceMemory") : order.index("DeviceProducts") + 1])


def functions():
    """Of the module and of its classes: the name, what is bound to it, the stub's node."""
    for name, node in DEFINED.items():
        bound = getattr(core, name, None)
        if isinstance(node, ast.FunctionDef) and bound:
            yield name, bound, node
        if isinstance(node, ast.ClassDef) and bound:
            for method in (part for part in node.body if isinstance(part, ast.FunctionDef)):
                yield f"{name}.{method.name}", getattr(bound, method.name), method


def bound_arguments(bound):
    """Of the first line that pybind11 writes of a function, types last: [(name, type)]."""
    text = bound.__doc__.strip().splitlines()[0]
    inside = text[text.index("(") + 1 : text.rindex(") -> ")]
    depth, parts = 0, [""]
    for character in inside:
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    pairs = [part.split("=")[0].strip().partition(": ") for part in parts if part.strip()]
    return [(name, stub_type(kind)) for name, _, kind in pairs if name != "self"]


def stub_type(text):
    for pattern, ours in TYPES:
        text = re.sub(pattern, ours, text)
    return re.sub(r"\s+", "", text)


def stub_arguments(node):
    given = [argument for argument in node.args.args if argument.arg != "self"]
    return [(a.arg, re.sub(r"\s+", "", ast.unparse(a.annotation))) for a in given]


def test_the_names_are_the_same():
    there = {name for name in dir(core) if not name.startswith("__")}
    absent = set(DEFINED) - there
    assert there - set(DEFINED) == set(), "add these to _widthwise.pyi"
    without_mpfr = {name for name in DEFINED if name.startswith("mpfr_check")}
    assert absent <= of_cuda() | (set() if core.mpfr_version else without_mpfr)


FUNCTIONS = list(functions())


@pytest.mark.parametrize("name, bound, node", FUNCTIONS, ids=[name for name, _, _ in FUNCTIONS])
def test_the_arguments_are_the_same(name, bound, node):
    wanted, said = bound_arguments(bound), stub_arguments(node)
    assert len(said) == len(wanted), f"{name} takes {bound.__doc__}"
    for (their_name, their_type), (our_name, our_type) in zip(wanted, said, strict=True):
        if not re.fullmatch(r"arg\d+", their_name):
            assert our_name == their_name
        if "Any" not in their_type and "Any" not in our_type and "tuple" not in our_type:
            assert our_type == their_type, f"{name}: {our_name}"


def test_classes_have_the_attributes_that_are_said():
    for name, node in DEFINED.items():
        bound = getattr(core, name, None)
        if not isinstance(node, ast.ClassDef) or bound is None:
            continue
        said = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
        said |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        public = {key for key in vars(bound) if not key.startswith("_")}
        assert public == {key for key in said if not key.startswith("_")}, name


PROGRAM = """
import numpy as np
import widthwise as ww
from widthwise import testing

f: ww.Format = ww.Format("e5m10")
bits: int = f.width + f.precision
x: ww.Array = ww.array([0.1, 0.2], f)
codes: np.ndarray = x.bits
again: ww.Array = x.reshape(2, 1)[0].astype("e4m3fn", rounding="rtz")
u = ww.Unit("mac(e5m10)")
text: str = u.to_toml()
z = ww.dot(x, x, unit=u)
special: list[int] = testing.special_codes(f)
"""


def test_mypy_strict_finds_what_is_wrong_in_a_users_program_and_no_more(tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(f"{PROGRAM}y: int = f.dtype\nww.Format(3)\nx.resize(3)\n")
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", "--config-file="]
    files = [STUB, tmp_path / "right.py", tmp_path / "wrong.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={ROOT / '.mypy_cache'}", *files],
        capture_output=True,
        text=True,
        cwd=ROOT / "python",
    )
    found = [line.split(":")[:2] for line in done.stdout.splitlines()]
    last = len(PROGRAM.splitlines())
    assert [(Path(file).name, int(line) - last) for file, line in found] == [
        ("wrong.py", 1),
        ("wrong.py", 2),
        ("wrong.py", 3),
    ], done.stdout
