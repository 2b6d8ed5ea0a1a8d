"""docs/guides/names.md: each row's code runs, and gives what the row says."""

import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "names.md"
ROW = re.compile(r"^\| (.+?) \| `(.+?)` \| `(.+?)` \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())
# What the first users had in their hands before there was this package.
SEEDS = [
    "Format(sign=", "BlockFormat(", "quantize_tensor(", "dequantize_tensor(", "cast_tensor(",
    "cu_gemm(", "cu_conv2d(", "convert_model(", "export_to_onnx(",
]  # fmt: skip
MISSING = [name for name in ("torch", "onnx", "onnxscript") if find_spec(name) is None]


@pytest.fixture(scope="module")
def names():
    """What the page's first block makes."""
    if MISSING:
        pytest.skip(f"{MISSING[0]} is not installed: --long installs what is large")
    block = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    made = {}
    exec("\n".join(line.removeprefix(">>> ") for line in block.splitlines()), made)
    return made


@pytest.mark.parametrize("there, here, result", ROWS, ids=[row[1][:40] for row in ROWS])
def test_a_row_gives_what_it_says(names, there, here, result):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(eval(here, names)) == result


def test_every_name_has_a_row():
    told = " ".join(there for there, _, _ in ROWS)
    assert [name for name in SEEDS if name not in told] == []
    lines = PAGE.read_text().splitlines()
    rows = [x for x in lines if x.startswith("|") and not x.startswith(("| there", "|---"))]
    assert len(rows) == len(ROWS) > 30
