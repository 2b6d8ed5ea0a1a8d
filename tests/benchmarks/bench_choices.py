"""How well `auto` chooses: products of many units by each engine that takes them.

    .venv/bin/python tests/benchmarks/bench_choices.py [--seconds 120] [--seed 1] [--asked 60]
        [--flags] [UNIT...]

The units are those that a designer may write down: of every kind, with formats from four bits to
128 and sums by most modes. Not part of `./dev bench`, whose units have goals of their own.
"""

import argparse
import itertools
import random
import re
import time

import numpy as np
import widthwise as ww

N = 128
KINDS = [
    "mac(@, sum=#)",
    "mac(@, product=#, sum=#)",
    "mac(@, sum=#, promote=8:@)",
    "fma(@, sum=#)",
    "fma(@, sum=#, scale=e8m0fnu:32:term)",
    "tree(@, fan=4, sum=#)",
    "tree(@, fan=8, order=chain, sum=#)",
    "dot(@, lanes=4, out=#)",
    "dot(@, lanes=16, out=#)",
    "dot(@, lanes=8, align=30:rtz, out=#)",
    "dot(@, align=20:rtz, out=#)",
    "kahan(@, sum=#)",
    "neumaier(@, sum=#)",
]
# fmt: off
FORMATS = [
    "e2m1fn", "e4m3fn", "e5m2", "e5m10", "bfloat16", "tf32", "e8m15", "e3m20", "binary32",
    "e11m30", "e5m40", "e3m52", "binary64", "e6m54", "e15m20", "e15m52", "e15m63", "e8m80",
    "binary128",
]
# Another format's, or the operands' own (@).
SUMS = [
    "@", "@:rtz", "@:rup", "@:rna", "@:odd", "@:sr8", "binary32", "binary32:rtz", "binary32:odd",
    "binary32:sr8", "e8m15", "e4m52", "binary64", "e8m54:sr12", "e15m63", "binary128",
]
ENGINES = [
    "lanes", "halves", "integers", "blocks", "wide", "wide52", "tensor", "exact", "words",
    "promoted", "narrowed",
]
# fmt: on


def units():
    for kind, format, sum in itertools.product(KINDS, FORMATS, SUMS):
        try:
            yield ww.Unit(kind.replace("#", sum).replace("@", format))
        except ValueError:  # a kind that has no use for such a sum
            continue


def operands(unit, rng):
    def numbers(format):
        return ww.array(rng.uniform(-1, 1, (N, N)), format)

    scales = {}
    if unit.scale_format is not None:
        blocks = N // unit.scale_block
        scales["scale_a"] = ww.array(np.ones((N, blocks)), unit.scale_format)
        scales["scale_b"] = ww.array(np.ones((blocks, N)), unit.scale_format)
    return (numbers(unit.a), numbers(unit.b)), scales


def rates_of(unit, engines, factors, scales, flags):
    """Million products a second of one core, the best of up to four, the engines by turns."""
    best = dict.fromkeys(engines, float("inf"))
    for _ in range(4):
        for engine in engines:
            if best[engine] < 0.2 or best[engine] == float("inf"):
                begin = time.perf_counter()
                how = {"engine": engine, "threads": 1, "flags": flags}
                ww.matmul(*factors, unit=unit, **how, **scales)
                best[engine] = min(best[engine], time.perf_counter() - begin)
    return {engine: N**3 / seconds * 1e-6 for engine, seconds in best.items()}


def takers(explanation):
    """Engines that take the unit, but for the reference."""
    named = re.findall(r"^\s+(\w+)\s+takes it", str(explanation), re.M)
    return [name for name in named if name in ENGINES]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--asked", type=float, default=60, help="million products a second")
    parser.add_argument("--flags", action="store_true", help="products with their flags")
    parser.add_argument("units", nargs="*", metavar="UNIT", help="in place of random ones")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    drawn = list(map(ww.Unit, options.units)) or list(units())
    if not options.units:
        random.Random(options.seed).shuffle(drawn)

    end, asked = time.monotonic() + options.seconds, []
    for unit in drawn:
        if time.monotonic() > end:
            break
        explanation = ww.explain(unit, N, N, N, flags=options.flags)
        rates = rates_of(unit, takers(explanation), *operands(unit, rng), options.flags)
        if explanation.engine in rates:
            share = rates[explanation.engine] / max(rates.values())
            asked.append((share, explanation.engine, rates, str(unit)))

    good = sum(share > 0.8 for share, *_ in asked)
    short = [x for x in asked if x[2][x[1]] < options.asked]
    print(f"{len(asked)} units of {len(drawn)}: in {good} the choice is within a fifth of the best")
    print(f"{len(short)} below {options.asked:.0f} million products/s, by engine:", end=" ")
    print({e: n for e in ENGINES if (n := sum(x[1] == e for x in short))})
    for share, chosen, rates, text in sorted(asked, key=lambda x: x[0])[:20]:
        beside = ", ".join(f"{name} {r:.0f}" for name, r in rates.items())
        print(f"{share:.2f} {chosen:8} of {beside}: {text}")


if __name__ == "__main__":
    main()
