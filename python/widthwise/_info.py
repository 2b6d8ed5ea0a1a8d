"""What this build is, and what it found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _widthwise as core
from ._engines import engines

TOOLS = {
    "verilator": "lints and simulates exported Verilog",
    "iverilog": "simulates exported Verilog",
    "yosys": "synthesises exported Verilog",
    "ghdl": "simulates exported VHDL",
    "cvc5": "reads exported SMT-LIB",
    "nvidia-smi": "an NVIDIA driver",
}


def build_info() -> dict[str, Any]:
    """Version, compiler and libraries, so that a result can name what made it.

    Returns:
        A dictionary of JSON's types.

    >>> sorted(build_info())[:4]
    ['architecture', 'boost', 'build', 'compiler']
    """
    import platform

    return core.build_info() | {
        "mpfr": core.mpfr_version,
        "engines": engines(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def findings() -> Iterator[tuple[str, str]]:
    """What `widthwise doctor` prints: a fact and its value."""
    import shutil

    for key, value in build_info().items():
        yield key, "not found: ww.verify takes vector files only" if value is None else str(value)
    yield "CPU", cpu_name()
    yield "GPU", gpu_name()
    for tool, use in TOOLS.items():
        yield tool, shutil.which(tool) or f"not found ({use})"


def cpu_name() -> str:
    import platform
    from pathlib import Path

    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    names = [
        line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")
    ]
    return f"{names[0]}, {len(names)} threads" if names else platform.machine()


def gpu_name() -> str:
    return ", ".join(core.gpus()) or f"none: {engines().unusable['cuda']}; all runs on the CPU"
