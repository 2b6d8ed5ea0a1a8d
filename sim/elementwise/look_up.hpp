#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// Codes that are looked up, as many at a time as this machine gathers.
namespace widthwise::elements {

// Steps that vectors hold, one page of 64 or two, and two bins for each: a word's exponent and the
// digits behind name a bin, which names the first step that may lie there. Numbers above zero and
// below have codes of their own, and share the words of their steps where both are few enough.
struct HeldSteps {
  static constexpr int page = 64;
  static constexpr int exponents(int pages) { return 32 * pages; }

  struct Side {
    // Of each exponent: | its bin, less the digits above: 12 | how many digits are left out: 4 |
    alignas(64) std::array<std::uint16_t, page> cells;
    alignas(64) std::array<std::uint8_t, 4 * page> bins;
    // Bytes of a step's word without its sign, the lowest first; the codes below it and from it on.
    alignas(64) std::array<std::array<std::uint8_t, 2 * page>, 4> word;
    alignas(64) std::array<std::uint8_t, 2 * page> before, behind;
    std::uint8_t last;  // step
  };
  std::array<Side, 2> sides;  // above zero and below; where they share words the first has these
  std::uint16_t low, high;    // upper halves of words, of exponents that there are
  bool shared;
  bool zero_apart;  // there is a step from zero to the next word, which is not held
  int in_a_bin;     // steps at most
  int pages = 0;    // or 0 where vectors do not hold the steps
};

// A conversion of binary32 to codes of up to 8 bits that goes up in steps: what a word becomes, by
// its upper half and, where a step lies between, by whether its lower half has reached it.
//
//   | from here on the second: 16 bits | second code | first code |
//
// Where several steps lie in it they are looked for, and equal codes tell of that:
//
//   | place of the first of these: 16  | number - 1  | number - 1 |
//
struct Stairs {
  // From this word on to the next one's the result is this code.
  struct Step {
    std::uint32_t word;
    std::uint8_t code;
  };
  std::array<std::uint32_t, 65536> halves;
  std::vector<Step> steps;  // sorted
  HeldSteps held;
};

// Bytes behind a table that are read with its last one.
inline constexpr std::size_t read_past = 3;

// Pairs of codes of up to 8 bits each; the first is the low part of a place.
struct BytePairs {
  const std::uint8_t *first, *second;
  int first_width, second_width;
};

// The result at every pair's place.
void look_up(const BytePairs& pairs, const void* results, std::size_t n, std::uint8_t* codes);

// A word of 32 bits for each code of up to 8, in halves.
struct ByteWords {
  ByteWords(int code_width, const std::uint32_t* words);

  int width;
  alignas(64) std::array<std::uint16_t, 256> lower{}, upper{};
};
void look_up(const ByteWords& table, const std::uint8_t* codes, std::size_t n, void* words);

// The code that every word climbs to.
void climb(const Stairs& stairs, const std::uint32_t* words, std::size_t n, std::uint8_t* codes);

}  // namespace widthwise::elements
