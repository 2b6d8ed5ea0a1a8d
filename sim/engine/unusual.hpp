#pragma once
#include "widthwise/format.hpp"

namespace widthwise {

// Why codes of a format are not those of signed numbers with zero and subnormals, read as they
// stand, which some engines want; null if they are.
constexpr const char* unusual(const Format& f) {
  if (!f.is_signed) return "is unsigned";
  if (!f.subnormals || !f.zero) return "has no subnormals, or no zero";
  if (f.daz || f.ftz) return "flushes subnormals";
  if (f.precision() < 2) return "has one digit";
  if (f.nan == NanCodes::negative_zero) return "has NaN in the place of -0";
  return nullptr;
}

}  // namespace widthwise
