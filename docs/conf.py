"""The documentation site: `./dev docs` builds it of these pages, the docstrings and the package."""

import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType

import widthwise as ww
from docutils import nodes
from docutils.parsers.rst import Directive

project = "Widthwise"
author = copyright = "Widthwise contributors"
version = release = ww.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
default_role = "code"
myst_heading_anchors = 3
nb_execution_mode = "off"  # `./dev docs` runs the notebooks, and so do tests of their own
nb_execution_timeout = 120  # seconds a cell
nb_execution_raise_on_error = True
# Where what they want is not installed notebooks are shown without outputs.
WANTED = {
    "eight_bit_training": ("torch",),
    "fourteen_bits": ("torch", "mlxtend"),
    "post_training": ("torch",),
    "qpytorch_tutorial": ("torch", "mlxtend"),
    "which_layer": ("torch", "mlxtend"),
}
nb_execution_excludepatterns = [
    f"notebooks/{name}.ipynb" for name, wanted in WANTED.items() if not all(map(find_spec, wanted))
]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken

html_theme = "furo"
html_title = f"Widthwise {ww.__version__}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["widthwise.css"]

FIRST = ["_format", "_create", "_array"]  # of the package's modules on the page of all names


class Shown(Directive):
    """What a notebook would show of a Python expression."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        value = eval(self.arguments[0], {"ww": ww})
        html = f'<div style="overflow-x:auto">{value._repr_html_()}</div>'
        return [nodes.raw("", html, format="html")]


def add_names(app, page: str, source: list[str]) -> None:
    """The page `api`: a section a module, in its own words, with its public names."""
    if page == "api":
        source[0] += "\n".join([*sections(ww), *sections(ww.study)])


def sections(package: ModuleType) -> Iterator[str]:
    by_module: dict[str, list[str]] = {}
    for name in package.__all__:
        value = getattr(package, name)
        if not isinstance(value, ModuleType):
            module = getattr(value, "__module__", None) or type(value).__module__
            by_module.setdefault(module, []).append(name)
    first = [module for name in FIRST if (module := f"{package.__name__}.{name}") in by_module]
    for module in dict.fromkeys([*first, *sorted(by_module)]):
        said = sys.modules[module].__doc__ or module
        yield f"\n## {said.splitlines()[0].split(':')[0].rstrip('.')}\n\n{said}\n\n```{{eval-rst}}"
        yield from (entry(package, name) for name in by_module[module])
        yield "```\n"


def entry(package: ModuleType, name: str) -> str:
    value = getattr(package, name)
    full = f"{package.__name__}.{name}"
    if isinstance(value, type):
        return f".. autoclass:: {full}\n   :members:"
    if callable(value):
        return f".. autofunction:: {full}"
    return f".. autodata:: {full}\n   :no-value:"


def prose(app, what, name, of, options, lines: list[str]) -> None:
    """Docstrings are plain text: |x| is a magnitude and *args is no emphasis. Examples stay."""
    if what in ("property", "attribute"):
        lines[:0] = ["..", ""]  # else napoleon takes what stands before a colon for a type
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[i] = re.sub(r"([|*\\]|_(?!\w))", r"\\\1", line)


def setup(app) -> None:
    app.add_directive("shown", Shown)
    app.connect("source-read", add_names)
    app.connect("autodoc-process-docstring", prose, priority=400)  # before napoleon's
