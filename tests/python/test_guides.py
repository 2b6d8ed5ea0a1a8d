"""What the pages tell to type works, and prints what they say it prints."""

import doctest
import os
import re
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
WIDTHWISE = f'widthwise() {{ "{sys.executable}" -m widthwise "$@"; }}\n'


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def with_blocks(language):
    return [pytest.param(page, id=page.stem) for page in PAGES if blocks(page, language)]


def test_there_are_guides():
    assert len(with_blocks("python")) >= 5 and with_blocks("sh")


@pytest.mark.parametrize("page", with_blocks("python"))
def test_the_python_of_a_page_prints_what_the_page_says(page):
    """From its top to its end, in one session."""
    code = blocks(page, "python")
    skip_what_is_missing("\n".join(code))
    assert [block for block in code if not block.startswith(">>> ")] == []
    session = doctest.DocTestParser().get_doctest("\n".join(code), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    printed = []
    runner.run(session, out=printed.append)
    assert runner.failures == 0, "".join(printed)


def skip_what_is_missing(code):
    wanted = re.findall(r"^>>> import (\w+)(?: as \w+)?$", code, re.MULTILINE)
    wanted += ["onnxscript"] if "export_to_onnx(" in code else []
    missing = [name for name in wanted if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed: --long installs what is large")


@pytest.mark.parametrize("page", with_blocks("sh"))
def test_the_commands_of_a_page_succeed(page, tmp_path):
    for block in blocks(page, "sh"):
        assert block.startswith("widthwise ")
        command = ["bash", "-euo", "pipefail", "-c", WIDTHWISE + block]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
        assert done.returncode == 0, done.stderr


# --- Names of other programs ----------------------------------------------------------------------

NAMES = DOCS / "guides" / "names.md"
ROWS = re.findall(r"^\| (.+?) \| `(.+?)` \| `(.+?)` \|$", NAMES.read_text(), re.MULTILINE)
# What the first users had in their hands before there was this package.
SEEDS = [
    "Format(sign=", "BlockFormat(", "quantize_tensor(", "dequantize_tensor(", "cast_tensor(",
    "cu_gemm(", "cu_conv2d(", "convert_model(", "export_to_onnx(", "quantize_state_dict(",
    "dequantize_state_dict(", "profile_model(", "tf_quantize(", "tf_convert_model(", "OptimLP(",
]  # fmt: skip


@pytest.fixture(scope="module")
def names():
    """What the page's first block makes."""
    code = blocks(NAMES, "python")[0]
    skip_what_is_missing(code)
    made = {}
    exec("\n".join(line.removeprefix(">>> ") for line in code.splitlines()), made)
    return made


@pytest.mark.parametrize("there, here, result", ROWS, ids=[row[1][:40] for row in ROWS])
def test_a_row_of_the_names_gives_what_it_says(names, there, here, result):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(eval(here, names)) == result


def test_every_name_has_a_row():
    told = " ".join(there for there, _, _ in ROWS)
    assert [name for name in SEEDS if name not in told] == []
    lines = NAMES.read_text().splitlines()
    rows = [x for x in lines if x.startswith("|") and not x.startswith(("| there", "|---"))]
    assert len(rows) == len(ROWS) > 30
