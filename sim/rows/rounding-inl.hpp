// Roundings of a unit (lib's datapath/rounding_slot.hpp) for a row of outputs.
#if defined(WIDTHWISE_ROWS_ROUNDING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ROWS_ROUNDING_INL
#undef WIDTHWISE_ROWS_ROUNDING_INL
#else
#define WIDTHWISE_ROWS_ROUNDING_INL
#endif

#include <optional>
#include <span>

#include "sim/engine/dice-inl.hpp"
#include "sim/rows/terms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

using widthwise::HWY_NAMESPACE::Dice;

// Whether the top digit is set: of two's complement a sign.
template <class M>
HWY_INLINE Truth is_negative(const M& v) {
  const Word top = word(v, words_of<M> - 1);
  return (top >> 63) != Word(0);
}

// lib's rounds_away, of what was dropped at the top of its carrier.
template <class M>
HWY_INLINE Truth goes_away(const RoundingRule& rule, Truth negative, Truth odd, const M& rest) {
  const auto place = [](Truth c, int value) { return select(c, Count(value), Count(0)); };
  const Count row = place(negative, 8) | place(odd, 4) | place(is_negative(rest), 2) |
                    place((rest << 1) != M(0), 1);
  return ((Word(rule.table) >> row) & Word(1)) != Word(0);
}

// Drops n low digits of a magnitude below 2^(digits - 2), n <= 0: none.
template <class M>
HWY_INLINE M cut(const RoundingRule& rule, const Truth& negative, const M& m, const Count& n) {
  const Count drop = as_shift<M>(n);
  const M kept = m >> drop;
  if (rule.table == 0) return kept;
  const M rest = (m << 1) << (Count(digits_of<M> - 1) - drop);
  const Truth odd = (word(kept, 0) & Word(1)) != Word(0);
  M away;
  fill(goes_away(rule, negative, odd, rest), away);
  return kept - away;
}

// A place of the unit that rounds, with its random bits for this row of outputs. C is an integer of
// codes.
template <class C>
struct Place {
  const RoundingSlot<Rows<C>>* slot;
  Dice<RowWord> dice;
};

// The upper words, what lies below them jammed.
template <class C, class M>
HWY_INLINE C leading_words(const M& m) {
  if constexpr (words_of<C> == words_of<M>) {
    return m;
  } else {
    C z = leading_words<C>(m.high);
    word(z, 0) = word(z, 0) | select(m.low != decltype(m.low)(0), Word(1), Word(0));
    return z;
  }
}

// lib's cut_after_normalising.
template <class M>
HWY_INLINE void cut_after_normalising(const Round& r, Terms<M>& t) {
  const Count top = length(t.m) - Count(1) + t.q;
  const Count e = greater(top, Count(r.fmt.emin()));
  const Count n = e - Count(*r.post_norm_frac) - t.q;
  t.m = cut(RoundingRule(r.post_norm_rm), t.negative, t.m, n);
  t.q = t.q + greater(n, Count(0));
}

// A term as the rounding takes it: normalised digits of a carrier of codes, the rest jammed.
template <class C>
struct ToRound {
  Truth negative, zero;
  Count exp;
  C sig;
};
template <class C, class M>
HWY_INLINE ToRound<C> to_round(const Round& r, Terms<M> t) {
  Truth zero_sign = select(t.mixed, Truth(r.rm.mode == RoundingMode::rdn), t.negative);
  if (r.zero_sign == ZeroSign::plus) zero_sign = Truth(false);
  const Truth negative = select(t.m == M(0), zero_sign, t.negative);
  if (r.post_norm_frac) cut_after_normalising(r, t);
  const Count zeros = leading_zeros(t.m);
  return {negative, t.m == M(0), t.q - zeros + Count(digits_of<M> - digits_of<C>),
          leading_words<C>(t.m << zeros)};
}

// A register between blocks: the code it holds and what its format reads from that.
template <class C>
struct Register {
  C code;
  Factors<C> value;
};

// A rounding that is right where it is sure.
template <class C>
struct Quick {
  Register<C> result;
  Count flags;
  Truth sure;
};
// Zeros stay what they are, in formats that have them beside subnormals.
template <class C>
HWY_INLINE void take_zeros(const Rounder<Rows<C>>& to, const ToRound<C>& x, Quick<C>& z) {
  const Layout<Rows<C>>& f = to.layout;
  const Truth negative = x.negative & Truth(to.keeps_zero_sign);
  Factors<C>& value = z.result.value;
  value.negative = select(x.zero, negative, value.negative);
  value.zero = x.zero;
  value.m = select(x.zero, C(0), value.m);
  value.q = select(x.zero, Count(f.emin - f.format.frac_bits), value.q);
  value.e = select(x.zero, Count(f.emin), value.e);
  z.result.code = select(x.zero, select(negative, from_row(f.sign), C(0)), z.result.code);
  z.flags = select(x.zero, Count(0), z.flags);
  z.sure = z.sure | x.zero;
}

// lib's deliver_quick, of a number that stays a normal one, and its code read again without making
// one (docs/exactness.md, 12).
template <class C>
HWY_INLINE Quick<C> round_quickly(const Rounder<Rows<C>>& to, const ToRound<C>& x,
                                  const C& random) {
  const auto increment = [&](int row) { return from_row(to.increment[row]); };
  const C one = C(1) << (digits_of<C> - 1);
  const Truth odd = (x.sig & from_row(to.last_digit)) != C(0);
  C fraction = (x.sig ^ one) + select(odd, select(x.negative, increment(3), increment(1)),
                                      select(x.negative, increment(2), increment(0)));
  if (to.rule.rounding.stochastic())
    fraction = fraction + ((random & from_row(to.random_mask)) << to.random_shift) -
               (random & from_row(to.random_tie));
  const Layout<Rows<C>>& f = to.layout;
  const Count exp = x.exp + Count(word(fraction, words_of<C> - 1) >> 63);
  const C kept = (fraction & from_row(to.kept)) & (one - C(1));
  const Count q = exp + Count(f.up);
  Quick<C> z;
  z.result.value = {x.negative,
                    Truth(false),
                    Truth(false),
                    (kept | one) >> f.up,
                    q,
                    q + Count(f.format.frac_bits)};
  z.result.code = (C(exp + Count(f.plain_offset)) << f.format.frac_bits) + (kept >> f.up) +
                  select(x.negative, from_row(f.sign), C(0));
  z.flags = select((x.sig & from_row(to.dropped)) != C(0), Count(inexact), Count(0));
  z.sure = no(x.zero | (x.exp < Count(to.first_inside)) | (x.exp > Count(to.last_inside)));
  if (!f.all_normal && any(x.zero)) take_zeros(to, x, z);
  return z;
}

// lib's deliver, of any number.
template <class C>
WIDTHWISE_HERE HWY_NOINLINE Register<C> round_any(const Rounder<Rows<C>>& to, const ToRound<C>& x,
                                                  const C& random, Fate& fate) {
  Number<Rows<C>> number;
  to_row(x.negative, number.negative), to_row(x.zero, number.zero);
  to_row(Truth(false), number.infinite), to_row(Truth(false), number.nan);
  to_row(Truth(false), number.signaling);
  to_row(x.exp, number.exp), to_row(x.sig, number.sig);
  Rows<C> bits;
  to_row(random, bits);
  const Result<Rows<C>> z = deliver(to, number, {}, bits);
  fate.flags = fate.flags | from_row(z.flags);

  const Number<Rows<C>> read = unpack(to.layout, z.code);
  const Count q = from_row(read.exp), e = q + Count(to.layout.format.frac_bits);
  return {from_row(z.code),
          {from_row(read.negative), from_row(read.zero), from_row(read.infinite | read.nan),
           from_row(read.sig), q, e}};
}

// Normalises and rounds: lib's `rounded`, and its code read again.
template <class M, class C>
WIDTHWISE_HERE HWY_NOINLINE Register<C> rounded(Place<C>& at, const Terms<M>& t, std::int64_t step,
                                                Fate& fate) {
  const RoundingSlot<Rows<C>>& s = *at.slot;
  C random(0);
  if (at.dice.stochastic()) random = C(from_row(at.dice.bits(static_cast<std::uint64_t>(step))));
  const ToRound<C> x = to_round<C>(s.description, t);
  const Quick<C> z = round_quickly(s.rounder, x, random);
  if (any(no(z.sure | fate.lost))) return round_any(s.rounder, x, random, fate);
  fate.flags = fate.flags | z.flags;
  return z.result;
}

// lib's rounded_term: down to the last digit that was kept.
template <class M, class C>
HWY_INLINE Terms<M> rounded_term(Place<C>& at, const Terms<M>& t, std::int64_t step, Fate& fate) {
  Factors<C> x = rounded(at, t, step, fate).value;
  if (const int spare = at.slot->rounder.spare; spare > 0) {
    const Truth whole = (x.m << (digits_of<C> - spare)) == C(0);
    const Truth shortens = whole & no(x.zero | x.endless);
    x.m = select(shortens, x.m >> spare, x.m);
    x.q = x.q + select(shortens, Count(spare), Count(0));
  }
  return terms<M>(x, at.slot->description.fmt.precision(), t.lane, false, fate);
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
