#pragma once
#include <cstddef>

namespace widthwise {

// Rows of A that a tile has, whatever the engine.
inline constexpr std::size_t tile_rows = 4;
// Columns of which any engine fills its vectors.
inline constexpr std::size_t full_columns = 64;

}  // namespace widthwise
