// Trees of the machine's own floats, for tiles (docs/exactness.md, 24). Compiled once for every
// instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_TREE_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_TREE_TILE_INL
#undef WIDTHWISE_BLOCKS_TREE_TILE_INL
#else
#define WIDTHWISE_BLOCKS_TREE_TILE_INL
#endif

#include "sim/blocks/products-inl.hpp"
#include "sim/engine/tile_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// One vector of columns of every row.
struct Rows {
  S of[tile_rows];
  HWY_INLINE Rows() {}  // the compiler's own would not know the instruction set
};
HWY_INLINE Rows operator+(const Rows& x, const Rows& y) {
  Rows z;
  for (std::size_t r = 0; r < tile_rows; ++r) z.of[r] = hn::Add(x.of[r], y.of[r]);
  return z;
}

// Products, or sums of neighbours, from product i on: n of them. A product that is not rounded is
// exact, so a sum of two takes one rounding either way.
template <std::size_t n>
HWY_INLINE Rows tree(const Meeting& m, std::size_t i, std::size_t column) {
  if constexpr (n > 1) {
    const Rows left = tree<n / 2>(m, i, column);
    return left + tree<n / 2>(m, i + n / 2, column);
  } else {
    const Singles d;
    const S y = hn::LoadU(d, m.b_single + i * strip_columns + column);
    Rows z;
    for (std::size_t r = 0; r < tile_rows; ++r)
      z.of[r] = hn::Mul(hn::Set(d, m.a_single[r * m.k + i]), y);
    return z;
  }
}

// A subnormal number becomes zero, which is +0 or has its sign.
HWY_INLINE S flushed(Flush how, S x) {
  const Singles d;
  const S least = hn::Set(d, std::numeric_limits<float>::min());
  const auto subnormal = hn::And(hn::Lt(hn::Abs(x), least), hn::Ne(x, hn::Zero(d)));
  const S zero = how == Flush::flush_signed_zero ? hn::CopySign(hn::Zero(d), x) : hn::Zero(d);
  return hn::IfThenElse(subnormal, zero, x);
}

// Blocks from product `first` to `end` onto the sums. Only the last addition may give a subnormal
// number that is to be flushed.
template <std::size_t lanes>
void add_trees(const Meeting& m, Flush flush, std::size_t first, std::size_t end, float* sums) {
  const Singles d;
  for (std::size_t column = 0; column < m.columns; column += hn::Lanes(d)) {
    Rows sum;
    for (std::size_t r = 0; r < tile_rows; ++r)
      sum.of[r] = hn::LoadU(d, sums + r * strip_columns + column);
    for (std::size_t i = first; i < end; i += lanes) {
      sum = sum + tree<lanes>(m, i, column);
      if (flush != Flush::keep)
        for (S& x : sum.of) x = flushed(flush, x);
    }
    for (std::size_t r = 0; r < tile_rows; ++r)
      hn::StoreU(sum.of[r], d, sums + r * strip_columns + column);
  }
}

// Without vectors, narrowing makes the largest number of an infinity.
bool are_trees(const Meeting& m, const Rules& rules) {
  return rules.float_tree && m.single && HWY_TARGET != HWY_SCALAR;
}
// Panels of A have whole tiles of rows; of those that are no outputs nobody asks.
void add_trees(const Meeting& m, const Rules& rules, std::size_t first, std::size_t end,
               Strip* sums) {
  alignas(64) float singles[tile_rows * strip_columns] = {};
  for (std::size_t r = 0; r < m.rows; ++r)
    for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
      hn::StoreU(hn::DemoteTo(Floats(), load(sums[r].value + at)), Floats(),
                 singles + r * strip_columns + at);
    });
  const Flush flush = rules.out.flush;
  switch (rules.lanes) {
    case 2: add_trees<2>(m, flush, first, end, singles); break;
    case 4: add_trees<4>(m, flush, first, end, singles); break;
    default: add_trees<8>(m, flush, first, end, singles);
  }
  for (std::size_t r = 0; r < m.rows; ++r)
    for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
      store(hn::PromoteTo(Doubles(), hn::LoadU(Floats(), singles + r * strip_columns + at)),
            sums[r].value + at);
    });
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
