#pragma once
#include <cstdint>

#include "widthwise/unit.hpp"

namespace widthwise {

// What the carriers of a unit have to hold, whatever the operands.
struct Capacity {
  std::int64_t magnitude_bits;                     // of any term or sum on its way
  int code_digits;                                 // of codes and of what is rounded to them
  std::int64_t group_bits, block_bits, late_bits;  // in each of the three sums, terms and sum
};

// For products of length k, exact ones or all that a supplied multiplier may make. Throws where an
// exact sum passes max_register_bits.
Capacity capacity(const Unit& unit, std::int64_t k, bool supplied = false);

}  // namespace widthwise
