#pragma once
#include <cstddef>
#include <cstdint>

#include "plan.hpp"
#include "sim/engine/tile_rows.hpp"

// Tiles of outputs in SIMD lanes: Highway compiles kernels.cpp once for every instruction set and
// picks when the program runs.
namespace widthwise::tensor {

inline constexpr std::size_t tile_columns = 64;

// Stands for the exponent of zero: with any other it sums to less than all that are, and than those
// of C where its own are to decide.
template <class Exponent>
inline constexpr Exponent of_zero = sizeof(Exponent) == 1 ? -64 : -8192;

// Exponent sums between which float lanes multiply and align without fault.
inline constexpr std::int64_t most_exponent = 125;  // a product is less than 2^(this + 2)
constexpr std::int64_t least_exponent(std::int64_t frac_bits) { return frac_bits - 125; }

struct Constants {
  std::size_t lanes, chunk;
  bool may_overflow;                  // a block's sum
  std::int32_t frac_bits;             // F
  std::int32_t least, floor, c_emin;  // exponents: of a product, of a sum, of C
  std::uint32_t kept;                 // bits of a truncated sum
  std::uint32_t c_kept;               // bits of a C that meets no product, to binary32
  std::int32_t largest;               // bits of the largest sum
  std::int32_t c_telling;  // to binary16: a C that is -0 in these bits may make a zero sum -0
};

// One tile: tile_rows rows of A and tile_columns columns of B meet on k steps; sums in `sum`.
template <class Exponent>
struct Tile {
  const float* a;              // row r from a + r * a_stride on
  const Exponent* a_exponent;  // likewise
  std::size_t a_stride;
  const float* b;  // k rows of tile_columns
  const Exponent* b_exponent;
  float* sum;           // tile_rows rows of tile_columns
  std::size_t columns;  // of those, that are wanted
  std::size_t k;        // whole blocks
};

// False where the lanes met what they cannot do: what the tile holds then means nothing.
template <class Exponent>
using Kernel = bool (*)(const Tile<Exponent>&, const Constants&);
template <class Exponent>
Kernel<Exponent> kernel(Finish finish);

// Adds numbers of binary16 to such numbers, to nearest even; may touch a whole line of a tile.
using AddHalves = void (*)(const float* addends, std::size_t n, float* sums);
AddHalves add_halves();

// The name of the instruction set that the kernels use here.
const char* target_name();

// The field exponents of numbers of a format whose least is emin.
template <class Exponent>
using FieldExponents = void (*)(const float* numbers, std::size_t n, std::int32_t emin,
                                Exponent* out);
template <class Exponent>
FieldExponents<Exponent> field_exponents();

}  // namespace widthwise::tensor
