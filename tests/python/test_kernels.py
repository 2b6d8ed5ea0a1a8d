"""What nvcc makes of the CUDA kernels: registers, nothing spilled where it counts, and as many
instructions a product as docs/benchmarks.md says."""

import doctest
import re
import subprocess
from pathlib import Path

import gpu_table
import pytest
import sass

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The kernels of a source, each compiled once."""
    if not sass.tool("nvcc"):
        pytest.skip("nvcc was not found")
    folder, known = tmp_path_factory.mktemp("kernels"), {}

    def of(source):
        if source not in known:
            known[source] = sass.compile_kernels(source, folder)
        return known[source]

    return of


@pytest.mark.long
def test_two_blocks_of_tiles_fit_a_multiprocessor_and_spill_nothing_inside_their_loops(compiled):
    kernels = dict(compiled("product_tile").resources)
    stochastic = {name: kernels.pop(name) for name in list(kernels) if "_random" in name}
    assert len(kernels) == 26 and len(stochastic) == 4
    assert all(spilled == 0 for _, spilled in stochastic.values())
    # A few registers kept aside while a block begins and ends cost nothing that can be measured.
    at_the_ends = {"tile_float_odd_rounded", "tile_double_rounded_rdn"}
    for name, (registers, spilled) in kernels.items():
        assert registers <= 128, name
        assert spilled <= (20 if name in at_the_ends else 0), name


@pytest.mark.long
def test_codes_become_values_without_spills(compiled):
    kernels = compiled("values").resources
    assert len(kernels) == 9
    assert all(spilled == 0 for _, spilled in kernels.values())


@pytest.mark.long
def test_tensor_tiles_spill_nothing_inside_their_loops(compiled):
    kernels = compiled("tensor_tile").resources
    assert len(kernels) == 6
    for name, (registers, spilled) in kernels.items():
        three_blocks = name.endswith("32") and name != "tensor_late_32"
        assert registers <= (168 if three_blocks else 255), name
        assert spilled == 0, name


@pytest.mark.long
def test_tiles_of_groups_and_of_small_blocks_spill_nothing(compiled):
    kernels = compiled("group_tile").resources | compiled("block_tile").resources
    assert len(kernels) == 9
    for name, (registers, spilled) in kernels.items():
        one_block = name in {"group_tile", "block_exact_4"}
        assert registers <= (255 if one_block else 128), name
        assert spilled == 0, name


@pytest.mark.long
def test_tiles_of_exact_sums_spill_nothing(compiled):
    kernels = compiled("exact_tile").resources
    tiles = {name: found for name, found in kernels.items() if name.startswith("exact_")}
    assert len(tiles) == 8
    for name, (registers, spilled) in tiles.items():
        assert registers <= (255 if name == "exact_three" else 128), name
        assert spilled == 0, name


@pytest.mark.long
def test_pairs_of_16_bit_numbers_fit_four_blocks_to_a_multiprocessor(compiled):
    kernels = compiled("pair_tile").resources
    tiles = {name: found for name, found in kernels.items() if name.startswith("pair_")}
    assert len(tiles) == 4
    assert all(registers <= 128 and spilled == 0 for registers, spilled in tiles.values())


@pytest.mark.long
def test_numbers_become_codes_with_the_registers_of_a_full_processor(compiled):
    kernels = compiled("quantise").resources
    assert len(kernels) == 34
    assert all(registers <= 32 and spilled == 0 for registers, spilled in kernels.values())


@pytest.mark.long
def test_the_definition_of_a_word_spills_nothing(compiled):
    assert compiled("elements").resources["elements_64"][1] == 0


# What a constexpr function calls and a GPU has not, nvcc leaves out without a word. Debug code has
# a call to address 0 in its place.
FUNCTION = re.compile(r"^[^\n/]*\.(?:func|entry)\b", re.MULTILINE)
ZEROED = re.compile(r"mov\.u64\s+(%rd\d+), 0;")
CALLED = re.compile(r"callprototype[^;]*;\s*call\s*(?:\([^)]*\),\s*)?(%rd\d+)")


def calls_left_out(source, folder):
    """The functions of a source that call what is not there."""
    command = [part for part in sass.nvcc_command() if part not in ("-O3", sass.OF_PTX)]
    ptx = folder / "debug.ptx"
    command += ["-G", "-arch=sm_90", "-rdc=true", "-ptx", "-o", str(ptx), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    functions = FUNCTION.split(ptx.read_text())
    assert len(functions) > 1
    return [
        function.split("(\n")[0]
        for function in functions
        if set(ZEROED.findall(function)) & set(CALLED.findall(function))
    ]


SOURCES = sorted((ROOT / "cuda" / "kernels").glob("*.cu"))
assert len(SOURCES) > 10


@pytest.mark.sample(5)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_kernel_calls_nothing_that_a_gpu_has_not(source, tmp_path):
    if not sass.tool("nvcc"):
        pytest.skip("nvcc was not found")
    assert calls_left_out(source, tmp_path) == []


@pytest.mark.parametrize(
    "call",
    ["std::countl_zero(x)", "int(__builtin_sub_overflow(x, x, &x))", "int(std::bit_width(x))"],
)
def test_a_call_that_nvcc_leaves_out_is_found(call, tmp_path):
    if not sass.tool("nvcc"):
        pytest.skip("nvcc was not found")
    source = tmp_path / "lost.cu"
    source.write_text(
        "#include <bit>\n#include <cstdint>\n"
        f"constexpr int called(std::uint64_t x) {{ return {call}; }}\n"
        "__global__ void kernel(std::uint64_t* x) { *x = called(*x); }\n"
    )
    assert len(calls_left_out(source, tmp_path)) == 1


# Another compiler makes other code: the figures are of one.
@pytest.mark.long
def test_a_product_takes_the_instructions_that_the_page_says(compiled):
    if missing := sass.why_not():
        pytest.skip(missing)
    version = subprocess.run([sass.tool("nvcc"), "--version"], capture_output=True, text=True)
    if "release 13.0" not in version.stdout:
        pytest.skip("the figures are those of CUDA 13.0, and another one is installed")
    recorded = sass.recorded()
    assert recorded.keys() == {kernel.example for kernel in sass.KERNELS}
    sources = {kernel.tile.source for kernel in sass.KERNELS}
    for count in sass.counts({source: compiled(source) for source in sources}):
        now, before = count.instructions, recorded[count.kernel.example]
        told = f"{count.kernel.name}: {now:.2f} a product, the page says {before}; ./dev gpu-counts"
        assert abs(now - before) <= 0.05 * before, told


def test_a_loop_is_what_jumps_back():
    lines = [".L_x_0:", *["/*0010*/ IADD3 R0 ;"] * 3, ".L_x_1:", "/*0040*/ FFMA R1 ;"]
    lines += ["/*0050*/ @P0 BRA `(.L_x_1) ;", "/*0060*/ @!P1 BRA `(.L_x_2) ;"]
    lines += ["/*0070*/ BRA.U UP0, `(.L_x_0) ;", ".L_x_2:", "/*0080*/ BRA `(.L_x_2) ;"]
    code = sass.code(lines)
    assert set(code.loops()) == {sass.Loop(3, 4), sass.Loop(0, 6)}
    kernel = sass.Kernel("k", sass.Tile("", "", 2, block=10), "")
    assert sass.per_product(kernel, code) == pytest.approx((2 + 5 / 10) / 2)


def test_the_usual_way_through_a_loop_is_the_shortest():
    lines = [".L_x_0:", "/*00*/ FFMA ;", "/*10*/ @P0 BRA `(.L_x_1) ;", *["/*20*/ FADD ;"] * 4]
    lines += ["/*60*/ BRA `(.L_x_2) ;", ".L_x_1:", "/*70*/ FMUL ;", ".L_x_2:"]
    lines += ["/*80*/ @P1 BRA `(.L_x_0) ;"]
    code = sass.code(lines)
    assert code.shortest_way(sass.Loop(0, 8)) == 4
    assert code.shortest_way(sass.Loop(0, 8), most="FADD") == 8
    kernel = sass.Kernel("k", sass.Tile("", "", 2, usual=True), "")
    assert sass.per_product(kernel, code) == 2


@pytest.mark.long
def test_chains_in_integers_spill_little_and_fit_two_blocks_to_a_multiprocessor(compiled):
    kernels = compiled("chain_tile").resources
    assert len(kernels) == 10
    for name, (registers, spilled) in kernels.items():
        assert registers <= 128 or "random" in name, name
        assert spilled <= 128, name  # on the way of unusual numbers


# Of what a kernel may not call nvcc makes nothing, and says so only where it is called by name.
@pytest.mark.parametrize("carrier", ["std::uint32_t", "std::uint64_t", "uint128", "Wide<12>"])
def test_a_kernel_counts_the_leading_zeros_of_every_carrier(carrier, tmp_path):
    if not sass.tool("nvcc"):
        pytest.skip("nvcc was not found")
    (tmp_path / "zeros.cu").write_text(f"""
#include "widthwise/wide.hpp"
using namespace widthwise;
__global__ void zeros({carrier}* x, int* z) {{ *z = Significand<{carrier}>::leading_zeros(*x); }}
""")
    command = [*sass.nvcc_command(), "-ptx", "-o", "-", "zeros.cu"]
    made = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "clz.b" in made.stdout


# As the test of tensor cores lists them.
INSTRUCTIONS = re.findall(
    r'{"(\w+)", "(\w+)", (\d+), (\d+), (true|false), (\d+), "(.*?)"}',
    (ROOT / "tests/cuda/test_tensor_cores.cpp").read_text(),
)


def test_all_instructions_of_tensor_cores_are_found():
    assert len(INSTRUCTIONS) == 16


# A GPU's driver compiles these texts when that test runs; here its assembler reads them.
@pytest.mark.parametrize(
    ("type", "sum", "k", "bits", "is_warpgroup", "least", "version"), INSTRUCTIONS
)
def test_the_instructions_of_tensor_cores_assemble(
    type, sum, k, bits, is_warpgroup, least, version, tmp_path
):
    if not sass.tool("nvcc"):
        pytest.skip("nvcc was not found")
    kind = "warpgroup" if is_warpgroup == "true" else "warp"
    texts = (ROOT / "tests/cuda/tensor_core_ptx.hpp").read_text()
    text = re.search(r'R"ptx\((.*?)\)ptx"', texts, re.DOTALL)[1].lstrip()
    multiply = re.search(rf"{kind}_ptx =(.*?);\n\n", texts, re.DOTALL)[1]
    words = 4 if sum == "f32" else 2
    target = f"sm_{least}{'a' if kind == 'warpgroup' else ''}"
    said = {
        "$multiply": re.sub(r'R"ptx\(|\)ptx"|"|\\n', "", multiply),
        "$transposed": ", 0" if bits == "16" else "",
        "$c_bytes": str(4 * words),
        "$c_count": str(words),
        "$registers": ", ".join(f"%d{i}" for i in range(words)),
        "$version": version,
        "$target": target,
        "$type": type,
        "$sum": sum,
        "$k": k,
    }
    for name, value in said.items():
        text = text.replace(name, value)
    (tmp_path / "tensor_core.ptx").write_text(text)
    code = f"-gencode=arch=compute_{target[3:]},code={target}"
    command = [sass.tool("nvcc"), "-cubin", code, "tensor_core.ptx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_what_a_gpu_was_measured_at_becomes_a_table():
    assert doctest.testmod(gpu_table).failed == 0
