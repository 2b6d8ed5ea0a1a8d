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
  return Count(word(v, words_of<M> - 1)) < Count(0);
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
  Truth negative, zero, endless, nan;
  Count exp;
  C sig;
};
template <class C, class M>
HWY_INLINE ToRound<C> to_round(const Round& r, Terms<M> t) {
  Truth zero_sign = select(t.mixed, Truth(r.rm.mode == RoundingMode::rdn), t.negative);
  if (r.zero_sign != ZeroSign::ieee) zero_sign = Truth(false);
  const Truth negative = select((t.m == M(0)) & no(t.endless), zero_sign, t.negative);
  if (r.post_norm_frac) cut_after_normalising(r, t);
  const Count zeros = leading_zeros(t.m);
  return {negative,
          (t.m == M(0)) & no(t.endless),
          t.endless,
          is_nan(t),
          t.q - zeros + Count(digits_of<M> - digits_of<C>),
          leading_words<C>(t.m << zeros)};
}

// A register between blocks: the code it holds and what its format reads from that.
template <class C>
struct Register {
  C code;
  Factors<C> value;
};

// Of a rounding: right where it is sure.
struct Quick {
  Count flags;
  Truth sure;
};
// Zeros stay what they are, in formats that have them beside subnormals. Compensated sums, whose
// errors often are zeros, are a fifth faster than by round_at_ends.
template <class C>
HWY_INLINE void take_zeros(const Rounder<Rows<C>>& to, const ToRound<C>& x, Register<C>& result,
                           Quick& z) {
  const Layout<Rows<C>>& f = to.layout;
  const Truth negative = x.negative & Truth(to.keeps_zero_sign);
  Factors<C>& value = result.value;
  value.negative = select(x.zero, negative, value.negative);
  value.zero = x.zero;
  value.m = select(x.zero, C(0), value.m);
  value.q = select(x.zero, Count(f.emin - f.format.frac_bits), value.q);
  value.e = select(x.zero, Count(f.emin), value.e);
  result.code = select(x.zero, select(negative, from_row(f.sign), C(0)), result.code);
  z.flags = select(x.zero, Count(0), z.flags);
  z.sure = z.sure | x.zero;
}

// What is added to digits, of which these are odd, before those below the kept ones are cut off.
template <class C>
HWY_INLINE C increment_of(const Rounder<Rows<C>>& to, Truth negative, Truth odd, const C& random) {
  const auto row = [&](int i) { return from_row(to.increment[i]); };
  C z = select(odd, select(negative, row(3), row(1)), select(negative, row(2), row(0)));
  if (to.rule.rounding.stochastic())
    z = z + ((random & from_row(to.random_mask)) << to.random_shift) -
        (random & from_row(to.random_tie));
  return z;
}

// lib's deliver_quick, of a number that stays a normal one, and its code read again without making
// one (docs/exactness.md, 12).
template <class C>
HWY_INLINE Quick round_quickly(const Rounder<Rows<C>>& to, const ToRound<C>& x, const C& random,
                               Register<C>& result) {
  const C one = C(1) << (digits_of<C> - 1);
  const Truth odd = (x.sig & from_row(to.last_digit)) != C(0);
  const C fraction = (x.sig ^ one) + increment_of(to, x.negative, odd, random);
  const Layout<Rows<C>>& f = to.layout;
  const Count exp = x.exp + Count(word(fraction, words_of<C> - 1) >> 63);
  const C kept = (fraction & from_row(to.kept)) & (one - C(1));
  const Count q = exp + Count(f.up);
  Factors<C>& value = result.value;
  value.negative = x.negative, value.zero = Truth(false), value.endless = Truth(false);
  value.m = (kept | one) >> f.up;
  value.q = q, value.e = q + Count(f.format.frac_bits);
  result.code = (C(exp + Count(f.plain_offset)) << f.format.frac_bits) + (kept >> f.up) +
                select(x.negative, from_row(f.sign), C(0));
  Quick z;
  z.flags = select((x.sig & from_row(to.dropped)) != C(0), Count(inexact), Count(0));
  z.sure =
      no(x.zero | x.endless | (x.exp < Count(to.first_inside)) | (x.exp > Count(to.last_inside)));
  if (!f.all_normal && any(x.zero)) take_zeros(to, x, result, z);
  return z;
}

// Magnitudes on their way to codes, and what became of the values: lib's Rounded.
template <class C>
struct Magnitudes {
  C magnitude;
  Truth lossy, tiny, over;
};

// lib's denormalise and round, but for the gap of formats without subnormals.
template <class C>
HWY_INLINE Magnitudes<C> round_magnitudes(const Rounder<Rows<C>>& to, const ToRound<C>& x,
                                          const Count& short_by, const C& random) {
  const Layout<Rows<C>>& f = to.layout;
  const C one = C(1) << (digits_of<C> - 1);
  const Truth subnormal = x.zero | (short_by > Count(0));
  const Count down = as_shift<C>(short_by), field = Count(f.emin + f.format.bias) - short_by;
  C aligned = x.sig >> down;
  aligned = aligned | select((aligned << down) != x.sig, C(1), C(0));
  const Truth far = no(subnormal) & (field > Count(f.top_field));
  const C floor = C(select(subnormal | far, Count(0), field)) << f.format.frac_bits;
  const C last = to.even_code ? floor & C(1) : aligned & from_row(to.last_digit);
  const C fraction = select(subnormal, aligned, aligned ^ one) +
                     increment_of(to, x.negative, last != C(0), random);
  Magnitudes<C> z;
  z.magnitude = floor + ((fraction & from_row(to.kept)) >> f.up);
  z.lossy = (aligned & from_row(to.dropped)) != C(0);
  z.over = far | (from_row(f.max_finite) < z.magnitude);
  z.tiny = subnormal;
  if (to.env.tininess == Tininess::after_rounding) {
    const C as_normal = (x.sig ^ one) + increment_of(to, x.negative, Truth(true), random);
    z.tiny = subnormal & no(is_negative(as_normal) & (short_by < Count(2)));
  }
  if (to.env.tininess == Tininess::as_delivered)
    z.tiny = subnormal & (z.magnitude < from_row(f.hidden));
  return z;
}

// lib's factor of a code.
template <class C>
HWY_INLINE Factors<C> read_code(const Layout<Rows<C>>& f, const C& code) {
  const C magnitude = code & from_row(f.magnitude_mask),
          fraction = code & from_row(f.fraction_mask);
  const Count field(magnitude >> f.format.frac_bits);
  const Truth bottom = Truth(!f.all_normal) & (field < Count(1)), none = magnitude == C(0);
  const Count e = select(bottom, Count(f.emin), field - Count(f.format.bias));
  Factors<C> x;
  x.negative = (code & from_row(f.sign)) != C(0);
  Truth nan = no(magnitude < from_row(f.first_nan));
  if (f.format.nan == NanCodes::sign_alone) nan = x.negative & none;
  x.zero = nan | (none & Truth(f.format.zero)) | (bottom & Truth(f.format.daz));
  x.endless = nan | (magnitude == from_row(f.infinity));
  x.m = select(bottom, fraction, fraction | from_row(f.hidden));
  x.m = select(x.zero | x.endless, C(0), x.m);
  x.q = e - Count(f.format.frac_bits), x.e = e;
  return x;
}

// What lib says of each sign.
template <class C, class Of>
HWY_INLINE C of_either_sign(const Truth& negative, const Of& code) {
  const Rows<C> x{};
  return select(negative, from_row(code(x == x)), from_row(code(x != x)));
}

// lib's pack.
template <class C>
HWY_INLINE void pack(const Rounder<Rows<C>>& to, const Truth& negative, Magnitudes<C> r, C& code,
                     Count& flags) {
  const Layout<Rows<C>>& f = to.layout;
  const auto raised = [](Truth c, int flags) { return select(c, Count(flags), Count(0)); };
  flags = raised(r.lossy, inexact) | raised(r.lossy & r.tiny, underflow);
  Truth minus = negative;
  if (to.flush != Flush::keep && !f.all_normal) {
    const Truth flushed = r.tiny & (r.magnitude != C(0));
    r.magnitude = select(flushed, C(0), r.magnitude);
    flags = flags | raised(flushed, underflow | inexact);
    if (to.flush == Flush::flush_pos_zero) minus = minus & no(flushed);
  }
  if (!to.keeps_zero_sign) minus = minus & (r.magnitude != C(0));
  code = r.magnitude | select(minus, from_row(f.sign), C(0));
  if (any(r.over)) {
    const C past = of_either_sign<C>(negative, [&](auto n) { return overflowed(to, n); });
    code = select(r.over, past, code);
    flags = select(r.over, Count(overflow | inexact), flags);
  }
  if (f.format.is_signed()) return;
  const Truth lost = negative & ((r.magnitude != C(0)) | r.over | Truth(!f.format.zero));
  code = select(lost, from_row(to.nan_code), code);
  flags = select(lost, Count(invalid), flags);
}

// lib's deliver_any. Not sure in the gap that formats without subnormals have.
template <class C>
HWY_INLINE Quick round_at_ends(const Rounder<Rows<C>>& to, const ToRound<C>& x, const C& random,
                               Register<C>& result) {
  const Count short_by = Count(to.layout.emin - (digits_of<C> - 1)) - x.exp;
  Quick z;
  C& code = result.code;
  pack(to, x.negative, round_magnitudes(to, x, short_by, random), code, z.flags);
  const auto take = [&](const Truth& where, const auto& delivered) {
    const auto flags = [&](auto negative) { return Rows<Word>(delivered(negative).flags); };
    code = select(where, of_either_sign<C>(x.negative, [&](auto n) { return delivered(n).code; }),
                  code);
    z.flags = select(where, Count(of_either_sign<Word>(x.negative, flags)), z.flags);
  };
  if (any(x.zero)) take(x.zero, [&](auto n) { return delivered_zero<Rows<C>>(to, n); });
  if (any(x.endless)) {
    take(x.endless, [&](auto n) { return delivered_infinity<Rows<C>>(to, n); });
    code = select(x.nan, from_row(to.nan_code), code);
    z.flags = select(x.nan, Count(to.layout.format.has_nan() ? 0 : invalid), z.flags);
  }
  result.value = read_code(to.layout, code);
  z.sure = Truth(!to.layout.all_normal) | (short_by < Count(0)) | x.zero | x.endless;
  return z;
}

// lib's deliver, of any number.
template <class C>
WIDTHWISE_HERE HWY_NOINLINE void round_any(const Rounder<Rows<C>>& to, const ToRound<C>& x,
                                           const C& random, Fate& fate, Register<C>& result) {
  Number<Rows<C>> number;
  to_row(x.negative, number.negative), to_row(x.zero, number.zero);
  to_row(x.endless & no(x.nan), number.infinite), to_row(x.nan, number.nan);
  to_row(Truth(false), number.signaling);
  to_row(x.exp, number.exp), to_row(x.sig, number.sig);
  Rows<C> bits;
  to_row(random, bits);
  const Result<Rows<C>> z = deliver(to, number, {}, bits);
  fate.flags = fate.flags | from_row(z.flags);
  result.code = from_row(z.code);
  result.value = read_code(to.layout, result.code);
}

// What round_quickly is not sure of, from the start.
template <class M, class C>
WIDTHWISE_HERE HWY_NOINLINE void round_unsure(const RoundingSlot<Rows<C>>& s, const Terms<M>& t,
                                              const C& random, Fate& fate, Register<C>& to) {
  const ToRound<C> x = to_round<C>(s.description, t);
  const Quick z = round_at_ends(s.rounder, x, random, to);
  if (any(no(z.sure | fate.lost))) return round_any(s.rounder, x, random, fate, to);
  fate.flags = fate.flags | z.flags;
}

// Normalises and rounds: lib's `rounded`, and its code read again.
template <class M, class C>
WIDTHWISE_HERE HWY_NOINLINE void rounded(Place<C>& at, const Terms<M>& t, std::int64_t step,
                                         Fate& fate, Register<C>& to) {
  const RoundingSlot<Rows<C>>& s = *at.slot;
  C random(0);
  if (at.dice.stochastic()) random = C(from_row(at.dice.bits(static_cast<std::uint64_t>(step))));
  const Quick z = round_quickly(s.rounder, to_round<C>(s.description, t), random, to);
  if (any(no(z.sure | fate.lost))) return round_unsure(s, t, C(random), fate, to);
  fate.flags = fate.flags | z.flags;
}

// lib's rounded_term: down to the last digit that was kept.
template <class M, class C>
HWY_INLINE void rounded_term(Place<C>& at, std::int64_t step, Fate& fate, Terms<M>& t) {
  Register<C> z;
  rounded(at, t, step, fate, z);
  Factors<C>& x = z.value;
  if (const int spare = at.slot->rounder.spare; spare > 0) {
    const Truth whole = (x.m << (digits_of<C> - spare)) == C(0);
    const Truth shortens = whole & no(x.zero | x.endless);
    x.m = select(shortens, x.m >> spare, x.m);
    x.q = x.q + select(shortens, Count(spare), Count(0));
  }
  put_terms(x, at.slot->description.fmt.precision(), t.lane, false, t);
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
