"""Every notebook runs, what it asserts holds, and it is kept without outputs.

`./dev notebooks` runs this file alone.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
SECONDS = 120  # for one cell, on a machine that is busy


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def wanted(path):
    """What a notebook asks for that is large: torch, images."""
    code = "\n".join(cell.source for cell in code_cells(path))
    asked = re.findall(r"^import (torch)\b|find_spec\(\"(\w+)\"\)", code, re.MULTILINE)
    return [name for pair in asked for name in pair if name]


def missing(path):
    return [name for name in wanted(path) if find_spec(name) is None]


# Those that train a network inside PyTorch take as long as all others together.
RUN = [pytest.param(path, marks=pytest.mark.long if wanted(path) else ()) for path in NOTEBOOKS]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.sample(3)
@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    if missing(path):
        pytest.skip(f"{' and '.join(missing(path))} is large: --long installs it")
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": path.parent}}
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=folder).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs), "it has no picture"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    assert [cell.source for cell in code_cells(path) if cell.outputs or cell.execution_count] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asks_a_question_and_asserts_its_answer(path):
    title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
    assert title.startswith("# ") and title.endswith("?")
    assert "assert " in code_cells(path)[-1].source
