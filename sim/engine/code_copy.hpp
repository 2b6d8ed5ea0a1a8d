#pragma once
#include <cstddef>
#include <vector>

#include "widthwise/sim/dot.hpp"

// Codes brought to lie as engines read them: row by row.
namespace widthwise {

// The first rows and columns of a matrix, each row side by side in `held`.
CodeMatrix copy_by_rows(const CodeMatrix& from, int bytes, std::size_t rows, std::size_t columns,
                        std::vector<std::byte>& held);

// Which elements of a matrix are meant.
struct Part {
  std::size_t row, rows, column, columns;
};
// As they lie; or, where that is column by column, a copy of them in `held`. B often is the
// transpose of an array, and to gather every row of it anew takes longer than a few rows of A do.
CodeMatrix part_by_rows(const CodeMatrix& x, int bytes, const Part& part,
                        std::vector<std::byte>& held);

// Whoever reads a matrix row by row asks for this many rows ahead.
inline constexpr std::size_t rows_ahead = 12;
// Asks for a row's first columns. Rows of a large matrix lie pages apart, where no machine looks
// ahead by itself: a few rows of A wait for those of B longer than their products take.
void fetch(const CodeMatrix& x, int bytes, std::size_t row, std::size_t columns);

}  // namespace widthwise
