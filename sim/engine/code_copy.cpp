#include "code_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

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

}  // namespace

// A line more between rows: at distances of a power of two they would meet in a few places of a
// cache.
CodeMatrix copy_by_rows(const CodeMatrix& from, int bytes, std::size_t rows, std::size_t columns,
                        std::vector<std::byte>& held) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t row = columns + cache_line / size, row_bytes = row * size;
  held.resize(rows * row_bytes);
  const auto by = [&](auto item) { copy(from, item, rows, columns, held.data(), row_bytes); };
  switch (bytes) {
    case 1: by(known<1>); break;
    case 2: by(known<2>); break;
    case 4: by(known<4>); break;
    case 8: by(known<8>); break;
    default: by(size);
  }
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
