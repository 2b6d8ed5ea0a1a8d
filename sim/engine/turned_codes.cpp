#include "turned_codes.hpp"

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/engine/turned_codes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
std::size_t side_of(int) { return 0; }
void turn(int, const std::byte*, std::ptrdiff_t, std::size_t, std::size_t, std::byte*,
          std::size_t) {}
#else

// A square of vectors. Interleaving the first half of all its codes with the second moves each
// code's place by one digit to the left; as many times as a side has digits, and rows are columns.
template <class T>
HWY_INLINE void turn_square(const std::byte* from, std::ptrdiff_t right, std::byte* to,
                            std::size_t row_bytes) {
  const hn::Full128<T> d;
  constexpr std::size_t side = 16 / sizeof(T);
  hn::Vec<decltype(d)> v[side], next[side];
  for (std::size_t i = 0; i < side; ++i)
    v[i] = hn::LoadU(d, reinterpret_cast<const T*>(from + static_cast<std::ptrdiff_t>(i) * right));
  for (std::size_t left = side; left > 1; left /= 2) {
    for (std::size_t i = 0; i < side / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + side / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + side / 2]);
    }
    for (std::size_t i = 0; i < side; ++i) v[i] = next[i];  // by registers, as std::copy_n is not
  }
  for (std::size_t i = 0; i < side; ++i)
    hn::StoreU(v[i], d, reinterpret_cast<T*>(to + i * row_bytes));
}

// Some squares side by side, then those below: lines of either side stay in the nearest cache.
template <class T>
void turn_all(const std::byte* from, std::ptrdiff_t right, std::size_t rows, std::size_t columns,
              std::byte* to, std::size_t row_bytes) {
  constexpr std::size_t side = 16 / sizeof(T), near = 64;
  for (std::size_t first = 0; first < columns; first += near)
    for (std::size_t i = 0; i < rows; i += side)
      for (std::size_t j = first; j < std::min(first + near, columns); j += side)
        turn_square<T>(from + i * sizeof(T) + static_cast<std::ptrdiff_t>(j) * right, right,
                       to + i * row_bytes + j * sizeof(T), row_bytes);
}

std::size_t side_of(int bytes) { return 16 / static_cast<std::size_t>(bytes); }
void turn(int bytes, const std::byte* from, std::ptrdiff_t right, std::size_t rows,
          std::size_t columns, std::byte* to, std::size_t row_bytes) {
  switch (bytes) {
    case 1: return turn_all<std::uint8_t>(from, right, rows, columns, to, row_bytes);
    case 2: return turn_all<std::uint16_t>(from, right, rows, columns, to, row_bytes);
    case 4: return turn_all<std::uint32_t>(from, right, rows, columns, to, row_bytes);
    default: return turn_all<std::uint64_t>(from, right, rows, columns, to, row_bytes);
  }
}
#endif

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise {

HWY_EXPORT(side_of);
HWY_EXPORT(turn);

std::size_t turned_side(int bytes) { return HWY_DYNAMIC_DISPATCH(side_of)(bytes); }
void turn_codes(int bytes, const std::byte* from, std::ptrdiff_t right, std::size_t rows,
                std::size_t columns, std::byte* to, std::size_t row_bytes) {
  HWY_DYNAMIC_DISPATCH(turn)(bytes, from, right, rows, columns, to, row_bytes);
}

}  // namespace widthwise
#endif
