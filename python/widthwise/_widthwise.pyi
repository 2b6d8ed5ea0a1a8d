"""The compiled core. Its users are the modules beside it, which say what each function takes."""

from typing import Any

class Format:
    width: int
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
    def trace(self, operands: Operands, seed: int, index: int) -> list[tuple]: ...

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
def device_compare(
    queue: Queue, how: str, fa: Format, a: Any, fb: Format, b: Any, result: Any, flags: Any
) -> None: ...
def device_running(
    queue: Queue, unit: Unit, operands: Operands, result: Any, flags: Any, seed: int
) -> None: ...
def device_trace(
    queue: Queue, unit: Unit, operands: Operands, seed: int, index: int
) -> list[tuple]: ...
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
    threads: int,
    engine: str,
    multiplier: Any,
) -> None: ...
def running(
    unit: Unit, operands: Operands, result: Any, flags: Any, seed: int, threads: int
) -> None: ...
def __getattr__(name: str) -> Any: ...
