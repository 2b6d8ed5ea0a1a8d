#pragma once
#include <cstddef>

#include "side.hpp"

namespace widthwise::cuda {

// Where element (k, column) of B lies: in dense rows, or by an index map, as elements of a
// convolution's windows do, which have most of them in common.
struct Places {
  const std::size_t *rows = nullptr, *columns = nullptr;  // null: dense
  static constexpr std::size_t none = ~std::size_t{0};    // in place of a row that is all zeros

  WIDTHWISE_BOTH_INLINE bool mapped() const { return rows != nullptr; }
  WIDTHWISE_BOTH_INLINE std::size_t at(std::size_t k, std::size_t column, std::size_t n) const {
    return mapped() ? rows[k] + columns[column] : k * n + column;
  }
};

}  // namespace widthwise::cuda
