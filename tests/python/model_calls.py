"""The golden model as ctypes calls it, and operands for it."""

import ctypes
import itertools
from ctypes import byref, c_char_p, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import widthwise as ww

LIBRARY = Path(ww.__file__).with_name("lib") / "libwidthwise_model.so"
ROUNDINGS = {
    "rne": 0,
    "rtz": 1,
    "rdn": 2,
    "rup": 3,
    "rna": 4,
    "odd": 6,
    "raz": 8,
    "rnz": 9,
    "rnp": 10,
    "rnm": 11,
    "rno": 13,
}
SR = 12
OK, NOT_OPEN, NO_ROUNDING, TOO_WIDE, NO_LENGTH, NO_OPERAND, NO_CODE = range(7)
A, B, C, Y, SCALE = range(5)


def library():
    lib = ctypes.CDLL(str(LIBRARY))
    texts = ["model_error", "model_status", "trace_stage", "trace_slot", "trace_significand"]
    handles = ["model_open", "model_trace", "accumulator_open"]
    for name in texts:
        getattr(lib, f"widthwise_{name}").restype = c_char_p
    for name in handles:
        getattr(lib, f"widthwise_{name}").restype = c_void_p
    for name in ["model_terms", "model_scale_block", "trace_rows", "trace_find", "trace_lane"]:
        getattr(lib, f"widthwise_{name}").restype = c_int64
    lib.widthwise_trace_exponent.restype = c_int64
    lib.widthwise_model_hash.restype = c_uint64
    lib.widthwise_model_random.restype = c_uint64
    return lib


LIB = library()


def pointer(array):
    return None if array is None else array.ctypes.data_as(c_void_p)


class Model:
    """A handle, and arrays for its pointers."""

    def __init__(self, spec):
        self.handle = c_void_p(LIB.widthwise_model_open(spec.encode()))
        self.error = LIB.widthwise_model_error(self.handle).decode()

    def __del__(self):
        LIB.widthwise_model_close(self.handle)

    def width(self, port):
        return LIB.widthwise_model_width(self.handle, port)

    def op64(self, a, b=0, c=0, rm=0, seed=0, index=0):
        y, flags = c_uint64(77), c_uint32(77)
        operands = [c_uint64(x) for x in (seed, index, a, b, c)]
        status = LIB.widthwise_model_op64(self.handle, rm, *operands, byref(y), byref(flags))
        assert status == OK or (y.value, flags.value) == (77, 77)
        return (y.value, flags.value) if status == OK else status

    def words(self, k, *ports, rm=0, seed=0, index=0):
        """Ports are integers, a's first element in its lowest bits, or None."""
        size = [(self.width(p) * (k if p < C else 1) + 31) // 32 for p in (A, B, C)]
        size += [(self.width(SCALE) * self.blocks(k) + 31) // 32] * 2
        given = [as_words(x, n) for x, n in itertools.zip_longest(ports, size)]
        y, flags = (c_uint32 * ((self.width(Y) + 31) // 32 + 1))(), c_uint32()
        y[-1] = 0xDEADBEEF
        status = LIB.widthwise_model_words(
            *(self.handle, rm, c_uint64(seed), c_uint64(index), c_uint64(k)),
            *given,
            y,
            byref(flags),
        )
        assert y[-1] == 0xDEADBEEF  # nothing is written past the port
        return (as_integer(y[:-1]), flags.value) if status == OK else status

    def blocks(self, k):
        block = LIB.widthwise_model_scale_block(self.handle)
        return -(-k // block) if block else 0

    def batch(self, y, n, k, a, b=None, c=None, scale_a=None, scale_b=None, rm=0, seed=0, first=0):
        flags = np.full(n, 0x55, np.uint8)
        numbers = [c_uint64(x) for x in (seed, first, n, k)]
        arrays = [pointer(x) for x in (a, b, c, scale_a, scale_b, y, flags)]
        status = LIB.widthwise_model_batch(self.handle, rm, *numbers, *arrays)
        return flags if status == OK else status


def as_words(x, n):
    return None if x is None else (c_uint32 * n)(*[x >> 32 * i & 0xFFFFFFFF for i in range(n)])


def as_integer(words):
    return sum(word << 32 * i for i, word in enumerate(words))


def packed(array):
    """An array's codes as one integer, the first in the lowest bits."""
    codes = (
        np.ravel(array.bits)
        if array.format.limbs == 1
        else array.bits.reshape(-1, array.format.limbs)
    )
    width = array.format.width
    one = (lambda code: as_integer64(code)) if array.format.limbs > 1 else int
    return sum(one(code) << width * i for i, code in enumerate(codes))


def as_integer64(limbs):
    return sum(int(limb) << 64 * i for i, limb in enumerate(limbs))


def random_codes(f, shape, seed=1):
    rng = np.random.default_rng(seed)
    if f.limbs > 1:
        bits = rng.integers(0, 2**64, (*np.atleast_1d(shape), f.limbs), np.uint64)
        bits[..., -1] >>= np.uint64(64 * f.limbs - f.width)
        return ww.from_bits(bits, f)
    return ww.from_bits(rng.integers(0, 2**f.width, shape, np.uint64).astype(f.dtype), f)


def all_pairs(f):
    codes = np.arange(2**f.width, dtype=f.dtype)
    a, b = np.meshgrid(codes, codes, indexing="ij")
    return ww.from_bits(a.ravel(), f), ww.from_bits(b.ravel(), f)


def unit_operands(unit, rows, k):
    a, b = random_codes(unit.a, (rows, k), 1), random_codes(unit.b, (rows, k), 2)
    c = random_codes(unit.c, rows, 3)
    scales = {}
    if unit.scale_format is not None:
        blocks = -(-k // unit.scale_block)
        for i, name in enumerate(("scale_a", "scale_b")):
            scales[name] = random_codes(unit.scale_format, (rows, blocks), 4 + i)
    return a, b, c, scales
