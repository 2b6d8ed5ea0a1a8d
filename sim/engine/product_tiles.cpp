#include "widthwise/sim/product_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "tile_rows.hpp"

namespace widthwise {
namespace {

// Of at least 1, by at least 1.
std::size_t quotient(std::size_t x, std::size_t y) {
  return std::max<std::size_t>(1, x / std::max<std::size_t>(1, y));
}
std::size_t quotient_up(std::size_t x, std::size_t y) { return x <= y ? 1 : (x + y - 1) / y; }

// Where part i of `parts` of 0 … size begins: at a multiple of `step`, or of a half, a quarter … of
// that, so that no part is longer than another by much.
std::size_t begin(std::size_t size, std::size_t parts, std::size_t step, std::size_t i) {
  if (i == parts) return size;
  while (step > 1 && size / parts < 4 * step) step /= 2;
  return (i * size / parts + step / 2) / step * step;
}

}  // namespace

ProductTiles::ProductTiles(std::size_t m, std::size_t n, std::size_t k, std::size_t at_once,
                           std::size_t threads)
    : m_(m), n_(n) {
  const std::size_t outputs = quotient(at_once, k);
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(outputs)));
  const std::size_t wide =
      std::max(quotient_up(side, full_columns) * full_columns, quotient(outputs, m));
  const std::size_t columns = std::min({n, wide, outputs}), rows = quotient(outputs, columns);
  down_ = quotient_up(m, rows), across_ = quotient_up(n, columns);
  // Among many tiles it does not matter that one thread has one more.
  const std::size_t many = std::min(16 * threads, m_ * n_);
  while (count() % threads != 0 && count() < many) {
    const bool lower = across_ == n_ || (down_ < m_ && m_ * across_ >= n_ * down_);
    lower ? ++down_ : ++across_;
  }
}

ProductTile ProductTiles::at(std::size_t i) const {
  const std::size_t y = i / across_, x = i % across_;
  const std::size_t row = begin(m_, down_, tile_rows, y),
                    column = begin(n_, across_, full_columns, x);
  return {row, column, begin(m_, down_, tile_rows, y + 1) - row,
          begin(n_, across_, full_columns, x + 1) - column};
}

}  // namespace widthwise
