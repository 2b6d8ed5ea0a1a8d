#pragma once
#include "widthwise/format.hpp"

namespace widthwise {

// Why a format has not signed numbers of some digits, with zero and subnormals; null if it has.
constexpr const char* lacks_numbers(const Format& f) {
  if (!f.is_signed()) return "is unsigned";
  if (f.all_normal()) return "has no subnormals, or no zero";
  return f.precision() < 2 ? "has one digit" : nullptr;
}

// Why its codes are not those of such numbers, read as they stand, which some engines want.
constexpr const char* unusual(const Format& f) {
  if (const char* why = lacks_numbers(f)) return why;
  if (f.daz || f.ftz) return "flushes subnormals";
  if (f.nan == NanCodes::sign_alone) return "has NaN in the place of -0";
  return nullptr;
}

}  // namespace widthwise
