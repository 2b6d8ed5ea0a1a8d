#pragma once
#include <cstddef>

#include "course.hpp"
#include "sim/engine/tile_rows.hpp"

// Tiles of outputs in SIMD lanes: Highway compiles kernels.cpp once for every instruction set and
// picks when the program runs.
namespace widthwise::exact {

inline constexpr std::size_t tile_columns = 32, tile_size = tile_rows * tile_columns;

// One tile: tile_rows rows of A and tile_columns columns of B meet on k steps.
struct Tile {
  const double* a;  // row r from a + r * a_stride on
  std::size_t a_stride;
  const double* b;  // k rows of tile_columns
  std::size_t k;
  double* sum;       // tile_size sums of every level
  double rounder;    // nearest, magnitude: 3/2 * 2^52 times the last digit that products keep
  double low, high;  // ends of a register that saturates
};
using Kernel = void (*)(const Tile&);
Kernel kernel(Sequence sequence, bool saturates);

Range range(const double* numbers, std::size_t n);

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::exact
