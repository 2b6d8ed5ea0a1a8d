#pragma once
#include <cstddef>

namespace widthwise {

// Rows of A that a tile has, whatever the engine.
inline constexpr std::size_t tile_rows = 4;

}  // namespace widthwise
