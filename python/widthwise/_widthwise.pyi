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
    def run(
        self, operands: Operands, result: Any, flags: Any, seed: int, threads: int
    ) -> None: ...

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
