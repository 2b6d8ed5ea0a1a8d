"""Hardware: what a unit's description looks like to Verilog."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from . import _widthwise as core
from ._unit import Unit, as_unit

if TYPE_CHECKING:
    from pathlib import Path


def export(unit: str | Unit, directory: str | os.PathLike, name: str | None = None) -> list[Path]:
    """Write the Verilog parameter header of a unit, NAME.vh, and return the paths written.

    Args:
        directory: made if it is not there. Files are replaced whole or not at all.
        name: of the module that will use it; None: from the unit's text, 'hopper_e4m3_f32'.
    Raises:
        ValueError: the name is no Verilog identifier.    OSError: a file cannot be written.
    """
    from pathlib import Path

    u = as_unit(unit)
    name = name or identifier(str(u))
    header = core.verilog_localparams(u._core, name)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.vh"
    core.write_file(str(path), header.encode())
    return [path]


def identifier(text: str) -> str:
    words = re.sub(r"\W+", "_", text).strip("_").lower()
    return words if len(words) <= 40 and not words[:1].isdigit() else "unit"
