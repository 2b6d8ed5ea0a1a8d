#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/rounding.hpp"

// Floats to posits of up to 32 bits, to nearest even or by chance, on vectors of patterns in 64
// bits.
namespace widthwise::elements {

struct PositShape {
  int width, es;
  Rounding rounding;  // by so many random bits that two digits below them are dropped, too
};

// bits[i] are element i's random ones.

void to_posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint8_t* codes);
void to_posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint16_t* codes);
void to_posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint32_t* codes);

}  // namespace widthwise::elements
