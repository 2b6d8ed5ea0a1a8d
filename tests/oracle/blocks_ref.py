"""Block formats in exact fractions: section 4 of the specification's executable form, slow and clear.

Written from the standards and from observed behaviour; no third-party code.
"""
import math

from number_systems_ref import FLIP, INF, NAN, NINF, Q, exact, fixed_code, floor_log2, rint
from scaled_ref import f32, f32_add, f32_div, f32_mul, int_wrap


def negative(x):
    if isinstance(x, str): return x.startswith("-")
    return math.copysign(1.0, x) < 0 if isinstance(x, float) else x < 0

def ceil_log2(x):
    e = floor_log2(x)
    return e if Q(2) ** e == x else e + 1

class Elem:
    def __init__(self, eb, mb, bias, nan="none", signed=True):
        self.eb, self.mb, self.bias, self.nan, self.signed = eb, mb, bias, nan, signed
        top = (1 << eb + mb) - 1
        self.top = {"none": top, "all_ones": top - 1, "ieee": ((1 << eb) - 1 << mb) - 1}[nan]
        self.max = self.magnitude(self.top)
        self.emax = floor_log2(self.max)
        self.sign = 1 << eb + mb
    def magnitude(self, c):
        e, f = c >> self.mb, c & (1 << self.mb) - 1
        return (Q(f) if e == 0 else Q((1 << self.mb) + f)) * Q(2) ** (max(e, 1) - self.bias - self.mb)
    def value(self, c):
        m, s = c & self.sign - 1, c & self.sign
        if m > self.top: return NAN if self.nan == "all_ones" or m & (1 << self.mb) - 1 else (NINF if s else INF)
        return -self.magnitude(m) if s else self.magnitude(m)
    def code(self, x, rounding="rne", neg=None):
        """Round a finite x, saturating at the largest finite; the sign of zero kept (from `neg`)."""
        neg = x < 0 if neg is None else neg
        y = abs(Q(x))
        e = max(floor_log2(y), 1 - self.bias) if y else 1 - self.bias
        m = rint(y / Q(2) ** (e - self.mb), FLIP.get(rounding, rounding) if neg else rounding)
        c = m + (e - 1 + self.bias << self.mb)              # carries into the exponent by itself
        return min(c, self.top) | (self.sign if neg and self.signed else 0)

ELEM = {"e4m3fn": Elem(4, 3, 7, "all_ones"), "e5m2": Elem(5, 2, 15, "ieee"), "e2m3fn": Elem(2, 3, 1),
        "e3m2fn": Elem(3, 2, 3), "e2m1fn": Elem(2, 1, 1), "ue4m3fn": Elem(4, 3, 7, "all_ones", False)}

class IntElem:                                              # MXINT8: two's complement, W - 2 fraction bits
    nan, emax = "none", 0
    def __init__(self, w): self.w, self.mb, self.max = w, w - 2, Q((1 << w - 1) - 1, 1 << w - 2)
    def value(self, c): return Q(int_wrap(c, self.w), 1 << self.mb)
    def code(self, x, rounding="rne", neg=None):
        return fixed_code(f"fixed{self.w}.{self.mb}", x, rounding, "symmetric") & (1 << self.w) - 1
ELEM.update({f"int{w}": IntElem(w) for w in (8, 4, 2)})     # int4 and int2 are microxcaling's, not OCP's

def scale_value(c, bits=8):
    """e<bits>m0fnu: a power of two, all ones NaN."""
    return NAN if c == (1 << bits) - 1 else Q(2) ** (c - (1 << bits - 1) + 1)
def e8m0_value(c): return scale_value(c)

def mx_scale(amax, elem, mode="floor"):
    """Unclamped exponent of the shared scale for a finite amax > 0."""
    if mode == "floor": return floor_log2(amax) - elem.emax
    if mode == "ceil":  return ceil_log2(amax) - elem.emax
    if mode == "rceil": return ceil_log2(amax / elem.max)
    if mode == "even":                                      # amax rounded to the element's fraction, ties away
        e = floor_log2(amax)
        return floor_log2(rint(amax / Q(2) ** (e - elem.mb), "rna") * Q(2) ** (e - elem.mb)) - elem.emax
    if mode == "midmax":                                    # up past the middle of the largest element and 2^(emax+1)
        e = floor_log2(amax)
        return e - elem.emax + (amax / Q(2) ** e > (elem.max / Q(2) ** elem.emax + 2) / 2)
    if mode == "nearest":                                   # log2(amax/max) to nearest; no tie is rational
        r = amax / elem.max
        e = floor_log2(r)
        return e + (r * r > Q(2) ** (2 * e + 1))
    raise ValueError(mode)

def mx(fmt, xs, scale="floor", rounding="rne", specials="block", scale_bits=8, flush=False):
    """(scale code, element codes). specials='element': NaN and infinity stay in the elements where the format has them.
    flush: a block whose amax is below 2^-126 is a zero block."""
    elem, vals, top = ELEM[fmt], [exact(v) for v in xs], (1 << scale_bits - 1) - 1
    finite = [v for v in vals if not isinstance(v, str)]
    special = len(finite) < len(vals)
    if special and (specials == "block" or getattr(elem, "nan", "none") == "none"):
        return 2 * top + 1, [0] * len(xs)
    amax = max(map(abs, finite), default=Q(0))
    if flush and amax < Q(1, 2 ** 126): amax, vals = Q(0), [v if isinstance(v, str) else Q(0) for v in vals]
    e = -top if amax == 0 else min(max(mx_scale(amax, elem, scale), -top), top)
    codes = []
    for x, v in zip(xs, vals):
        if isinstance(v, str):
            c = 0x7F if fmt == "e4m3fn" or v == NAN else 0x7C   # e5m2 NaN 7f, infinity 7c; e4m3 has NaN only
            codes.append(c | (0x80 if v == NINF else 0))
        else:
            codes.append(elem.code(v / Q(2) ** e, rounding, negative(x)))
    return e + top, codes

def microxcaling(fmt, xs, rounding="nearest", scale_bits=8, flush=False, shared="max"):
    """Values as microxcaling's plain torch code gives them. Its exponents are floor(f32(log2 x)), one too large just below
    powers of two; it rounds by floor(f32(x + 0.5)), so that 0.5 - 2^-25 gives 1; a scale past its range makes the block NaN."""
    elem, top = ELEM[fmt], (1 << scale_bits - 1) - 1
    xs = [f32(v) for v in xs]
    floor2 = lambda v: math.floor(f32(Q(math.log2(v))))
    if shared == "none": return [microxcaling(fmt, [v], rounding, scale_bits, flush)[0] for v in xs]
    if not all(map(math.isfinite, xs)): return [math.nan] * len(xs)
    amax = max(map(abs, xs))
    e = floor2(amax) if amax else -126
    if flush and e <= -127: return [0.0] * len(xs)
    e = max(e - elem.emax, -top)
    if e > top: return [math.nan] * len(xs)
    out = []
    for x in xs:
        v = abs(Q(x)) / Q(2) ** e
        step = -elem.mb if isinstance(elem, IntElem) else (max(floor2(float(v)), 1 - elem.bias) if v else 0) - elem.mb
        a = f32(v / Q(2) ** step)
        y = math.floor(a if rounding == "floor" else f32_add(a, 0.5))
        if rounding == "even" and f32_add(a, -0.5) % 2 == 0: y -= 1
        out.append(math.copysign(float(min(y * Q(2) ** step, elem.max) * Q(2) ** e), x))
    return out

def mx_values(fmt, scale, codes, scale_bits=8):
    s = scale_value(scale, scale_bits)
    return [NAN if s == NAN or ELEM[fmt].value(c) == NAN else
            (ELEM[fmt].value(c) if isinstance(ELEM[fmt].value(c), str) else ELEM[fmt].value(c) * s) for c in codes]

def nvfp4(xs, tensor_scale=None, block=16, arithmetic="exact"):
    """(tensor scale, block scale codes in ue4m3, element codes in e2m1). arithmetic='f32': each step in binary32,
    block scale at least 2^-6 and the reciprocal multiplied, as torchao does it."""
    u, el = ELEM["ue4m3fn"], ELEM["e2m1fn"]
    vals = [exact(v) for v in xs]
    if any(isinstance(v, str) for v in vals): raise ValueError("NaN or infinity in an NVFP4 tensor")
    amax = max(map(abs, vals), default=Q(0))
    st = Q(tensor_scale) if tensor_scale is not None else Q(f32(amax / (448 * 6))) or Q(1)
    scales, codes = [], []
    for i in range(0, len(vals), block):
        b = vals[i:i + block]
        bm = max(map(abs, b))
        if arithmetic == "f32":
            t = f32_div(f32_div(bm, 6), st)
            sc = u.code(min(max(Q(t), Q(1, 64)), u.max))
            r = f32_div(f32_div(1, st), u.value(sc))
            codes += [el.code(Q(f32_mul(f32(v), r)), neg=negative(x)) for v, x in zip(b, xs[i:i + block])]
        else:
            sc = max(u.code(bm / (6 * st)), 1) if bm else 0
            codes += [el.code(v / (u.value(sc) * st) if sc else Q(0), neg=negative(x)) for v, x in zip(b, xs[i:i + block])]
        scales.append(sc)
    return st, scales, codes

def bfp(xs, wl, exp_bits=8, rounding="rne", clamp="symmetric", carry="saturate"):
    """(shared exponent, mantissas): value = m * 2^(E - (wl - 2)), m of wl bits with sign; E = floor(log2 amax)."""
    vals = [exact(v) for v in xs]
    if any(isinstance(v, str) for v in vals): raise ValueError("NaN or infinity in a block")
    amax = max(map(abs, vals), default=Q(0))
    lo_e, hi_e = -(1 << exp_bits - 1) + 1, (1 << exp_bits - 1) - 1
    top = (1 << wl - 1) - 1
    bottom = -top if clamp == "symmetric" else -top - 1
    e = lo_e if amax == 0 else min(max(floor_log2(amax), lo_e), hi_e)
    while True:
        m = [rint(v / Q(2) ** (e - wl + 2), rounding) for v in vals]
        if carry == "saturate" or e == hi_e or all(bottom <= v <= top for v in m): break
        e += 1
    return e, [min(max(v, bottom), top) for v in m]

def tile(xs, elem="e4m3fn", scale="f32"):
    """DeepSeek tiles: s = f32(amax/448), or the power of two at or above it; q = e4m3(f32(x/s))."""
    el = ELEM[elem]
    amax = max(abs(Q(f32(v))) for v in xs)
    s = Q(f32(amax / el.max)) or Q(1)
    if scale == "pow2": s = Q(2) ** ceil_log2(s)
    return s, [el.code(Q(f32_div(f32(v), s)), neg=negative(v)) for v in xs]

def scaled_dot(a, b, fmt_a, fmt_b, sa, sb, block, kind="e8m0"):
    """Sum over blocks of sa*sb*(sum of products), exact; NaN if any scale or element is."""
    dec = e8m0_value if kind == "e8m0" else lambda v: v if isinstance(v, str) else Q(v)
    total = Q(0)
    for i in range(0, len(a), block):
        s = dec(sa[i // block]), dec(sb[i // block])
        v = [(ELEM[fmt_a].value(x), ELEM[fmt_b].value(y)) for x, y in zip(a[i:i + block], b[i:i + block])]
        if NAN in s or any(isinstance(t, str) for p in v for t in p): return NAN
        total += s[0] * s[1] * sum(x * y for x, y in v)
    return total
