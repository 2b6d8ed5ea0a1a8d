"""`auto` takes the faster engine, on the vectors of the machine that the tests run on."""

import time

import numpy as np
import pytest
import widthwise as ww
from bench_choices import takers

N = 96
# What two engines or more are good at, with flags: sums as the machine rounds, formats of few
# binades, and of many; one digit too many for a double; blocks, cut and exact.
WITH_FLAGS = [
    "mac(binary64)",
    "mac(binary32, product=binary64, sum=binary64)",
    "mac(e4m3fn)",
    "mac(e4m3)",
    "mac(e3m4)",
    "mac(e5m2)",
    "mac(e5m10)",
    "mac(e4m3fn, sum=e5m10)",
    "mac(bfloat16)",
    "mac(binary32)",
    "mac(e11m30)",
    "mac(e15m63)",
    "mac(e5m10, sum=e8m13:sr8)",
    "fma(e4m3fn)",
    "fma(binary64)",
    "tree(e5m10, fan=4)",
    "kahan(e5m10)",
    "dot(e15m52, lanes=8, align=30:rtz, out=e4m52)",
    "hopper.f16.f32",
]
WITHOUT = ["mac(e4m60)", "mac(e15m63)", "dot(e15m52, lanes=8, align=30:rtz, out=e15m52)"]
# Of the best engine's rate. Others use the machine too; a wrong choice costs more than this.
ENOUGH = 0.6


def seconds_of_engines(unit, engines, flags):
    """The least of six of each, the engines by turns, in this thread's own time."""
    rng = np.random.default_rng(0)
    a, b = (ww.array(rng.uniform(-1, 1, (N, N)), f) for f in (unit.a, unit.b))
    best = dict.fromkeys(engines, float("inf"))
    for turn in range(6):
        for engine in engines:
            if turn > 1 and best[engine] > 4 * min(best.values()):
                continue  # it is not the best
            begin = time.thread_time()
            ww.matmul(a, b, unit=unit, engine=engine, threads=1, flags=flags)
            best[engine] = min(best[engine], time.thread_time() - begin)
    return best


@pytest.mark.parametrize(
    ("text", "flags"), [(u, True) for u in WITH_FLAGS] + [(u, False) for u in WITHOUT]
)
def test_auto_takes_the_faster_engine(text, flags):
    unit = ww.Unit(text)
    said = ww.explain(unit, N, N, N, flags=flags)
    if said.engine.startswith("cuda"):
        pytest.skip("a GPU takes it")
    for _ in range(3):  # somebody else's work may lie in all of an engine's turns
        seconds = seconds_of_engines(unit, takers(said), flags)
        share = min(seconds.values()) / seconds[said.engine]
        if share > ENOUGH:
            break
    rates = {engine: round(N**3 / s * 1e-6) for engine, s in seconds.items()}
    assert share > ENOUGH, f"{said.engine} of {rates} million products a second"


def test_most_of_these_units_have_a_choice():
    several = [u for u in WITH_FLAGS if len(takers(ww.explain(u, N, N, N, flags=True))) > 1]
    assert len(several) > 10


def test_with_flags_chains_of_few_binades_and_of_binary64_go_by_blocks():
    """Limbs of 52 bits, where there are any, take twice as long."""
    for text in ("mac(e4m3fn)", "mac(e5m10)", "mac(binary64)", "mac(e4m3fn, sum=e5m10)"):
        if ww.explain(text, 256, 256, 256, flags=True).engine.startswith("cuda"):
            pytest.skip("a GPU takes it")
        assert ww.explain(text, 256, 256, 256, flags=True).engine == "blocks", text
