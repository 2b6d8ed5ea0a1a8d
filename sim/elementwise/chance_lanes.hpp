#pragma once
#include <cstddef>
#include <cstdint>

namespace widthwise::elements {

// Rounding by chance between two codes of up to 8 bits whose values are known.
struct Chances {
  const double* values;  // of 256 codes
  bool around_zero;      // two may have different signs
  double whole;          // 2^k, of k random bits,
  double less;           // and what is taken off where half a unit is in their favour
};

// codes[i] = far[i] where what x[i] lies behind near[i] reaches its chance, else near[i].
void choose(const Chances& chances, const float* x, const std::uint8_t* near,
            const std::uint8_t* far, const std::uint64_t* bits, std::size_t n, std::uint8_t* codes);

}  // namespace widthwise::elements
