#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/rounding.hpp"

// The steps of conversions to fixed point on vectors of floats and of doubles.
namespace widthwise::elements {

struct FixedSteps {
  double up;           // a power of two: units of the format's last digit in 1
  double least, most;  // its integers
  RoundingMode mode;   // no stochastic one
  std::uint32_t mask;  // of a code
};

// v = the integers that x becomes; NaN becomes 0. Floats take those of up to 22 bits.
void to_integers(const FixedSteps& steps, const float* x, std::size_t n, float* v);
void to_integers(const FixedSteps& steps, const float* x, std::size_t n, double* v);
void to_integers(const FixedSteps& steps, const double* x, std::size_t n, double* v);

// Their codes, in two's complement, as integers of one, two or four bytes.
template <class V>
struct FixedCodes {
  void (*bytes)(const FixedSteps& steps, const V* v, std::size_t n, std::uint8_t* codes);
  void (*halves)(const FixedSteps& steps, const V* v, std::size_t n, std::uint16_t* codes);
  void (*words)(const FixedSteps& steps, const V* v, std::size_t n, std::uint32_t* codes);
};
template <class V>
FixedCodes<V> fixed_codes();

}  // namespace widthwise::elements
