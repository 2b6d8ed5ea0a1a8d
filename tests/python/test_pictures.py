"""The pages' pictures show what Widthwise computes now, and bear it as text."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = DOCS / "guides"
sys.path.insert(0, str(DOCS))
import guides_pictures  # noqa: E402
import rounding_modes  # noqa: E402


def borne(picture):
    return re.search(r"<dc:description>(.*?)</dc:description>", picture.read_text()).group(1)


# --- Rounding modes -------------------------------------------------------------------------------


def test_the_pictures_show_what_the_modes_do_now():
    """`python docs/rounding_modes.py` writes them anew."""
    for name, said in rounding_modes.described().items():
        assert borne(DOCS / f"{name}.svg") == said


# --- The guides -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", guides_pictures.PICTURES)
def test_a_guides_picture_bears_the_figures_of_now(name):
    """`python docs/guides_pictures.py` writes them anew."""
    now = guides_pictures.described(guides_pictures.PICTURES[name].data())
    assert borne(GUIDES / f"{name}.svg") == now


def test_every_picture_stands_in_a_guide_with_words_for_those_who_do_not_see_it():
    shown = [
        (alt, name)
        for page in GUIDES.glob("*.md")
        for alt, name in re.findall(r"!\[(.*?)\]\((\w+)\.svg\)", page.read_text())
    ]
    assert sorted(name for _, name in shown) == sorted(guides_pictures.PICTURES)
    assert all(len(alt) > 30 for alt, _ in shown)
