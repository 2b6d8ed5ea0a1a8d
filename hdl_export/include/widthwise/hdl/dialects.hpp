#pragma once
#include <string>
#include <vector>

#include "widthwise/hdl/verilog.hpp"

// The table in the languages of those who build and test the hardware. Nothing is written down
// twice: each is a printer of the same constants.
namespace widthwise::hdl {

// Package NAME_pkg: constants, a typedef for each port, and the rounding codes as an enumeration.
std::string systemverilog_package(const ConstantTable& table);

// Package NAME_pkg, of VHDL-93.
std::string vhdl_package(const ConstantTable& table);

// Macros with the unit's name in capitals in front, for C99 and C++.
std::string c_header(const ConstantTable& table);

// {"unit": ..., "constants": [{"name", "kind", "value", "section", "comment"}, ...]}; a pattern has
// its "width" too, and its value is hexadecimal text. Integers have up to 64 bits.
std::string json(const ConstantTable& table);

// Package NAME_dpi_pkg: the golden model's calls, with vectors of the design's widths. It has no
// such calls where a vector would pass 65,536 bits.
std::string dpi_package(const ConstantTable& table);

// Package NAME_vhpi_pkg: the same for VHDL, through GHDL's VHPIDIRECT. Ports are words, arrays of
// integer; handles and 64-bit numbers are of type time, the one that has as many bits.
std::string vhpi_package(const ConstantTable& table);

struct File {
  std::string name, text;
};
// One file a dialect and one a library that the constants are translated for (adapters.hpp).
std::vector<File> header_files(const ConstantTable& table);

}  // namespace widthwise::hdl
