"""The golden model, called as test benches call it, says what the simulator says."""

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_int64, c_uint32, c_uint64, c_void_p

import numpy as np
import pytest
import widthwise as ww
from model_calls import (
    LIB,
    LIBRARY,
    NO_CODE,
    NO_LENGTH,
    NO_OPERAND,
    NO_ROUNDING,
    NOT_OPEN,
    OK,
    ROUNDINGS,
    SR,
    TOO_WIDE,
    A,
    B,
    C,
    Model,
    Y,
    all_pairs,
    as_integer,
    as_words,
    packed,
    random_codes,
    unit_operands,
)

# --- Operations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tininess", ["after", "before"])
@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "e2m3fn"])
@pytest.mark.parametrize("op", ["add", "multiply", "divide"])
def test_all_pairs_in_all_modes_by_batch(op, format, tininess):
    f = ww.Format(format)
    model = Model(f"{op}({format}, tininess={tininess})")
    a, b = all_pairs(f)
    for rounding, rm in ROUNDINGS.items():
        want, raised = getattr(ww, op)(a, b, rounding=rounding, tininess=tininess, flags=True)
        y = np.empty_like(a.bits)
        flags = model.batch(y, y.size, 1, a.bits, b.bits, rm=rm)
        assert np.array_equal(y, want.bits) and np.array_equal(flags, raised)


OPERATIONS = [
    "fma(e4m3fn, b=e5m2, c=bfloat16, out=e5m10)",
    "fma(binary32)",
    "fma(e15m112)",
    "add(e20m49)",
    "multiply(e62m3)",
    "sqrt(binary64)",
    "convert(e8m15, out=e6m9)",
    "next_up(e4m3fnuz)",
    "copysign(e6m9)",
]


@pytest.mark.parametrize("spec", OPERATIONS)
def test_scalars_words_and_batches_agree_with_the_simulator(spec, tmp_path):
    model = Model(spec)
    table = design_facts(spec, tmp_path)
    formats = [ww.Format(f) for f in operand_formats(spec, table["NUM_OPERANDS"])]
    arrays = [random_codes(f, 40, seed=i) for i, f in enumerate(formats)]
    to = ww.Format(result_text(spec))
    operation = getattr(ww, table["OPERATION"])
    for rounding, rm in [("rne", 0), ("rdn", 2), ("odd", 6), ("rno", 13)]:
        if table["OPERATION"] in ("next_up", "copysign"):
            want, raised = operation(*arrays), np.zeros(40, np.uint8)
        else:
            want, raised = operation(*arrays, format=to, rounding=rounding, flags=True)
        y = np.zeros_like(want.bits)
        flags = model.batch(y, 40, 1, *[x.bits for x in arrays], rm=rm)
        assert np.array_equal(y, want.bits)
        assert table["OPERATION"] in ("next_up", "copysign") or np.array_equal(flags, raised)
        for i in range(40):
            ports = [packed(x[i : i + 1]) for x in arrays]
            got = model.words(1, *ports, rm=rm)
            assert got == (packed(want[i : i + 1]), flags[i])
            narrow = max(model.width(p) for p in range(4)) <= 64
            assert model.op64(*ports, rm=rm) == (got if narrow else TOO_WIDE)


def design_facts(spec, folder):
    path = next(p for p in ww.export(spec, folder / "hw", name="unit") if p.suffix == ".json")
    return {c["name"]: c["value"] for c in json.loads(path.read_text())["constants"]}


def operand_formats(spec, count):
    """As docs/semantics.md, T7 reads them."""
    arguments = spec[spec.index("(") + 1 : -1].split(", ")
    named = dict(x.split("=") for x in arguments[1:])
    return [named.get(x, arguments[0]) for x in "abc"[:count]]


def result_text(spec):
    arguments = spec[spec.index("(") + 1 : -1].split(", ")
    return dict(x.split("=") for x in arguments[1:]).get("out", arguments[0])


def test_bits_past_a_scalar_port_do_not_count_and_codes_of_a_batch_must_fit():
    model = Model("add(e2m3fn)")
    assert model.op64(0x08 | 0xFFC0, 0x08 | 0x40) == model.op64(0x08, 0x08)
    bits = np.uint8([0x08, 0x48])
    assert model.batch(np.zeros(2, np.uint8), 2, 1, bits, bits) == NO_CODE
    wide = np.uint64([[0, 1 << 48], [0, 1 << 49]])
    model = Model("negate(e15m97)")
    assert model.batch(np.zeros((1, 2), np.uint64), 1, 1, wide[:1]).tolist() == [0]
    assert model.batch(np.zeros((2, 2), np.uint64), 2, 1, wide) == NO_CODE


def test_a_shift_as_long_as_the_significand_is_no_shift_by_nothing():
    # Hardware that sizes its shift distance by the precision alone gives 0x3f82.
    assert Model("add(bfloat16)").op64(0x3F80, 0x3BFF) == (0x3F81, 1)


def test_random_bits_are_those_of_the_simulator():
    f, to = ww.Format("binary32"), ww.Format("e4m3fn")
    model = Model("convert(binary32, out=e4m3fn:sr8)")
    x = ww.array(np.linspace(0.01, 400, 500, dtype=np.float32), f)
    want = ww.convert(x, format=to, rounding="sr8", seed=7)
    y = np.zeros(500, np.uint8)
    model.batch(y, 500, 1, x.bits, rm=SR, seed=7)
    assert np.array_equal(y, want.bits)
    model.batch(y[100:], 400, 1, x.bits[100:], rm=SR, seed=7, first=100)
    assert np.array_equal(y, want.bits)
    for i in range(0, 500, 50):
        assert model.op64(int(x.bits[i]), rm=SR, seed=7, index=i)[0] == want.bits[i]
        assert model.words(1, int(x.bits[i]), rm=SR, seed=7, index=i)[0] == want.bits[i]


def test_a_word_of_the_generator_rounds_as_the_model_rounds_with_it():
    """Up where the fraction dropped and the word overflow (sr, docs/semantics.md)."""
    model = Model("convert(e8m23, out=e5m2:sr16)")
    x = 0x3F800000  # 1, and a fraction beyond e5m2's in the 21 bits below
    for index in range(200):
        fraction = index * 0x29D1 & 0x1FFFE0
        numbers = [c_uint64(5), c_uint64(index << 33), c_uint32(16), c_uint32(2), c_uint64(0)]
        word = LIB.widthwise_model_random(*numbers)
        up = (fraction >> 5) + word >> 16
        y, _ = model.op64(x + fraction, rm=SR, seed=5, index=index << 33)
        assert (y, word >> 16) == (0x3C + up, 0)


def test_a_word_that_is_none_is_zero():
    for bits, slot in [(0, 2), (65, 2), (8, 13)]:
        numbers = [c_uint64(5), c_uint64(1), c_uint32(bits), c_uint32(slot), c_uint64(0)]
        assert LIB.widthwise_model_random(*numbers) == 0


# --- Units ----------------------------------------------------------------------------------------

UNITS = [
    ("mac(e5m10)", 1),
    ("fma(e15m112, sum=e15m112)", 3),
    ("hopper.e4m3.f32", 32),
    ("hopper.e4m3.f32", 75),
    ("cdna3.fp8", 16),
    ("blackwell.nvfp4", 64),
    ("blackwell.mxfp8", 40),
    ("fix24.sat", 9),
    ("kulisch.f32", 5),
    ("lowered.e4m3.f32", 40),
    ("kahan(e4m3fn, product=e5m10, sum=binary32)", 12),
    ("mac(e5m10, sum=e8m13:sr8:half)", 6),
    ("dot(e2m1fn, c=e8m23, lanes=4)", 0),
]


@pytest.mark.parametrize(("text", "k"), UNITS)
def test_units_agree_with_the_simulator(text, k):
    unit, model, rows = ww.Unit(text), Model(text), 12
    a, b, c, scales = unit_operands(unit, rows, k)
    rm = LIB.widthwise_model_rounding(model.handle)
    want, raised = ww.dot(a, b, unit=unit, c=c, seed=3, flags=True, **scales)
    y = np.zeros_like(want.bits)
    named = {name: np.ascontiguousarray(x.bits) for name, x in scales.items()}
    flags = model.batch(y, rows, k, a.bits, b.bits, c.bits, rm=rm, seed=3, **named)
    assert np.array_equal(y, want.bits) and np.array_equal(flags, raised)
    for i in range(rows):
        ports = [packed(x[i]) for x in (a, b)] + [packed(c[i : i + 1])]
        ports += [packed(x[i]) for x in scales.values()] or [None, None]
        got = model.words(k, *ports, rm=rm, seed=3, index=i)
        assert got == (packed(want[i : i + 1]), raised[i])


def test_without_c_a_unit_begins_at_zero_and_rm_rounds_its_result():
    model, unit = Model("fma(e5m10, sum=e5m10)"), ww.Unit("fma(e5m10)")
    a, b = random_codes(unit.a, (50, 4), 1), random_codes(unit.b, (50, 4), 2)
    for rounding, rm in ROUNDINGS.items():
        want = ww.dot(a, b, unit=f"fma(e5m10, sum=e5m10:{rounding})")
        y = np.zeros(50, np.uint16)
        model.batch(y, 50, 4, a.bits, b.bits, rm=rm)
        assert np.array_equal(y, want.bits)


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize(
    ("text", "k"),
    [
        *(unit for unit in UNITS if unit[1]),
        ("neumaier(e5m10)", 7),
        # What a step does depends on where it lies along k.
        ("mac(e4m3fn, product=e5m2:sr7, sum=e5m4:sr8)", 40),
        ("hopper.e4m3.promote128", 180),
        # Blocks of a scale longer than the unit's, and such as begin together at every third alone.
        ("dot(e8m23, a=e4m3fn, lanes=4, scale=e8m0fnu:16:term)", 50),
        ("dot(e8m23, a=e4m3fn, lanes=6, scale=e8m0fnu:4:term)", 31),
    ],
)
def test_accumulators_deliver_running_results(text, k, blocks):
    unit, model = ww.Unit(text), Model(text)
    a, b, c, scales = unit_operands(unit, 1, k)
    rm = LIB.widthwise_model_rounding(model.handle)
    accumulator = c_void_p(
        LIB.widthwise_accumulator_open(model.handle, rm, c_uint64(3), c_uint64(0))
    )
    shared = unit.scale_block if scales else 1
    step = blocks * shared
    size = (model.width(Y) + 31) // 32
    for start in (c, None):  # a reset forgets all
        given = as_words(packed(c), (unit.c.width + 31) // 32) if start is not None else None
        assert LIB.widthwise_accumulator_reset(accumulator, given) == OK
        for end in range(step, k + step, step):
            first, end = end - step, min(end, k)
            part = [a[0, first:end], b[0, first:end]]
            block = slice(first // shared, -(-end // shared))
            part += [x[0, block] for x in scales.values()]
            ports = [as_words(packed(x), -(-x.size * x.format.width // 32)) for x in part]
            ports += [None] * (4 - len(ports))
            assert LIB.widthwise_accumulator_step(accumulator, c_uint64(end - first), *ports) == OK
            y, flags = (c_uint32 * size)(), c_uint32()
            assert LIB.widthwise_accumulator_read(accumulator, y, byref(flags)) == OK
            so_far = {name: x[0, : block.stop] for name, x in scales.items()}
            want, raised = ww.dot(
                a[0, :end],
                b[0, :end],
                unit=unit,
                c=None if start is None else c[0],
                seed=3,
                flags=True,
                **so_far,
            )
            assert (as_integer(y), flags.value) == (packed(want.reshape(1)), int(raised))
    LIB.widthwise_accumulator_close(accumulator)


def trace_rows(model, k, *ports):
    size = [(model.width(p) * (k if p < C else 1) + 31) // 32 for p in (A, B, C)]
    given = [as_words(x, n) for x, n in zip(ports, size, strict=False)]
    given += [None] * (5 - len(given))
    t = c_void_p(
        LIB.widthwise_model_trace(model.handle, 0, c_uint64(0), c_uint64(0), c_uint64(k), *given)
    )
    kinds = ["zero", "finite", "infinite", "nan"]
    rows = [
        (
            LIB.widthwise_trace_stage(t, c_int64(i)).decode(),
            LIB.widthwise_trace_slot(t, c_int64(i)).decode(),
            LIB.widthwise_trace_lane(t, c_int64(i)),
            kinds[LIB.widthwise_trace_kind(t, c_int64(i))],
            bool(LIB.widthwise_trace_negative(t, c_int64(i))),
            LIB.widthwise_trace_significand(t, c_int64(i)).decode(),
            LIB.widthwise_trace_exponent(t, c_int64(i)),
        )
        for i in range(LIB.widthwise_trace_rows(t))
    ]
    found = {
        stage: LIB.widthwise_trace_find(t, stage.encode(), c_int64(0))
        for stage in ("unpack", "align", "exact", "pack", "none")
    }
    assert LIB.widthwise_trace_stage(t, c_int64(len(rows))) == b""
    LIB.widthwise_trace_close(t)
    return rows, found


def test_traces_are_those_of_the_simulator():
    unit, model = ww.Unit("hopper.e4m3.f32"), Model("hopper.e4m3.f32")
    a, b, c, _ = unit_operands(unit, 1, 32)
    rows, found = trace_rows(model, 32, packed(a), packed(b), packed(c))
    want = [tuple(wire[:7]) for wire in ww.trace(unit, a[0], b[0], c[0]).wires]
    assert [(*row[:5], int(row[5], 16), row[6]) for row in rows] == want and len(rows) > 100
    for stage, at in found.items():
        first = next((i for i, row in enumerate(rows) if row[0] == stage), -1)
        assert at == first
    rows, found = trace_rows(Model("multiply(e4m3fn)"), 1, 0x31, 0x42)
    assert [row[0] for row in rows][:3] == ["unpack", "unpack", "exact"] and found["exact"] == 2


# --- Faults ---------------------------------------------------------------------------------------


def test_what_cannot_be_answered_is_a_status_and_writes_nothing():
    bad = Model("mac(e99m3)")
    assert "e99m3" in bad.error and bad.op64(1) == NOT_OPEN and bad.width(A) == 0
    model = Model("add(e4m3fn)")
    assert model.error == "" and model.op64(1, 2, rm=5) == NO_ROUNDING
    assert model.op64(1, 2, rm=99) == model.op64(1, 2, rm=SR) == NO_ROUNDING
    assert model.words(2, 1, 2) == NO_LENGTH and model.words(1, 1, None) == NO_OPERAND
    scaled = Model("blackwell.nvfp4")
    assert scaled.op64(1, 2) == NO_OPERAND
    assert scaled.words(64, 0, 0, 0, None, None) == NO_OPERAND
    none = c_void_p(None)
    assert LIB.widthwise_model_op64(none, 0, *[c_uint64(0)] * 5, None, None) == NOT_OPEN
    assert LIB.widthwise_model_error(none) == b"there is no model"
    assert LIB.widthwise_model_hash(bad.handle) == 0
    assert not LIB.widthwise_accumulator_open(model.handle, 0, c_uint64(0), c_uint64(0))
    assert LIB.widthwise_model_status(NO_CODE) == b"an element has more bits than its port"
    assert LIB.widthwise_model_status(-1) == b"no status of this model"
    LIB.widthwise_model_close(none)


def test_a_length_is_looked_at_before_anything_is_read():
    model, word = Model("add(e4m3fn)"), as_words(0x38, 1)
    y, flags = (c_uint32 * 1)(77), c_uint32(77)
    for k in (0, 2, 100_000, 2**63, 2**64 - 1):
        numbers = [c_uint64(0), c_uint64(0), c_uint64(k)]
        ports = [word, word, None, None, None]
        handle = (model.handle, 0)
        assert LIB.widthwise_model_words(*handle, *numbers, *ports, y, byref(flags)) == NO_LENGTH
        assert not LIB.widthwise_model_trace(*handle, *numbers, *ports)
        counts = [c_uint64(0), c_uint64(0), c_uint64(1), c_uint64(k)]
        arrays = [word, word, None, None, None, y, None]
        assert LIB.widthwise_model_batch(*handle, *counts, *arrays) == NO_LENGTH
    for spec in ("mac(e4m3fn)", "blackwell.mxfp8"):
        model = Model(spec)
        handle, ports = (model.handle, 0), [word] * 5
        huge = [c_uint64(0), c_uint64(0), c_uint64(2**60)]
        assert LIB.widthwise_model_words(*handle, *huge, *ports, y, byref(flags)) == NO_LENGTH
        many = [c_uint64(x) for x in (0, 0, 2**40, 2**40)]
        assert LIB.widthwise_model_batch(*handle, *many, *ports, y, None) == NO_LENGTH
    assert (y[0], flags.value) == (77, 77)


def test_results_that_are_wanted_nowhere_are_a_status():
    for spec in ("add(e4m3fn)", "hopper.e4m3.f32"):
        model, word = Model(spec), as_words(0x38, 9)
        y, flags = (c_uint32 * 2)(77, 77), c_uint32(77)
        scalars, numbers = [c_uint64(0)] * 5, [c_uint64(0), c_uint64(0), c_uint64(1)]
        wide = c_uint64(77)
        for out in [(None, byref(flags)), (y, None), (None, None)]:
            ports = [word, word, word, None, None]
            assert LIB.widthwise_model_words(model.handle, 0, *numbers, *ports, *out) == NO_OPERAND
        for out in [(None, byref(flags)), (byref(wide), None)]:
            assert LIB.widthwise_model_op64(model.handle, 0, *scalars, *out) == NO_OPERAND
        counts = [c_uint64(0), c_uint64(0), c_uint64(1), c_uint64(1)]
        arrays = [word, word, word, None, None, None, None]
        assert LIB.widthwise_model_batch(model.handle, 0, *counts, *arrays) == NO_OPERAND
        assert (y[0], flags.value, wide.value) == (77, 77, 77)
    accumulator = c_void_p(LIB.widthwise_accumulator_open(model.handle, 0, *[c_uint64(0)] * 2))
    assert LIB.widthwise_accumulator_read(accumulator, None, byref(flags)) == NO_OPERAND
    assert LIB.widthwise_accumulator_read(accumulator, y, None) == NO_OPERAND
    assert (
        LIB.widthwise_accumulator_step(accumulator, c_uint64(2**63), word, word, None, None)
        == NO_LENGTH
    )
    LIB.widthwise_accumulator_close(accumulator)


def test_the_library_needs_those_of_c_and_cxx_alone():
    if not shutil.which("readelf"):
        pytest.skip("readelf is not installed")
    listed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", listed.stdout)
    assert "libc.so.6" in needed or any(name.startswith("libc.") for name in needed)
    plain = re.compile(r"(lib(c|m|gcc_s|stdc\+\+)|ld-linux.*)\.so[.\d]*")
    assert [name for name in needed if not plain.fullmatch(name)] == []


def test_the_model_is_the_headers(tmp_path):
    for spec in ["hopper.e4m3.f32", "fma(binary16)", "blackwell.nvfp4"]:
        model, table = Model(spec), design_facts(spec, tmp_path)
        assert LIB.widthwise_model_hash(model.handle) == int(table["MODEL_HASH"], 16)
        assert LIB.widthwise_model_abi() == table["MODEL_ABI"]
        assert LIB.widthwise_model_rounding(model.handle) == int(table["RM_DEFAULT"], 16)
        assert LIB.widthwise_model_terms(model.handle) == table.get("NUM_TERMS", 1)
        for port, name in enumerate(["A", "B", "C", "Y", "SCALE"]):
            assert model.width(port) == table.get(f"{name}_WIDTH", 0)


def test_threads_may_share_a_model():
    f = ww.Format("e5m2")
    a, b = all_pairs(f)
    for spec in ("multiply(e5m2)", "fma(e5m2, sum=e5m2)"):
        model, alone = Model(spec), Model(spec)

        def run(rm, model=model):
            y = np.zeros(a.size, np.uint8)
            return y, model.batch(y, a.size, 1, a.bits, b.bits, rm=rm)

        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(run, [*ROUNDINGS.values()] * 2))
        for (y, flags), rm in zip(together, [*ROUNDINGS.values()] * 2, strict=True):
            y_alone, flags_alone = run(rm, alone)
            assert np.array_equal(y, y_alone) and np.array_equal(flags, flags_alone)
