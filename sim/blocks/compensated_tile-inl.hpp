// Compensated sums in floats or doubles, for tiles (docs/exactness.md, 56). Compiled once for every
// instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#undef WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#else
#define WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#endif

#include "sim/blocks/any_mode-inl.hpp"
#include "sim/blocks/few_digits-inl.hpp"
#include "sim/blocks/tiles.hpp"
#include "sim/engine/tile_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// --- Roundings -----------------------------------------------------------------------------------

// What roundings need that know neither steps nor places: sum(x) rounds what the machine has added.
template <class Rounding, class V>
struct ByValue {
  template <class Row>
  HWY_INLINE void begin(const Row&, std::size_t, std::size_t) {}
  template <class Places>
  HWY_INLINE void begin_step(std::uint64_t, const Places&) {}
  HWY_INLINE bool fits() const { return true; }

  HWY_INLINE V add(widthwise::Slot, std::size_t, V x, V y) const { return sum(hn::Add(x, y)); }
  HWY_INLINE V subtract(widthwise::Slot, std::size_t, V x, V y) const { return sum(hn::Sub(x, y)); }

 private:
  HWY_INLINE V sum(V x) const { return static_cast<const Rounding&>(*this).sum(x); }
};

// The machine's own.
template <class T>
struct AsMachine : ByValue<AsMachine<T>, hn::Vec<hn::ScalableTag<T>>> {
  using Number = T;
  using D = hn::ScalableTag<T>;
  static constexpr bool keeps_zeros = true, watched = false;

  HWY_INLINE hn::Vec<D> product(T a, hn::Vec<D> b) const { return hn::Mul(hn::Set(D(), a), b); }
  HWY_INLINE hn::Vec<D> sum(hn::Vec<D> x) const { return x; }
};

// Products of floats to fewer digits, and sums too if told: of numbers that do not overflow.
template <bool sums>
struct ToFewDigits : ByValue<ToFewDigits<sums>, S> {
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

// Products added to vectors of outputs, as lib's datapath/compensation.hpp has it, side by side:
// each operation waits for the one before.
struct Kahan {
  using At = widthwise::Slot;
  static constexpr std::array places{At::addend, At::out, At::difference, At::error};

  template <class Rounding, class V, std::size_t n>
  HWY_INLINE static void add(Rounding& to, const V (&p)[n], Accumulators<V> (&acc)[n]) {
    const std::size_t next = hn::Lanes(hn::DFromV<V>());
    V y[n], before[n];
    for (std::size_t v = 0; v < n; ++v)
      y[v] = to.subtract(At::addend, v * next, p[v], acc[v].compensation);
    for (std::size_t v = 0; v < n; ++v) before[v] = acc[v].sum;
    for (std::size_t v = 0; v < n; ++v) acc[v].sum = to.add(At::out, v * next, before[v], y[v]);
    for (std::size_t v = 0; v < n; ++v)
      before[v] = to.subtract(At::difference, v * next, acc[v].sum, before[v]);
    for (std::size_t v = 0; v < n; ++v)
      acc[v].compensation = to.subtract(At::error, v * next, before[v], y[v]);
  }
};
struct Neumaier {
  using At = widthwise::Slot;
  static constexpr std::array places{At::out, At::difference, At::error, At::compensation};

  template <class Rounding, class V, std::size_t n>
  HWY_INLINE static void add(Rounding& to, const V (&p)[n], Accumulators<V> (&acc)[n]) {
    const std::size_t next = hn::Lanes(hn::DFromV<V>());
    V large[n], small[n];
    for (std::size_t v = 0; v < n; ++v) {
      const auto sum_leads = hn::Ge(hn::Abs(acc[v].sum), hn::Abs(p[v]));
      large[v] = hn::IfThenElse(sum_leads, acc[v].sum, p[v]);
      small[v] = hn::IfThenElse(sum_leads, p[v], acc[v].sum);
    }
    for (std::size_t v = 0; v < n; ++v) acc[v].sum = to.add(At::out, v * next, acc[v].sum, p[v]);
    for (std::size_t v = 0; v < n; ++v)
      large[v] = to.subtract(At::difference, v * next, large[v], acc[v].sum);
    for (std::size_t v = 0; v < n; ++v) small[v] = to.add(At::error, v * next, large[v], small[v]);
    for (std::size_t v = 0; v < n; ++v)
      acc[v].compensation = to.add(At::compensation, v * next, acc[v].compensation, small[v]);
  }
};

// Steps [first, end) of one row of a tile.
template <class T>
struct CompensatedRow {
  const T *a, *b;
  std::size_t first, end;
  T *sum, *compensation;
  Where output;            // its first one
  std::uint64_t position;  // of step 0 along k
  DrawsOfRow* draws;
};

// Vectors of columns whose steps overlap, for each waits for the one before it. False where a
// number is past its limit.
template <class Kind, std::size_t vectors, class Rounding, class T>
bool add_columns(const CompensatedRow<T>& row, Rounding to, std::size_t column) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  Accumulators<V> acc[vectors];
  const auto at = [&](std::size_t v) HWY_ATTR { return column + v * hn::Lanes(d); };
  to.begin(row, column, vectors * hn::Lanes(d));
  for (std::size_t v = 0; v < vectors; ++v) {
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
    for (; i < end; ++i) {
      to.begin_step(row.position + i, Kind::places);
      V p[vectors];
      for (std::size_t v = 0; v < vectors; ++v)
        p[v] = to.product(row.a[i], hn::LoadU(d, row.b + i * strip_columns + at(v)));
      Kind::add(to, p, acc);
    }
  }
  if (!to.fits()) return false;
  for (std::size_t v = 0; v < vectors; ++v) {
    hn::StoreU(acc[v].sum, d, row.sum + at(v));
    hn::StoreU(acc[v].compensation, d, row.compensation + at(v));
  }
  return true;
}

template <class Kind, class Rounding, class T>
bool add_row(const CompensatedRow<T>& row, const Rounding& to, std::size_t columns) {
  constexpr std::size_t many = 4;
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
               const Registers& registers, Scratch& scratch) {
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
                          z.compensation + r * strip_columns,
                          of_row.output,
                          m.first,
                          &scratch.draws[r]};
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
                     std::size_t end, const Registers& registers, Scratch& scratch) {
  return rules.compensation == Compensation::kahan
             ? add_steps<Kahan>(m, to, first, end, registers, scratch)
             : add_steps<Neumaier>(m, to, first, end, registers, scratch);
}

bool add_as_machine(const Meeting& m, const Rules& rules, std::size_t first, std::size_t end,
                    const Registers& registers, Scratch& scratch) {
  const auto add = [&](const auto& to) {
    return add_compensated(m, rules, to, first, end, registers, scratch);
  };
  return rules.out.own ? add(AsMachine<double>()) : add(AsMachine<float>());
}

// Whether all of a tile's steps are the machine's: exact products that floats hold, or rounded ones
// of any two floats.
bool is_machine_compensated(const Meeting& m, const Rules& rules) {
  return rules.compensated_tile == CompensatedTile::machine &&
         (rules.out.own || rules.product || m.single);
}

// All steps of a tile that rounds to few digits; false, with nothing done, where it is none.
bool few_digits_tile([[maybe_unused]] const Meeting& m, [[maybe_unused]] const Rules& rules,
                     [[maybe_unused]] const Registers& registers,
                     [[maybe_unused]] Scratch& scratch) {
#if HWY_NATIVE_FMA
  const bool sums = rules.compensated_tile == CompensatedTile::short_sums;
  if (!sums && rules.compensated_tile != CompensatedTile::short_products) return false;
  if (!m.single || m.limit > rules.product->largest) return false;
  const auto add = [&](const auto& to) {
    return add_compensated(m, rules, to, 0, m.k, registers, scratch);
  };
  if (!sums) return add(ToFewDigits<false>(rules));
  const ToFewDigits<true> to(rules);
  return m.limit <= to.watch.most_product && add(to);
#else
  return false;  // sequences want fused operations
#endif
}

// Whether sums are numbers before any step: C may be none, and stays so.
bool are_numbers(const Meeting& m, const Registers& registers) {
  M all = hn::Eq(number(0), number(0));
  for (std::size_t r = 0; r < m.rows; ++r)
    for_each_vector(m.columns, [&](std::size_t at) HWY_ATTR {
      all = hn::AndNot(infinite_or_nan(load(registers.sum[r].value + at)), all);
    });
  return hn::AllTrue(Doubles(), all);
}

// The same by any mode, or by random bits, to fewer digits than doubles have.
bool any_mode_tile(const Meeting& m, const Rules& rules, const Registers& registers,
                   Scratch& scratch) {
  if (rules.compensated_tile != CompensatedTile::any_mode || m.special) return false;
  if (!are_numbers(m, registers)) return false;
  const auto add = [&](const auto& to) {
    return add_compensated(m, rules, to, 0, m.k, registers, scratch);
  };
  return rules.out.random_bits > 0 ? add(ToDigits<true>(rules)) : add(ToDigits<false>(rules));
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
