#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"

// Floats to posits and takums of up to 32 bits, to nearest even or by chance, on vectors of
// patterns in 64 bits, or of posits in 32.
namespace widthwise::elements {

// Whether the nearest posits are found in words of 32 bits: all are normal floats, and each is
// behind at least one digit of them.
bool in_words(const Format& f, const Rounding& rounding);

struct TaperedShape {
  TaperedShape(const Format& f, const Rounding& r)
      : width(f.width()),
        es(f.exp_bits),
        takum(!f.is_posit()),
        in_words(elements::in_words(f, r)),
        rounding(r) {}

  int width, es;
  bool takum;
  bool in_words;      // posits of at most 25 + es bits, all normal floats, to nearest even
  Rounding rounding;  // by so many random bits that two digits below them are dropped, too
};

// bits[i] are element i's random ones.

void to_tapered(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
                std::uint8_t* codes);
void to_tapered(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
                std::uint16_t* codes);
void to_tapered(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
                std::uint32_t* codes);

// y = the values of the nearest posits, which are found in words; NaN where a code is NaR.
void to_posit_values(const TaperedShape& f, const float* x, std::size_t n, float* y);

}  // namespace widthwise::elements
