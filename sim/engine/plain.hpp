#pragma once
#include "widthwise/unit.hpp"

namespace widthwise {

// An operand that is read as its format has it.
constexpr bool is_plain(const Operand& x) { return x == Operand{.fmt = x.fmt}; }

// A rounding to its format and no more.
constexpr bool is_plain(const Round& r) { return r == Round{.fmt = r.fmt, .rm = r.rm}; }

}  // namespace widthwise
