// Trees of floats, for tiles, as the machine rounds them or to fewer digits (docs/exactness.md, 24,
// 59). Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_TREE_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_TREE_TILE_INL
#undef WIDTHWISE_BLOCKS_TREE_TILE_INL
#else
#define WIDTHWISE_BLOCKS_TREE_TILE_INL
#endif

#include "sim/blocks/few_digits-inl.hpp"
#include "sim/blocks/tiles.hpp"
#include "sim/engine/tile_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// --- Roundings -----------------------------------------------------------------------------------

// The machine's own. Only a block's last addition may give a subnormal number that is to be
// flushed.
template <bool flushes>
class OwnRounding {
 public:
  HWY_INLINE explicit OwnRounding(const Rules& r)
      : keeps_sign_(r.out.flush == Flush::flush_signed_zero) {}
  HWY_INLINE S product(float a, S b) const { return hn::Mul(hn::Set(Singles(), a), b); }
  HWY_INLINE S node(S x) const { return x; }
  HWY_INLINE S sum(S x) const {
    if constexpr (!flushes) return x;
    const Singles d;
    const S least = hn::Set(d, std::numeric_limits<float>::min());
    const auto subnormal = hn::And(hn::Lt(hn::Abs(x), least), hn::Ne(x, hn::Zero(d)));
    const S zero = keeps_sign_ ? hn::CopySign(hn::Zero(d), x) : hn::Zero(d);
    return hn::IfThenElse(subnormal, zero, x);
  }

 private:
  bool keeps_sign_;
};

// To few digits, or to all that floats have.
template <bool products>
struct ShortRounding {
  ShortProduct short_product;
  ShortSum node, sum;

  HWY_INLINE explicit ShortRounding(const Rules& r)
      : short_product(products ? *r.product : r.out), node(*r.group.node), sum(r.out) {}
  HWY_INLINE S product(float a, S b) const {
    if constexpr (products) return short_product(a, b);
    return hn::Mul(all(a), b);
  }
};

// --- Trees ---------------------------------------------------------------------------------------

// One vector of columns of every row.
struct Rows {
  S of[tile_rows];
  HWY_INLINE Rows() {}  // the compiler's own would not know the instruction set
};

// Products, or sums of neighbours, from product i on: n of them. A product that is not rounded is
// exact, so a sum of two takes one rounding either way.
template <std::size_t n, class Rounding>
HWY_INLINE Rows tree(const Meeting& m, const Rounding& to, std::size_t i, std::size_t column) {
  Rows z;
  if constexpr (n > 1) {
    const Rows left = tree<n / 2>(m, to, i, column), right = tree<n / 2>(m, to, i + n / 2, column);
    for (std::size_t r = 0; r < tile_rows; ++r) z.of[r] = to.node(hn::Add(left.of[r], right.of[r]));
  } else {
    const S y = hn::LoadU(Singles(), m.b_single + i * strip_columns + column);
    for (std::size_t r = 0; r < tile_rows; ++r) z.of[r] = to.product(m.a_single[r * m.k + i], y);
  }
  return z;
}

HWY_INLINE bool are_within(const Rows& x, std::size_t rows, S most) {
  for (std::size_t r = 0; r < rows; ++r)
    if (!hn::AllTrue(Singles(), hn::Le(hn::Abs(x.of[r]), most))) return false;
  return true;
}

// Blocks from product `first` to `end` onto the sums, unless these pass the limit before some of
// them.
template <std::size_t lanes, class Rounding>
bool add_trees(const Meeting& m, const Rounding& to, double limit, std::size_t first,
               std::size_t end, float* sums) {
  const Singles d;
  const S most = hn::Set(d, static_cast<float>(limit));
  for (std::size_t column = 0; column < m.columns; column += hn::Lanes(d)) {
    Rows sum;
    for (std::size_t r = 0; r < tile_rows; ++r)
      sum.of[r] = hn::LoadU(d, sums + r * strip_columns + column);
    for (std::size_t i = first; i < end;) {
      if (limit > 0 && !are_within(sum, m.rows, most)) return false;
      const std::size_t stop = limit > 0 ? std::min(end, i + tree_interval * lanes) : end;
      for (; i < stop; i += lanes) {
        const Rows block = tree<lanes>(m, to, i, column);
        for (std::size_t r = 0; r < tile_rows; ++r)
          sum.of[r] = to.sum(hn::Add(sum.of[r], block.of[r]));
      }
    }
    for (std::size_t r = 0; r < tile_rows; ++r)
      hn::StoreU(sum.of[r], d, sums + r * strip_columns + column);
  }
  return true;
}
template <class Rounding>
bool add_trees(const Meeting& m, const Rules& rules, double limit, std::size_t first,
               std::size_t end, float* sums) {
  const Rounding to(rules);
  switch (rules.lanes) {
    case 2: return add_trees<2>(m, to, limit, first, end, sums);
    case 4: return add_trees<4>(m, to, limit, first, end, sums);
    case 8: return add_trees<8>(m, to, limit, first, end, sums);
    case 16: return add_trees<16>(m, to, limit, first, end, sums);
    default: return add_trees<32>(m, to, limit, first, end, sums);
  }
}

// --- Tiles ---------------------------------------------------------------------------------------

// Panels of A have whole tiles of rows; of those that are no outputs nobody asks.
struct TreeSums {
  alignas(64) float of[tile_rows * strip_columns] = {};

  HWY_INLINE TreeSums(std::size_t rows, const Strip* sums) {
    for (std::size_t r = 0; r < rows; ++r)
      for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(Floats(), load(sums[r].value + at)), Floats(),
                   of + r * strip_columns + at);
      });
  }
  HWY_INLINE void store_to(std::size_t rows, Strip* sums) const {
    for (std::size_t r = 0; r < rows; ++r)
      for_each_vector(strip_columns, [&](std::size_t at) HWY_ATTR {
        store(hn::PromoteTo(Doubles(), hn::LoadU(Floats(), of + r * strip_columns + at)),
              sums[r].value + at);
      });
  }
  bool holds_minus_zero() const {
    return std::ranges::any_of(of, [](float x) { return x == 0 && std::signbit(x); });
  }
};

// Without vectors, narrowing makes the largest number of an infinity.
bool are_trees(const Meeting& m, const Rules& rules) {
  return rules.float_tree && m.single && HWY_TARGET != HWY_SCALAR;
}
void add_trees(const Meeting& m, const Rules& rules, std::size_t first, std::size_t end,
               Strip* sums) {
  TreeSums z(m.rows, sums);
  if (rules.out.flush == Flush::keep)
    add_trees<OwnRounding<false>>(m, rules, 0, first, end, z.of);
  else
    add_trees<OwnRounding<true>>(m, rules, 0, first, end, z.of);
  z.store_to(m.rows, sums);
}

// All blocks of a tile that rounds to few digits; false, with nothing done, where it is none.
bool short_tree_tile([[maybe_unused]] const Meeting& m, [[maybe_unused]] const Rules& rules,
                     [[maybe_unused]] Strip* sums) {
#if HWY_NATIVE_FMA
  if (!rules.short_tree || !m.single) return false;
  const TreeWatch watch(rules, m.limit);
  if (!watch.fits) return false;
  TreeSums z(m.rows, sums);
  if (z.holds_minus_zero()) return false;
  const bool rounds = rules.product && !rules.product->machine;
  const bool done = rounds ? add_trees<ShortRounding<true>>(m, rules, watch.limit, 0, m.k, z.of)
                           : add_trees<ShortRounding<false>>(m, rules, watch.limit, 0, m.k, z.of);
  if (done) z.store_to(m.rows, sums);
  return done;
#else
  return false;  // sequences want fused operations
#endif
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
