#pragma once
#include "side.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/codes.hpp"

// Codes of up to 64 bits side by side in bytes and back, as sim/containers/packing.cpp lays them:
// low bits first, each row beginning a byte. Threads share no byte and no code.
namespace widthwise::cuda {

// x moved up by so many places, or down where they are fewer than none.
WIDTHWISE_BOTH_INLINE std::uint64_t moved(std::uint64_t x, std::ptrdiff_t up) {
  return up < 0 ? x >> -up : x << up;
}

struct PackedRows {
  std::size_t rows, n;  // n codes a row
  int width;

  constexpr std::size_t row_bytes() const { return packed_bytes(n, width); }
  constexpr std::size_t bits() const { return static_cast<std::size_t>(width); }
  constexpr int item() const { return item_bytes(width); }
  // From bit 8 * byte of a row to the first one of a code.
  WIDTHWISE_BOTH_INLINE std::ptrdiff_t between(std::size_t byte, std::size_t code) const {
    return static_cast<std::ptrdiff_t>(code * bits()) - static_cast<std::ptrdiff_t>(8 * byte);
  }
};

// A byte of what the codes that reach into it have there.
struct PackCodes {
  PackedRows of;
  const std::byte* codes;
  std::byte* bytes;

  constexpr std::size_t count() const { return of.rows * of.row_bytes(); }

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count(); i += threads) {
      const std::size_t row = i / of.row_bytes(), byte = i % of.row_bytes();
      std::uint64_t x = 0;
      for (std::size_t k = 8 * byte / of.bits(); k < of.n && of.between(byte, k) < 8; ++k) {
        const std::byte* code = codes + (row * of.n + k) * static_cast<std::size_t>(of.item());
        x |= moved(load_code<std::uint64_t>(code, of.item()), of.between(byte, k));
      }
      bytes[i] = static_cast<std::byte>(x);
    }
  }
};

// A code of what the bytes that it reaches into have of it.
struct UnpackCodes {
  PackedRows of;
  const std::byte* bytes;
  std::byte* codes;

  constexpr std::size_t count() const { return of.rows * of.n; }

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - of.width);
    for (std::size_t i = thread; i < count(); i += threads) {
      const std::size_t row = i / of.n, k = i % of.n;
      std::uint64_t x = 0;
      for (std::size_t byte = k * of.bits() / 8; 8 * byte < (k + 1) * of.bits(); ++byte)
        x |= moved(static_cast<std::uint8_t>(bytes[row * of.row_bytes() + byte]),
                   -of.between(byte, k));
      store_code(codes + i * static_cast<std::size_t>(of.item()), of.item(), x & mask);
    }
  }
};

}  // namespace widthwise::cuda
