#include "verilog_literal.hpp"

#include <fmt/core.h>

namespace widthwise::hdl {

std::string verilog_literal(const Pattern& p) {
  std::string digits;
  for (int low = (p.width - 1) / 4 * 4; low >= 0; low -= 4)
    digits += "0123456789abcdef"[p.limbs[static_cast<std::size_t>(low) / 64] >> low % 64 & 15];
  return fmt::format("{}'h{}", p.width, digits);
}

}  // namespace widthwise::hdl
