#pragma once
#include <cstddef>

// How a matrix product is shared out.
namespace widthwise {

// Rows [row, row + m) and columns [column, column + n) of outputs.
struct ProductTile {
  std::size_t row, column, m, n;
};

// The outputs of a product in tiles. An engine makes ready every row of A and every column of B
// that it meets, so a tile has about as many of either, where it can.
class ProductTiles {
 public:
  // m x n outputs, each of k products, for so many threads, which have about equally much to do. A
  // tile has about `at_once` products at most, or one output.
  ProductTiles(std::size_t m, std::size_t n, std::size_t k, std::size_t at_once,
               std::size_t threads);

  std::size_t count() const { return down_ * across_; }
  ProductTile at(std::size_t i) const;

 private:
  std::size_t m_, n_, down_, across_;
};

}  // namespace widthwise
