#pragma once
#include <optional>

#include "printing.hpp"

namespace widthwise::hdl {

// A constant's type and value in the terms of Verilog; none for a text, for Verilog-2001 has no
// strings that every tool takes.
struct VerilogValue {
  std::string type;   // "integer", "signed [63:0]", "[7:0]"; empty: one bit
  std::string value;  // "8", "64'sh0000000080000000", "8'h7e", "1'b1"
  std::string note;   // what the value does not show: "= 2147483648"
};
std::optional<VerilogValue> verilog_value(const Constant& c);

// "// SPEC: mac(e5m10)": a text where there are no strings.
std::string text_comment(const Constant& c, std::string_view mark);

}  // namespace widthwise::hdl
