#include <algorithm>
#include <cstring>

#include "packing_lanes.hpp"
#include "widthwise/significand.hpp"
#include "widthwise/sim/blocks.hpp"

// Codes side by side in bytes. Those of up to 8 bits go eight at a time.
namespace widthwise {
namespace {

using namespace containers;

// Vectors first, then eight codes of a row at a time.
void pack_small(const EightCodes& eight, const std::byte* codes, std::size_t n, std::byte* bytes,
                std::size_t all) {
  std::size_t i = pack_vectors(eight, codes, n, bytes, all), at = i / 8 * eight.width;
  for (; i < n; i += 8, at += eight.width) {
    std::uint64_t x = 0;
    std::memcpy(&x, codes + i, std::min<std::size_t>(8, n - i));
    x = eight.gathered(x);
    std::memcpy(bytes + at, &x, std::min(eight.width, all - at));
  }
}

void unpack_small(const EightCodes& eight, const std::byte* bytes, std::size_t n, std::byte* codes,
                  std::size_t all) {
  std::size_t i = unpack_vectors(eight, bytes, all, codes, n), at = i / 8 * eight.width;
  for (; i < n; i += 8, at += eight.width) {
    std::uint64_t x = 0;
    std::memcpy(&x, bytes + at, std::min(eight.width, all - at));
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

// f(first code's byte, first byte, codes, bytes) for each row; rows that end with a byte are one.
template <class F>
void for_rows(int width, std::size_t rows, std::size_t n, const F& f) {
  if (n * static_cast<std::size_t>(width) % 8 == 0) n *= rows, rows = 1;
  const std::size_t code_bytes = n * static_cast<std::size_t>(item_bytes(width)),
                    bytes = packed_bytes(n, width);
  for (std::size_t r = 0; r < rows; ++r) f(r * code_bytes, r * bytes, n, bytes);
}

}  // namespace

void pack_codes(int width, const void* codes, std::size_t rows, std::size_t n, std::byte* bytes) {
  const auto* from = static_cast<const std::byte*>(codes);
  const EightCodes eight(std::min(width, 8));
  for_rows(width, rows, n, [&](std::size_t at, std::size_t to, std::size_t count, std::size_t all) {
    if (width <= 8) return pack_small(eight, from + at, count, bytes + to, all);
    pack_wide(width, from + at, count, bytes + to);
  });
}

void unpack_codes(int width, const std::byte* bytes, std::size_t rows, std::size_t n, void* codes) {
  auto* to = static_cast<std::byte*>(codes);
  const EightCodes eight(std::min(width, 8));
  for_rows(width, rows, n,
           [&](std::size_t at, std::size_t from, std::size_t count, std::size_t all) {
             if (width <= 8) return unpack_small(eight, bytes + from, count, to + at, all);
             unpack_wide(width, bytes + from, count, to + at);
           });
}

}  // namespace widthwise
