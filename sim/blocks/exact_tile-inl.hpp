// Blocks whose every sum with C is a double, rounded to binary32 once each, for tiles
// (docs/exactness.md, 41). Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_EXACT_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_EXACT_TILE_INL
#undef WIDTHWISE_BLOCKS_EXACT_TILE_INL
#else
#define WIDTHWISE_BLOCKS_EXACT_TILE_INL
#endif

#include "sim/blocks/arithmetic-inl.hpp"
#include "sim/blocks/rounding-inl.hpp"
#include "sim/engine/tile_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

using Halves = hn::Vec<Floats>;

// All blocks onto two vectors of sums of every row, from one column on. Returns the largest that a
// sum came to.
HWY_INLINE Halves add_exact(const Meeting& m, std::size_t lanes, std::size_t column, double* sums) {
  constexpr std::size_t wide = 2;
  const std::size_t width = hn::Lanes(Doubles());
  V sum[tile_rows][wide];
  for (std::size_t r = 0; r < tile_rows; ++r)
    for (std::size_t v = 0; v < wide; ++v)
      sum[r][v] = load(sums + r * strip_columns + column + v * width);
  Halves most = hn::Zero(Floats());
  for (std::size_t i = 0; i < m.k;) {
    for (const std::size_t end = i + lanes; i < end; ++i) {
      V y[wide];
      for (std::size_t v = 0; v < wide; ++v)
        y[v] = load(m.b + i * strip_columns + column + v * width);
      for (std::size_t r = 0; r < tile_rows; ++r) {
        const V x = number(m.a[r * m.k + i]);
        for (std::size_t v = 0; v < wide; ++v) sum[r][v] = hn::MulAdd(x, y[v], sum[r][v]);
      }
    }
    for (auto& of_row : sum)
      for (V& s : of_row) {
        const Halves rounded = hn::DemoteTo(Floats(), s);
        most = hn::Max(most, hn::Abs(rounded));
        s = hn::PromoteTo(Doubles(), rounded);
      }
  }
  for (std::size_t r = 0; r < tile_rows; ++r)
    for (std::size_t v = 0; v < wide; ++v)
      store(sum[r][v], sums + r * strip_columns + column + v * width);
  return most;
}

// Sums with which a tile may begin; false where one is not.
bool begin_exact(const Exactly& exactly, const Slot& out, const double* values, double* sums) {
  const V zero = number(out.plus_zero ? 0.0 : -0.0);
  M good = hn::Eq(number(0), number(0));
  for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
    const V x = load(values + at), digits = hn::Mul(x, number(1 / exactly.digit));
    const M multiple = hn::Eq(hn::Round(digits), digits);
    good = hn::And(good, hn::And(multiple, hn::Le(hn::Abs(x), number(exactly.most))));
    store(hn::Add(x, zero), sums + at);
  });
  return hn::AllTrue(Doubles(), good);
}

// False, with nothing done, where a sum is none that doubles surely hold. Without vectors,
// narrowing makes the largest number of an infinity.
bool exact_tile(const Meeting& m, const Rules& rules, const Registers& of_first_row) {
  if (m.exactly.most <= 0 || HWY_TARGET == HWY_SCALAR) return false;
  alignas(64) double sums[tile_rows * strip_columns] = {};
  for (std::size_t r = 0; r < m.rows; ++r)
    if (!begin_exact(m.exactly, rules.out, of_first_row.sum[r].value, sums + r * strip_columns))
      return false;
  Halves most = hn::Zero(Floats());
  for (std::size_t column = 0; column < m.columns; column += 2 * hn::Lanes(Doubles()))
    most = hn::Max(most, add_exact(m, rules.lanes, column, sums));
  if (!hn::AllTrue(Doubles(), hn::Le(hn::PromoteTo(Doubles(), most), number(m.exactly.most))))
    return false;
  for (std::size_t r = 0; r < m.rows; ++r)
    std::copy_n(sums + r * strip_columns, strip_columns, of_first_row.sum[r].value);
  return true;
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
