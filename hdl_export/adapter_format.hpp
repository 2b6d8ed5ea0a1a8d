#pragma once
#include <vector>

#include "widthwise/hdl/constants.hpp"

namespace widthwise::hdl {

// What a table says of one operand's or result's format.
struct AdapterFormat {
  std::string letter;  // "A", "B", "C", "Y"
  std::int64_t exponent, fraction, significand;
  bool ieee;     // codes are those of IEEE 754-2019, 3.4, with these widths
  bool flushed;  // subnormal numbers are zeros in here too
};

// Those of a table that are there.
std::vector<AdapterFormat> adapter_formats(const ConstantTable& table);

}  // namespace widthwise::hdl
