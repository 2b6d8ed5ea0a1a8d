// Compensated sums of the machine's own floats or doubles, for tiles (docs/exactness.md, 56).
// Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#undef WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#else
#define WIDTHWISE_BLOCKS_COMPENSATED_TILE_INL
#endif

#include "sim/blocks/products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// lib's Accumulator, of a vector of outputs.
template <class D>
struct Accumulators {
  hn::Vec<D> sum, compensation;
  HWY_INLINE Accumulators() {}  // the compiler's own would not know the instruction set
};

// A step of either kind, as lib's datapath/compensation.hpp has them.
struct Kahan {
  template <class D>
  HWY_INLINE static void add(D, hn::Vec<D> p, Accumulators<D>& acc) {
    const auto y = hn::Sub(p, acc.compensation), before = acc.sum;
    acc.sum = hn::Add(before, y);
    acc.compensation = hn::Sub(hn::Sub(acc.sum, before), y);
  }
};
struct Neumaier {
  template <class D>
  HWY_INLINE static void add(D, hn::Vec<D> p, Accumulators<D>& acc) {
    const auto before = acc.sum;
    const auto sum_leads = hn::Ge(hn::Abs(before), hn::Abs(p));
    const auto large = hn::IfThenElse(sum_leads, before, p);
    const auto small = hn::IfThenElse(sum_leads, p, before);
    acc.sum = hn::Add(before, p);
    const auto error = hn::Add(hn::Sub(large, acc.sum), small);
    acc.compensation = hn::Add(acc.compensation, error);
  }
};

// Steps [first, end) of one row of a tile.
template <class T>
struct CompensatedSteps {
  const T *a, *b;
  std::size_t first, end;
};

// Vectors whose sums overlap, for every sum waits for the one before it.
template <class Kind, int vectors, class T>
void add_columns(const CompensatedSteps<T>& m, std::size_t column, T* sum, T* compensation) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  Accumulators<std::remove_const_t<D>> acc[vectors];
  const auto at = [&](int v) HWY_ATTR { return column + std::size_t(v) * hn::Lanes(d); };
  for (int v = 0; v < vectors; ++v) {
    acc[v].sum = hn::LoadU(d, sum + at(v));
    acc[v].compensation = hn::LoadU(d, compensation + at(v));
  }
  for (std::size_t i = m.first; i < m.end; ++i) {
    const auto a = hn::Set(d, m.a[i]);
    for (int v = 0; v < vectors; ++v)
      Kind::add(d, hn::Mul(a, hn::LoadU(d, m.b + i * strip_columns + at(v))), acc[v]);
  }
  for (int v = 0; v < vectors; ++v) {
    hn::StoreU(acc[v].sum, d, sum + at(v));
    hn::StoreU(acc[v].compensation, d, compensation + at(v));
  }
}

template <class Kind, class T>
void add_row(const CompensatedSteps<T>& m, std::size_t columns, Strip& sum, double* compensation) {
  alignas(64) T sums[strip_columns], compensations[strip_columns];
  for (std::size_t j = 0; j < strip_columns; ++j) {
    sums[j] = static_cast<T>(sum.value[j]);
    compensations[j] = static_cast<T>(compensation[j]);
  }
  constexpr int many = 4;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  if (columns <= lanes)
    add_columns<Kind, 1>(m, 0, sums, compensations);
  else
    for (std::size_t j = 0; j < columns; j += many * lanes)
      add_columns<Kind, many>(m, j, sums, compensations);
  for (std::size_t j = 0; j < strip_columns; ++j)
    sum.value[j] = sums[j], compensation[j] = compensations[j];
}

// Whether a tile is such: exact products that floats hold, or rounded ones of any two floats.
bool are_machine_compensated(const Meeting& m, const Rules& rules) {
  return rules.machine_compensation && (rules.out.own || rules.product || m.single);
}

// Steps [first, end) of a tile.
void add_machine_compensated(const Meeting& m, const Rules& rules, std::size_t first,
                             std::size_t end, Registers registers) {
  Meeting of_row = m;
  for (std::size_t r = 0; r < m.rows; ++r, of_row.to_next_row(), registers.to_next_row()) {
    const auto add = [&](auto kind) {
      using Kind = decltype(kind);
      if (rules.out.own)
        add_row<Kind, double>({of_row.a, of_row.b, first, end}, m.columns, *registers.sum,
                              registers.compensation);
      else
        add_row<Kind, float>({of_row.a_single, of_row.b_single, first, end}, m.columns,
                             *registers.sum, registers.compensation);
    };
    rules.compensation == Compensation::kahan ? add(Kahan()) : add(Neumaier());
  }
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
