"""The documentation site: `./dev docs` builds it of these pages, the docstrings and the package."""

import re

import widthwise as ww
from docutils import nodes
from docutils.parsers.rst import Directive

project = "Widthwise"
author = "Widthwise contributors"
version = release = ww.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
suppress_warnings = ["toc.empty_glob"]
myst_heading_anchors = 3
default_role = "code"
nb_execution_mode = "off"  # the tests run the notebooks
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"Widthwise {ww.__version__}"
html_copy_source = False


class Shown(Directive):
    """What a notebook would show of a Python expression."""

    has_content = False
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        value = eval(self.arguments[0], {"ww": ww})
        return [nodes.raw("", value._repr_html_(), format="html")]


def prose(app, what, name, of, options, lines: list[str]) -> None:
    """Docstrings are plain text: |x| is a magnitude and *args is no emphasis. Examples stay."""
    if what in ("property", "attribute"):
        lines.insert(0, "")  # or napoleon would take what stands before a colon for a type
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[i] = re.sub(r"([|*\\])", r"\\\1", line)


def setup(app) -> None:
    app.add_directive("shown", Shown)
    app.connect("autodoc-process-docstring", prose, priority=400)  # before napoleon's
