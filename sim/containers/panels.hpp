#pragma once
#include <algorithm>
#include <stdexcept>

#include "widthwise/sim/blocks.hpp"

namespace widthwise::containers {

// An array in pieces that hold whole blocks and stay near the processor: some columns of a row of
// blocks.
class Panels {
 public:
  explicit Panels(const BlockGrid& grid) : grid_(flattened(grid)) {
    const std::size_t block = std::min(grid_.block_columns, grid_.columns);
    blocks_ = std::max<std::size_t>(1, target / std::max<std::size_t>(1, block));
    a_row_ = (grid_.column_blocks() + blocks_ - 1) / blocks_;
  }

  struct Panel {
    std::size_t number;  // of its first element
    std::size_t scale;   // of its first block
    std::size_t rows, columns, blocks, stride;
  };

  // Rows that follow each other in memory as fewer and longer ones of up to so many columns.
  static Panel lengthened(Panel p, std::size_t longest) {
    while (p.columns == p.stride && p.rows % 2 == 0 && 2 * p.columns <= longest)
      p.rows /= 2, p.columns *= 2, p.stride *= 2;
    return p;
  }

  std::size_t count() const { return grid_.outer * grid_.row_blocks() * a_row_; }
  std::size_t group() const { return grid_.block_columns; }

  Panel at(std::size_t i) const {
    const std::size_t first_block = i % a_row_ * blocks_, band = i / a_row_;
    const std::size_t row = band % grid_.row_blocks() * grid_.block_rows,
                      outer = band / grid_.row_blocks(), column = first_block * grid_.block_columns;
    return {(outer * grid_.rows + row) * grid_.columns + column,
            band * grid_.column_blocks() + first_block,
            std::min(grid_.block_rows, grid_.rows - row),
            std::min(blocks_ * grid_.block_columns, grid_.columns - column),
            std::min(blocks_, grid_.column_blocks() - first_block),
            grid_.columns};
  }

 private:
  static constexpr std::size_t target = 8192;  // columns

  // Blocks of one row that fill theirs: all rows are one.
  static BlockGrid flattened(BlockGrid grid) {
    if (grid.block_rows == 0 || grid.block_columns == 0)
      throw std::invalid_argument("grid: a block has one row and one column at least");
    if (grid.block_rows != 1 || grid.columns % grid.block_columns != 0) return grid;
    return {1, 1, grid.outer * grid.rows * grid.columns, 1, grid.block_columns};
  }

  BlockGrid grid_;
  std::size_t blocks_;  // columns of them in a panel
  std::size_t a_row_;   // panels in a row of blocks
};

inline constexpr std::size_t longest_piece = 4096;  // numbers of a row between two steps

// f(first column, columns, first group) for pieces of a panel's columns, each of whole groups or
// within one.
template <class F>
void for_pieces(std::size_t columns, std::size_t group, std::size_t longest, const F& f) {
  const std::size_t whole = longest / group * group, piece = whole ? whole : longest;
  for (std::size_t first = 0; first < columns;) {
    const std::size_t end =
        whole ? first + piece : std::min(first + piece, (first / group + 1) * group);
    const std::size_t n = std::min(end, columns) - first;
    f(first, n, first / group);
    first += n;
  }
}

}  // namespace widthwise::containers
