#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

// Codes that are looked up, as many at a time as this machine gathers.
namespace widthwise::elements {

// A conversion of binary32 to codes of up to 8 bits that goes up in steps: what a word becomes, by
// its upper half and, where a step lies between, by whether its lower half has reached it.
//
//   | from here on the second: 16 bits | second code | first code |
//
using Stairs = std::array<std::uint32_t, 65536>;

// Bytes behind a table that are read with its last one.
inline constexpr std::size_t read_past = 3;

// Pairs of codes of up to 8 bits each; the first is the low part of a place.
struct BytePairs {
  const std::uint8_t *first, *second;
  int first_width, second_width;
};

// The result at every pair's place.
void look_up(const BytePairs& pairs, const void* results, std::size_t n, std::uint8_t* codes);

// The code that every word climbs to.
void climb(const Stairs& stairs, const std::uint32_t* words, std::size_t n, std::uint8_t* codes);

}  // namespace widthwise::elements
