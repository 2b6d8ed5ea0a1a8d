"""Calibration of data that come batch by batch, in bounded memory."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._machine import by_usual_arithmetic
from .calibration import (
    PERCENTILE,
    check_data,
    check_method,
    cross_entropy_threshold,
    entropy_threshold,
    exact_number,
    found_range,
    mse_threshold,
)
from .given import numbers
from .sketch import Batch, Sketch, counted, weighted_histogram, weighted_order_statistic

if TYPE_CHECKING:
    from .._table import Table

CAPACITY = 1 << 20
NOTHING = "nothing has been observed; call observe(x) with data first"


@by_usual_arithmetic
def calibrate(
    x: Any,
    method: str = "minmax",
    bits: int = 8,
    percentile: Any = None,
    *,
    exact: bool = False,
) -> tuple[Any, Any]:
    """Find the range that a scale is to cover.

    Args:
        x: finite numbers, as `ww.affine` takes them; of cross_entropy rows along the last axis.
        method: 'minmax'; 'percentile'; 'mse', the threshold of least squared error; 'entropy', of
            least Kullback-Leibler divergence between histograms; 'cross_entropy', of least
            cross-entropy between softmax outputs (docs/semantics.md, A6).
        bits: of the codes that the range is for.
        percentile: of method 'percentile', 50 to 100; 99.99 if left out.
        exact: deliver Fractions in place of floats.
    Returns:
        (lo, hi), as floats nearest to the exact numbers.
    Raises:
        ValueError: x is empty or not finite; an argument that a method does not take.

    >>> import widthwise as ww
    >>> ww.calibrate([*range(1, 12)], "percentile", percentile=95)
    (1.5, 10.5)
    >>> ww.calibrate([1, -1, 0.25] * 50 + [3], "mse", bits=4)
    (-2.34, 2.34)
    """
    check_method(method, bits, percentile)
    values = numbers(x)
    check_data(values)
    lo, hi = found_range(method, values, bits, percentile)
    return (lo, hi) if exact else (float(lo), float(hi))


class Calibrator:
    """Finds the range of data that come in batches.

    Up to `capacity` values are kept, and all methods are exact on those. Past it, minmax is still
    exact; percentile, mse and entropy go on with counts of magnitudes to 11 bits of fraction, so
    that a value is known to one part in 4,096, and `exact` is False; cross_entropy, which needs
    whole rows, is refused. Counts take 16 bytes for each magnitude that occurs, which are 2,048 to
    a power of two.

    Args:
        method, bits, percentile: as in `ww.calibrate`.
        capacity: how many values are kept.
    Raises:
        ValueError: an argument that a method does not take.

    >>> import numpy as np, widthwise as ww
    >>> c = ww.Calibrator("percentile", percentile=99)
    >>> for batch in np.arange(600.0).reshape(3, 200):
    ...     c.observe(batch)
    >>> c.range(), c.exact
    ((5.99, 593.01), True)
    """

    def __init__(
        self,
        method: str = "minmax",
        bits: int = 8,
        percentile: Any = None,
        *,
        capacity: int = CAPACITY,
    ) -> None:
        check_method(method, bits, percentile)
        if not isinstance(capacity, int | np.integer) or capacity < 1:
            raise ValueError(f"capacity = {capacity!r}: it may be 1 or more values")
        self.method, self.bits, self.capacity = method, int(bits), int(capacity)
        self.percentile = percentile
        self._kept: list[np.ndarray] = []
        self._sketch: Sketch | None = None
        self._count = 0
        self._low, self._high = np.inf, -np.inf

    @by_usual_arithmetic
    def observe(self, x: Any) -> None:
        """Look at one more batch, x: finite numbers of any shape, but none empty.

        >>> c = Calibrator()
        >>> c.observe([1.0, -2.0])
        >>> c.range()
        (-2.0, 1.0)
        """
        values = numbers(x)
        check_data(values)
        self._see(Batch(values))

    def _see(self, batch: Any) -> None:
        """One that is a Batch, or answers as one does of numbers that lie elsewhere."""
        self._refuse_more(batch.size)
        self._count += batch.size
        low, high = batch.ends()
        self._low, self._high = min(self._low, low), max(self._high, high)
        if self.method != "minmax":
            self._keep([batch])

    @by_usual_arithmetic
    def merge(self, other: Calibrator) -> None:
        """Take over what another one, `other`, has seen, of the same method, bits and percentile.

        >>> a, b = Calibrator(), Calibrator()
        >>> a.observe([1.0]), b.observe([3.0])
        (None, None)
        >>> a.merge(b)
        >>> a.range()
        (1.0, 3.0)
        """
        if not isinstance(other, Calibrator):
            raise TypeError(f"other is {type(other).__name__}; a Calibrator is wanted")
        for name in ("method", "bits", "percentile"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise ValueError(f"{name} is {mine!r} here and {its!r} there; merge alike ones")
        self._refuse_more(other._count)
        self._count += other._count
        self._low, self._high = min(self._low, other._low), max(self._high, other._high)
        if self.method == "minmax":
            return
        if other._sketch is not None:
            self._fold()
            assert self._sketch is not None
            self._sketch.add(other._sketch.keys, other._sketch.counts)
        self._keep([*map(Batch, other._kept)])

    def _keep(self, batches: list[Any]) -> None:
        if self._sketch is None and self._count <= self.capacity:
            self._kept += [batch.values() for batch in batches]
            return
        self._fold()
        assert self._sketch is not None
        for batch in batches:
            self._sketch.add(*batch.counts())

    def _refuse_more(self, size: int) -> None:
        if self.method == "cross_entropy" and self._count + size > self.capacity:
            raise ValueError(
                f"{self._count + size} values are past capacity = {self.capacity}, and "
                "cross_entropy needs all rows; pass a larger capacity, or fewer rows"
            )

    def _fold(self) -> None:
        """From values to counts."""
        if self._sketch is None:
            self._sketch = Sketch()
        for batch in self._kept:
            self._sketch.add(*counted(batch))
        self._kept = []

    @property
    def count(self) -> int:
        """How many values it has seen.

        >>> c = Calibrator()
        >>> c.observe([1.0, 2.0])
        >>> c.count
        2
        """
        return self._count

    @property
    def exact(self) -> bool:
        """Whether range() is what `ww.calibrate` finds in all the data together.

        >>> c = Calibrator("mse", capacity=2)
        >>> c.observe([1.0, 2.0, 3.0])
        >>> c.exact
        False
        """
        return self._sketch is None

    @property
    def nbytes(self) -> int:
        """Bytes of what it keeps.

        >>> Calibrator().nbytes
        0
        """
        kept = sum(batch.nbytes for batch in self._kept)
        return kept + (self._sketch.nbytes if self._sketch else 0)

    @by_usual_arithmetic
    def range(self, exact: bool = False) -> tuple[Any, Any]:
        """(lo, hi) of all that it has seen, as floats; with exact=True as Fractions.

        >>> c = Calibrator("mse", bits=4)
        >>> c.observe([1, -1, 0.25] * 50 + [3])
        >>> c.range(exact=True)
        (Fraction(-117, 50), Fraction(117, 50))
        """
        lo, hi = self._range()
        return (lo, hi) if exact else (float(lo), float(hi))

    @by_usual_arithmetic
    def threshold(self, exact: bool = False) -> Any:
        """The larger magnitude of range(), as a float; with exact=True as a Fraction.

        >>> c = Calibrator()
        >>> c.observe([1, -4])
        >>> c.threshold()
        4.0
        """
        lo, hi = self._range()
        largest = max(-lo, hi)
        return largest if exact else float(largest)

    def _range(self) -> tuple[Fraction, Fraction]:
        if self._count == 0:
            raise ValueError(NOTHING)
        if self.method == "minmax":
            return Fraction(self._low), Fraction(self._high)
        if self.method == "cross_entropy":
            t = cross_entropy_threshold(map(rows, self._kept), self.bits)
            return -t, t
        if self._sketch is None:
            return found_range(self.method, self._values(), self.bits, self.percentile)
        counted = self._sketch.values(self._low, self._high)
        return weighted_range(self.method, *counted, self.bits, self.percentile)

    def _values(self) -> np.ndarray:
        """All that is kept, in one array."""
        return np.concatenate([batch.reshape(-1) for batch in self._kept])

    @by_usual_arithmetic
    def _counted(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Values, and how often each occurs if that is not once."""
        if self._count == 0:
            raise ValueError(NOTHING)
        if self.method == "minmax":
            raise ValueError(
                "method 'minmax' keeps no data to draw; ww.Calibrator('mse') does, and shows minmax"
            )
        if self._sketch is None:
            return self._values(), None
        return self._sketch.values(self._low, self._high)

    @by_usual_arithmetic
    def thresholds(self) -> Table:
        """What each method would choose for all that it has seen, and the errors of that.

        >>> c = Calibrator("mse")
        >>> c.observe([0.5, -1.0, 2.0])
        >>> c.thresholds().columns
        ['method', 'lo', 'hi', 'mean squared error', 'clamped']
        """
        from .calibration_plots import thresholds

        return thresholds(self)

    def plot(self, ax: Any = None, title: str | None = None) -> Any:
        """Draw the histogram, each method's range, and the error each would make (matplotlib).

        Args:
            ax: two axes of yours to draw on, the histogram's and the errors'; a new figure's if
                left out.
            title: above the first.
        Returns:
            The two axes.
        Raises:
            ValueError: nothing was observed, or method is minmax, which keeps no data.

        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> c = Calibrator("entropy")
        >>> c.observe([0.5, -1.0, 2.0])
        >>> len(c.plot())
        2
        """
        from .calibration_plots import draw

        return draw(self, ax, title)

    def __repr__(self) -> str:
        p = f", percentile={self.percentile}" if self.percentile is not None else ""
        how = "exact" if self.exact else "from counts, to one part in 4,096"
        return f"Calibrator({self.method!r}, bits={self.bits}{p}: {self._count} values, {how})"


def rows(batch: np.ndarray) -> np.ndarray:
    return batch.reshape(-1, batch.shape[-1] if batch.ndim else 1)


def weighted_range(
    method: str, values: np.ndarray, counts: np.ndarray, bits: int, percentile: Any = None
) -> tuple[Fraction, Fraction]:
    """Of values that ascend, each as often as counted."""
    if method == "minmax":
        return Fraction(float(values[0])), Fraction(float(values[-1]))
    if method == "percentile":
        p = Fraction(PERCENTILE if percentile is None else exact_number(percentile))
        lo, hi = (weighted_order_statistic(values, counts, q) for q in (100 - p, p))
        return lo, hi
    if method == "mse":
        t = mse_threshold(values, bits, counts)
    else:
        t = entropy_threshold(*weighted_histogram(values, counts), bits)[0]
    return -t, t
