#pragma once
#include <cstdint>

#include "deliver.hpp"

namespace widthwise::mpfr {

// The integer that a number is rounded to; a zero keeps the number's sign. Specials stay.
struct Integral {
  Scaled value;
  bool inexact = false;
};
Integral to_integral(const Scaled& v, Rounding how, std::uint64_t random);

}  // namespace widthwise::mpfr
