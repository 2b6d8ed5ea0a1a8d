#pragma once
#include "widthwise/unit.hpp"

namespace widthwise {

// An operand that is read as its format has it.
constexpr bool is_plain(const Operand& x) { return x == Operand{.fmt = x.fmt}; }

// A rounding to its format and no more.
constexpr bool is_plain(const Round& r) { return r == Round{.fmt = r.fmt, .rm = r.rm}; }

// The exponent of the last digit that a product may have.
constexpr std::int64_t product_last(const Unit& u) {
  return u.a.fmt.least_digit() + u.b.fmt.least_digit();
}

}  // namespace widthwise
