#pragma once
#include <cstddef>

namespace widthwise {

// Codes of 1, 2, 4 or 8 bytes whose columns lie side by side, each `right` bytes from the next, row
// by row: rows begin `row_bytes` apart. Squares of turned_side(bytes) alone; rows and columns are
// multiples of that. It is 0 where nothing turns them.
std::size_t turned_side(int bytes);
void turn_codes(int bytes, const std::byte* from, std::ptrdiff_t right, std::size_t rows,
                std::size_t columns, std::byte* to, std::size_t row_bytes);

}  // namespace widthwise
