"""Put what ./dev gpu-bench --json FILE measured into docs/benchmarks.md: gpu_table.py FILE."""

import json
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
TITLE = "## On a GPU, measured"


def rate(a_second: float) -> str:
    return f"{a_second / 1e9:.{0 if a_second >= 1e11 else 1}f}"


def section(found: dict) -> str:
    """One table and what it was measured on.

    >>> row = {"unit": "mac(e5m10)", "n": 64, "way": "pairs", "products_s": 2e12, "whole_s": 1e11}
    >>> card = dict(card="H200", driver="580.1", cuda="13.0", multiprocessors=132)
    >>> clocks = dict(clock_mhz=1980, memory_clock_mhz=3201)
    >>> to = {"to": "e4m3fn:rne", "bytes_s": 3e12, "copy_s": 4e12}
    >>> both = {"products": [row], "quantise": [to]}
    >>> lines = section(
    ...     card | clocks | both | {"sweep": {"products_s": 3.8e12, "plain_s": 4e12}}
    ... ).splitlines()
    >>> print(lines[6], lines[10], lines[-1], sep="\\n")
    | `mac(e5m10)` | 64 | pairs | 2000 | 100 |
    | `e4m3fn:rne` | 3000 | 75 % |
    A sweep of 1,000 units over 1024^3: 3800, the plain kernel 4000.
    """
    head = (
        f"{found['card']}: {found['multiprocessors']} multiprocessors, clocks to "
        f"{found['clock_mhz']} MHz, memory {found['memory_clock_mhz']} MHz; driver "
        f"{found['driver']}, CUDA {found['cuda']}. Products of n x n x n, ordinary data, thousand "
        "million products a second: of codes that lie on the card, and from this machine's memory "
        "and back."
    )
    rows = [
        f"| `{p['unit']}` | {p['n']} | {p['way']} | {rate(p['products_s'])} "
        f"| {rate(p['whole_s'])} |"
        for p in found["products"]
    ]
    table = ["| unit | n | way | on the card | with transfers |", "|---|---|---|---|---|", *rows]
    conversions = [
        f"| `{q['to']}` | {rate(q['bytes_s'])} | {q['bytes_s'] / q['copy_s']:.0%} |".replace(
            "%", " %"
        )
        for q in found["quantise"]
    ]
    beside = ["| binary32 to | 10^9 bytes a second | of a copy's |", "|---|---|---|", *conversions]
    sweep = (
        f"A sweep of 1,000 units over 1024^3: {rate(found['sweep']['products_s'])}, the plain "
        f"kernel {rate(found['sweep']['plain_s'])}."
    )
    return "\n".join([TITLE, "", head, "", *table, "", *beside, "", sweep])


def main(file: str) -> None:
    page = PAGE.read_text().split(f"\n{TITLE}")[0].rstrip()
    PAGE.write_text(f"{page}\n\n{section(json.loads(Path(file).read_text()))}\n")


if __name__ == "__main__":
    main(sys.argv[1])
