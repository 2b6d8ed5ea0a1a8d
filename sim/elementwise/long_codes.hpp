#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/format.hpp"

// Codes of fixed point, posits and takums of 17 to 32 bits as floats and doubles.
namespace widthwise::elements {

struct LongCodes {
  explicit LongCodes(const Format& f)
      : exponent(f.exponent),
        width(f.width()),
        es(f.exp_bits),
        last(static_cast<int>(f.least_digit())),
        is_signed(f.is_signed()) {}

  Exponent exponent;
  int width, es, last;  // the digit of fixed point
  bool is_signed;
};

void to_numbers(const LongCodes& f, const std::uint32_t* codes, std::size_t n, float* numbers);
void to_numbers(const LongCodes& f, const std::uint32_t* codes, std::size_t n, double* numbers);

}  // namespace widthwise::elements
