#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"

// The steps of conversions to fixed point on vectors of doubles or floats.
namespace widthwise::elements {

bool saturates(const Format& f);  // fixed point that does

struct FixedSteps {
  FixedSteps(const Format& f, const Rounding& rounding);

  double up;           // a power of two: units of the format's last digit in 1
  double low, high;    // its integers
  double least, most;  // where the first step stops: there, if the format saturates
  Overflow overflow;
  Rounding rounding;   // by at most 52 random bits
  std::uint32_t mask;  // of a code
};

// v = the integers that x becomes; NaN becomes 0. bits[i] are element i's random ones. Floats take
// integers of up to 22 bits, and as many random ones.
void to_integers(const FixedSteps& steps, const float* x, const std::uint64_t* bits, std::size_t n,
                 float* v);
void to_integers(const FixedSteps& steps, const float* x, const std::uint64_t* bits, std::size_t n,
                 double* v);
void to_integers(const FixedSteps& steps, const double* x, const std::uint64_t* bits, std::size_t n,
                 double* v);

// Codes of up to 8 bits, to nearest even, in one step. They may overwrite their numbers.
void to_nearest_bytes(const FixedSteps& steps, const float* x, std::size_t n, std::uint8_t* codes);
// Integers of doubles that the first step left beyond the ends, by the format's own rule. Infinity
// becomes 0.
void into_range(const FixedSteps& steps, std::size_t n, double* v);

// y = the values that x becomes, for formats of at most 24 digits between 2^-120 and 2^120, by at
// most 22 random bits.
void to_values(const FixedSteps& steps, const float* x, const std::uint64_t* bits, std::size_t n,
               float* y);

// The codes of integers, in two's complement, as integers of one, two or four bytes.
template <class V>
struct FixedCodes {
  void (*bytes)(const FixedSteps& steps, const V* v, std::size_t n, std::uint8_t* codes);
  void (*halves)(const FixedSteps& steps, const V* v, std::size_t n, std::uint16_t* codes);
  void (*words)(const FixedSteps& steps, const V* v, std::size_t n, std::uint32_t* codes);
};
template <class V>
FixedCodes<V> fixed_codes();

}  // namespace widthwise::elements
