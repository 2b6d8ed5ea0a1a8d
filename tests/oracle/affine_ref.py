"""Affine integers in exact fractions, calibration, integer products, requantisation: slow and clear.

Written from the specification of number systems, section 3, and from observed behaviour; no
third-party code. Names and numbers of sections are that specification's.
"""

import math
import re
from fractions import Fraction as Q
from pathlib import Path

from number_systems_ref import INF, NAN, NINF, exact, floor_log2, rint
from scaled_ref import f32, f32_div, f32_mul, int_sat, int_wrap


def qparams(lo, hi, qmin, qmax, scheme="asymmetric", scale_format="binary32"):
    """(scale, zero point). scheme: asymmetric | symmetric (narrow) | symmetric_full."""
    keep = (lambda v: Q(f32(v))) if scale_format == "binary32" else (lambda v: Q(float(v)))
    lo, hi = exact(lo), exact(hi)
    if isinstance(lo, str) or isinstance(hi, str): raise ValueError("range is not finite")
    lo, hi = min(lo, Q(0)), max(hi, Q(0))
    if scheme == "asymmetric":
        s = keep((hi - lo) / (qmax - qmin))
        if s == 0: return Q(1), max(qmin, min(0, qmax))
        return s, min(max(qmin - rint(lo / s), qmin), qmax)
    amax = max(-lo, hi)
    s = keep(amax / qmax if scheme == "symmetric" else 2 * amax / (qmax - qmin))
    return (s or Q(1)), (0 if qmin < 0 else (qmax + qmin + 1) // 2)

def quantize(x, s, z, qmin, qmax, rounding="rne", arithmetic="exact"):
    """exact: round(x/s) + z. onnx: round(f32(x/s)) + z. torch (fake_quantize): round(f32(x * f32(1/s))) + z.
    torch_legacy (quantize_per_tensor on x86): round(fma(x, f32(1/s), z)). All clamp."""
    x = exact(x)
    if x == NAN:                                            # NV
        return {"onnx": qmin, "torch": qmin, "torch_legacy": qmax}.get(arithmetic, min(max(z, qmin), qmax))
    if x in (INF, NINF): return qmax if x == INF else qmin
    if arithmetic == "torch": y = f32_mul(f32(x), f32_div(1, s))
    elif arithmetic == "torch_legacy":
        y, z = f32(Q(f32(x)) * Q(f32_div(1, s)) + z), 0
    elif arithmetic == "onnx": y = f32_div(f32(x), s)
    else: y = x / Q(s)
    if y in (math.inf, -math.inf): return qmax if y > 0 else qmin
    return min(max(rint(y, rounding) + z, qmin), qmax)

def dequantize(q, s, z): return (q - z) * Q(s)

def percentile(xs, p):
    """Linear interpolation between order statistics, exact (numpy's default method)."""
    xs = sorted(exact(v) for v in xs)
    h = Q(p) / 100 * (len(xs) - 1)
    i = min(math.floor(h), len(xs) - 1)
    return xs[i] + (h - i) * (xs[min(i + 1, len(xs) - 1)] - xs[i])

def mse_threshold(xs, bits=8, grid=100):
    """Symmetric: T = amax * i / grid, i = grid .. 1; least mean squared error, the larger T on ties."""
    xs = [exact(v) for v in xs]
    amax, qmax, best = max(map(abs, xs)), (1 << bits - 1) - 1, None
    for i in range(grid, 0, -1):
        s = Q(f32(amax * i / grid / qmax))
        err = sum((v - quantize(v, s, 0, -qmax, qmax) * s) ** 2 for v in xs)
        if best is None or err < best[0]: best = (err, amax * i / grid)
    return best[1]

def histogram(xs, bins=2048):
    xs = [abs(exact(v)) for v in xs]
    w = max(xs) / bins
    h = [0] * bins
    for v in xs: h[min(math.floor(v / w), bins - 1)] += 1
    return h, w

def kl_threshold(h, width, levels=128):
    """Entropy calibration over a histogram of magnitudes; see the page for each step."""
    n, best = len(h), None
    for i in range(levels, n + 1):
        p = list(h[:i]); p[i - 1] += sum(h[i:])
        total_p, merged, q = sum(p), i // levels, [Q(0)] * i
        for j in range(levels):
            a, b = j * merged, i if j == levels - 1 else (j + 1) * merged
            live = [k for k in range(a, b) if p[k]]
            if live:
                share = Q(sum(h[a:b]), len(live))
                for k in live: q[k] = share
        total_q = sum(q)
        kl = math.inf if any(p[k] and not q[k] for k in range(i)) else math.fsum(
            p[k] / total_p * math.log(p[k] * total_q / (total_p * q[k])) for k in range(i) if p[k])
        if best is None or kl < best[0]: best = (kl, i)
    return min((best[1] + Q(1, 2)) * width, n * width), best[1]

def softmax(v):
    m = max(v); e = [math.exp(t - m) for t in v]; s = math.fsum(e)
    return [t / s for t in e]

def ce_threshold(rows, bits=8, grid=100):
    """Least mean cross-entropy of softmax(dequantised row) against softmax(row), symmetric."""
    amax, qmax, best = max(abs(exact(v)) for r in rows for v in r), (1 << bits - 1) - 1, None
    for i in range(grid, 0, -1):
        s = Q(f32(amax * i / grid / qmax))
        ce = 0.0
        for r in rows:
            p = softmax([float(v) for v in r])
            q = softmax([float(quantize(v, s, 0, -qmax, qmax) * s) for v in r])
            ce -= math.fsum(a * math.log(max(b, 2.0 ** -1022)) for a, b in zip(p, q))
        if best is None or ce < best[0]: best = (ce, amax * i / grid)
    return best[1]


def igemm(a, b, za=0, zb=0, bias=None, overflow="wrap", pairs="exact"):
    """int32 accumulators. pairs='sat16': products summed in pairs along k with 16-bit saturation (vpmaddubsw),
    zero points folded in afterwards."""
    fit = int_wrap if overflow == "wrap" else int_sat
    out = []
    for row in a:
        out.append([])
        for j in range(len(b[0])):
            col = [r[j] for r in b]
            acc = bias[j] if bias else 0
            if pairs == "sat16":
                for k in range(0, len(row), 2):
                    acc = fit(acc + int_sat(sum(x * y for x, y in zip(row[k:k + 2], col[k:k + 2])), 16))
                acc = fit(acc - za * sum(col) - zb * sum(row) + len(row) * za * zb)
            else:
                for x, y in zip(row, col): acc = fit(acc + (x - za) * (y - zb))
            out[-1].append(acc)
    return out

def quantize_multiplier(m):
    """M = q * 2^(shift-31), q in [2^30, 2^31): TFLite's QuantizeMultiplier (ties away)."""
    m = exact(m)
    if m == 0: return 0, 0
    shift = floor_log2(m) + 1
    q = rint(m / Q(2) ** shift * 2 ** 31, "rna")
    if q == 1 << 31: q, shift = q >> 1, shift + 1
    return (0, 0) if shift < -31 else (q, shift)

def srdhm(a, b):
    """gemmlowp SaturatingRoundingDoublingHighMul: round(a*b / 2^31), ties to plus infinity; one saturating case."""
    if a == b == -(1 << 31): return (1 << 31) - 1
    return rint(Q(a * b, 1 << 31), "rnp")

def rdbpot(x, k):
    """gemmlowp RoundingDivideByPOT: x / 2^k to nearest, ties away."""
    return rint(Q(x, 1 << k), "rna")

def requantize(acc, m, z=0, qmin=-128, qmax=127, variant="exact"):
    """acc int32, m the real multiplier sa*sb/sy. The variants are named after the engines that round so."""
    if variant == "exact": r = rint(acc * exact(m))
    elif variant == "gemmlowp":                             # two roundings: ties up, then ties away
        q, shift = quantize_multiplier(m)
        r = rdbpot(srdhm(int_wrap(acc << max(shift, 0)), q), max(-shift, 0))
    elif variant == "ruy":                                  # two roundings, ties up both times
        q, shift = quantize_multiplier(m)
        r = rint(Q(srdhm(int_wrap(acc << max(shift, 0)), q), 1 << max(-shift, 0)), "rnp")
    elif variant == "single":                               # TFLITE_SINGLE_ROUNDING: one, ties up
        q, shift = quantize_multiplier(m)
        r = (acc * q + (1 << 30 - shift)) >> 31 - shift
    elif variant == "q31":                                  # QNNPACK: 24-bit multiplier; ties up, then ties away
        m = Q(f32(m)); e = floor_log2(m) + 1
        assert Q(1, 1 << 32) <= m < 1
        r = rdbpot((acc * int(m / Q(2) ** e * 2 ** 31) + (1 << 30)) >> 31, -e)
    elif variant == "rndnu":                                # XNNPACK: 24-bit multiplier, one rounding, ties up
        r = rint(acc * Q(f32(m)), "rnp")
    elif variant == "fp32":                                 # XNNPACK/QNNPACK/ORT: f32(f32(acc) * f32(m)), rne
        r = f32_mul(f32(acc), f32(m))
        r = rint(min(max(r, qmin - z), qmax - z))
    else: raise ValueError(variant)
    return min(max(r + z, qmin), qmax)

def qlinear_matmul(a, sa, za, b, sb, zb, sy, zy, qmin, qmax):
    """ONNX QLinearMatMul as onnxruntime computes it: M = f32(f32(sa*sb)/sy), then 'fp32'."""
    m = f32_div(f32_mul(f32(sa), f32(sb)), f32(sy))
    return [[requantize(v, m, zy, qmin, qmax, "fp32") for v in row] for row in igemm(a, b, za, zb)]
