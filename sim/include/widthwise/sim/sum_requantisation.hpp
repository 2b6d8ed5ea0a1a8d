#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/sim/requantise.hpp"

// Requantisation of one sum of 32 bits, as hardware is made of it: acc M rounded, + z, clamped
// (docs/semantics.md, A5). M and z are constants, or ports of the module.
namespace widthwise {

// The sums, as codes.
inline constexpr Format sum_format = fixed_format(32, 0, true);

struct SumRequantisation {
  std::string variant = "exact";  // or gemmlowp, ruy, single, q31, rndnu, fp32
  double multiplier = 1;
  std::int64_t zero_point = 0, qmin = -128, qmax = 127;
  bool multiplier_port = false, zero_point_port = false;

  RequantiseRule rule() const;
  Rounding last_rounding() const;  // the second of two, where there are two
  SumScale scale() const;
  // Of a port: M = q 2^(h - 31), h in the upper 6 bits in two's complement and q in the lower 32,
  // where a runtime keeps it so; else binary32 without its sign, whose codes are all numbers.
  bool takes_shift() const;
  Format multiplier_format() const;
  SumScale scale_of(std::uint64_t multiplier) const;
  Format code() const;  // int8, uint8, int16 or uint16
  bool operator==(const SumRequantisation&) const = default;
};

// "requantize(gemmlowp, multiplier=0.0123, zero_point=3, qmin=0, qmax=255)"; "multiplier=port" and
// "zero_point=port" make inputs of them.
SumRequantisation parse_sum_requantisation(std::string_view text);
std::string to_string(const SumRequantisation& s);

// Refuses a multiplier that the variant does not take, and codes of more than 16 bits.
void check(const SumRequantisation& s);

}  // namespace widthwise
