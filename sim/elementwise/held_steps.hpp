#pragma once
#include <algorithm>
#include <cstring>

#include "look_up.hpp"

namespace widthwise::elements {

// A step at its half's first word is that half's first code, and changes it nowhere else.
constexpr bool has_more_steps(std::uint32_t stair) {
  return stair >> 16 != 0 && (stair >> 8 & 0xff) == (stair & 0xff);
}

inline std::uint8_t climbed(const Stairs& stairs, const std::uint32_t* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  const std::uint32_t stair = stairs.halves[word >> 16];
  if (has_more_steps(stair)) {
    const auto first = stairs.steps.begin() + (stair >> 16);
    return std::ranges::upper_bound(first, first + (stair & 0xff) + 1, word, {},
                                    &Stairs::Step::word)[-1]
        .code;
  }
  const bool up = (word & 0xffff) >= stair >> 16;
  return static_cast<std::uint8_t>(up ? stair >> 8 : stair);
}

// As many words as fill vectors that hold the steps, and how many those were: none where the steps
// are not held or this machine cannot look up bytes (AVX-512 VBMI).
std::size_t climb_held(const Stairs& stairs, const std::uint32_t* words, std::size_t n,
                       std::uint8_t* codes);

}  // namespace widthwise::elements
