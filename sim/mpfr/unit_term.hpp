#pragma once
#include <vector>

#include "exact_sum.hpp"
#include "random_bits.hpp"
#include "zero_sign.hpp"

namespace widthwise::mpfr {

enum class Special { none, plus_infinity, minus_infinity, nan };

// A value on its way through a unit.
struct Term {
  Special special = Special::none;
  std::vector<Scaled> addends{};  // the value is their exact sum; none is zero
  Exponent exponent = 0;          // what an aligner sees
  Exponent lsb = 0;               // weight of the last digit its fields gave it
  bool votes = false;             // whether an aligner looks: exact zeros have no exponent
  ZeroIs sign = ZeroIs::plus;     // of the value, zero or not
  std::uint64_t lane = 0;         // position along k of its first lane
  bool is_c = false;
};

inline Special infinity_of(bool negative) {
  return negative ? Special::minus_infinity : Special::plus_infinity;
}
inline Term special_term(Special s) { return {.special = s}; }

// A decoded number or special. lsb is the last digit of its format at its field exponent.
Term term_of(const Decoded& x, const Format& f, std::uint64_t lane, bool is_c = false);

// Exact, with the exponents added.
Term times(const Term& x, const Term& y);

Term negated(Term x);
// |x| < |y|, or one of them is NaN.
bool is_less_or_unordered(const Term& x, const Term& y);

// One rounding of a term, and the number that the format then holds, its exponent read again.
Decoded round_to(const Round& r, const Term& x, const Place& at);
// A special or a zero, which the format may not have.
Decoded settle(const Round& r, Special s);
Decoded settle_zero(const Round& r, bool negative);

// The special that a sum of these is; none if all are finite.
Special special_sum(const std::vector<Term>& terms);

}  // namespace widthwise::mpfr
