"""Writes a C++ source that holds compiled kernels: embed.py OUT.cpp NAME=FILE..."""

import hashlib
import sys
from pathlib import Path

out, *kernels = sys.argv[1:]
pairs = [kernel.split("=", 1) for kernel in kernels]
lines = ["#include <cstddef>", "#include <string_view>", ""]
for name, file in pairs:
    # The digest changes with the file, so that Ninja compiles this anew.
    lines += [
        f"// {hashlib.sha256(Path(file).read_bytes()).hexdigest()}",
        f'asm(".section .rodata\\n.balign 16\\n.global widthwise_fatbin_{name}\\n'
        f'widthwise_fatbin_{name}: .incbin \\"{Path(file).resolve()}\\"\\n.byte 0\\n.previous");',
        f'extern "C" const unsigned char widthwise_fatbin_{name}[];',
    ]
lines += [
    "",
    "// The kernels of one source and how many bytes they are; null: there is no such source.",
    'extern "C" const unsigned char* widthwise_fatbin(const char* name, std::size_t* bytes) {',
    "  const std::string_view source(name);",
]
lines += [
    f'  if (source == "{name}")\n'
    f"    return *bytes = {Path(file).stat().st_size}, widthwise_fatbin_{name};"
    for name, file in pairs
]
lines += ["  return nullptr;", "}", ""]
Path(out).write_text("\n".join(lines))
