// A row of outputs as lib's datapath takes it: operands where they lie in panels, what became of
// the row beside its numbers, and its random bits.
#if defined(WIDTHWISE_INTEGERS_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_INTEGERS_ROW_INL
#undef WIDTHWISE_INTEGERS_ROW_INL
#else
#define WIDTHWISE_INTEGERS_ROW_INL
#endif

#include "sim/integers/dice-inl.hpp"
#include "sim/integers/row_kernels.hpp"
#include "widthwise/datapath/chain.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// Numbers as they lie in memory, read by what takes the i-th word of them.
template <class C, class Read>
HWY_INLINE Factor<C> factors(const Read& read) {
  Factor<C> x;
  constexpr int words = words_of<C>;
  for (int i = 0; i < words; ++i) word(x.m, i) = read(i);
  x.q = Count(read(words)), x.e = Count(read(words + 1));
  const Word marks = read(words + 2);
  x.negative = has(marks, Word(negative)), x.zero = has(marks, Word(zero));
  x.endless = has(marks, Word(endless));
  return x;
}
template <class C>
HWY_INLINE Factor<C> load_factors(const std::uint64_t* from, std::size_t panel) {
  return factors<C>([&](int i) { return load(from + std::size_t(i) * panel); });
}
template <class C>
HWY_INLINE Factor<C> spread_factors(const std::uint64_t* from) {
  return factors<C>([&](int i) { return Word(from[i]); });
}

template <class C>
HWY_INLINE C load_words(const std::uint64_t* from, std::size_t panel) {
  C x;
  for (int i = 0; i < words_of<C>; ++i) word(x, i) = load(from + std::size_t(i) * panel);
  return x;
}
template <class C>
HWY_INLINE void store_words(const C& x, std::uint64_t* to, std::size_t panel) {
  for (int i = 0; i < words_of<C>; ++i) store(word(x, i), to + std::size_t(i) * panel);
}
template <class C>
HWY_INLINE void store_factors(const Factor<C>& x, std::uint64_t* to, std::size_t panel) {
  const auto marked = [](Truth c, Mark mark) {
    Word all;
    fill(c, all);
    return all & Word(mark);
  };
  store_words(x.m, to, panel);
  to += words_of<C> * panel;
  store(Word(x.q), to), store(Word(x.e), to + panel);
  store(marked(x.negative, negative) | marked(x.zero, zero) | marked(x.endless, endless),
        to + 2 * panel);
}

// Operands of the row's outputs, lane after lane: one of A for all, one of B for each.
template <class C>
struct Operands {
  const std::uint64_t *a, *scale_a, *b, *scale_b;
  const std::size_t* scale_of;
  std::size_t panel;  // from one word of B's to the next
  std::size_t lanes;

  static constexpr std::size_t words = words_of<C> + words_beside;

  std::size_t size() const { return lanes; }
  // Those from this lane on.
  Operands block(std::size_t first, std::size_t count) const {
    return {a + first * words,
            scale_a,
            b + first * words * panel,
            scale_b,
            scale_of ? scale_of + first : nullptr,
            panel,
            count};
  }
};
template <class C>
HWY_INLINE Factor<C> factor_a(const Operands<C>& x, std::size_t lane) {
  return spread_factors<C>(x.a + lane * x.words);
}
template <class C>
HWY_INLINE Factor<C> factor_b(const Operands<C>& x, std::size_t lane) {
  return load_factors<C>(x.b + lane * x.words * x.panel, x.panel);
}
template <class C>
HWY_INLINE Factor<C> factor_scale_a(const Operands<C>& x, std::size_t lane) {
  return spread_factors<C>(x.scale_a + x.scale_of[lane] * x.words);
}
template <class C>
HWY_INLINE Factor<C> factor_scale_b(const Operands<C>& x, std::size_t lane) {
  return load_factors<C>(x.scale_b + x.scale_of[lane] * x.words * x.panel, x.panel);
}

// Significands of as many digits as their formats have.
template <class M>
struct RowMultiplier {
  static constexpr bool keeps_digits = true;
  int digits_a, digits_b;

  template <class C>
  HWY_INLINE M operator()(const C& a, const C& b) const {
    return product_of<M>(a, digits_a, b, digits_b);
  }
};

// lib's Progress, of a row.
struct RowProgress {
  Count flags;
  Truth gone;  // it met a sum that these magnitudes have no room for
  Draws* draws;
  bool codes_only;

  static constexpr bool loses = true;
  HWY_INLINE void lose(Truth where) { gone = gone | where; }
  HWY_INLINE Truth lost() const { return gone; }
  HWY_INLINE void raise(Count raised) { flags = flags | raised; }
  HWY_INLINE void take_back(Truth where, const RowProgress& before) {
    flags = select(where, before.flags, flags);
    gone = select(where, before.gone, gone);
  }
  template <class C>
  HWY_INLINE C draw(const Rounding& rounding, Slot slot, std::int64_t step) const {
    return C(draws->bits(slot, rounding.random_bits, static_cast<std::uint64_t>(step)));
  }
};

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
