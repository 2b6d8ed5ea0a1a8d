#pragma once
#include <string_view>

#include "../dot/big.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise {

// (-1)^negative * numerator / denominator * 2^exponent, unless the kind says otherwise.
struct Rational {
  Kind kind = Kind::finite;
  bool negative = false;
  Big numerator = 1, denominator = 1;
  std::int64_t exponent = 0;
};

// Reads what from_literals describes; where names the text in an error: "x[3]".
Rational parse_literal(std::string_view where, std::string_view text);

// A finite or special number in one format, rounded once.
class RationalRounder {
 public:
  RationalRounder(const Format& to, const Env& env);
  // Writes a code laid out as codes.hpp says and returns the flags.
  Flags round(const Rational& x, std::uint64_t random, std::byte* code) const;

 private:
  Rational in_reach(const Rational& x) const;
  template <class U>
  Flags round_in(const Rational& x, std::uint64_t random, std::byte* code) const;

  Format to_;
  Env env_;
};

Big big(std::span<const std::uint64_t> limbs);
std::int64_t length(const Big& x);  // bits; 0 has none
Big power_of_five(std::uint64_t n);

}  // namespace widthwise
