"""Writes a C++ source that holds files as text: embed.py OUT.cpp TYPE FUNCTION FILE...

FUNCTION() is declared in OUT.hpp, and gives {name, text} of each file.
"""

import sys
from pathlib import Path

out, kind, function, *files = sys.argv[1:]
lines = [f'#include "{Path(out).stem}.hpp"', "", "namespace widthwise::hdl {", ""]
lines += [f"std::span<const {kind}> {function}() {{", f"  static const {kind} all[] = {{"]
for file in map(Path, files):
    lines += [f'      {{"{file.name}", R"embedded({file.read_text()})embedded"}},']
lines += ["  };", "  return all;", "}", "", "}  // namespace widthwise::hdl", ""]
Path(out).write_text("\n".join(lines))
