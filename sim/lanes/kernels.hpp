#pragma once
#include <cstddef>
#include <cstdint>

#include "plan.hpp"
#include "sim/engine/tile_rows.hpp"
#include "widthwise/random.hpp"

// Tiles of outputs in SIMD lanes: Highway compiles kernels.cpp once for every instruction set and
// picks when the program runs.
namespace widthwise::lanes {

template <class T>
inline constexpr std::size_t tile_columns = 256 / sizeof(T);

// What the sequences need of the formats.
template <class T>
struct Constants {
  T product_up;     // 2^(D - p), p the product's precision
  T product_least;  // 3/2 * 2^(emin + D - p) of the product's format
  T sum_up;         // the same two of out's
  T sum_least;
  int product_cut;  // for Add::cut and Add::random: D - p, the digits that go
  int sum_cut;
  std::uint16_t random_bits;
  RoundingMode mode;           // of sums, for Add::odd; in a gap, so that what GPUs read stays put
  T product_flush, sum_flush;  // what comes of less becomes zero; 0 where nothing does
};

// One tile: tile_rows rows of A and tile_columns columns of B meet on k steps; sums in `sum`.
template <class T>
struct Tile {
  const T* a;     // row r from a + r * a_stride on
  const T* a_up;  // a * product_up, likewise; null where products are not rounded
  std::size_t a_stride;
  const T* b;           // k rows of tile_columns
  T* sum;               // tile_rows rows of tile_columns
  std::size_t columns;  // of those, that are wanted
  std::size_t k;
  std::size_t interval;  // steps from one look at the sums to the next
  T limit;               // of their magnitudes then
  Where first;           // output and step whose random bits come first
  std::size_t row_outputs, step;
};

// The rows of A and the columns of B that meet (TiledProduct), as kernels take them.
template <class T, class Meeting>
Tile<T> tile_of(const Meeting& m) {
  Tile<T> t{};
  t.a = &m.a.numbers[m.a_first];
  t.a_stride = t.k = m.depth;
  t.b = m.b.numbers.data();
  t.sum = m.sum, t.columns = m.columns;
  return t;
}

// False where a sum passes the limit before an interval: what the tile holds then means nothing.
template <class T>
using Kernel = bool (*)(const Tile<T>&, const Constants<T>&);

// For chains that are not stochastic. Null where this machine has no fused multiply-add in its
// lanes.
template <class T>
Kernel<T> kernel(const Plan& plan);

// What the careful kernels need besides: of the product's format and of out's, the largest number
// and what infinity is there, which is NaN or the largest number where there is none.
struct Ends {
  double product_most, product_infinity;
  double sum_most, sum_infinity;
};

// Does any tile: overflow, infinities, NaN and the signs of zeros are looked after at every step.
template <class T>
using CarefulKernel = void (*)(const Tile<T>&, const Constants<double>&, const Ends&);

// In float lanes, or in double ones, whose exponents leave more room. Numbers of the tile are T's.
template <class T>
CarefulKernel<T> careful_kernel(const Carrier& carrier, Multiply multiply, RoundingMode mode);

// Stochastic sums. The careful one ignores the limit and returns true; the other one needs an
// interval of random_steps at least. Both begin and end with the machine rounding to nearest.
inline constexpr std::size_t random_steps = 8;  // that one call of the generator serves
template <class T>
using RandomKernel = bool (*)(const Tile<T>&, const Constants<T>&, const Ends&);
template <class T>
RandomKernel<T> random_kernel(Multiply multiply, bool careful);

// Chains that round to fixed point: how.
struct FixedSteps {
  bool rounds_products = false;
  // By a mode that the machine is not set to: rounded to nearest even, then corrected.
  bool corrects_products = false, corrects_sums = false;
};

// Where a rounding to fixed point lies.
template <class T>
struct FixedPlace {
  T middle;       // 3/2 2^(D - 1) of its last digits: what is added to it ends with such a digit
  T least, most;  // the format's ends, beside the middle
  T digit;        // the last digit's weight
  T up, down;     // what is lost beyond these moves the nearest number by a digit
  bool by_magnitude;  // up is away from zero
};
template <class T>
struct FixedConstants {
  FixedPlace<T> product, sum;
  T turns;  // 3/2 2^(D - 1) times what sums wrap by: what is added to it ends with such turns
};
// Sums of the tile lie beside sum.middle; no limit is looked at.
template <class T>
using FixedKernel = bool (*)(const Tile<T>&, const FixedConstants<T>&);
template <class T>
FixedKernel<T> fixed_kernel(const FixedSteps& steps);

// Where a rounding to posits lies, to nearest: patterns of `width` bits, their ends in numbers.
struct PositPlace {
  int width, exponent_bits;
  double least, most;
};
struct PositConstants {
  PositPlace product, sum;
};
// Sums of the tile are posits; no limit is looked at.
using PositKernel = bool (*)(const Tile<double>&, const PositConstants&);
PositKernel posit_kernel();

// The name of the instruction set that the kernels use here.
const char* target_name();

}  // namespace widthwise::lanes
