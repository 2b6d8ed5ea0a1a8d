#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/rounding.hpp"

// The steps of conversions to fixed point on vectors of doubles.
namespace widthwise::elements {

struct FixedSteps {
  double up;           // a power of two: units of the format's last digit in 1
  double least, most;  // its integers
  RoundingMode mode;   // no stochastic one
  std::uint32_t mask;  // of a code
};

// v = the integers that x becomes; NaN becomes 0.
void to_integers(const FixedSteps& steps, const float* x, std::size_t n, double* v);
void to_integers(const FixedSteps& steps, const double* x, std::size_t n, double* v);

// Their codes, in two's complement.
void to_codes(const FixedSteps& steps, const double* v, std::size_t n, std::uint8_t* codes);
void to_codes(const FixedSteps& steps, const double* v, std::size_t n, std::uint16_t* codes);
void to_codes(const FixedSteps& steps, const double* v, std::size_t n, std::uint32_t* codes);

}  // namespace widthwise::elements
