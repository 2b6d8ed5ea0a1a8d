// Operands, products and block scales of a unit (lib's datapath/term.hpp, product.hpp) for a row of
// outputs.
#if defined(WIDTHWISE_ROWS_TERMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ROWS_TERMS_INL
#undef WIDTHWISE_ROWS_TERMS_INL
#else
#define WIDTHWISE_ROWS_TERMS_INL
#endif

#include <algorithm>

#include "sim/rows/kernels.hpp"
#include "sim/rows/words-inl.hpp"
#include "widthwise/datapath/chain.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// lib's functions know no instruction set; taken into these, they are compiled for this one, if it
// is not the one that all is compiled for.
#if HWY_TARGET == HWY_STATIC_TARGET
#define WIDTHWISE_HERE
#else
#define WIDTHWISE_HERE [[gnu::flatten]]
#endif

using Word2 = Doubled<Word>;
using Word4 = Doubled<Word2>;

// n, as far as a carrier can be shifted.
template <class U>
HWY_INLINE Count as_shift(const Count& n) {
  return greater(Count(0), lesser(n, Count(digits_of<U> - 1)));
}
template <class U>
HWY_INLINE Count length(const U& x) {
  return Count(digits_of<U>) - leading_zeros(x);
}

// What became of a row of outputs beside their numbers.
struct Fate {
  Count flags;
  Truth lost;  // it met a sum that these magnitudes have no room for
};

// Where something was computed in vain, it raised and lost nothing.
HWY_INLINE void take_back(const Truth& where, const Fate& before, Fate& fate) {
  fate.flags = select(where, before.flags, fate.flags);
  fate.lost = select(where, before.lost, fate.lost);
}

// lib's Factor, of a row: infinite where it is endless, NaN where it is that and zero. Neither has
// digits.
template <class H>
struct Factors {
  Truth negative, zero, endless;
  H m;
  Count q, e;
};
// lib's Term, of a row. An exact zero, an infinity and a NaN have no digits.
template <class M>
struct Terms {
  Truth negative, zero, endless, mixed;
  M m;
  Count q, e;
  Position lane;
  bool is_c;
  int length;  // digits of m, at most; all of the carrier where nobody knows
};

// Numbers as they lie in memory, read by what takes the i-th word of them.
template <class H, class Read>
HWY_INLINE Factors<H> factors(const Read& read) {
  Factors<H> x;
  constexpr int words = words_of<H>;
  for (int i = 0; i < words; ++i) word(x.m, i) = read(i);
  x.q = Count(read(words)), x.e = Count(read(words + 1));
  const Word marks = read(words + 2);
  x.negative = has(marks, Word(negative)), x.zero = has(marks, Word(zero));
  x.endless = has(marks, Word(endless));
  return x;
}
template <class H>
HWY_INLINE Factors<H> load_factors(const std::uint64_t* from, std::size_t panel) {
  return factors<H>([&](int i) { return load(from + std::size_t(i) * panel); });
}
template <class H>
HWY_INLINE Factors<H> spread_factors(const std::uint64_t* from) {
  return factors<H>([&](int i) { return Word(from[i]); });
}

template <class H>
HWY_INLINE H load_words(const std::uint64_t* from, std::size_t panel) {
  H x;
  for (int i = 0; i < words_of<H>; ++i) word(x, i) = load(from + std::size_t(i) * panel);
  return x;
}
template <class H>
HWY_INLINE void store_words(const H& x, std::uint64_t* to, std::size_t panel) {
  for (int i = 0; i < words_of<H>; ++i) store(word(x, i), to + std::size_t(i) * panel);
}
template <class H>
HWY_INLINE void store_factors(const Factors<H>& x, std::uint64_t* to, std::size_t panel) {
  const auto marked = [](Truth c, Mark mark) {
    Word all;
    fill(c, all);
    return all & Word(mark);
  };
  store_words(x.m, to, panel);
  to += words_of<H> * panel;
  store(Word(x.q), to), store(Word(x.e), to + panel);
  store(marked(x.negative, negative) | marked(x.zero, zero) | marked(x.endless, endless),
        to + 2 * panel);
}

template <class H>
HWY_INLINE Factors<H> cleared_factors(const Format& f) {
  return {Truth(false),   Truth(true), Truth(false), H(0), Count(f.least_digit()),
          Count(f.emin())};
}

template <class M, class H>
HWY_INLINE void put_terms(const Factors<H>& x, int length, std::int64_t lane, bool is_c,
                          Terms<M>& to) {
  to.negative = x.negative, to.zero = x.zero, to.endless = x.endless, to.mixed = Truth(false);
  to.m = M(x.m), to.q = x.q, to.e = x.e;
  to.lane = lane, to.is_c = is_c, to.length = length;
}

template <class M, class H>
HWY_INLINE Terms<M> terms(const Factors<H>& x, int length, std::int64_t lane, bool is_c) {
  Terms<M> z;
  put_terms(x, length, lane, is_c, z);
  return z;
}

// Of terms of one lane, neither of them C.
template <class M>
HWY_INLINE Terms<M> select(Truth c, const Terms<M>& x, const Terms<M>& y) {
  return {select(c, x.negative, y.negative),
          select(c, x.zero, y.zero),
          select(c, x.endless, y.endless),
          select(c, x.mixed, y.mixed),
          select(c, x.m, y.m),
          select(c, x.q, y.q),
          select(c, x.e, y.e),
          x.lane,
          false,
          std::max(x.length, y.length)};
}

// How many words factors have.
struct FactorWords {
  int a, b;
  bool halves;  // no more than half a one
  int length;   // digits of the product
};
template <class M, class A, class B>
HWY_INLINE M multiplied(const A& a, const B& b, const FactorWords& of) {
  if (of.halves) return M(multiplied_halves(word(a, 0), word(b, 0)));
  if (of.length <= 64) return M(word(a, 0) * word(b, 0));
  M z(0);
  for (int i = 0; i < std::min(words_of<A>, words_of<M>); ++i) {
    if (i >= of.a) break;
    Word carry(0);
    for (int j = 0; j < std::min(words_of<B>, words_of<M> - i); ++j) {
      if (j >= of.b) break;
      Word& to = word(z, i + j);
      const Halves<Word> p = multiply_exact(word(a, i), word(b, j));
      const Word sum = to + p.low, whole = sum + carry;
      Word first, second;
      fill(sum < p.low, first), fill(whole < carry, second);
      carry = p.high - first - second;
      to = whole;
    }
    if (i + of.b < words_of<M>) word(z, i + of.b) = carry;
  }
  return z;
}

// Of a factor or a term.
template <class T>
HWY_INLINE Truth is_nan(const T& x) {
  return x.endless & x.zero;
}
template <class T>
HWY_INLINE Truth is_zero(const T& x) {
  return x.zero & no(x.endless);
}

// lib's product_kind.
template <class X, class H, class M>
HWY_INLINE void take_kind(const X& x, const Factors<H>& y, Terms<M>& z) {
  z.zero = x.zero | y.zero;
  z.endless = x.endless | y.endless;
}

// lib's exact_product.
template <class M, class H>
HWY_INLINE void multiply(const Product& p, const FactorWords& of, const Factors<H>& x,
                         const Factors<H>& y, std::int64_t lane, Terms<M>& z) {
  take_kind(x, y, z);
  z.negative = x.negative ^ y.negative;
  z.mixed = Truth(false);
  z.m = multiplied<M>(x.m, y.m, of);
  z.q = select(z.zero, Count(0), x.q + y.q);
  z.e = x.e + y.e;
  z.lane = lane, z.is_c = false, z.length = of.length;
  if (!p.overflow_to_inf_at && p.exponent != ProductExponent::normalised) return;
  const Count top = length(z.m) + z.q;
  if (p.exponent == ProductExponent::normalised) z.e = select(z.zero, z.e, top - Count(1));
  if (!p.overflow_to_inf_at) return;
  z.endless = z.endless | (no(z.zero) & (top > Count(*p.overflow_to_inf_at)));
  z.m = select(z.endless, M(0), z.m);
}

// lib's scale_by.
template <class M, class H>
HWY_INLINE void scale_by(const Factors<H>& scale, const FactorWords& of, Terms<M>& t) {
  take_kind(t, scale, t);
  t.negative = t.negative ^ scale.negative;
  t.m = multiplied<M>(t.m, scale.m, of);
  t.length = of.length;
  t.q = select(t.zero, Count(0), t.q + scale.q);
  t.e = t.e + scale.e;
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
