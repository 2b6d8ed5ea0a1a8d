"""Count the instructions that a multiply-accumulate takes in the CUDA kernels' inner loops.

`./dev gpu-counts` calls this: it compiles the kernels for sm_90, reads NVIDIA's disassembly and
writes the table of docs/benchmarks.md, whose figures tests/python/test_kernels.py holds the kernels
to. No GPU is asked for.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = "| kernel | for example | instructions | goal | bound, 10^12 a second | registers |"
RULE = "|---|---|---|---|---|---|"
ISSUED = 132 * 1.98e9 * 128  # a second: an H200's multiprocessors, its clock, what each issues
SLOTS_OF_DOUBLES = 2  # for there are half as many units of those


@dataclass(frozen=True)
class Tile:
    """Kernels of one source and one shape."""

    source: str
    products: str  # in C++, of one trip of the inner loop
    count: int  # what that is
    block: int = 0  # trips of the inner loops to one of the loop around them, where that works, too
    usual: bool = False  # of the ways through a trip the shortest is the usual one
    most: str = ""  # or the shortest of those that have this instruction most often


def of_a_thread(tile: str) -> str:
    return f"({tile}::rows * {tile}::columns / {tile}::threads)"


PAIRS = Tile("pair_tile", "2 * " + of_a_thread("PairTile<HalfPair, false>"), 128)
FLOATS = Tile("product_tile", of_a_thread("LaunchedTile<float, AnyStep<float>>"), 64)
DOUBLES = Tile("product_tile", of_a_thread("LaunchedTile<double, AnyStep<double>>"), 32)
RANDOM = Tile("product_tile", "8 * " + of_a_thread("AnyRandomTile"), 128)
EXACT = Tile("exact_tile", of_a_thread("ExactTile<IntoOne>"), 16)
TENSOR = Tile("tensor_tile", of_a_thread("AnyTensorTile"), 32, block=16)
CHAIN = Tile("chain_tile", of_a_thread("AnyChainTile"), 4, usual=True)
# Only where factors are long a product has an upper half that takes a carry.
LONG_CHAIN = replace(CHAIN, most="IMAD.WIDE.U32.X")

# What the expressions above say beside the sources' own names.
NAMES = {
    "chain_tile": "using AnyChainTile = ChainTile<std::uint64_t, true, false>;\n",
    "exact_tile": "",
    "pair_tile": "",
    "product_tile": """
template <class T>
using AnyStep = NearestStep<T, lanes::Multiply::exact, lanes::Add::normal>;
using AnyRandomTile = RandomTile<lanes::Multiply::exact, false>;
static_assert(lanes::random_steps == 8);
""",
    "tensor_tile": """
using AnyTensorTile = TensorTile<JoinedEarly<tensor::Finish::truncate>, std::int32_t>;
""",
}


@dataclass(frozen=True)
class Kernel:
    name: str
    tile: Tile
    example: str
    goal: float | None = None


KERNELS = [
    Kernel("pair_half_rounded", PAIRS, "mac(e5m10)", 1.2),
    Kernel("pair_brain_rounded", PAIRS, "mac(e8m7)", 1.2),
    Kernel("pair_half_fused", PAIRS, "fma(e5m10)", 1.2),
    Kernel("tile_float_rounded_normal", FLOATS, "mac(e5m9)", 7.5),
    Kernel("tile_double_rounded_normal", DOUBLES, "mac(e8m15)", 9.5),
    Kernel("tile_float_exact_normal", FLOATS, "fma(e4m3fn, sum=e5m9)", 5.5),
    Kernel("tile_double_exact_normal", DOUBLES, "mac(e4m3fn, product=e6m10, sum=e8m15)"),
    Kernel("tile_float_rounded_rounded", FLOATS, "mac(e6m7, product=e6m7, sum=e5m7)"),
    Kernel("tile_double_rounded_rounded", DOUBLES, "mac(e6m20, product=e6m20, sum=e5m20)"),
    Kernel("tile_float_odd_rounded", FLOATS, "fma(e5m9)"),
    Kernel("tile_double_odd_rounded", DOUBLES, "fma(e8m15)"),
    Kernel("tile_float_native_native", FLOATS, "mac(binary32)"),
    Kernel("tile_double_native_native", DOUBLES, "mac(binary64)"),
    Kernel("tile_float_rounded_rtz", FLOATS, "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)"),
    Kernel("tile_float_rounded_rdn", FLOATS, "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)"),
    Kernel("tile_float_rounded_rna", FLOATS, "mac(e5m10, product=e5m10:rna, sum=e5m10:rna)"),
    Kernel("tile_float_rounded_random", RANDOM, "mac(e5m10, sum=e5m10:sr13)", 14),
    Kernel("tile_float_exact_random", RANDOM, "fma(e4m3fn, sum=e5m10:sr13)", 14),
    Kernel("tensor_truncate_32", TENSOR, "hopper.f16.f32", 10),
    Kernel("exact_one", EXACT, "kulisch(e4m3fn)"),
    Kernel("exact_two", EXACT, "kulisch(e5m10)"),
    Kernel("exact_three", EXACT, "kulisch.f32"),
    Kernel("exact_one_saturating", EXACT, "fix24.sat"),
    Kernel("exact_nearest", EXACT, "fixedacc(e5m10, width=20, frac=8, align=rne)"),
    Kernel("exact_magnitude", EXACT, "fixedacc(e5m10, width=20, frac=8, align=rtz)"),
    Kernel("chain_rounded_32", CHAIN, "mac(e5m10, sum=e5m10:odd)", 130),
    Kernel("chain_fused_32", CHAIN, "fma(e5m10, sum=e5m10:odd)", 130),
    Kernel("chain_rounded_64", CHAIN, "mac(e11m30)", 130),
    Kernel("chain_fused_64", CHAIN, "fma(e11m30)", 130),
    Kernel("chain_rounded_64", LONG_CHAIN, "mac(e12m51)", 130),
    Kernel("chain_fused_64", LONG_CHAIN, "fma(e12m51)", 130),
]


def tool(name: str) -> str | None:
    """The machine's own, or the one that an extra of pyproject.toml has brought."""
    own = sorted(ROOT.glob(f".venv/lib/python*/site-packages/nvidia/cu13/bin/{name}"))
    return shutil.which(name) or (str(own[0]) if own else None)


def why_not() -> str | None:
    missing = [name for name in ("nvcc", "nvdisasm") if not tool(name)]
    return f"CUDA's {' and '.join(missing)} not found" if missing else None


OF_PTX = "-gencode=arch=compute_80,code=sm_90"


def nvcc_command() -> list[str]:
    """As cuda/meson.build has it: for sm_90, of all targets."""
    includes = [f"-I{ROOT / room}" for room in (".", "lib", "sim/include")]
    command = [tool("nvcc") or "nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-O3", "-DNDEBUG"]
    return [*command, "-DWIDTHWISE_APART=__noinline__", OF_PTX, *includes]


@dataclass(frozen=True)
class Compiled:
    """The kernels of one source, on sm_90."""

    resources: dict[str, tuple[int, int]]  # registers, bytes of spilled stores
    machine_code: Path


def compile_kernels(source: str, folder: Path) -> Compiled:
    """Fails where a trip of a loop does not add as many products as is said here."""
    tiles = {k.tile for k in KERNELS if k.tile.source == source}
    claims = [f"static_assert({tile.products} == {tile.count});\n" for tile in tiles]
    text = f'#include "cuda/kernels/{source}.cu"\n{NAMES.get(source, "")}{"".join(claims)}'
    (folder / "kernels.cu").write_text(text)
    cubin = folder / f"{source}.cubin"
    command = [*nvcc_command(), "-Xptxas=-v", "-cubin"]
    command += ["-o", str(cubin), str(folder / "kernels.cu")]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    pattern = r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
    found = re.findall(pattern, said.stdout + said.stderr, re.DOTALL)
    return Compiled({name: (int(used), int(spilled)) for name, spilled, used in found}, cubin)


@dataclass(frozen=True)
class Loop:
    """From one instruction to another that jumps back to it."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def __contains__(self, other: object) -> bool:
        return (
            isinstance(other, Loop)
            and other != self
            and self.first <= other.first
            and other.last <= self.last
        )


@dataclass(frozen=True)
class Code:
    """A kernel's instructions: how many, where each jumps, and which then may also go on."""

    operations: tuple[str, ...]
    jumps: dict[int, int]
    may_go_on: frozenset[int]  # of those

    @property
    def count(self) -> int:
        return len(self.operations)

    def loops(self) -> list[Loop]:
        ends = {to: at for at, to in sorted(self.jumps.items()) if to < at}
        return [Loop(first, last) for first, last in ends.items()]

    def shortest_way(self, loop: Loop, most: str = "") -> int:
        """Instructions from one to the other end, by a way with the most of one of them."""
        far = (self.count, 0)  # how often that is left out, and the length
        ways = {at: far for at in range(loop.first, loop.last + 1)} | {loop.first: (0, 1)}
        for at in range(loop.first, loop.last):  # what jumps back inside would make no way shorter
            more, length = ways[at]
            way = (more - (self.operations[at] == most), length + 1)
            to = self.jumps.get(at)
            if to is None or at in self.may_go_on:
                ways[at + 1] = min(ways[at + 1], way)
            if to in ways:
                ways[to] = min(ways[to], way)
        return ways[loop.last][1]


def code_of_all(machine_code: Path) -> dict[str, Code]:
    disassemble = [tool("nvdisasm") or "nvdisasm", "-c", str(machine_code)]
    text = subprocess.run(disassemble, check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+),.*$", text, flags=re.MULTILINE)[1:]
    kernels = zip(parts[::2], parts[1::2], strict=True)
    return {name: code(lines.splitlines()) for name, lines in kernels}


def code(lines: Iterable[str]) -> Code:
    labels: dict[str, int] = {}
    jumps: dict[int, str] = {}
    may_go_on: set[int] = set()
    operations: list[str] = []
    for line in lines:
        if label := re.match(r"(\.L\w+):", line):
            labels[label[1]] = len(operations)
        elif found := re.match(r"\s*/\*[0-9a-f]+\*/\s*(?:@\S+ +)?([\w.]+)", line):
            if jump := re.search(r"(@\S+ +)?\bBRA(\.U)?\b.*`\((\.L\w+)\)", line):
                jumps[len(operations)] = jump[3]
                if jump[1] or jump[2]:
                    may_go_on.add(len(operations))
            operations.append(found[1])
    known = {at: labels[to] for at, to in jumps.items() if to in labels}
    return Code(tuple(operations), known, frozenset(may_go_on))


def innermost_loops(code: Code) -> list[Loop]:
    loops = code.loops()
    return [loop for loop in loops if not any(other in loop for other in loops)]


def per_product(kernel: Kernel, code: Code) -> float:
    """Of the loops that hold no other: the longest, or all that a loop around them runs."""
    loops, innermost = code.loops(), innermost_loops(code)
    longest = max(innermost, key=len)
    if kernel.tile.usual:
        return code.shortest_way(longest, kernel.tile.most) / kernel.tile.count
    if not kernel.tile.block:
        return len(longest) / kernel.tile.count
    around = min((loop for loop in loops if longest in loop), key=len)
    inside = sum(len(loop) for loop in innermost if loop in around)
    return (inside + (len(around) - inside) / kernel.tile.block) / kernel.tile.count


def doubles_per_product(kernel: Kernel, code: Code) -> float:
    """Operations of doubles in the longest loop."""
    longest = max(innermost_loops(code), key=len)
    operations = code.operations[longest.first : longest.last + 1]
    return sum(operation.startswith("D") for operation in operations) / kernel.tile.count


@dataclass(frozen=True)
class Count:
    kernel: Kernel
    instructions: float
    doubles: float
    registers: int

    def row(self) -> str:
        k, n = self.kernel, self.instructions
        met = k.goal is None or n <= k.goal
        cells = [f"`{k.name}`", f"`{k.example}`", f"{n:.2f}" if met else f"**{n:.2f}**"]
        bound = ISSUED / max(n, SLOTS_OF_DOUBLES * self.doubles)
        cells += ["" if k.goal is None else f"{k.goal:g}", f"{bound / 1e12:.1f}"]
        return f"| {' | '.join(cells)} | {self.registers} |"


def counts(compiled: dict[str, Compiled]) -> list[Count]:
    found = {source: code_of_all(c.machine_code) for source, c in compiled.items()}
    return [
        Count(
            kernel,
            per_product(kernel, found[kernel.tile.source][kernel.name]),
            doubles_per_product(kernel, found[kernel.tile.source][kernel.name]),
            compiled[kernel.tile.source].resources[kernel.name][0],
        )
        for kernel in KERNELS
    ]


def recorded() -> dict[str, float]:
    """What the page says, by example."""
    table = PAGE.read_text().split(HEAD)[1].split("\n\n")[0]
    rows = re.findall(r"^\| `\w+` \| `([^`]+)` \| \**([\d.]+)\** \|", table, re.MULTILINE)
    return {example: float(figure) for example, figure in rows}


def record(counted: list[Count]) -> None:
    before, rest = PAGE.read_text().split(HEAD)
    after = rest.split("\n\n", 1)[1]
    rows = "\n".join(count.row() for count in counted)
    PAGE.write_text(f"{before}{HEAD}\n{RULE}\n{rows}\n\n{after}")


def main() -> None:
    if missing := why_not():
        sys.exit(f"{missing}; pyproject.toml's extras nvcc and nvdisasm bring them")
    with tempfile.TemporaryDirectory() as folder:
        sources = sorted({kernel.tile.source for kernel in KERNELS})
        counted = counts({source: compile_kernels(source, Path(folder)) for source in sources})
    record(counted)
    for count in counted:
        print(count.row())


if __name__ == "__main__":
    main()
