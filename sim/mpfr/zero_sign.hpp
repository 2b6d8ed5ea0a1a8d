#pragma once
#include "widthwise/unit.hpp"

// What a rounding's zero_sign makes of the signs of zeros (datapath 3.4), and nothing else does.
namespace widthwise::mpfr {

enum class ZeroIs { plus, minus, mixed };  // what a zero's addends were

// Of a sum that is zero.
inline bool zero_sum_is_negative(const Round& r, ZeroIs addends) {
  if (r.zero_sign != ZeroSign::ieee) return false;
  return addends == ZeroIs::minus || (addends == ZeroIs::mixed && r.rm.mode == RoundingMode::rdn);
}
// Of whatever becomes zero.
inline bool zero_is_negative(const Round& r, bool negative) {
  return negative && r.zero_sign != ZeroSign::always_plus;
}

}  // namespace widthwise::mpfr
