#pragma once
#include <cstdint>

namespace widthwise {

// A value of a table, (-1)^negative * sig * 2^exp, and the code that stands for it. The leading one
// of sig is the digit Table::digits - 1; zero has sig 0.
struct TableValue {
  std::uint64_t sig;
  std::int64_t exp;
  std::uint64_t code;
  bool negative;
};

// A set of values as a number system (Exponent::listed; docs/semantics.md, F9). Whoever makes a
// table keeps it for good, and makes one for each name, so that formats may be compared.
struct Table {
  static constexpr std::int32_t unlisted = -1, minus_zero = -2;

  const TableValue* values;    // ascending
  const std::int32_t* places;  // of each code among them; or unlisted, or a second zero's
  int count, width;
  int digits;                     // of the longest significand
  int spread;                     // from the leading digit of two neighbours to the last of either
  std::int64_t least_digit, top;  // exponents of the lowest digit and of the highest
  std::uint64_t nan;              // the code of NaN; where there is none, of what NaN becomes
  bool has_nan;
  std::uint64_t zero;  // the code of the value next to 0
  bool has_zero;

  constexpr const TableValue& least() const { return values[0]; }
  constexpr const TableValue& largest() const { return values[count - 1]; }
};

}  // namespace widthwise
