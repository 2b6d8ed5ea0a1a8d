"""The main job: a classifier of handwritten digits, its matrix product on nine units.

python -m widthwise.demo --out out
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import widthwise as ww
from widthwise import _widthwise as core
from widthwise._dot import Operands
from widthwise._table import Table
from widthwise._verify import judge_unit

UNITS = [
    "mac(e5m10)",
    "mac(bfloat16)",
    "mac(e4m3fn)",
    "mac(e4m3fn, sum=e5m10)",
    "fma(e5m10)",
    "mac(e9m6)",
    "hopper.e4m3.f32",
    "hopper.f16.f32",
    "kulisch(e5m10)",
]
TRACED = HEADER = "mac(e4m3fn)"
SAMPLE = 200  # outputs of each unit that MPFR computes again
GROWN = 60  # dot products whose error is followed
COLUMNS = [
    "unit",
    "result",
    "max error (ulp)",
    "mean error (ulp)",
    "digits right",
    "Mproducts/s",
    "differ from MPFR",
]


@dataclass
class Classifier:
    """Scores are images @ weights + bias; the highest names the digit."""

    images: np.ndarray  # (digits, 64), 0 to 16
    labels: np.ndarray
    weights: np.ndarray  # (64, 10)
    bias: np.ndarray

    def right(self, scores: np.ndarray) -> int:
        """Digits named right. A score that is NaN names none."""
        ranked = np.where(np.isnan(scores), -np.inf, scores)
        return int(np.count_nonzero(ranked.argmax(axis=1) == self.labels))


def fitted() -> Classifier:
    """Linear discriminants, in binary64, of the digits that ship with scikit-learn."""
    from sklearn.datasets import load_digits
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    images, labels = load_digits(return_X_y=True)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(images, labels)
    return Classifier(images, labels, model.coef_.T.copy(), model.intercept_)


@dataclass
class Run:
    """One unit's whole product."""

    unit: ww.Unit
    a: ww.Array
    b: ww.Array
    c: ww.Array
    scores: ww.Array
    seconds: float

    @property
    def speed(self) -> float:
        """Products a second."""
        return self.a.size * self.b.shape[1] / self.seconds


def run(unit: str, model: Classifier) -> Run:
    """Pixels, weights and bias as they are, rounded to the unit's formats; no scaling."""
    u = ww.Unit(unit)
    a, b = ww.array(model.images, u.a), ww.array(model.weights, u.b)
    c = ww.array(model.bias, u.c)
    began = time.perf_counter()
    scores = ww.matmul(a, b, unit=u, c=c)
    return Run(u, a, b, c, scores, time.perf_counter() - began)


def differing(done: Run) -> int | None:
    """How many of a sample of the outputs MPFR has otherwise; None without MPFR."""
    if core.mpfr_version is None:
        return None
    draw = np.random.default_rng(0)
    index = draw.choice(done.scores.size, SAMPLE, replace=False)
    rows, columns = np.divmod(index, done.scores.shape[1])
    x = Operands.of_dots(done.unit, done.a[rows], done.b.T[columns], done.c[columns], None, None)
    return judge_unit(done.unit, x, done.scores.ravel()[index].bits, 0, index.tolist()).errors


def row(done: Run, model: Classifier) -> tuple[Any, ...]:
    ulps, _ = ww.study.product_errors(done.unit, done.a, done.b, done.scores, c=done.c)
    differ = differing(done)
    return (
        str(done.unit),
        str(done.unit.result_format),
        float(ulps.max()),
        float(ulps.mean()),
        model.right(done.scores.to_float64()),
        done.speed / 1e6,
        "no MPFR here" if differ is None else f"{differ} of {SAMPLE}",
    )


def swallowed(done: Run) -> tuple[ww.Trace, list[Any]]:
    """The trace of the first digit's first score, and the stages of one product that it lost."""
    trace = ww.trace(done.unit, done.a[0], done.b.T[0], done.c[0])
    sums = {w.lane: w for w in trace if w.stage == "round" and w.slot == "out"}
    products = {w.lane: w for w in trace if w.stage == "round" and w.slot == "product.round"}
    lost = next(
        lane
        for lane in sorted(sums)[1:]
        if lane in products and sums[lane].value == sums[lane - 1].value
    )
    first = max(i for i, w in enumerate(trace) if w.slot == "out" and w.lane == lost - 1) + 1
    last = max(i for i, w in enumerate(trace) if w.slot == "out" and w.lane == lost) + 1
    return trace, [*trace.table().rows[first:last]]


def picture(growth: ww.study.ErrorGrowth, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    growth.plot(ax)
    ax.set_title(f"Error along the accumulation, mean of {GROWN} dot products")
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=120)
    plt.close(figure)
    core.write_file(str(path), image.getvalue())


def csv(table: Table) -> bytes:
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue().encode()


def progress(units: list[str], step: Callable[[str], Any]) -> list[Any]:
    """Each unit's result, and on a terminal a line that says which one is computed."""
    results = []
    for i, unit in enumerate(units, 1):
        if sys.stderr.isatty():
            print(f"\r\033[K{i} of {len(units)}: {unit}", end="", file=sys.stderr, flush=True)
        results.append(step(unit))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results


def grown(model: Classifier) -> ww.study.ErrorGrowth:
    """The error along all ten scores of the first digits."""
    a = model.images[: GROWN // 10, np.newaxis]
    return ww.study.error_growth(a, model.weights.T, UNITS, c=model.bias, lengths=range(1, 65))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m widthwise.demo", description=__doc__)
    parser.add_argument("--out", default="out", help="folder for the files; default out")
    out = Path(parser.parse_args(arguments).out)
    out.mkdir(parents=True, exist_ok=True)

    model = fitted()
    exact = model.right(model.images @ model.weights + model.bias)
    print(
        f"{len(model.labels)} handwritten digits, a linear classifier fitted in binary64: "
        f"{exact} right.\nIts product (1797 x 64) x (64 x 10) + bias on {len(UNITS)} units:\n"
    )
    runs = progress(UNITS, lambda unit: run(unit, model))
    rows = {str(r.unit): row(r, model) for r in runs}
    table = Table(COLUMNS, rows.values())
    print(table)

    trace, stages = swallowed(runs[UNITS.index(TRACED)])
    print(
        f"\n{TRACED}: the first digit's score for 0, one product of 64 (of {len(trace)} stages):\n"
    )
    print(Table(trace.table().columns, stages))
    print(f"\nThe sum before and after is the same: the product was lost. Score: {trace.result}")

    core.write_file(str(out / "digits.csv"), csv(table))
    core.write_file(str(out / "trace.csv"), csv(trace.table()))
    picture(grown(model), out / "error_growth.png")
    header, *others = ww.export(HEADER, out / "mac_e4m3fn", name="mac_e4m3fn")
    print(
        f"\nWritten: {out}/digits.csv, {out}/trace.csv, {out}/error_growth.png, {header} "
        f"and {len(others)} other headers"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
