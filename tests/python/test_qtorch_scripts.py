"""Twelve scripts after QPyTorch's examples, the guide's tables of differences, lowered models.

Scripts run on the look-alike with only their imports changed, and each leaves `results`, tensors:
to nearest, inside `ww.like`, the original's bits. A row of values stands for a rounding; `like=`
gives its column of the package. A row of the last table is of anything else.
"""

import copy
import pickle
import re
from itertools import product
from pathlib import Path

import pytest
import widthwise as ww
from qtorch_here import NEEDED, assert_same, ours, package, torch

pytestmark = NEEDED
NEAREST = {"forward_rounding": "nearest", "backward_rounding": "nearest"}
SCRIPTS = sorted((Path(__file__).parent / "qtorch_scripts").glob("*.py"))
IMPORT = re.compile(r"^(from|import) (qtorch(?:_plus)?)\b", re.MULTILINE)


def run(text):
    names = {"__name__": "script"}
    exec(compile(text, "script", "exec"), names)
    assert names["results"]
    return names["results"]


def original(text):
    """The package that a script names, and the keyword that gives its bits."""
    (name,) = set(found[1] for found in IMPORT.findall(text))
    return name, {"qtorch": "qtorch", "qtorch_plus": "fork"}[name]


def changed(text):
    return IMPORT.sub(r"\1 widthwise.compat.qtorch", text)


def test_there_are_twelve():
    assert len(SCRIPTS) == 12


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_with_only_its_imports_changed(script):
    text = script.read_text()
    lines, others = text.splitlines(), changed(text).splitlines()
    touched = [a for a, b in zip(lines, others, strict=True) if a != b]
    assert touched and all(IMPORT.match(line) for line in touched)
    for result in run(changed(text)):
        assert result.isfinite().all()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_to_nearest_its_bits_are_the_originals_where_they_are_asked_for(script):
    text = script.read_text().replace('"stochastic"', '"nearest"')
    name, like = original(text)
    package(name)
    want = run(text)
    with ww.like(like):
        got = run(changed(text))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert_same(b, a, b, script.stem)


# --- The guide's tables ---------------------------------------------------------------------------

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "qtorch.md"
HEADS = {"qtorch 0.3.0": "qtorch", "qtorch-plus 0.2.0": "fork", "QPyTorch": None}
MODULES = {"qtorch": "qtorch", "fork": "qtorch_plus", None: "qtorch"}


def tables():
    """(whose, what is written, theirs, ours) of all rows."""
    found, whose = [], ""
    for line in GUIDE.read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[1:2] == ["written"]:
            whose = HEADS[cells[2]]
        elif len(cells) == 4 and not set(cells[0]) <= set("-"):
            found.append((whose, *cells[1:]))
        elif not cells:
            whose = ""
    return [row for row in found if row[0] != ""]


ROWS = tables()


def names(parts):
    """What a row may use."""

    def weights():
        p = torch.nn.Parameter(torch.ones(2))
        p.grad = torch.ones(2)
        return [p]

    def stepped(low):
        low.step()
        return low

    known = {k: v for part in parts for k, v in vars(part).items()}
    short = {"t": torch.tensor, "n": "nearest", "nan": float("nan"), "inf": float("inf")}
    torchs = {"torch": torch, "SGD": torch.optim.SGD, "RMSprop": torch.optim.RMSprop}
    own = {"weights": weights, "stepped": stepped, "pickle": pickle, "copy": copy}
    return {**known, **short, **torchs, **own}


def shown(text, known):
    try:
        got = eval(text, known)
    except Exception as error:
        return type(error).__name__
    return str(got.tolist() if isinstance(got, torch.Tensor) else got)


def our_names():
    return names([ours, ours.quant, ours.optim])


def test_the_tables_are_found():
    kinds = [row[0] for row in ROWS]
    assert kinds.count("qtorch") >= 10 and kinds.count("fork") >= 7 and kinds.count(None) >= 7


@pytest.mark.parametrize("whose, text, theirs, own", ROWS, ids=[row[1] for row in ROWS])
def test_a_row_is_what_the_look_alike_gives(whose, text, theirs, own):
    assert theirs != own
    assert shown(text, our_names()) == own
    if whose is not None:
        with ww.like(whose):
            assert shown(text, our_names()) == theirs


@pytest.mark.parametrize("whose, text, theirs, own", ROWS, ids=[row[1] for row in ROWS])
def test_a_row_is_what_the_package_gives(whose, text, theirs, own):
    name = MODULES[whose]
    parts = [package(name, part) for part in ("number", "quant", "quant.quant_function", "optim")]
    assert shown(text, names(parts)) == theirs


# --- Models ---------------------------------------------------------------------------------------


def net():
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 10)
    )


def test_lower_and_sequential_lower_give_the_same_model():
    model, x = net(), torch.randn(2, 1, 8, 8)
    types, number = ["conv", "linear", "activation"], ours.FixedPoint(8, 4)
    low = ours.auto_low.sequential_lower(model, types, number, number, **NEAREST)
    assert (
        list(low.state_dict())[:2] == ["0.0.weight", "0.0.bias"]
        and type(model[0]) is torch.nn.Conv2d
    )
    keys = list(model.state_dict())
    ours.auto_low.lower(model, types, number, number, **NEAREST)
    assert list(model.state_dict()) == keys
    for other in (
        model,
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(low),
    ):
        assert torch.equal(other.eval()(x), low.eval()(x))
    assert not (low(x) * 16).frac().any()


def test_layers_that_stay_and_layers_that_are_shared():
    relu = torch.nn.ReLU()
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), relu, torch.nn.Linear(4, 4), relu)
    number = ours.FixedPoint(8, 4)
    low = ours.auto_low.sequential_lower(
        model, ["linear", "activation"], number, except_layers=["2"]
    )
    assert [type(m).__name__ for m in low] == ["Sequential", "Sequential", "Linear", "Sequential"]
    assert low[1] is low[3] and type(low[1][0]) is torch.nn.ReLU
    with pytest.raises(ValueError, match="except_layers has 'head', which fits none of the layers"):
        ours.auto_low.lower(model, ["linear"], number, except_layers=["head"])
    with pytest.raises(ValueError, match="layer_types has 'convolution'; there are conv, linear"):
        ours.auto_low.lower(model, ["convolution"], number)


class Block(torch.nn.Module if torch else object):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3)])
        self.named = torch.nn.ModuleDict({"act": torch.nn.GELU()})
        self.head = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.named["act"](self.layers[0](x)))


def test_layers_are_found_in_lists_dicts_and_attributes():
    number = ours.FixedPoint(8, 4)
    low = ours.auto_low.sequential_lower(Block(), ["linear", "activation"], number, **NEAREST)
    assert sorted(low.state_dict()) == sorted(
        f"{name}.{part}" for name, part in product(["layers.0.0", "head.0"], ["weight", "bias"])
    )
    assert not (low(torch.randn(5, 3)) * 16).frac().any()


def test_a_module_that_is_itself_a_layer():
    low = ours.auto_low.sequential_lower(torch.nn.Linear(2, 2), ["linear"], ours.FixedPoint(8, 4))
    assert type(low) is torch.nn.Sequential and len(low) == 2
