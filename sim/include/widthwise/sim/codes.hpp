#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "widthwise/wide.hpp"

// Arrays of codes as they lie in memory: the low bits of uint8, 16, 32 or 64, or for wider formats
// rows of 64-bit limbs, least significant first.
namespace widthwise {

constexpr int item_bytes(int width) {
  return width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : (width + 63) / 64 * 8;
}

template <class U>
constexpr U load_code(const std::byte* at, int bytes) {
  if (bytes > 8) {
    if constexpr (64 < digits<U>) {
      Wide<digits<U> / 64> x;
      std::memcpy(x.limb, at,
                  static_cast<std::size_t>(bytes) < sizeof x.limb ? static_cast<std::size_t>(bytes)
                                                                  : sizeof x.limb);
      return static_cast<U>(x);
    }
  }
  std::uint64_t x = 0;
  switch (bytes) {
    case 1: x = static_cast<std::uint8_t>(*at); break;
    case 2: {
      std::uint16_t y;
      std::memcpy(&y, at, 2);
      x = y;
      break;
    }
    case 4: {
      std::uint32_t y;
      std::memcpy(&y, at, 4);
      x = y;
      break;
    }
    default: std::memcpy(&x, at, 8);
  }
  return static_cast<U>(x);
}

template <class U>
constexpr void store_code(std::byte* at, int bytes, const U& code) {
  if (bytes > 8) {
    if constexpr (64 < digits<U>) {
      const Wide<digits<U> / 64> x(code);
      const auto held = sizeof x.limb;
      const auto wanted = static_cast<std::size_t>(bytes);
      std::memset(at, 0, wanted);
      std::memcpy(at, x.limb, wanted < held ? wanted : held);
      return;
    }
  }
  const auto x = static_cast<std::uint64_t>(code);
  switch (bytes) {  // little-endian hosts only, as Meson checks
    case 1: std::memcpy(at, &x, 1); break;
    case 2: std::memcpy(at, &x, 2); break;
    case 4: std::memcpy(at, &x, 4); break;
    default: std::memcpy(at, &x, 8);
  }
}

}  // namespace widthwise
