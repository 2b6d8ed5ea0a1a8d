"""Functions of QPyTorch's posit fork that no package has, number by number, in exact fractions.

Written from the observed behaviour of the fork's repository (minhhn2910, 7cbe80b); no third-party
code, and none of the package's: what it imports are other oracles. bfloat16 numbers are Python
floats.
"""

import math
import struct
from fractions import Fraction as Q

from number_systems_ref import floor_log2, posit, posit_value
from scaled_ref import f32, f32_bits, f32_div, f32_mul


def f32_from_bits(b):
    return struct.unpack("<f", struct.pack("<I", b & 0xFFFFFFFF))[0]


def fork_codes(x, n, es, scale=1.0):
    """convert_to_posit: the code, left-aligned in uint16. The scale is not used."""
    return posit(n, es, x) << 16 - n


def bf16(x):
    """A binary32 number to bfloat16, nearest even."""
    if not math.isfinite(x) or x == 0:
        return x
    b = f32_bits(x)
    return f32_from_bits(b + 0x7FFF + (b >> 16 & 1) & 0xFFFF0000)


def fork_positbf(x, n, es, scale=1.0):
    """bfloat16_posit8_quantize, n <= 8, on bfloat16: what is at or past maxpos or at or below
    minpos becomes +0; digits are cut to 16 bits before rounding; for n < 8 the code is read a bit
    (or more) out of place."""
    y = bf16(f32_mul(x, f32(scale)) if math.isfinite(x) else x)
    if not math.isfinite(y):
        return 0.0
    if not posit_value(n, es, 1) < abs(Q(y)) < posit_value(n, es, (1 << n - 1) - 1):
        return 0.0
    m = code_of_cut_digits(y, n, es) << 8 - n & 0x7F
    if m == 0:
        return 0.0
    body = format(m, "07b")
    run = len(body) - len(body.lstrip(body[0]))
    k = run - 1 if body[0] == "1" else -run
    digits = m << 17 - n + run + 1 & 0xFFFF
    out = f32_from_bits(((127 + (k << es) << 7) + (digits >> 9 - es) & 0x7FFF) << 16)
    return bf16(f32_div(math.copysign(out, y), f32(scale)))


def code_of_cut_digits(y, n, es):
    """n - 1 bits, as text is cut: regime and exponent, then as much of the fraction as fits 16."""
    k, low = divmod(floor_log2(abs(Q(y))), 1 << es)
    head = "1" * (k + 1) + "0" if k >= 0 else "0" * -k + "1"
    head += format(low, f"0{es}b") if es else ""
    fraction = format(f32_bits(y) >> 16 & 127, "07b") if len(head) <= 9 else ""
    window = (head + fraction).ljust(16, "0")
    kept = int(window[: n - 1], 2)
    return kept + (window[n - 1] == "1" and bool(kept & 1 or "1" in window[n:16]))
