"""The steps of affine integers: ranges, codes and numbers, here or on the GPU they lie on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _widthwise as core
from .._device import DeviceArray, queue
from .._format import Format
from .._machine import by_usual_arithmetic
from .._workplace import HERE, Numbers, Workplace
from .calibration import METHODS, range_finder
from .calibrator import Calibrator
from .given import refuse_both
from .grouping import Grouping
from .integer_codes import format_of
from .numbers import for_core, refuse_there
from .scheme import MOST_BITS, Scheme

if TYPE_CHECKING:
    from .affine import Affine


def asked_of(calibrate: Any) -> dict[str, Any]:
    """A method that is not the usual one."""
    return {
        "calibrate": None if isinstance(calibrate, str) and calibrate == "minmax" else calibrate
    }


def calibrated(
    x: Any, rule: Scheme, groups: Grouping, calibrate: Any, percentile: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The range of each group, by a method."""
    if isinstance(calibrate, Calibrator):
        refuse_both("calibrate, a Calibrator,", percentile=percentile)
        if groups.kind != "tensor":
            raise ValueError(
                "calibrate is a Calibrator, which has one range; leave axis, block out"
            )
        lo, hi = calibrate.range(exact=True)
        return np.array(lo, object), np.array(hi, object)
    if calibrate == "minmax":
        refuse_both("calibrate = 'minmax'", percentile=percentile)
        return groups.ranges(x)
    if not isinstance(calibrate, str) or calibrate not in METHODS:
        raise ValueError(
            f"calibrate = {calibrate!r}: it may be {', '.join(map(repr, METHODS))}, or a "
            "ww.Calibrator"
        )
    refuse_there(f"calibrate={calibrate!r}", x)
    find: Callable[[np.ndarray], tuple[Any, Any]] = range_finder(calibrate, rule.bits, percentile)
    if groups.kind == "tensor":
        parts = [x]
    elif calibrate == "cross_entropy":
        raise ValueError(
            "calibrate = 'cross_entropy' looks at rows of outputs, which one scale has"
        )
    else:
        parts = groups.groups(x)
    found = [find(part) for part in parts]
    shape = groups.scales_shape(x.shape)
    sides = np.empty((2, len(found)), object)
    for i, (lo, hi) in enumerate(found):
        sides[:, i] = lo, hi
    return sides[0].reshape(shape), sides[1].reshape(shape)


Steps = tuple[list[int], np.ndarray, np.ndarray]


@by_usual_arithmetic
def steps_of(x: Affine) -> Steps:
    """How the core finds an element's scale and zero point, and all of these."""
    groups, shape = x.grouping, x.shape
    scales = np.asarray(groups.for_core(x.scale, shape), np.float64)
    return groups.layout(shape), scales, np.asarray(groups.for_core(x.zero_point, shape), np.int64)


def place_of(codes: Any) -> Workplace:
    return HERE if isinstance(codes, np.ndarray) else Workplace.of({"codes": codes})


def empty_codes(shape: tuple[int, ...], rule: Scheme, like: Any) -> Any:
    """Where the numbers lie: NumPy's integers, or on a GPU a DeviceArray."""
    where = place_of(like)
    return np.empty(shape, rule.dtype) if where.gpu is None else where.empty(shape, format_of(rule))


def fill(to: Affine, x: Any, arithmetic: str, env: core.Env, flags: bool, random: Any) -> Any:
    """Codes of values, and how many were clamped; their flags, here, if they are wanted."""
    raised = place_of(to.codes).flags(to.shape, flags)
    fill_raising(to, x, arithmetic, env, raised, random)
    return raised and raised.here()


def fill_raising(
    to: Affine, x: Any, arithmetic: str, env: core.Env, raised: Numbers | None, random: Any
) -> None:
    """The same; flags lie where the codes do."""
    rule, per_tensor = to.scheme, to.grouping.kind == "tensor"
    nan = None
    if arithmetic != "exact":
        x = in_binary32(x)
        legacy = arithmetic == "torch_legacy"
        high = legacy and per_tensor and rule.bits < MOST_BITS
        nan = rule.qmax if high else rule.qmin
    where, steps = place_of(to.codes), steps_of(to)
    far_is_low = arithmetic == "torch" and not per_tensor
    for_flags = raised and raised.for_core
    how: Any = (for_flags, (rule.qmin, rule.qmax), arithmetic, env, nan, far_is_low, random)
    if where.gpu is None:
        counts = core.AffineScales(*steps).quantise(x, to.codes, *how)
    else:
        f, codes = to.codes.format._core, to.codes._for_core
        counts = core.device_affine_quantise(queue(where.gpu), *steps, for_core(x), f, codes, *how)
    to.clamped, to.nan = counts
    to.arithmetic = arithmetic


def in_binary32(x: Any) -> Any:
    if isinstance(x, DeviceArray):
        return x.astype("binary32").contiguous()
    with np.errstate(over="ignore"):
        return x.astype(np.float32, copy=False)


def dequantised(x: Affine, dtype: Any) -> tuple[Any, int]:
    """What codes stand for, and how many numbers binary64 does not hold, which only this machine
    counts."""
    where = place_of(x.codes)
    if where.gpu is not None:
        z = where.empty(x.shape, Format(f"binary{8 * np.dtype(dtype).itemsize}"))
        f, codes = x.codes.format._core, where.codes(x.codes, x.shape)
        core.device_affine_dequantise(queue(where.gpu), *steps_of(x), f, codes, z._for_core)
        return z, 0
    z = np.empty(x.shape, dtype)
    if not x.size:
        return z, 0
    scales = core.AffineScales(*steps_of(x))
    return z, scales.dequantise(np.ascontiguousarray(x.codes), z)
