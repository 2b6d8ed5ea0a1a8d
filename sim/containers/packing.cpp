#include <algorithm>
#include <cstring>

#include "widthwise/significand.hpp"
#include "widthwise/sim/blocks.hpp"

// Codes side by side in bytes. Those of up to 8 bits go eight at a time, as neighbours in a word
// that move together by halves: 8 lanes of a byte, 4 of two codes, 2 of four, one of eight.
namespace widthwise {
namespace {

constexpr std::uint64_t lanes(int bits, int apart) {
  std::uint64_t mask = 0;
  for (int at = 0; at < 64; at += apart) mask |= ((std::uint64_t{1} << bits) - 1) << at;
  return mask;
}

class Eight {
 public:
  explicit Eight(int width) {
    for (int i = 0; i < 3; ++i) {
      even_[i] = lanes(width << i, 16 << i);
      gap_[i] = (8 - width) << i;
    }
  }

  std::uint64_t gathered(std::uint64_t x) const {
    for (int i = 0; i < 3; ++i) x = (x & even_[i]) | (x & ~even_[i]) >> gap_[i];
    return x;
  }
  std::uint64_t scattered(std::uint64_t x) const {
    for (int i = 2; i >= 0; --i) x = (x & even_[i]) | (x & ~even_[i]) << gap_[i];
    return x;
  }

 private:
  std::uint64_t even_[3];  // the lower of two neighbours, each so many bits of its lane
  int gap_[3];             // between them
};

// Eight codes of a row at a time, and where a row has room left for eight bytes, so many of them:
// those past the codes' own are written over.
void pack_small(int width, const std::byte* codes, std::size_t n, std::byte* bytes) {
  const auto w = static_cast<std::size_t>(width);
  const std::size_t all = packed_bytes(n, width);
  const Eight eight(width);
  std::size_t i = 0, at = 0;
  std::uint64_t x = 0;
  for (; at + 8 <= all; i += 8, at += w) {
    std::memcpy(&x, codes + i, 8);
    x = eight.gathered(x);
    std::memcpy(bytes + at, &x, 8);
  }
  for (; i < n; i += 8, at += w) {
    x = 0;
    std::memcpy(&x, codes + i, std::min<std::size_t>(8, n - i));
    x = eight.gathered(x);
    std::memcpy(bytes + at, &x, std::min(w, all - at));
  }
}

void unpack_small(int width, const std::byte* bytes, std::size_t n, std::byte* codes) {
  const auto w = static_cast<std::size_t>(width);
  const std::size_t all = packed_bytes(n, width);
  const std::uint64_t own = ~std::uint64_t{0} >> (64 - 8 * width);
  const Eight eight(width);
  std::size_t i = 0, at = 0;
  std::uint64_t x = 0;
  for (; at + 8 <= all; i += 8, at += w) {
    std::memcpy(&x, bytes + at, 8);
    x = eight.scattered(x & own);
    std::memcpy(codes + i, &x, 8);
  }
  for (; i < n; i += 8, at += w) {
    x = 0;
    std::memcpy(&x, bytes + at, std::min(w, all - at));
    x = eight.scattered(x);
    std::memcpy(codes + i, &x, std::min<std::size_t>(8, n - i));
  }
}

// Wider ones bit by bit's worth of bytes: what is not yet a byte waits.
void pack_wide(int width, const std::byte* codes, std::size_t n, std::byte* bytes) {
  const int item = item_bytes(width);
  uint128 waiting = 0;
  int count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    waiting |= uint128{load_code<std::uint64_t>(codes + i * static_cast<std::size_t>(item), item)}
               << count;
    for (count += width; count >= 8; count -= 8, waiting >>= 8)
      *bytes++ = static_cast<std::byte>(waiting);
  }
  if (count > 0) *bytes = static_cast<std::byte>(waiting);
}

void unpack_wide(int width, const std::byte* bytes, std::size_t n, std::byte* codes) {
  const int item = item_bytes(width);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  uint128 waiting = 0;
  int count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (; count < width; count += 8)
      waiting |= uint128{static_cast<std::uint8_t>(*bytes++)} << count;
    store_code(codes + i * static_cast<std::size_t>(item), item,
               static_cast<std::uint64_t>(waiting) & mask);
    waiting >>= width;
    count -= width;
  }
}

}  // namespace

void pack_codes(int width, const void* codes, std::size_t rows, std::size_t n, std::byte* bytes) {
  const auto* from = static_cast<const std::byte*>(codes);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto pack = width <= 8 ? pack_small : pack_wide;
    pack(width, from + r * n * static_cast<std::size_t>(item_bytes(width)), n,
         bytes + r * packed_bytes(n, width));
  }
}

void unpack_codes(int width, const std::byte* bytes, std::size_t rows, std::size_t n, void* codes) {
  auto* to = static_cast<std::byte*>(codes);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto unpack = width <= 8 ? unpack_small : unpack_wide;
    unpack(width, bytes + r * packed_bytes(n, width), n,
           to + r * n * static_cast<std::size_t>(item_bytes(width)));
  }
}

}  // namespace widthwise
