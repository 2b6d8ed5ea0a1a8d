"""Products of one's own as C++ text, on the CPU. For a GPU: test_gpu_driver.py, tests/cuda."""

import os
import pickle
import re
import shlex
import stat

import numpy as np
import pytest
import widthwise as ww
from widthwise._compiler import compiler

TRUNCATED = "mp = uint128(ma >> 4 << 4) * (mb >> 4 << 4);"
MITCHELL = """
if (ma == 0 || mb == 0) return;
int ka = bit_length(ma) - 1, kb = bit_length(mb) - 1;
uint128 one = (uint128)1 << (ka + kb);
uint128 f = ((uint128)(ma ^ 1ull << ka) << kb) + ((uint128)(mb ^ 1ull << kb) << ka);
mp = f < one ? one + f : f << 1;
"""
UNITS = ["mac(e4m3fn)", "fma(e5m10)", "mac(e8m23)", "hopper.f16.f32", "tree8.f32", "mac(binary64)"]


def drawn(shape, format, seed):
    """Codes at random, infinities and NaN among them."""
    f = ww.Format(format)
    most = (1 << f.width) - 1
    codes = np.random.default_rng(seed).integers(0, most, shape, np.uint64, endpoint=True)
    return ww.from_bits(codes.astype(f.dtype), f)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("text, name", [(TRUNCATED, "truncated_operands4"), (MITCHELL, "mitchell")])
def test_a_text_gives_the_bits_of_the_same_multiplier_by_name(unit, text, name):
    u = ww.Unit(unit)
    a, b = drawn((40, 5), str(u.a), 1), drawn((5, 40), str(u.b), 2)
    want, raised = ww.matmul(a, b, unit=u, multiplier=name, engine="reference", flags=True)
    assert (want.bits != ww.matmul(a, b, unit=u).bits).any()
    # Blocks take products of at most 53 digits.
    for engine in ["reference", "auto", *["blocks"] * (unit != "mac(binary64)")]:
        z, flags = ww.matmul(a, b, unit=u, multiplier=ww.product(text), engine=engine, flags=True)
        assert (z.bits == want.bits).all() and (flags == raised).all()


def test_every_function_that_takes_a_multiplier_takes_a_text():
    first = ww.product("mp = uint128(ma) << 10;", "first")

    def own(ma, mb):
        return ma << 10

    def ordinary(*shape):
        return ww.array(np.random.default_rng(len(shape)).normal(size=shape), "e5m10")

    x, w, a, b = ordinary(2, 9, 9), ordinary(3, 2, 3, 3), ordinary(40), ordinary(1, 40)[0]
    for call in [
        lambda m: ww.conv2d(x, w, unit="mac(e5m10)", multiplier=m),
        lambda m: ww.conv1d(x[:, 0], w[:, :, 0], unit="mac(e5m10)", multiplier=m),
        lambda m: ww.dot(a, b, unit="mac(e5m10)", multiplier=m),
        lambda m: ww.trace("mac(e5m10)", a, b, multiplier=m).result,
    ]:
        z = call(first)
        assert (z.bits == call(own).bits).all() and (z.bits != call(None).bits).any()


def test_it_can_be_called_and_holds_128_bits():
    exact = ww.product("mp = uint128(ma) * mb;")
    most = 2**64 - 1
    for ma, mb in [(0, 5), (3, 7), (most, most), (1 << 63, 2)]:
        assert exact(ma, mb) == ma * mb
    length = ww.product("mp = bit_length(ma);")
    for shift in range(64):
        for x in {1 << shift, (1 << shift) - 1, (1 << shift) + 1}:
            assert length(x, 0) == x.bit_length()
    assert ww.product("if (ma > mb) mp = 1;")(2, 3) == 0
    with pytest.raises(ValueError, match=r"mb = 18446744073709551616: significands are 0 to 2\^64"):
        exact(1, 1 << 64)


def test_results_do_not_depend_on_threads_or_processes():
    p = ww.product(MITCHELL)
    a, b = drawn((90, 70), "e8m7", 7), drawn((70, 90), "e8m7", 8)
    want = ww.matmul(a, b, unit="mac(e8m7)", multiplier=p, threads=1, engine="reference").bits
    for threads in (2, 5):
        for engine in ("reference", "blocks"):
            z = ww.matmul(a, b, unit="mac(e8m7)", multiplier=p, threads=threads, engine=engine)
            assert (z.bits == want).all()
    read, write = os.pipe()
    if os.fork() == 0:
        z = ww.dot(a[0], b[:, 0], unit="mac(e8m7)", multiplier=p, threads=1)
        os.write(write, bytes([int(z.bits == want[0, 0])]))
        os._exit(0)
    os.wait()
    assert os.read(read, 1) == b"\1"


def test_a_product_goes_into_a_pickle_and_comes_out():
    p = pickle.loads(pickle.dumps(ww.product(TRUNCATED, "coarse")))
    assert p(0x1F, 0x2F) == 0x10 * 0x20 and repr(p) == f"ww.product({TRUNCATED!r}, name='coarse')"


def test_a_product_of_too_many_digits_is_refused_by_every_engine():
    wide = ww.product("mp = uint128(ma) * mb << 9;")
    x = ww.array([1.5], "e5m2")
    for engine in ("reference", "blocks"):
        with pytest.raises(ValueError, match="0x6 [*] 0x6 gave a product of 15 bits; that of sign"):
            ww.dot(x, x, unit="mac(e5m2)", multiplier=wide, engine=engine)


@pytest.mark.parametrize(
    "text, message",
    [
        ("uint128 z = ma;\nmp = z * mx;", r"(?s)does not compile it:\n.*product:2:10.*mx"),
        ("mp = ma * mb", r"(?s)does not compile it:\n.*product:"),
        ("int k = 1; // größer\n\nmp = k *;", r"product:3:9"),
        ("mp = ma; throw 1;", r"product:1:"),
        ("extern uint64 f(uint64); mp = f(ma);", r"undefined reference to .*f\("),
        ("m = ma * mb;", r"product: 'm = ma [*] mb;' does not set mp, as 'mp = uint128\(ma\)"),
    ],
)
def test_what_does_not_compile_is_told_in_the_compilers_words(text, message):
    with pytest.raises(ValueError, match=message):
        ww.product(text)
    with pytest.raises(ValueError, match="^product 'mine': "):
        ww.product(text, "mine")


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="text = 3: C[+][+] statements that set mp from ma and mb"):
        ww.product(3)


def test_without_a_compiler_the_way_out_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"no c\+\+, g\+\+ or clang\+\+ on PATH. .*\(ma, mb\)"):
        ww.product("mp = ma;")
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    with pytest.raises(RuntimeError, match="CXX=no-such-compiler, which is not there"):
        ww.product("mp = ma;")


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_what_cannot_be_loaded_names_the_way_out(monkeypatch, tmp_path):
    script(tmp_path / "careless", "echo nothing >product.so")
    monkeypatch.setenv("CXX", str(tmp_path / "careless"))
    with pytest.raises(RuntimeError, match="careless made for .* cannot be loaded: .*in TMPDIR"):
        ww.product("mp = ma;")


def test_each_text_is_compiled_once_by_each_compiler_and_leaves_nothing(monkeypatch, tmp_path):
    log, scratch = tmp_path / "log", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    real = shlex.join(compiler())
    for name in ("one", "other"):
        script(tmp_path / name, f'echo {name} >>{log}\nexec {real} "$@"')

    def compiled(by, text):
        monkeypatch.setenv("CXX", str(tmp_path / by))
        assert ww.product(text)(6, 7) == 42
        return log.read_text().split()

    text = "mp = uint128(ma) * mb; // once"
    assert compiled("one", text) == ["one"]
    assert compiled("one", text) == ["one"]
    assert compiled("other", text) == ["one", "other"]
    assert compiled("one", text + "!") == ["one", "other", "one"]
    assert compiled("other", text) == ["one", "other", "one"]
    assert not list(scratch.iterdir())


def test_the_text_is_named_in_what_is_no_multiplier():
    x = ww.array([1.0], "e5m10")
    with pytest.raises(TypeError, match=re.escape("or C++ text as ww.product takes it")):
        ww.dot(x, x, unit="mac(e5m10)", multiplier=3)


def test_an_explanation_says_who_multiplies_by_a_text():
    text = ww.explain("mac(e5m10)", 64, 64, 64, multiplier=ww.product(MITCHELL))
    assert text.engine == "blocks" and re.search(r"^ *lanes +does not: \w", text, re.MULTILINE)
