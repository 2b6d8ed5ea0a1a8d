#pragma once
#include <cstddef>
#include <cstdint>

namespace widthwise::containers {

// Eight codes of up to 8 bits in a word, a byte each, move together by halves: 8 lanes of a
// byte, 4 of two codes, 2 of four, one of eight.
struct EightCodes {
  explicit EightCodes(int width) : width(static_cast<std::size_t>(width)) {
    for (int i = 0; i < 3; ++i) {
      for (int at = 0; at < 64; at += 16 << i)
        even[i] |= ((std::uint64_t{1} << (width << i)) - 1) << at;
      gap[i] = (8 - width) << i;
    }
  }

  std::uint64_t gathered(std::uint64_t x) const {
    for (int i = 0; i < 3; ++i) x = (x & even[i]) | (x & ~even[i]) >> gap[i];
    return x;
  }
  std::uint64_t scattered(std::uint64_t x) const {
    for (int i = 2; i >= 0; --i) x = (x & even[i]) | (x & ~even[i]) << gap[i];
    return x;
  }

  std::size_t width;           // bytes of eight codes, too
  std::uint64_t even[3] = {};  // the lower of two neighbours, each so many bits of its lane
  int gap[3];                  // between them
};

// As many whole vectors of such words as n codes and their `room` bytes have place for, and how
// many codes that are. What is written behind a vector's own bytes, within the room, is not theirs.
std::size_t pack_vectors(const EightCodes& eight, const std::byte* codes, std::size_t n,
                         std::byte* bytes, std::size_t room);
std::size_t unpack_vectors(const EightCodes& eight, const std::byte* bytes, std::size_t room,
                           std::byte* codes, std::size_t n);

}  // namespace widthwise::containers
