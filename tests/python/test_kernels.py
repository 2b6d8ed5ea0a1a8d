"""What nvcc makes of the CUDA kernels: registers, and nothing spilled where it counts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def nvcc():
    own = sorted(ROOT.glob(".venv/lib/python*/site-packages/nvidia/cu13/bin/nvcc"))
    return shutil.which("nvcc") or (str(own[0]) if own else None)


def resources(source, folder):
    """Of each kernel on sm_90: registers, bytes of spilled stores."""
    if not nvcc():
        pytest.skip("nvcc was not found")
    includes = [f"-I{ROOT / room}" for room in (".", "lib", "sim/include")]
    command = [nvcc(), "-std=c++20", "--expt-relaxed-constexpr", "-DWIDTHWISE_APART=__noinline__"]
    command += ["-DNDEBUG", "-O3", "-arch=sm_90", "-Xptxas=-v", "-cubin", *includes]
    command += ["-o", str(folder / "kernels.cubin"), str(ROOT / "cuda/kernels" / source)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    pattern = r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
    found = re.findall(pattern, said.stdout + said.stderr, re.DOTALL)
    return {name: (int(registers), int(spilled)) for name, spilled, registers in found}


def test_two_blocks_of_tiles_fit_a_multiprocessor_and_spill_nothing_inside_their_loops(tmp_path):
    kernels = resources("product_tile.cu", tmp_path)
    stochastic = {name: kernels.pop(name) for name in list(kernels) if "_random" in name}
    assert len(kernels) == 26 and len(stochastic) == 4
    assert all(spilled == 0 for _, spilled in stochastic.values())
    # A few registers kept aside while a block begins and ends cost nothing that can be measured.
    at_the_ends = {"tile_float_odd_rounded", "tile_double_rounded_rdn"}
    for name, (registers, spilled) in kernels.items():
        assert registers <= 128, name
        assert spilled <= (16 if name in at_the_ends else 0), name


def test_codes_become_values_without_spills(tmp_path):
    kernels = resources("values.cu", tmp_path)
    assert len(kernels) == 4
    assert all(spilled == 0 for _, spilled in kernels.values())


def test_tensor_tiles_spill_nothing_inside_their_loops(tmp_path):
    kernels = resources("tensor_tile.cu", tmp_path)
    assert len(kernels) == 6
    for name, (registers, spilled) in kernels.items():
        three_blocks = name.endswith("32") and name != "tensor_late_32"
        assert registers <= (168 if three_blocks else 255), name
        assert spilled == 0, name


def test_tiles_of_groups_and_of_small_blocks_spill_nothing(tmp_path):
    kernels = resources("group_tile.cu", tmp_path) | resources("block_tile.cu", tmp_path)
    assert len(kernels) == 9
    for name, (registers, spilled) in kernels.items():
        one_block = name in {"group_tile", "block_exact_4"}
        assert registers <= (255 if one_block else 128), name
        assert spilled == 0, name


def test_pairs_of_16_bit_numbers_fit_four_blocks_to_a_multiprocessor(tmp_path):
    kernels = resources("pair_tile.cu", tmp_path)
    tiles = {name: found for name, found in kernels.items() if name.startswith("pair_")}
    assert len(tiles) == 4
    assert all(registers <= 128 and spilled == 0 for registers, spilled in tiles.values())


def test_numbers_become_codes_with_the_registers_of_a_full_processor(tmp_path):
    kernels = resources("quantise.cu", tmp_path)
    assert len(kernels) == 34
    assert all(registers <= 32 and spilled == 0 for registers, spilled in kernels.values())


def test_the_definition_of_a_word_spills_nothing(tmp_path):
    assert resources("elements.cu", tmp_path)["elements_64"][1] == 0
