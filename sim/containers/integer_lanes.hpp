#pragma once
#include <cstddef>
#include <cstdint>

// Products of integers, several to a word of 32 bits: two of 16 bits, or four of 8, those of a
// without and those of b with a sign.
namespace widthwise::integer_product {

inline constexpr std::size_t panel_columns = 32;  // of a panel: words of 32 columns side by side
inline constexpr std::size_t tile_rows = 6;

// c = a b modulo 2^32 of up to tile_rows rows and one panel. `a` has so many words a row, rows
// `a_stride` apart; `c` has tile_rows rows of panel_columns sums.
struct Tile {
  std::size_t together;  // codes in a word
  void (*run)(const std::int32_t* a, std::size_t a_stride, std::size_t rows,
              const std::int32_t* panel, std::size_t words, std::int32_t* c);
};
Tile tile_kernel(bool bytes);  // whether all codes have 8 bits

}  // namespace widthwise::integer_product
