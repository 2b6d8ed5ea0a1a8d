"""The compiled core. Its users are the modules beside it, which say what each function takes."""

from typing import Any

class Format:
    width: int
    system: str
    digits: int
    least_digit: int
    exp_bits: int
    frac_bits: int
    bias: int
    is_signed: bool
    subnormals: bool
    zero: bool
    daz: bool
    ftz: bool
    overflow: str
    precision: int
    emin: int
    emax: int
    has_inf: bool
    has_nan: bool
    limbs: int
    item_bytes: int
    codes: dict[str, int]
    def __init__(self, text: str) -> None: ...

class Env:
    random_bits: int
    stochastic: bool
    def __init__(self, rounding: str = ..., tininess: str = ..., nan: str = ...) -> None: ...

class Unit:
    a: Format
    b: Format
    c: Format
    result: Format
    a_keeps: int | None
    b_keeps: int | None
    c_keeps: int | None
    lanes: int
    scale: tuple[Format, int] | None
    def __init__(self, text: str) -> None: ...
    @staticmethod
    def from_toml(text: str) -> Unit: ...
    def to_toml(self, name: str) -> str: ...
    def widths(self, k: int) -> dict[str, Any]: ...

class Operands:
    def __init__(self, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any) -> None: ...

class TextProduct:
    def __init__(self, source: str, address: int) -> None: ...
    def __call__(self, ma: int, mb: int) -> int: ...

class PreparedUnit:
    carriers: str
    def __init__(self, unit: Unit, k: int, multiplier: Any) -> None: ...
    def opinions(self, flags: bool, outputs: int) -> list[tuple[str, bool, str, float]]: ...
    def trace(self, operands: Operands, seed: int, index: int) -> list[tuple[Any, ...]]: ...
    def trace_supplied(self, operands: Operands, words: list[Any]) -> list[tuple[Any, ...]]: ...

class PreparedProducts:
    def __init__(
        self, unit: Unit, k: int, multiplier: Any, flags: bool, engine: str, outputs: int
    ) -> None: ...
    def run(self, operands: Operands, result: Any, flags: Any, seed: int, threads: int) -> None: ...

# A build without CUDA has none of these, up to DeviceProducts.
class DeviceMemory:
    address: int
    def __init__(self, gpu: int, bytes: int) -> None: ...

class Queue:
    def __init__(self, gpu: int, stream: int) -> None: ...

def wait_for(queue: Queue) -> None: ...
def gpu_of_address(address: int) -> int: ...
def copy_in(queue: Queue, to: int, array: Any) -> None: ...
def copy_out(queue: Queue, array: Any, at: int) -> None: ...
def gather(queue: Queue, to: int, items: Any) -> None: ...
def device_elementwise(
    queue: Queue,
    op: str,
    to: Format,
    env: Env,
    operands: list[tuple[Format, Any]],
    result: Any,
    flags: Any,
    seed: int,
) -> None: ...
def device_scaleb(
    queue: Queue,
    to: Format,
    env: Env,
    format: Format,
    codes: Any,
    powers: Any,
    result: Any,
    flags: Any,
    seed: int,
) -> None: ...
def device_to_integers(
    queue: Queue,
    width: int,
    is_signed: bool,
    invalid: str,
    env: Env,
    format: Format,
    a: Any,
    result: Any,
    flags: Any,
    seed: int,
) -> None: ...
def device_from_integers(
    queue: Queue,
    width: int,
    is_signed: bool,
    to: Format,
    env: Env,
    a: Any,
    result: Any,
    flags: Any,
    seed: int,
) -> None: ...
def device_compare(
    queue: Queue, how: str, fa: Format, a: Any, fb: Format, b: Any, result: Any, flags: Any
) -> None: ...
def device_classify(queue: Queue, f: Format, a: Any, result: Any) -> None: ...
def device_signs(queue: Queue, f: Format, a: Any, result: Any) -> None: ...
def device_quantise_blocks(
    queue: Queue,
    f: BlockFormat,
    grid: tuple[int, int, int, int, int],
    x: Any,
    elements: Any,
    scales: Any,
    how: BlockHow,
    seed: int,
) -> tuple[int, int, int | None]: ...
def device_read_blocks(
    queue: Queue,
    f: BlockFormat,
    grid: tuple[int, int, int, int, int],
    elements: Any,
    scales: Any,
    x: Any,
    tensor_scale: float,
) -> None: ...
def device_largest_magnitude(queue: Queue, x: Any) -> float: ...
def device_largest_magnitudes(
    queue: Queue, grid: tuple[int, int, int, int, int], x: Any
) -> LargestMagnitudes: ...
def device_affine_quantise(
    queue: Queue,
    layout: Any,
    scales: Any,
    zero_points: Any,
    values: Any,
    f: Format,
    codes: Any,
    flags: Any,
    range: tuple[int, int],
    arithmetic: str,
    env: Env,
    nan: Any,
    far_is_low: bool,
    seed: int,
) -> tuple[int, int]: ...
def device_affine_dequantise(
    queue: Queue, layout: Any, scales: Any, zero_points: Any, f: Format, codes: Any, values: Any
) -> None: ...
def device_pack_codes(queue: Queue, f: Format, codes: Any, n: int, data: Any) -> None: ...
def device_unpack_codes(queue: Queue, f: Format, data: Any, n: int, codes: Any) -> None: ...
def device_group_ranges(queue: Queue, layout: Any, groups: int, x: Any) -> tuple[Any, Any]: ...
def device_running(
    queue: Queue, unit: Unit, operands: Operands, result: Any, flags: Any, seed: int
) -> None: ...
def device_trace(
    queue: Queue, unit: Unit, operands: Operands, seed: int, index: int, multiplier: Any
) -> list[tuple[Any, ...]]: ...
def device_convolve(
    queue: Queue,
    unit: Unit,
    convolution: Convolution,
    x: Any,
    weights: Any,
    c: Any,
    result: Any,
    flags: Any,
    seed: int,
    multiplier: Any,
) -> None: ...

class DeviceSweep:
    def __init__(self, gpu: int, a: Any, b: Any, exact: Any, rounding: str) -> None: ...
    def run(self, units: list[Unit], seed: int) -> list[list[float]]: ...

def why_no_sweep(unit: Unit, k: int) -> str: ...

class DeviceProducts:
    def __init__(self, gpu: int, unit: Unit, k: int, multiplier: Any, flags: bool) -> None: ...
    def run(self, operands: Operands, result: Any, flags: Any, seed: int, stream: int) -> None: ...

def to_dlpack(
    device: tuple[int, int],
    address: int,
    bits: int,
    shape: list[int],
    strides: list[int],
    owner: Any,
) -> Any: ...
def from_dlpack(
    capsule: Any,
) -> tuple[tuple[int, int], int, str, list[int], list[int] | None, Any]: ...

class Convolution:
    shape: tuple[int, int]
    def __init__(
        self,
        images: int,
        channels: int,
        filters: int,
        groups: int,
        height: tuple[int, ...],
        width: tuple[int, ...],
    ) -> None: ...

def convolve(
    unit: Unit,
    convolution: Convolution,
    x: Any,
    weights: Any,
    c: Any,
    result: Any,
    flags: Any,
    seed: int,
    multiplier: Any,
    threads: int,
    engine: str,
) -> None: ...
def convolve_supplied(
    unit: Unit,
    convolution: Convolution,
    x: Any,
    weights: Any,
    c: Any,
    result: Any,
    flags: Any,
    words: list[Any],
    multiplier: Any,
    threads: int,
) -> None: ...

class RandomSlot:
    name: str
    bits: int
    words: int
    steps: list[int]

def random_slots(unit: Unit, k: int) -> list[RandomSlot]: ...
def run_supplied(
    unit: Unit,
    k: int,
    multiplier: Any,
    operands: Operands,
    result: Any,
    flags: Any,
    words: list[Any],
    threads: int,
) -> None: ...
def running(
    unit: Unit, operands: Operands, result: Any, flags: Any, seed: int, threads: int
) -> None: ...

# Elementwise: codes in, codes and flags into arrays that are there already.
def elementwise(
    op: str,
    to: Format,
    env: Env,
    operands: list[tuple[Format, Any]],
    result: Any,
    flags: Any,
    random: Any,
) -> None: ...
def round_held(own: Format, x: Any, to: Format, env: Env, result: Any, random: Any) -> bool: ...

class UsualArithmetic:
    def __enter__(self) -> None: ...
    def __exit__(self, arg0: Any, arg1: Any, arg2: Any) -> None: ...

class RoundedValues:
    def __init__(self, arg0: Format, arg1: Format, arg2: Env, arg3: int, arg4: int) -> None: ...
    def round(self, arg0: int, arg1: int, arg2: int, arg3: int) -> str: ...
    def pass_inside(self, arg0: int, arg1: int, arg2: int, arg3: int) -> None: ...

def evaluate(
    operands: list[tuple[Format, Any]],
    steps: list[tuple[str, Format, Env, list[int], int]],
    result: Any,
    flags: Any,
) -> None: ...
def scaleb(
    to: Format, env: Env, f: Format, a: Any, n: Any, result: Any, flags: Any, random: Any
) -> None: ...
def compare(how: str, fa: Format, a: Any, fb: Format, b: Any, result: Any, flags: Any) -> None: ...
def to_integers(
    width: int,
    signed: bool,
    invalid: str,
    env: Env,
    f: Format,
    a: Any,
    result: Any,
    flags: Any,
    random: Any,
) -> None: ...
def from_integers(
    width: int, signed: bool, to: Format, env: Env, a: Any, result: Any, flags: Any, random: Any
) -> None: ...
def round_literals(
    to: Format, env: Env, texts: list[str], result: Any, flags: Any, random: Any
) -> None: ...
def classify(f: Format, a: Any) -> Any: ...
def first_stray(f: Format, a: Any) -> int: ...
def trace_operation(
    op: str, to: Format, env: Env, operands: list[tuple[Format, Any]], random: Any
) -> list[tuple[Any, ...]]: ...
def arity(op: str) -> int: ...
def operation_name(op: str) -> str: ...
def number_classes() -> list[str]: ...

# Values of codes, and their texts.
def values(f: Format, a: Any) -> list[tuple[str, bool, int, int]]: ...
def shortest(f: Format, a: Any) -> list[str]: ...
def hexadecimal(f: Format, a: Any) -> list[str]: ...
def decimal(f: Format, a: Any, digits: int) -> list[str]: ...

# Blocks: a grid is outer, rows, columns, and a block's rows and columns.
class BlockFormat:
    element: Format
    scale: Format
    rows: int
    columns: int
    flush: bool
    shape: str
    power_of_two: bool
    takes_tensor_scale: bool
    refuses_specials: bool
    def __init__(self, text: str) -> None: ...

class LargestMagnitudes:
    of_all: float

class BlockHow:
    def __init__(
        self,
        rounding: str,
        tensor_scale: float,
        single: bool,
        maxima: LargestMagnitudes | None,
    ) -> None: ...

def is_block_format(text: str) -> bool: ...
def quantise_blocks(
    f: BlockFormat,
    grid: tuple[int, int, int, int, int],
    x: Any,
    elements: Any,
    scales: Any,
    how: BlockHow,
    random: Any,
) -> tuple[int, int, int | None]: ...
def read_blocks(
    f: BlockFormat,
    grid: tuple[int, int, int, int, int],
    elements: Any,
    scales: Any,
    x: Any,
    tensor_scale: float,
) -> None: ...
def largest_magnitude(x: Any) -> float: ...
def largest_magnitudes(grid: tuple[int, int, int, int, int], x: Any) -> LargestMagnitudes: ...
def packed_bytes(n: int, width: int) -> int: ...
def pack_codes(f: Format, codes: Any, n: int, data: Any) -> None: ...
def unpack_codes(f: Format, data: Any, n: int, codes: Any) -> None: ...

# Registries, and what this build is.
def said(text: str) -> str: ...
def named_formats() -> list[tuple[str, Format, str]]: ...
def shipped_tables() -> list[tuple[Format, str]]: ...
def table_of(name: str, values: list[float]) -> Format: ...
def table_name(f: Format) -> str: ...
def table_values(f: Format) -> list[float]: ...
def presets() -> list[tuple[str, Unit, str, str]]: ...
def renamed_presets() -> dict[str, str]: ...
def multiplier_names() -> list[str]: ...
def product_source(text: str) -> str: ...
def engine_names() -> list[str]: ...
def old_engine_names() -> list[str]: ...
def unusable_engines() -> list[tuple[str, str]]: ...
def gpus() -> list[str]: ...
def build_info() -> dict[str, Any]: ...
def xla_handlers(arg0: dict[Any, Any]) -> dict[str, Any]: ...

longest_dot: int
precision_limit: int
mpfr_version: str | None

# Exact sums, and the check against MPFR, which a build without it has not.
class ExactSums:
    def __init__(self, unit: Unit, operands: Operands) -> None: ...
    def read(self, unit: Unit) -> None: ...
    def add(self, operands: Operands) -> None: ...
    def differences(self, unit: Unit, others: ExactSums, found: Any) -> None: ...
    def errors(self, unit: Unit, computed: Any, measures: ExactSums, found: Any) -> None: ...
    def deviations(self, unit: Unit, computed: Any, found: Any) -> None: ...

# A dot product whose operands come in pieces.
class RunningSum:
    def __init__(self, unit: Unit, operands: Operands, seed: int) -> None: ...
    def add(self, operands: Operands) -> None: ...
    def deliver(self, operands: Operands, result: Any) -> None: ...

def product_errors(unit: Unit, operands: Operands, computed: Any, found: Any) -> None: ...
def mpfr_check_dots(
    unit: Unit, operands: Operands, result: Any, seed: int, indices: list[int]
) -> tuple[int, list[Any]]: ...
def mpfr_check_elementwise(
    op: str,
    to: Format,
    env: Env,
    operands: list[tuple[Format, Any]],
    result: Any,
    flags: Any,
    random: Any,
) -> tuple[int, list[Any]]: ...
def random_operands(f: Format, seed: int, arrays: list[Any]) -> None: ...
def operands_to_borders(f: Format, to: Format, seed: int, operands: Any) -> None: ...

# Vectors, exports, files.
class VectorTask:
    def __init__(self, op: str, format: str, to: str, env: Env) -> None: ...

class VectorChecker:
    vectors: int
    errors: int
    failures: list[str]
    def __init__(
        self,
        task: VectorTask,
        nan_bits: bool,
        int_bits: bool,
        inexact: str,
        flags: bool = True,
        latency: int = 0,
    ) -> None: ...
    def feed(self, lines: bytes) -> None: ...
    def finish(self) -> None: ...

def make_vectors(task: VectorTask, seed: int, first: int, count: int) -> str: ...
def design_text(text: str) -> str: ...
def design_text_of_unit(unit: Unit) -> str: ...
def export_design(
    text: str,
    name: str,
    folder: str,
    rtl: bool | None,
    rounding_port: bool,
    lanes: int,
    product: Any,
    pipeline: list[str] | None,
    accumulate: bool,
    generator: bool,
    vectors: int,
    seed: int,
    libraries: list[str],
    force: bool,
) -> tuple[list[str], list[str], str]: ...
def write_file(path: str, text: bytes) -> None: ...

class AffineScales:
    def __init__(self, layout: Any, scales: Any, zero_points: Any) -> None: ...
    def quantise(
        self,
        values: Any,
        codes: Any,
        flags: Any,
        range: tuple[int, int],
        arithmetic: str,
        env: Env,
        nan: Any,
        far_is_low: bool,
        random: Any,
    ) -> tuple[int, int]: ...
    def dequantise(self, codes: Any, values: Any) -> int: ...

def float_range(values: Any) -> tuple[float, float]: ...
def block_ranges(values: Any, length: int, block: int) -> tuple[Any, Any]: ...
def affine_parameters(
    low: Any, high: Any, range: tuple[int, int], scheme: str
) -> tuple[Any, Any, list[int]]: ...
def requantise(
    sums: Any,
    codes: Any,
    inner: int,
    multipliers: list[tuple[int, int, int, float]],
    zero_points: Any,
    variant: str,
    range: tuple[int, int],
) -> None: ...
def integer_product(
    a: Any,
    b: Any,
    zero_a: Any,
    zero_b: Any,
    bias: Any,
    saturate: bool,
    saturated_pairs: bool,
    result: Any,
) -> None: ...
