// Operands, products and block scales of a unit (lib's datapath/term.hpp, product.hpp) for a row of
// outputs.
#if defined(WIDTHWISE_ROWS_TERMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ROWS_TERMS_INL
#undef WIDTHWISE_ROWS_TERMS_INL
#else
#define WIDTHWISE_ROWS_TERMS_INL
#endif

#include "sim/rows/kernels.hpp"
#include "sim/rows/words-inl.hpp"
#include "widthwise/datapath/chain.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// lib's functions know no instruction set; taken into these, they are compiled for this one.
#define WIDTHWISE_HERE [[gnu::flatten]]

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
  Truth lost;  // it met what only the reference does
};

// lib's Factor, of a row: `endless` is an infinity or a NaN.
template <class H>
struct Factors {
  Truth negative, zero, endless;
  H m;
  Count q, e;
};
// lib's Term, of a row. Neither infinite nor NaN; an exact zero has no digits either.
template <class M>
struct Terms {
  Truth negative, zero, mixed;
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
  const auto has = [&](Mark m) { return (marks & Word(m)) != Word(0); };
  x.negative = has(negative), x.zero = has(zero), x.endless = has(endless);
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
HWY_INLINE Factors<H> cleared_factors(const Format& f) {
  return {Truth(false),   Truth(true), Truth(false), H(0), Count(f.emin() - f.frac_bits),
          Count(f.emin())};
}

template <class M, class H>
HWY_INLINE Terms<M> terms(const Factors<H>& x, int length, std::int64_t lane, bool is_c,
                          Fate& fate) {
  fate.lost = fate.lost | x.endless;
  return {x.negative, x.zero, Truth(false), M(x.m), x.q, x.e, lane, is_c, length};
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
  M z(0);
  for (int i = 0; i < of.a; ++i) {
    Word carry(0);
    int at = i;
    for (int j = 0; j < of.b && at < words_of<M>; ++j, ++at) {
      const Halves<Word> p = multiply_exact(word(a, i), word(b, j));
      const Word sum = word(z, at) + p.low, whole = sum + carry;
      Word first, second;
      fill(sum < p.low, first), fill(whole < carry, second);
      carry = p.high - first - second;
      word(z, at) = whole;
    }
    if (at < words_of<M>) word(z, at) = carry;
  }
  return z;
}

// lib's exact_product.
template <class M, class H>
HWY_INLINE void multiply(const Product& p, const FactorWords& of, const Factors<H>& x,
                         const Factors<H>& y, std::int64_t lane, Terms<M>& z, Fate& fate) {
  fate.lost = fate.lost | x.endless | y.endless;
  z.zero = x.zero | y.zero;
  z.negative = x.negative ^ y.negative;
  z.mixed = Truth(false);
  z.m = multiplied<M>(x.m, y.m, of);
  z.q = select(z.zero, Count(0), x.q + y.q);
  z.e = x.e + y.e;
  z.lane = lane, z.is_c = false, z.length = of.length;
  if (!p.overflow_to_inf_at && p.exponent != ProductExponent::normalised) return;
  const Count top = length(z.m) + z.q;
  if (p.overflow_to_inf_at)
    fate.lost = fate.lost | (no(z.zero) & (top > Count(*p.overflow_to_inf_at)));
  if (p.exponent == ProductExponent::normalised) z.e = select(z.zero, z.e, top - Count(1));
}

// lib's scale_by.
template <class M, class H>
HWY_INLINE void scale_by(const Factors<H>& scale, const FactorWords& of, Terms<M>& t, Fate& fate) {
  fate.lost = fate.lost | scale.endless;
  t.zero = t.zero | scale.zero;
  t.negative = t.negative ^ scale.negative;
  t.m = multiplied<M>(t.m, scale.m, of);
  t.length = of.length;
  t.q = select(t.zero, Count(0), t.q + scale.q);
  t.e = t.e + scale.e;
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
