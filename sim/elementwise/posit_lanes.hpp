#pragma once
#include <cstddef>
#include <cstdint>

// Floats to posits of up to 32 bits, to nearest, on vectors of patterns in 64 bits.
namespace widthwise::elements {

struct PositShape {
  int width, es;
};

void to_posits(const PositShape& f, const float* x, std::size_t n, std::uint8_t* codes);
void to_posits(const PositShape& f, const float* x, std::size_t n, std::uint16_t* codes);
void to_posits(const PositShape& f, const float* x, std::size_t n, std::uint32_t* codes);

}  // namespace widthwise::elements
