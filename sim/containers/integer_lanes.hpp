#pragma once
#include <cstddef>
#include <cstdint>

// Products of 16-bit integers, two to a lane of 32 bits.
namespace widthwise::integer_product {

inline constexpr std::size_t panel_columns = 32;  // of a panel: pairs of 32 columns side by side
inline constexpr std::size_t tile_rows = 6;

// c = a b modulo 2^32 of up to tile_rows rows and one panel. `a` has `pairs` pairs a row, rows
// `a_stride` apart; `c` has tile_rows rows of panel_columns sums.
using Tile = void (*)(const std::int32_t* a, std::size_t a_stride, std::size_t rows,
                      const std::int32_t* panel, std::size_t pairs, std::int32_t* c);
Tile tile_kernel();

}  // namespace widthwise::integer_product
