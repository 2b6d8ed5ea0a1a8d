#pragma once
#include <cstring>

#include "look_up.hpp"

namespace widthwise::elements {

inline std::uint8_t climbed(const Stairs& stairs, const std::uint32_t* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  const std::uint32_t stair = stairs.halves[word >> 16];
  const bool up = (word & 0xffff) >= stair >> 16;
  return static_cast<std::uint8_t>(up ? stair >> 8 : stair);
}

// As many words as fill vectors that hold the steps, and how many those were: none where the steps
// are not held or this machine cannot look up bytes (AVX-512 VBMI).
std::size_t climb_held(const Stairs& stairs, const std::uint32_t* words, std::size_t n,
                       std::uint8_t* codes);

}  // namespace widthwise::elements
