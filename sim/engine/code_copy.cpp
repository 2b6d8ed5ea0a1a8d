#include "code_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "turned_codes.hpp"

namespace widthwise {
namespace {

constexpr std::size_t cache_line = 64;

// Square by square, so that lines of either side stay in the nearest cache. A size that is known
// makes one instruction of a code's copy.
template <class Size>
void copy(const CodeMatrix& from, Size size, std::size_t rows, std::size_t columns, std::byte* to,
          std::size_t row_bytes) {
  constexpr std::size_t side = 32;
  const auto width = static_cast<std::ptrdiff_t>(std::size_t{size});
  const std::ptrdiff_t down = from.row * width, right = from.column * width;
  const auto* x = static_cast<const std::byte*>(from.data);
  for (std::size_t row = 0; row < rows; row += side)
    for (std::size_t column = 0; column < columns; column += side)
      for (std::size_t j = column; j < std::min(column + side, columns); ++j)
        for (std::size_t i = row; i < std::min(row + side, rows); ++i)
          std::memcpy(
              to + i * row_bytes + j * size,
              x + static_cast<std::ptrdiff_t>(i) * down + static_cast<std::ptrdiff_t>(j) * right,
              size);
}

template <std::size_t size>
constexpr std::integral_constant<std::size_t, size> known{};

void copy(const CodeMatrix& from, int bytes, std::size_t rows, std::size_t columns, std::byte* to,
          std::size_t row_bytes) {
  const auto by = [&](auto size) { copy(from, size, rows, columns, to, row_bytes); };
  switch (bytes) {
    case 1: return by(known<1>);
    case 2: return by(known<2>);
    case 4: return by(known<4>);
    case 8: return by(known<8>);
    default: return by(static_cast<std::size_t>(bytes));
  }
}

}  // namespace

// A line more between rows: at distances of a power of two they would meet in a few places of a
// cache.
CodeMatrix copy_by_rows(const CodeMatrix& from, int bytes, std::size_t rows, std::size_t columns,
                        std::vector<std::byte>& held) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t row = columns + cache_line / size, row_bytes = row * size;
  held.resize(rows * row_bytes);
  const std::size_t side = from.row == 1 && bytes <= 8 ? turned_side(bytes) : 0;
  std::size_t down = 0, across = 0;  // of whole squares
  if (side != 0 && rows >= side && columns >= side) {
    down = rows / side * side, across = columns / side * side;
    turn_codes(bytes, static_cast<const std::byte*>(from.data), from.column * bytes, down, across,
               held.data(), row_bytes);
  }
  const auto copy_rest = [&](std::size_t first, std::size_t count, std::size_t column) {
    const auto i = static_cast<std::ptrdiff_t>(first), j = static_cast<std::ptrdiff_t>(column);
    const auto* x =
        static_cast<const std::byte*>(from.data) + (i * from.row + j * from.column) * bytes;
    copy({x, from.row, from.column}, bytes, count, columns - column,
         held.data() + first * row_bytes + column * size, row_bytes);
  };
  copy_rest(0, down, across);
  copy_rest(down, rows - down, 0);
  return {held.data(), static_cast<std::ptrdiff_t>(row), 1};
}

CodeMatrix part_by_rows(const CodeMatrix& x, int bytes, const Part& part,
                        std::vector<std::byte>& held) {
  CodeMatrix z = x;
  z.data = static_cast<const std::byte*>(x.data) +
           (static_cast<std::ptrdiff_t>(part.row) * x.row +
            static_cast<std::ptrdiff_t>(part.column) * x.column) *
               bytes;
  const bool by_columns = part.columns > 1 && x.row != 0 && std::abs(x.row) < std::abs(x.column);
  return by_columns ? copy_by_rows(z, bytes, part.rows, part.columns, held) : z;
}

void fetch(const CodeMatrix& x, int bytes, std::size_t row, std::size_t columns) {
  if (x.column != 1) return;
  const std::byte* const first =
      static_cast<const std::byte*>(x.data) + static_cast<std::ptrdiff_t>(row) * x.row * bytes;
  for (std::size_t at = 0; at < columns * static_cast<std::size_t>(bytes); at += cache_line)
    __builtin_prefetch(first + at);
}

}  // namespace widthwise
