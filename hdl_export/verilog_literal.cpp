#include "verilog_literal.hpp"

#include "printing.hpp"

namespace widthwise::hdl {

std::string verilog_literal(const Pattern& p) {
  return fmt::format("{}'h{}", p.width, hex_digits(p));
}

}  // namespace widthwise::hdl
