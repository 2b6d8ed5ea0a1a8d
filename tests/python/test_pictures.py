"""The guides' pictures show what Widthwise computes now, and say so in words."""

import importlib.util
import re
from pathlib import Path

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


@pytest.fixture(scope="module")
def drawing():
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("guides_pictures", GUIDES / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["digits", "wall", "noise", "ranges", "bits"])
def test_a_picture_bears_the_figures_of_now(drawing, name):
    """`python docs/guides/pictures.py` writes the pictures anew."""
    now = drawing.described(drawing.PICTURES[name].data())
    picture = (GUIDES / f"{name}.svg").read_text()
    assert re.search(r"<dc:description>(.*?)</dc:description>", picture, re.DOTALL).group(1) == now


def test_every_picture_stands_in_a_guide_with_words_for_those_who_do_not_see_it(drawing):
    shown = [
        (alt, name)
        for page in GUIDES.glob("*.md")
        for alt, name in re.findall(r"!\[(.*?)\]\((\w+)\.svg\)", page.read_text())
    ]
    assert sorted(name for _, name in shown) == sorted(drawing.PICTURES)
    assert all(len(alt) > 30 for alt, _ in shown)
