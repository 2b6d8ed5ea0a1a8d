"""What Python adds to a call of the core, and its import, beside what is asked.

Every figure is the least of many of this process's own time, the two that are compared by turns:
what else runs can only add.
"""

import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import widthwise as ww
from widthwise import _widthwise as core
from widthwise._dot import Operands, summands

IMPORT = "import time; t = time.process_time(); import widthwise; print(time.process_time() - t)"


def least_seconds(*works, calls, rounds):
    """Of one call of each work."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            begin = time.process_time_ns()
            for _ in range(calls):
                work()
            best[i] = min(best[i], time.process_time_ns() - begin)
    return [nanoseconds * 1e-9 / calls for nanoseconds in best]


def addition(count, calls, rounds):
    """Seconds of ww.add, of the core's own call with all prepared, and of np.add, on e5m10."""
    x = ww.array(np.random.default_rng(0).standard_normal(count), "e5m10")
    f, env, codes = x.format._core, core.Env(), x.bits
    pairs = [(f, codes), (f, codes)]
    return least_seconds(
        lambda: ww.add(x, x),
        lambda: core.elementwise("add", f, env, pairs, np.empty(count, np.uint16), None, 0),
        lambda: np.add(codes, codes),
        calls=calls,
        rounds=rounds,
    )


def summation(count, calls, rounds):
    """Seconds of ww.sum, and of an engine that is made ready and run on its operands."""
    u = ww.Unit("mac(e5m10)")
    x = ww.array(np.random.default_rng(0).standard_normal(count), "e5m10")
    operands = Operands.of_dots(u, *summands(u, x, -1), None, None, None).bound()
    place = np.empty(1, np.uint16)

    def inner():
        ready = core.PreparedProducts(u._core, count, None, False, "auto", 1)
        ready.run(operands, place, None, 0, 0)

    return least_seconds(lambda: ww.sum(x, unit=u), inner, calls=calls, rounds=rounds)


def import_seconds(rounds):
    command = [sys.executable, "-c", IMPORT]
    runs = (subprocess.run(command, capture_output=True, check=True) for _ in range(rounds))
    return min(float(run.stdout) for run in runs)


def quantize_in_jax(count, rounds):
    """Seconds of a jitted quantize by XLA's own call and by JAX's callbacks, as clocks tell, for
    threads of theirs take part."""
    import jax
    import jax.numpy as jnp
    import widthwise.jax as wj
    from widthwise.jax import _xla

    x, best = jnp.ones(count), []
    for usable in (_xla.usable, lambda: False):
        _xla.usable, kept = usable, _xla.usable
        program = jax.jit(lambda v: wj.quantize(v, "e5m10"))
        program(x).block_until_ready()
        _xla.usable = kept
        best.append(min(clocked(lambda run=program: run(x).block_until_ready(), rounds)))
    return best


def clocked(work, rounds):
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        yield time.perf_counter() - begin


def main():
    whole, inner, numpy = addition(1, 200, 300)
    print(f"ww.add of one element: {(whole - inner) * 1e6:.2f} us beyond the core's", end=" ")
    print(f"{inner * 1e6:.2f} (2 are asked); np.add takes {numpy * 1e6:.2f}")
    whole, inner, _ = addition(1_000_000, 1, 300)
    print(f"ww.add of a million: {whole / inner - 1:+.1%} of the core's {inner * 1e3:.3f} ms (5 %)")
    whole, inner = summation(1, 100, 100)
    print(f"ww.sum of one element: {(whole - inner) * 1e6:.0f} us beyond the core's", end=" ")
    print(f"{inner * 1e6:.0f}, its engine made ready")
    whole, inner = summation(1_000_000, 1, 50)
    print(f"ww.sum of a million: {whole / inner - 1:+.1%} of the core's {inner * 1e3:.1f} ms")
    print(f"import widthwise: {import_seconds(15):.3f} s (0.15)")
    if find_spec("jax"):
        for count in (8, 1 << 20):
            own, callback = (1e6 * seconds for seconds in quantize_in_jax(count, 300))
            print(f"widthwise.jax.quantize of {count}, jitted: {own:.0f} us", end=" ")
            print(f"by XLA's call, {callback:.0f} by callbacks")


if __name__ == "__main__":
    main()
