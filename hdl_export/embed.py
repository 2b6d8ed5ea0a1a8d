"""Writes a C++ source that holds the RTL's modules as text: embed.py OUT.cpp FILE..."""

import sys
from pathlib import Path

out, *files = sys.argv[1:]
lines = ['#include "rtl_modules.hpp"', "", "namespace widthwise::hdl {", ""]
lines += ["std::span<const RtlFile> rtl_modules() {", "  static const RtlFile all[] = {"]
for file in map(Path, files):
    lines += [f'      {{"{file.name}", R"verilog({file.read_text()})verilog"}},']
lines += ["  };", "  return all;", "}", "", "}  // namespace widthwise::hdl", ""]
Path(out).write_text("\n".join(lines))
