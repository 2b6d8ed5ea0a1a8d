"""Hardware: what the description of a unit or an operation looks like to those who build it."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Any

from . import _widthwise as core
from ._missing import asks_for
from ._product import bound_multiplier
from ._settings import brief, integer, several
from ._spelling import Spelling, as_argument, spelled, spelling
from ._unit import Unit, as_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ._product import Multiplier


class Exported(list["Path"]):
    """The paths of an export's files, the list of them apart.

    Attributes:
        kept: of them, or of the last export's, those that were changed since, and so were not
            written anew.
        no_rtl: why there is no RTL and no vectors; "" where they are there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = export("kulisch(e4m3fn)", f"{folder}/sum")
    >>> made.kept, made.no_rtl
    ([], 'rtl: the unit takes all of K at once; give the number of products as lanes')
    """

    def __init__(self, paths: Iterable[Path], kept: Iterable[Path], no_rtl: str) -> None:
        super().__init__(paths)
        self.kept = list(kept)
        self.no_rtl = no_rtl


@asks_for("ww.export('mac(e5m10)', 'out/mac')")
def export(
    unit: str | Unit,
    directory: str | os.PathLike[str],
    name: str | None = None,
    *,
    rtl: bool | None = None,
    rounding_port: bool = False,
    lanes: int | None = None,
    multiplier: Multiplier = None,
    pipeline: str | Iterable[str] | None = None,
    accumulate: bool = False,
    generator: bool = False,
    vectors: int = 1000,
    seed: int = 0,
    model: bool = False,
    force: bool = False,
) -> Exported:
    """Write what hardware of a unit, an operation or a block's quantiser is built from.

    Every width and constant in each language's own form: NAME.vh (localparams), NAME_params.vh (for
    `#( … )`), NAME_defs.vh (macros), NAME_pkg.sv, NAME_pkg.vhd, NAME.h, NAME.json; and of floats
    the same in the terms of HardFloat, CVFPU, FloPoCo, Vivado's operator and HLS types, SMT-LIB, of
    fixed point in those of HLS's ap_fixed. All are printed from one table. NAME_dpi_pkg.sv,
    NAME_vhpi_pkg.vhd, widthwise_vpi.c and widthwise_model.h lead test benches to the golden model.

    Synthesizable Verilog-2001 of the very unit in rtl/. A list of the files is there too, by which
    a later export knows the folder.

    Args:
        unit: as `ww.Unit` takes it, or an operation and its formats: "add(e4m3fn)",
            "multiply(e5m2, b=e4m3fn, out=e5m10:rtz, tininess=before)" (docs/semantics.md, T7).
            "fma(e5m10)" is IEEE 754's fusedMultiplyAdd; `ww.Unit("fma(e5m10)")`, which as a text
            is "fma(e5m10, sum=e5m10)", has the same results but flags of its roundings only. With
            `lanes`, `accumulate` or `multiplier`, which a unit alone has, "fma(e5m10)" is the unit.
            Or the quantiser of one block: "blocks(mxfp8_e4m3)", "blocks(mxint8;scale=ceil,
            a=bfloat16, rounding=rtz)", "blocks(nvfp4, tensor_scale=0.25)": numbers of a float
            format to elements and their scale, as `ww.blocks` makes them. "tensor_scale=port"
            makes a port `b` of it.
            Or "requantize(gemmlowp, multiplier=0.0123, zero_point=3, qmin=0, qmax=255)": a sum of
            32 bits to a code, as `ww.requantize` makes it; an `exact` multiplier is binary32's.
            "multiplier=port" and "zero_point=port" make ports `b` and `c` of them.
        directory: made whole or not at all. One that stands there has to be empty or an earlier
            export's. What you have put there stays, and so does what you have changed, of which a
            warning tells.
        name: of the top module; None: from the unit's text, 'hopper_e4m3_f32'.
        rtl: True: refuse a design that no RTL is built of. None: then README.md says why there is
            none. False: headers and the golden model's sources alone.
        rounding_port: round as a port `rm` says, in any mode that needs no random bits.
        lanes: products of a whole dot product; needed where a unit takes all of K at once.
        multiplier: in place of a unit's exact product, as in `ww.dot`; a module NAME_multiplier:
            one of the shipped, a table of up to 16 digits of both significands, or one to fill in.
            The golden model multiplies exactly.
        pipeline: stages behind which a register stands, as often as one is named, in a list or as
            "product,round"; the module has a clock and valid/ready then, and LATENCY is in every
            header. None: it is combinational.
        accumulate: keep a unit's running sum: the module takes its blocks one after the other, of
            `lanes` products each where a unit takes all of K at once. It has a clock.
        generator: draw the random words of stochastic rounding in the module, the simulator's to
            the bit, from ports `seed`, `index` and, for a block, `step`. One generator draws them
            one after the other, ten clocks for each call, so the module has a clock.
        vectors: how many results at random, beside the directed ones.    seed: theirs.
        model: put libwidthwise_model.so, the golden model itself, beside its header.
        force: write anew what was changed in `directory` since the last export.
    Returns:
        The paths of the files, as a list that has `kept` and `no_rtl`, too.
    Raises:
        ValueError: no unit and no operation, a name that some language or the export itself has
            taken, RTL that is asked for and not built, or a directory that no export has made.
        OSError: a file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = export("add(e4m3fn)", f"{folder}/add", name="fp8_add", rtl=True)
    ...     [path.name for path in paths][:3]
    ['fp8_add.vh', 'fp8_add_params.vh', 'fp8_add_defs.vh']
    """
    settings: dict[str, Any] = {
        key: value for key, value in locals().items() if key not in ("unit", "directory")
    }
    made = in_words(as_argument, lambda: written(unit, directory, **settings))
    if made.kept:
        from ._numbers import outside

        names = ", ".join(os.path.relpath(path, directory) for path in made.kept)
        warnings.warn(
            f"kept as it was changed since the last export: {names} (force=True writes it anew)",
            stacklevel=outside(),
        )
    return made


def written(
    unit: str | Unit,
    directory: str | os.PathLike[str],
    name: str | None,
    *,
    rtl: bool | None,
    rounding_port: bool,
    lanes: int | None,
    multiplier: Multiplier,
    pipeline: Iterable[str] | None,
    accumulate: bool,
    generator: bool,
    vectors: int,
    seed: int,
    model: bool,
    force: bool,
) -> Exported:
    """`export` without a warning; its errors, and `no_rtl`, call an option `options.lanes`."""
    from pathlib import Path

    if not isinstance(name, str | None) or not isinstance(directory, str | os.PathLike):
        raise TypeError(
            f"directory = {brief(directory)}, name = {brief(name)}: a path and a text are wanted"
        )
    if not os.fspath(directory):
        raise ValueError(f"directory = {directory!r}: a folder's path is wanted, as 'out/mac'")
    text = design_text(unit, accumulate or lanes is not None or multiplier is not None)
    libraries = [str(Path(__file__).with_name("lib") / "libwidthwise_model.so")] if model else []
    paths, kept, no_rtl = core.export_design(
        text,
        name or default_name(text),
        os.fspath(directory),
        rtl,
        rounding_port,
        checked_count("options.lanes", lanes, 1, 2**20) if lanes is not None else 0,
        bound_multiplier(multiplier),
        None if pipeline is None else stages(pipeline),
        accumulate,
        generator,
        checked_count("options.vectors", vectors, 0, 10**7),
        checked_count("options.seed", seed, 0, 2**64 - 1),
        libraries,
        force,
    )
    return Exported(map(Path, paths), (Path(directory) / each for each in kept), no_rtl)


def in_words(how: Spelling, make: Callable[[], Exported]) -> Exported:
    """Calls options in errors and in `no_rtl` as the caller knows them."""
    with spelling(how):
        made = make()
    made.no_rtl = spelled(made.no_rtl, how)
    return made


def stages(pipeline: str | Iterable[str]) -> list[str]:
    """Their names: one text has commas between them."""
    names = pipeline.split(",") if isinstance(pipeline, str) else pipeline
    return [str(name).strip() for name in several("options.pipeline", names) if str(name).strip()]


def design_text(design: str | Unit, is_unit: bool) -> str:
    """As it was asked for, unless that reads as an operation and a unit is meant."""
    if isinstance(design, str) and not (is_unit and is_text_of_unit(design)):
        return design
    unit = as_unit(design)
    written = core.design_text_of_unit(unit._core)
    return unit.text if core.design_text(unit.text) == written else written


def is_text_of_unit(text: str) -> bool:
    try:
        core.Unit(text)
    except ValueError:
        return False
    return True


def checked_count(argument: str, value: int, least: int, most: int) -> int:
    value = integer(argument, value)
    if not least <= value <= most:
        raise ValueError(f"{argument} = {value}: take a number from {least} to {most}")
    return value


def default_name(text: str) -> str:
    """Of the text that was asked for; of the canonical one where that is too long, as a table."""
    names = (identifier(each) for each in (text, core.design_text(text)))
    return next((name for name in names if name != UNNAMED), UNNAMED)


UNNAMED = "unit"


def identifier(text: str) -> str:
    words = re.sub(r"[\W_]+", "_", text).strip("_").lower()
    return words if len(words) <= 40 and not words[:1].isdigit() else UNNAMED
