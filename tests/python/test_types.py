"""What mypy knows of the package's functions."""

import inspect
import re
import subprocess
import sys
import typing

import pytest
import widthwise as ww
from widthwise import _types
from widthwise.containers import affine_types

PROGRAM = """
import numpy as np
import widthwise as ww

x = ww.array([1.0, 2.0], "e5m10")
m = ww.zeros((2, 2), "e5m10")
flags = bool(input())
reveal_type(x)  # Array
reveal_type(ww.array([1.0], "e5m10", flags=True))  # tuple[Array, ndarray[uint8]]
reveal_type(ww.array(np.ones(3), ww.Format("e5m10"), rounding="rtz"))  # Array
reveal_type(ww.array([1.0], "e5m10", flags=flags))  # Any
reveal_type(ww.from_bits(np.zeros(3, np.uint16), "e5m10"))  # Array
reveal_type(ww.ones(3, "e5m10"))  # Array
reveal_type(ww.from_integer([1, 2], "e5m10"))  # Array
reveal_type(ww.to_integer(x))  # ndarray[integer]
reveal_type(ww.to_integer(x, "uint8", flags=True))  # tuple[ndarray[integer], ndarray[uint8]]
reveal_type(ww.affine(x))  # Affine
reveal_type(ww.affine(np.ones(3), "affine(int8)", axis=0, rounding="rtz"))  # Affine
reveal_type(ww.affine([1.0], flags=True))  # tuple[Affine, ndarray[uint8]]
reveal_type(ww.affine([1.0], flags=flags))  # Any
reveal_type(ww.add(x, x))  # Array
reveal_type(ww.add(x, x, rounding="rtz", flags=True))  # tuple[Array, ndarray[uint8]]
reveal_type(ww.multiply(np.zeros(2, np.uint16), x))  # Array
reveal_type(ww.sqrt(x))  # Array
reveal_type(ww.fma(x, x, x))  # Array
reveal_type(ww.abs(x))  # Array
reveal_type(ww.copysign(x, x, flags=True))  # tuple[Array, ndarray[uint8]]
reveal_type(ww.convert(x, "e4m3fn"))  # Array
reveal_type(ww.round_to_integral(x, exact=True))  # Array
reveal_type(ww.scaleb(x, [1, 2]))  # Array
reveal_type(ww.less(x, x))  # ndarray[bool]
reveal_type(ww.isnan(x))  # ndarray[Any]
reveal_type(ww.sum(x, unit="mac(e5m10)"))  # Array
reveal_type(ww.sum(x, unit="mac(e5m10)", flags=True))  # tuple[Array, ndarray[uint8]]
reveal_type(ww.cumsum(x, unit="mac(e5m10)"))  # Array
reveal_type(ww.dot(x, x, unit=ww.Unit("mac(e5m10)"), seed=3))  # Array
reveal_type(ww.matmul(m, m, unit="mac(e5m10)", flags=True))  # tuple[Array, ndarray[uint8]]
reveal_type(ww.conv1d(m, m, unit="mac(e5m10)", stride=2))  # Array
reveal_type(x[0])  # Array
reveal_type(x + x)  # Array
reveal_type(2 * x)  # Array
reveal_type(x**2)  # Array
reveal_type(round(x[0], 2))  # Array
reveal_type(round(x[0]))  # int
reveal_type(ww.nextafter(x, x))  # Array
reveal_type(ww.spacing(x))  # Array
reveal_type(ww.fmod(x, x, flags=True))  # tuple[Array, ndarray[uint8]]
reveal_type(ww.ldexp(x, 2, rounding="rtz"))  # Array
reveal_type(ww.frexp(x)[0])  # Array
reveal_type(-x)  # Array
reveal_type(m @ m)  # Array
reveal_type(x < x)  # ndarray[bool]
reveal_type(x == x)  # ndarray[bool]
reveal_type(x.T)  # Array
reveal_type([y for y in x])  # list[Array]
reveal_type(ww.units["hopper.f16.f32"].a)  # Format
reveal_type(ww.study)  # ModuleType
"""
WRONG = """
import widthwise as ww

x = ww.array([1.0], "e5m10")
ww.array([1.0])
ww.array([1.0], "e5m10", round="rtz")
ww.Format(9, 14)
ww.sum(x)
ww.dot(x, x)
ww.add(x)
x**3
ww.add(x, x, mode="rtz")
ww.dot(x, x, unit="mac(e5m10)", engin="auto")
ww.affine()
ww.affine(x, range_=(0, 1))
ww.to_integer(x, invald="x86")
ww.affine(x).code
"""


def mypy(tmp_path, program):
    pytest.importorskip("mypy")
    path = tmp_path / "program.py"
    path.write_text(program)
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent", path]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout


def plain(kind):
    kind = re.sub(
        r"numpy\.(_typing\.\S+?\.|dtypes\.)?|widthwise\.(?:\w+\.)+|builtins\.|types\.", "", kind
    )
    kind = re.sub(r"ndarray\[.*?dtype\[(?:\w+\.)?([\w]+?)_?(?:\[.*?\])?\]\]", r"ndarray[\1]", kind)
    return re.sub("unsignedinteger|bool_", lambda m: {"bool_": "bool"}.get(m[0], "uint8"), kind)


def test_what_functions_deliver_is_known(tmp_path):
    said = mypy(tmp_path, PROGRAM)
    revealed = re.findall(r'program.py:(\d+): note: Revealed type is "(.*)"', said)
    lines = PROGRAM.splitlines()
    wanted = {
        i + 1: line.split("# ")[1] for i, line in enumerate(lines) if line.startswith("reveal_type")
    }
    assert {int(i): plain(kind) for i, kind in revealed} == wanted, said
    assert "error" not in said


def test_wrong_calls_are_seen(tmp_path):
    said = mypy(tmp_path, WRONG)
    wrong = {int(i) for i in re.findall(r"program.py:(\d+): error", said)}
    assert wrong == set(range(5, len(WRONG.splitlines()) + 1)), said


PROTOCOLS = {
    **dict.fromkeys(("sqrt", "logb"), _types.Unary),
    **dict.fromkeys(("add", "divide", "minimum", "max_num", "remainder"), _types.Binary),
    "fma": _types.Ternary,
    **dict.fromkeys(("abs", "next_up", "negate"), _types.ExactUnary),
    **dict.fromkeys(("copysign", "nextafter"), _types.ExactBinary),
    "fmod": _types.Binary,
    "spacing": _types.ExactUnary,
    **dict.fromkeys(("equal", "less_signaling", "total_order"), _types.Comparison),
    "convert": _types.Conversion,
    "round_to_integral": _types.ToIntegral,
    **dict.fromkeys(("scaleb", "ldexp"), _types.Scaling),
    "array": _types.FromValues,
    "from_integer": _types.FromIntegers,
    "to_integer": _types.ToIntegers,
    "affine": affine_types.ToAffine,
    **dict.fromkeys(("dot", "matmul"), _types.Dots),
    **dict.fromkeys(("conv1d", "conv2d"), _types.Convolutions),
    "sum": _types.Sums,
    "cumsum": _types.RunningSums,
}


def arguments_of(declared):
    """Names of an overload, those of its TypedDict among them."""
    names = {name for name in inspect.signature(declared).parameters if name not in ("self", "how")}
    how = re.search(r"Unpack\[(\w+)\]", declared.__annotations__["how"])[1]
    return names | getattr(sys.modules[declared.__module__], how).__annotations__.keys()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_has_its_functions_own_arguments(name):
    function = getattr(ww, name)
    own = set(inspect.signature(function).parameters)
    if "how" in own:  # settings that it hands on
        own = own - {"how"} | set(ww._elementwise.SETTINGS) - ({"format"} & own)
    protocol = PROTOCOLS[name]
    qualified = f"{protocol.__name__}.__call__"
    overloads = typing._overload_registry[protocol.__module__][qualified].values()
    assert len(overloads) == 3
    for declared in overloads:
        assert arguments_of(declared) == own
