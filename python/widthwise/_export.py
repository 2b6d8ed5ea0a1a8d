"""Hardware: what the description of a unit or an operation looks like to those who build it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from . import _widthwise as core
from ._product import bound_multiplier
from ._unit import Unit, as_unit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ._product import Multiplier


def export(
    unit: str | Unit,
    directory: str | os.PathLike[str],
    name: str | None = None,
    *,
    rtl: bool | None = None,
    rounding_port: bool = False,
    lanes: int | None = None,
    multiplier: Multiplier = None,
    pipeline: Iterable[str] | None = None,
    accumulate: bool = False,
    generator: bool = False,
    vectors: int = 1000,
    seed: int = 0,
    model: bool = False,
) -> list[Path]:
    """Write what hardware of a unit, or of one operation, is built from and believed by.

    Every width and constant in each language's own form: NAME.vh (localparams), NAME_params.vh (for
    `#( … )`), NAME_defs.vh (macros), NAME_pkg.sv, NAME_pkg.vhd, NAME.h, NAME.json; and the same in
    the terms of HardFloat, CVFPU, FloPoCo, Vivado's operator and HLS types, SMT-LIB. All are
    printed from one table. NAME_dpi_pkg.sv, NAME_vhpi_pkg.vhd, widthwise_vpi.c and
    widthwise_model.h lead test benches to the golden model.

    Synthesizable Verilog-2001 of the very unit in rtl/. A list of the files is there too, by which
    a later export knows the folder.

    Args:
        unit: as `ww.Unit` takes it, or an operation and its formats: "add(e4m3fn)",
            "multiply(e5m2, b=e4m3fn, out=e5m10:rtz, tininess=before)" (docs/semantics.md, T7).
            IEEE 754's fusedMultiplyAdd is "muladd(e5m10)"; "fma(e5m10)" is a unit, which has the
            same results but flags of its roundings only.
        directory: made whole or not at all. One that stands there is replaced if it is empty or
            holds an earlier export and nothing else.
        name: of the top module; None: from the unit's text, 'hopper_e4m3_f32'.
        rtl: True: refuse a design that no RTL is built of. None: then README.md says why there is
            none. False: headers and the golden model's sources alone.
        rounding_port: round as a port `rm` says, in any mode that needs no random bits.
        lanes: products of a whole dot product; needed where a unit takes all of K at once.
        multiplier: in place of a unit's exact product, as in `ww.dot`; a module NAME_multiplier:
            one of the shipped, a table of up to 16 digits of both significands, or one to fill in.
            The golden model multiplies exactly.
        pipeline: stages behind which a register stands, as often as one is named; the module has a
            clock and valid/ready then, and LATENCY is in every header. None: it is combinational.
        accumulate: keep a unit's running sum: the module takes its blocks one after the other, of
            `lanes` products each where a unit takes all of K at once. It has a clock.
        generator: make the random words of stochastic rounding in the module, as the simulator
            makes them, from ports `seed`, `index` and, for a block, `step`.
        vectors: how many results at random, beside the directed ones.    seed: theirs.
        model: put libwidthwise_model.so, the golden model itself, beside its header.
    Returns:
        The paths of the files, the list apart.
    Raises:
        ValueError: no unit and no operation, a name that is no identifier of Verilog and VHDL, RTL
            that is asked for and not built, or a directory with files of somebody else's.
        OSError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = export("add(e4m3fn)", f"{folder}/add", name="fp8_add", rtl=True)
    ...     [path.name for path in paths][:3]
    ['fp8_add.vh', 'fp8_add_params.vh', 'fp8_add_defs.vh']
    """
    from pathlib import Path

    text = core.design_text(unit) if isinstance(unit, str) else str(as_unit(unit))
    libraries = [str(Path(__file__).with_name("lib") / "libwidthwise_model.so")] if model else []
    paths = core.export_design(
        text,
        name or identifier(text),
        os.fspath(directory),
        rtl,
        rounding_port,
        checked_count("lanes", lanes, 1, 2**20) if lanes is not None else 0,
        bound_multiplier(multiplier),
        None if pipeline is None else list(pipeline),
        accumulate,
        generator,
        checked_count("vectors", vectors, 0, 10**7),
        checked_count("seed", seed, 0, 2**64 - 1),
        libraries,
    )
    return [Path(path) for path in paths]


def checked_count(argument: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise ValueError(f"{argument} = {value}: take a number from {least} to {most}")
    return value


def identifier(text: str) -> str:
    words = re.sub(r"[\W_]+", "_", text).strip("_").lower()
    return words if len(words) <= 40 and not words[:1].isdigit() else "unit"
