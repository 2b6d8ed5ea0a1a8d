"""Scaled tensors in exact fractions: section 5 of the specification's executable form, slow and
clear. Written from the notebook's observed behaviour; it knows nothing of the package."""

import math
import struct

from number_systems_ref import INF, NAN, NINF, Q, exact, floor_log2, rint


def f32(x):
    """Round to binary32, to nearest even; a Python float (which holds it exactly)."""
    x = exact(x)
    if isinstance(x, str):
        return float(x)
    if x == 0:
        return 0.0
    e = max(floor_log2(abs(x)), -126)
    y = rint(x / Q(2) ** (e - 23)) * Q(2) ** (e - 23)
    return math.copysign(math.inf, x) if abs(y) >= Q(2) ** 128 else float(y)


def f32_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f32_add(a, b):  # double then single is exact here: 53 >= 2*24+2
    s = a + b
    return f32(s) if math.isfinite(s) and s != 0 else s


def f32_mul(a, b):
    p = a * b
    return f32(p) if math.isfinite(p) and p != 0 else p


def f32_div(a, b):
    return f32(Q(a) / Q(b))


def int_wrap(n, w=32):
    return (n + (1 << w - 1)) % (1 << w) - (1 << w - 1)


def int_sat(n, w=32):
    return min(max(n, -(1 << w - 1)), (1 << w - 1) - 1)


def f16(x):
    """To binary16, nearest even; a Fraction, or the name of an infinity or NaN."""
    x = exact(x)
    if isinstance(x, str) or x == 0:
        return x
    e = max(floor_log2(abs(x)), -14)
    y = rint(x / Q(2) ** (e - 10)) * Q(2) ** (e - 10)
    return y if abs(y) < 65536 else INF if x > 0 else NINF


FLOAT8 = {"e4m3fn": (3, -6, Q(448)), "e5m2": (2, -14, Q(57344))}  # fraction bits, emin, largest


def f8(dtype, x):
    """To float8 as torch 2.13 casts: e4m3fn saturates, infinities too; e5m2 overflows."""
    (fraction, emin, largest), x = FLOAT8[dtype], exact(x)
    if x == NAN:
        return NAN
    if x in (INF, NINF):
        x = Q(2) ** 20 * (1 if x == INF else -1)
    if x == 0:
        return Q(0)
    step = Q(2) ** (max(floor_log2(abs(x)), emin) - fraction)
    y = rint(x / step) * step
    if abs(y) <= largest:
        return y
    if dtype == "e5m2":
        return INF if x > 0 else NINF
    return largest if x > 0 else -largest


SCALED = {
    "sfloat16": Q(65504),
    "sfloat8_e4m3fn": Q(448),
    "sfloat8_e5m2": Q(57344),
    "sint8": Q(127),
    "sint16": Q(32767),
    "sint32": Q(2**31 - 1),
}
BITS = {
    "sfloat16": 16,
    "sfloat8_e4m3fn": 8,
    "sfloat8_e5m2": 8,
    "sint8": 8,
    "sint16": 16,
    "sint32": 32,
}


def base_scale(dtype):
    return f32(Q(1.0 / float(SCALED[dtype])))  # held as binary64, used as binary32


def cast(dtype, x, rounding=None, like=None):
    """A binary32 number to the dtype. Integers truncate (or `rounding`) and saturate;
    like='notebook': x86's conversion, which gives -2^31 for what no int32 holds."""
    if dtype == "sfloat16":
        return f16(x)
    if dtype.startswith("sfloat8"):
        return f8(dtype[8:], x)
    w = BITS[dtype]
    n = rint(x, rounding or "rtz")
    if like == "notebook":
        return Q(int_wrap(n if n == int_sat(n) else -1 << 31, w))
    return Q(int_sat(n, w))


def amax_of(dtype, data, like=None):
    if any(isinstance(d, str) for d in data):
        return NAN if NAN in data else INF
    if like == "notebook" and dtype[1] == "i":  # torch's abs of the least integer is itself
        return max(int_wrap(abs(int(d)), BITS[dtype]) for d in data)
    return max(map(abs, data))


def scaled(dtype, xs, rounding=None, like=None):
    """data, scale."""
    s = f32(max(abs(exact(v)) for v in xs)) or 1.0
    quotients = [f32_div(f32_div(f32(v), s), base_scale(dtype)) for v in xs]
    return [cast(dtype, v, rounding, like) for v in quotients], s


def scaled_values(dtype, data, s):
    return [f32_mul(f32_mul(f32(d), s), base_scale(dtype)) for d in data]


def wasted_bits(dtype, data, like=None):
    """Each step in binary32; full-range data of the float kinds have -inf."""
    m = amax_of(dtype, data, like)
    if m == 0:
        return float(BITS[dtype])
    r = f32_mul(f32(m), base_scale(dtype))
    if dtype[1] == "f":
        r = float(cast(dtype, r))

    def log2(v):
        return math.nan if v != v or v < 0 else -math.inf if v == 0 else f32(Q(math.log2(v)))

    bits = log2(f32_div(1, r) if math.isfinite(r) else 1 / r)
    return bits if dtype[1] == "i" else log2(bits)


def requantised(dtype, data, s, rounding=None, like=None):
    r = f32_mul(f32(amax_of(dtype, data, like)), base_scale(dtype))
    return [cast(dtype, f32_div(f32(d), r), rounding, like) for d in data], f32_mul(s, r)


def scaled_add(dtype, a, sa, b, sb, rounding=None, like=None):
    s = f32_add(sa, sb)

    def part(x, share):
        y = f32_mul(f32(x), f32_div(share, s))
        return f32(cast(dtype, y)) if dtype[1] == "f" else y  # the dtype rounds each product

    sums = [f32_add(part(x, sa), part(y, sb)) for x, y in zip(a, b, strict=True)]
    return [cast(dtype, v, rounding, like) for v in sums], s


def scaled_matmul(dtype, a, sa, b, sb, rounding=None, like=None):
    """Both downscaled by (K/base)^-1/2 and cast; integers multiply with wrapping sums of the
    dtype, floats with binary32 sums in order of k and one rounding to the dtype."""
    k = len(b)
    s = f32_mul(f32_mul(sa, sb), float(k))
    d = f32(Q((k / (1.0 / float(SCALED[dtype]))) ** -0.5))

    def down(m):
        return [[cast(dtype, f32_mul(f32(v), d), rounding, like) for v in r] for r in m]

    a, b = down(a), down(b)

    def one(row, j):
        if dtype[1] == "i":
            terms = (x * r[j] for x, r in zip(row, b, strict=True))
            return Q(int_wrap(int(sum(terms)), BITS[dtype]))
        acc = 0.0
        for x, r in zip(row, b, strict=True):
            acc = f32_add(acc, f32_mul(f32(x), f32(r[j])))
        return cast(dtype, acc)

    return [[one(row, j) for j in range(len(b[0]))] for row in a], s
