// Compensated sums in floats or doubles, for tiles (docs/exactness.md, 56). Compiled once for every
// instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#undef WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#else
#define WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#endif

#include "sim/blocks/few_digits-inl.hpp"
#include "sim/blocks/tiles.hpp"
#include "sim/engine/tile_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// --- Roundings -----------------------------------------------------------------------------------

// The machine's own.
template <class T>
struct AsMachine {
  using Number = T;
  using D = hn::ScalableTag<T>;
  static constexpr bool keeps_zeros = true, watched = false;

  HWY_INLINE hn::Vec<D> product(T a, hn::Vec<D> b) const { return hn::Mul(hn::Set(D(), a), b); }
  HWY_INLINE hn::Vec<D> sum(hn::Vec<D> x) const { return x; }
};

// Products of floats to fewer digits, and sums too if told: of numbers that do not overflow.
template <bool sums>
struct ToFewDigits {
  using Number = float;
  static constexpr bool keeps_zeros = false, watched = sums;
  CompensatedWatch watch;
  ShortProduct product;
  ShortSum to_few;

  HWY_INLINE explicit ToFewDigits(const Rules& r) : watch(r), product(*r.product), to_few(r.out) {}
  HWY_INLINE S sum(S x) const {
    if constexpr (sums) return to_few(x);
    return x;
  }
};

// --- Steps ---------------------------------------------------------------------------------------

// lib's Accumulator, of a vector of outputs.
template <class V>
struct Accumulators {
  V sum, compensation;
  HWY_INLINE Accumulators() {}  // the compiler's own would not know the instruction set
};

// Product p added, as lib's datapath/compensation.hpp has it.
struct Kahan {
  template <class Rounding, class V>
  HWY_INLINE static void add(const Rounding& to, V p, Accumulators<V>& acc) {
    const V y = to.sum(hn::Sub(p, acc.compensation)), before = acc.sum;
    acc.sum = to.sum(hn::Add(before, y));
    acc.compensation = to.sum(hn::Sub(to.sum(hn::Sub(acc.sum, before)), y));
  }
};
struct Neumaier {
  template <class Rounding, class V>
  HWY_INLINE static void add(const Rounding& to, V p, Accumulators<V>& acc) {
    const V before = acc.sum;
    const auto sum_leads = hn::Ge(hn::Abs(before), hn::Abs(p));
    const V large = hn::IfThenElse(sum_leads, before, p);
    const V small = hn::IfThenElse(sum_leads, p, before);
    acc.sum = to.sum(hn::Add(before, p));
    const V error = to.sum(hn::Add(to.sum(hn::Sub(large, acc.sum)), small));
    acc.compensation = to.sum(hn::Add(acc.compensation, error));
  }
};

// Steps [first, end) of one row of a tile.
template <class T>
struct CompensatedRow {
  const T *a, *b;
  std::size_t first, end;
  T *sum, *compensation;
};

// Vectors of columns whose steps overlap, for each waits for the one before it. False where a
// register is past its limit.
template <class Kind, int vectors, class Rounding, class T>
bool add_columns(const CompensatedRow<T>& row, const Rounding& to, std::size_t column) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  Accumulators<V> acc[vectors];
  const auto at = [&](int v) HWY_ATTR { return column + std::size_t(v) * hn::Lanes(d); };
  for (int v = 0; v < vectors; ++v) {
    acc[v].sum = hn::LoadU(d, row.sum + at(v));
    acc[v].compensation = hn::LoadU(d, row.compensation + at(v));
  }
  for (std::size_t i = row.first; i < row.end;) {
    if constexpr (Rounding::watched) {
      V sums = hn::Zero(d), compensations = sums;
      for (const Accumulators<V>& x : acc) {
        sums = hn::Max(sums, hn::Abs(x.sum));
        compensations = hn::Max(compensations, hn::Abs(x.compensation));
      }
      const auto within = [&](V x, double most) HWY_ATTR {
        return hn::AllTrue(d, hn::Le(x, hn::Set(d, static_cast<T>(most))));
      };
      if (!within(sums, to.watch.most_sum) || !within(compensations, to.watch.most_compensation))
        return false;
    }
    const std::size_t end =
        Rounding::watched ? std::min(row.end, i + compensated_interval) : row.end;
    for (; i < end; ++i)
      for (int v = 0; v < vectors; ++v)
        Kind::add(to, to.product(row.a[i], hn::LoadU(d, row.b + i * strip_columns + at(v))),
                  acc[v]);
  }
  for (int v = 0; v < vectors; ++v) {
    hn::StoreU(acc[v].sum, d, row.sum + at(v));
    hn::StoreU(acc[v].compensation, d, row.compensation + at(v));
  }
  return true;
}

template <class Kind, class Rounding, class T>
bool add_row(const CompensatedRow<T>& row, const Rounding& to, std::size_t columns) {
  constexpr int many = 4;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  if (columns <= lanes) return add_columns<Kind, 1>(row, to, 0);
  for (std::size_t j = 0; j < columns; j += many * lanes)
    if (!add_columns<Kind, many>(row, to, j)) return false;
  return true;
}

// --- Tiles ---------------------------------------------------------------------------------------

template <class T>
struct CompensatedRegisters {
  alignas(64) T sum[tile_rows * strip_columns], compensation[tile_rows * strip_columns];

  // False where a sum is -0 and zeros are to keep no sign.
  bool load(std::size_t rows, const Registers& from, bool keeps_zeros) {
    bool minus_zero = false;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < strip_columns; ++j) {
        const std::size_t at = r * strip_columns + j;
        const double x = from.sum[r].value[j];
        minus_zero |= std::bit_cast<std::uint64_t>(x) == std::uint64_t{1} << 63;
        sum[at] = static_cast<T>(x), compensation[at] = static_cast<T>(from.compensation[at]);
      }
    return keeps_zeros || !minus_zero;
  }
  void store(std::size_t rows, const Registers& to) const {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < strip_columns; ++j) {
        const std::size_t at = r * strip_columns + j;
        to.sum[r].value[j] = sum[at], to.compensation[at] = compensation[at];
      }
  }
};

// Steps [first, end); false, with nothing done, where numbers are none for such a tile.
template <class Kind, class Rounding>
bool add_steps(const Meeting& m, const Rounding& to, std::size_t first, std::size_t end,
               const Registers& registers) {
  using T = typename Rounding::Number;
  CompensatedRegisters<T> z;
  if (!z.load(m.rows, registers, Rounding::keeps_zeros)) return false;
  Meeting of_row = m;
  for (std::size_t r = 0; r < m.rows; ++r, of_row.to_next_row()) {
    CompensatedRow<T> row{nullptr,
                          nullptr,
                          first,
                          end,
                          z.sum + r * strip_columns,
                          z.compensation + r * strip_columns};
    if constexpr (std::is_same_v<T, float>)
      row.a = of_row.a_single, row.b = of_row.b_single;
    else
      row.a = of_row.a, row.b = of_row.b;
    if (!add_row<Kind>(row, to, m.columns)) return false;
  }
  z.store(m.rows, registers);
  return true;
}
template <class Rounding>
bool add_compensated(const Meeting& m, const Rules& rules, const Rounding& to, std::size_t first,
                     std::size_t end, const Registers& registers) {
  return rules.compensation == Compensation::kahan
             ? add_steps<Kahan>(m, to, first, end, registers)
             : add_steps<Neumaier>(m, to, first, end, registers);
}

bool add_as_machine(const Meeting& m, const Rules& rules, std::size_t first, std::size_t end,
                    const Registers& registers) {
  return rules.out.own ? add_compensated(m, rules, AsMachine<double>(), first, end, registers)
                       : add_compensated(m, rules, AsMachine<float>(), first, end, registers);
}

// Whether all of a tile's steps are the machine's: exact products that floats hold, or rounded ones
// of any two floats.
bool is_machine_compensated(const Meeting& m, const Rules& rules) {
  return rules.compensated_tile == CompensatedTile::machine &&
         (rules.out.own || rules.product || m.single);
}

// All steps of a tile that rounds to few digits; false, with nothing done, where it is none.
bool few_digits_tile([[maybe_unused]] const Meeting& m, [[maybe_unused]] const Rules& rules,
                     [[maybe_unused]] const Registers& registers) {
#if HWY_NATIVE_FMA
  const bool sums = rules.compensated_tile == CompensatedTile::short_sums;
  if (!sums && rules.compensated_tile != CompensatedTile::short_products) return false;
  if (!m.single || m.limit > rules.product->largest) return false;
  if (!sums) return add_compensated(m, rules, ToFewDigits<false>(rules), 0, m.k, registers);
  const ToFewDigits<true> to(rules);
  return m.limit <= to.watch.most_product && add_compensated(m, rules, to, 0, m.k, registers);
#else
  return false;  // sequences want fused operations
#endif
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
