#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/sim/requantise.hpp"

// Requantisation of one sum of 32 bits by a constant, as hardware is made of it: acc M rounded, +
// z, clamped (docs/semantics.md, A5).
namespace widthwise {

struct SumRequantisation {
  std::string variant = "exact";  // or gemmlowp, ruy, single, q31, rndnu, fp32
  double multiplier = 1;
  std::int64_t zero_point = 0, qmin = -128, qmax = 127;

  RequantiseRule rule() const;
  Rounding last_rounding() const;  // the second of two, where there are two
  SumScale scale() const;
  Format code() const;  // int8, uint8, int16 or uint16
  bool operator==(const SumRequantisation&) const = default;
};

// "requantize(gemmlowp, multiplier=0.0123, zero_point=3, qmin=0, qmax=255)".
SumRequantisation parse_sum_requantisation(std::string_view text);
std::string to_string(const SumRequantisation& s);

// Refuses a multiplier that the variant does not take, and codes of more than 16 bits.
void check(const SumRequantisation& s);

}  // namespace widthwise
