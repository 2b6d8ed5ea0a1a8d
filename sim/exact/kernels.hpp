#pragma once
#include <cstddef>
#include <cstdint>

#include "levels.hpp"
#include "sim/engine/tile_rows.hpp"

// Tiles of outputs in SIMD lanes: Highway compiles kernels.cpp once for every instruction set and
// picks when the program runs.
namespace widthwise::exact {

inline constexpr std::size_t tile_columns = 32, tile_size = tile_rows * tile_columns;

// How a product enters the sums of its output.
enum class Sequence : std::uint8_t {
  chain,      // into one sum, which the machine rounds by its mode where it has to
  nearest,    // rounded to even by itself
  magnitude,  // rounded by itself and without its sign, by the machine's mode
  two,        // into two sums, without loss
  three,
};

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

// Largest and smallest magnitude, zeros aside, as bits of a double; 0 and all ones if all are zero.
struct Range {
  std::uint64_t most = 0, least = ~std::uint64_t{0};
};
Range range(const double* numbers, std::size_t n);

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::exact
