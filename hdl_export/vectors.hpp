#pragma once
#include <span>
#include <string>
#include <vector>

#include "design_rtl.hpp"

namespace widthwise::hdl {

// Hexadecimal digits of a number of so many bits.
constexpr int hex_width(int bits) { return (bits + 3) / 4; }

// A port in a line of vectors: all its lanes, the first in the lowest bits.
struct Field {
  std::string name;
  int bits;
  bool is_result;
};
std::vector<Field> vector_fields(std::span<const Port> ports);

// What the simulator says of operands, directed and random, in every mode of a port `rm`: a line
// for each, its fields with blanks between, the flags last. So do TestFloat and $readmemh like it.
// A running sum has a line for each block: in every mode sums of one length, one, two or five.
// Comments in front have what a bench asks of the file, CHECK among it: starting at 0, it moves on
// by a digit and takes in the next line, digit by digit, with a 0 for each blank and one in front.
std::string vector_file(const Design& design, const DesignRtl& rtl, const ExportOptions& options);

}  // namespace widthwise::hdl
