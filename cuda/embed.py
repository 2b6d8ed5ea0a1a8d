"""Writes a C++ source that holds compiled kernels: embed.py OUT.cpp NAME=FILE..."""

import hashlib
import sys
from pathlib import Path

out, *kernels = sys.argv[1:]
pairs = [kernel.split("=", 1) for kernel in kernels]
lines = ['#include "cuda/fatbins.hpp"', "", "#include <stdexcept>", "#include <string>", ""]
for name, file in pairs:
    # The digest changes with the file, so that Ninja compiles this anew.
    lines += [
        f"// {hashlib.sha256(Path(file).read_bytes()).hexdigest()}",
        f'asm(".section .rodata\\n.balign 16\\n.global widthwise_fatbin_{name}\\n'
        f'widthwise_fatbin_{name}: .incbin \\"{Path(file).resolve()}\\"\\n.byte 0\\n.previous");',
        f'extern "C" const unsigned char widthwise_fatbin_{name}[];',
    ]
lines += ["", "std::span<const unsigned char> widthwise::cuda::fatbin(std::string_view source) {"]
lines += [
    f'  if (source == "{name}") return {{widthwise_fatbin_{name}, {Path(file).stat().st_size}}};'
    for name, file in pairs
]
lines += ['  throw std::logic_error("no kernels of " + std::string(source));', "}", ""]
Path(out).write_text("\n".join(lines))
