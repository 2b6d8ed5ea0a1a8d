"""The command bench: rates of this machine, and of a GPU where there is one."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import _device
from .. import _widthwise as core
from .._array import Array
from .._convolution import conv2d
from .._create import array
from .._dot import matmul
from .._elementwise import add
from .._engines import engines, explain
from .._format import as_format
from .._table import Table
from .._unit import Unit
from .bench_models import MODELS, Layer
from .output import add_command, add_json, number, show, whole_number
from .terminal import progress

UNITS = ["mac(e5m10)", "mac(e8m7)", "mac(binary32)", "fma(e5m10)", "kulisch(e5m10)"]
UNITS += ["hopper.e4m3.f32", "hopper.f16.f32"]
ELEMENTS = 1 << 20
HERE = "cpu"
# Of each kind of bench: what its options are where they are left out.
KINDS: dict[str, dict[str, Any]] = {
    "units": {"size": 256, "seconds": 0.3},
    "gemm": {"size": 1024, "repeat": 5, "format": None, "unit": None, "device": None},
    "conv2d": {"model": "resnet50", "batch": 16, "image": 224, "repeat": 3, "format": None,
               "unit": None, "device": None},
}  # fmt: skip
ALL = sorted({name for own in KINDS.values() for name in own})


def add_commands(commands: Any) -> None:
    command = add_command(
        commands,
        "bench",
        "how fast this machine computes, and with which engine",
        "widthwise bench 'mac(e4m3fn)' 'kulisch(e4m3fn)' --size 32 --seconds 0.01",
        "widthwise bench --json",
        "widthwise bench gemm --format e5m10 --size 64 --repeat 3",
        "widthwise bench gemm --unit hopper.e4m3.f32 --size 64 --json",
        "widthwise bench conv2d --model resnet50 --format e4m11 --batch 1 --image 32 --repeat 1",
    )
    command.add_argument(
        "units",
        metavar="UNIT",
        nargs="*",
        help="units to compare, default: some of each kind; or gemm, or conv2d",
    )
    command.add_argument(
        "--size", type=whole_number, help="of square matrices; default 256, of gemm 1024"
    )
    command.add_argument("--seconds", type=number, help="a figure; default 0.3")
    command.add_argument("--threads", type=whole_number, help="default: all of the machine's")
    group = command.add_argument_group("gemm and conv2d")
    group.add_argument("--format", metavar="F", help="the unit is mac(F)")
    group.add_argument("--unit", metavar="U", help="any unit")
    group.add_argument("--repeat", type=whole_number, help="default 5, of conv2d 3 a layer")
    group.add_argument("--device", choices=["cpu", "cuda"], help="default: all that are here")
    group.add_argument("--model", choices=list(MODELS), help="of conv2d; default resnet50")
    group.add_argument("--batch", type=whole_number, help="images; default 16")
    group.add_argument("--image", type=whole_number, help="their height and width; default 224")
    command.set_defaults(run=run_bench)
    add_json(command)


# --- Running -------------------------------------------------------------------------------------


def run_bench(options: argparse.Namespace) -> int:
    first = options.units[0] if options.units else "units"
    kind = first if first in ("gemm", "conv2d") else "units"
    if kind != "units" and len(options.units) > 1:
        raise ValueError(f"bench {kind} takes --format or --unit, and not {options.units[1]!r}")
    check_options(kind, options)
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads = {options.threads}: 1 or more is wanted")
    return {"units": bench_units, "gemm": bench_gemm, "conv2d": bench_convolutions}[kind](options)


def check_options(kind: str, options: argparse.Namespace) -> None:
    """What is left out gets its default; what belongs to another kind is refused."""
    own = KINDS[kind]
    for name in ALL:
        given = getattr(options, name)
        if name not in own and given is not None:
            takers = " and ".join(f"bench {k}" for k in KINDS if name in KINDS[k] and k != "units")
            raise ValueError(f"--{name} is of {takers or 'bench UNIT …'}, not of bench {kind}")
        if name in own and given is None:
            setattr(options, name, own[name])
        value = getattr(options, name)
        if isinstance(value, int | float) and not value > 0:
            raise ValueError(f"--{name}: more than 0 is wanted")


def bench_units(options: argparse.Namespace) -> int:
    units = [Unit(text) for text in options.units or UNITS]
    rows = []
    with progress("bench") as tell:
        for i, unit in enumerate(units):
            rows.append(rate_of_unit(unit, options))
            tell(i + 1, len(units) + 2)
        rows += rates_of_elements(options.seconds)
    show(options, Table(["work", "engine", "rate", "of"], rows))
    return 0


def rate_of_unit(unit: Unit, options: argparse.Namespace) -> tuple[str, str, float, str]:
    n = options.size
    a, b, scales = operands(unit, n)
    how: dict[str, Any] = {"unit": unit, "threads": options.threads, **scales}
    seconds = least_seconds(lambda: matmul(a, b, **how), options.seconds)
    engine = explain(unit, n, n, n).engine
    return f"{unit.text}, {n} x {n} x {n}", engine, n**3 / seconds / 1e6, "million products/s"


def operands(unit: Unit, n: int) -> tuple[Array, Array, dict[str, Array]]:
    """Random square matrices, and scales of one where the unit takes such."""
    draw = np.random.default_rng(0)
    a, b = (array(draw.standard_normal((n, n)), f) for f in (unit.a, unit.b))
    if not (unit.scale_format and unit.scale_block):
        return a, b, {}
    blocks = -(-n // unit.scale_block)
    shapes = {"scale_a": (n, blocks), "scale_b": (blocks, n)}
    scales = {name: array(np.ones(shape), unit.scale_format) for name, shape in shapes.items()}
    return a, b, scales


def rates_of_elements(seconds: float) -> list[tuple[str, str, float, str]]:
    numbers = np.random.default_rng(0).standard_normal(ELEMENTS).astype(np.float32)
    x = array(numbers, "e5m10")
    works = {
        "binary32 to e5m10": lambda: array(numbers, "e5m10"),
        "e5m10 + e5m10": lambda: add(x, x),
    }
    return [
        (name, "-", ELEMENTS / least_seconds(work, seconds) / 1e6, "million elements/s")
        for name, work in works.items()
    ]


def least_seconds(work: Callable[[], object], budget: float) -> float:
    """The least of as many runs as fit the budget; one at least."""
    best, end = float("inf"), time.perf_counter() + budget
    while best == float("inf") or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


# --- One product, and a model's convolutions -----------------------------------------------------


class Place(NamedTuple):
    """Where it is computed: this machine's cores, or a GPU on arrays that lie there."""

    device: str
    told: str  # as people call it
    threads: int | None

    def takes(self, x: Array) -> Any:
        return x if self.device == HERE else x.to_device(self.device)

    def engine(self, unit: Unit, m: int, n: int, k: int) -> str:
        """The one that computes here; one of a GPU would bring arrays there and back."""
        if self.device != HERE:
            return "cuda"
        takers = explain(unit, m, n, k).takers
        return next(name for name in takers if not name.startswith("cuda"))

    def how(self, engine: str) -> dict[str, Any]:
        return {} if self.device != HERE else {"engine": engine, "threads": self.threads}


def places(options: argparse.Namespace) -> list[Place]:
    """This machine, and a GPU where there is one; or the one that was named."""
    found = [Place(HERE, HERE, options.threads or len(os.sched_getaffinity(0)))]
    if options.device == "cuda" or (options.device is None and "cuda" in engines()):
        _device.gpu_of("cuda")  # says why there is none
        found.append(Place("cuda", f"cuda, {core.gpus()[0]}", None))
    return [place for place in found if options.device in (None, place.device)]


def unit_asked(options: argparse.Namespace) -> Unit:
    if (options.format is None) == (options.unit is None):
        both = "" if options.format is None else ", not both"
        raise ValueError(f"--format F, which is --unit 'mac(F)', or --unit U is wanted{both}")
    return Unit(options.unit or f"mac({as_format(options.format)})")


def seconds_of(work: Callable[[], Any], repeat: int) -> list[float]:
    """Of each run, until the last number is there."""
    found = []
    for _ in range(repeat):
        begin = time.perf_counter()
        z = work()
        if not isinstance(z, Array):  # what a GPU has begun is done when a number of it is here
            z.reshape(-1)[:1].to_device(HERE)
        found.append(time.perf_counter() - begin)
    return found


def bench_gemm(options: argparse.Namespace) -> int:
    unit, n = unit_asked(options), options.size
    rows = []
    with progress("bench gemm") as tell:
        for at, place in enumerate(all_places := places(options)):
            a, b, scales = operands(unit, n)
            a, b = place.takes(a), place.takes(b)
            scales = {name: place.takes(x) for name, x in scales.items()}
            engine = place.engine(unit, n, n, n)
            how = {"unit": unit, **scales, **place.how(engine)}
            found = seconds_of(partial(matmul, a, b, **how), options.repeat)
            rate = n**3 / min(found) / 1e6
            times = 1e3 * min(found), 1e3 * statistics.median(found)
            rows.append((place.told, engine, place.threads or "-", *times, rate))
            tell(at + 1, len(all_places))
    columns = ["device", "engine", "threads", "ms", "median_ms", "million_products_s"]
    facts = {"unit": unit.text, "size": n, "repeat": options.repeat}
    tell_all(options, facts, Table(columns, rows))
    return 0


def bench_convolutions(options: argparse.Namespace) -> int:
    unit, layers = unit_asked(options), MODELS[options.model]
    places_here = places(options)
    rows: list[tuple[Any, ...]] = []
    with progress(f"bench {options.model}") as tell:
        for place in places_here:
            for row in timed_layers(layers, unit, place, options):
                rows.append(row)
                tell(len(rows), len(layers) * len(places_here))
    table = Table(LAYER_COLUMNS, rows)
    facts = {name: getattr(options, name) for name in ("model", "batch", "image", "repeat")}
    totals = [total(rows, place, options.batch) for place in places_here]
    facts = {"unit": unit.text, **facts}
    tell_all(options, facts, table, Table(["device", "threads", "ms", "images_s"], totals))
    return 0


LAYER_COLUMNS = ["device", "layer", "count", "input", "output", "engine", "ms"]
LAYER_COLUMNS += ["million_products_s"]


def timed_layers(
    layers: list[Layer], unit: Unit, place: Place, options: argparse.Namespace
) -> Iterator[tuple[Any, ...]]:
    draw = np.random.default_rng(0)
    for layer in layers:
        n, size = options.batch, layer.image(options.image)
        side = layer.output(options.image)
        images = draw.standard_normal((n, layer.channels, size, size))
        weights = draw.standard_normal((layer.filters, layer.channels, layer.kernel, layer.kernel))
        x, w = place.takes(array(images, unit.a)), place.takes(array(weights, unit.b))
        window = layer.channels * layer.kernel**2
        engine = place.engine(unit, layer.filters, n * side**2, window)
        how = {"unit": unit, "stride": layer.stride, "padding": layer.padding}
        how |= place.how(engine)
        best = min(seconds_of(partial(conv2d, x, w, **how), options.repeat))
        rate = n * layer.products(options.image) / best / 1e6
        shapes = f"{layer.channels}x{size}x{size}", f"{layer.filters}x{side}x{side}"
        yield place.told, layer.name, layer.times, *shapes, engine, 1e3 * best, rate


def total(rows: list[tuple[Any, ...]], place: Place, batch: int) -> tuple[Any, ...]:
    """Of a batch through all layers, each as often as the model has it."""
    ms = sum(row[2] * row[6] for row in rows if row[0] == place.told)
    return place.told, place.threads or "-", ms, 1e3 * batch / ms


def tell_all(options: argparse.Namespace, facts: dict[str, Any], *tables: Table) -> None:
    """What was asked on a line, then tables; as JSON one object."""
    names = ["layers", "totals"] if len(tables) == 2 else ["results"]
    content = {**facts, **{n: t.records() for n, t in zip(names, tables, strict=True)}}
    head = ", ".join(f"{name} {value}" for name, value in facts.items())
    show(options, content, "\n\n".join([head, *map(str, tables)]))
