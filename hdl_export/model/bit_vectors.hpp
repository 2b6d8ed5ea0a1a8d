#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "widthwise/sim/codes.hpp"

// Ports as simulators hand them over, vectors of 32-bit words, and as the simulator here takes
// them.
namespace widthwise::model {

constexpr std::size_t words_of(std::size_t bits) { return (bits + 31) / 32; }

// Bits [at, at + count) of a vector, at most 64 of them; words beyond them are not read.
constexpr std::uint64_t bits_at(const std::uint32_t* words, std::size_t at, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t have = 0; have < count;) {
    const std::size_t low = (at + have) % 32;
    bits |= std::uint64_t{words[(at + have) / 32] >> low} << have;
    have += 32 - low;
  }
  return count < 64 ? bits & ((std::uint64_t{1} << count) - 1) : bits;
}

// Codes of that width, appended to an array of such.
void append_codes(std::vector<std::byte>& codes, const std::uint32_t* words, std::size_t count,
                  int width);

// One code as a vector.
void store_words(std::uint32_t* words, const std::byte* code, int width);

// Whether no code has a bit past its width.
bool fit(const void* codes, std::size_t count, int width);

}  // namespace widthwise::model
