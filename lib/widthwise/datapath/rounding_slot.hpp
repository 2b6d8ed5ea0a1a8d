#pragma once
#include <algorithm>
#include <optional>

#include "widthwise/apart.hpp"
#include "widthwise/datapath/operand.hpp"
#include "widthwise/random.hpp"
#include "widthwise/round.hpp"

namespace widthwise {

// How far below the leading digit a rounding looks, the digit that stands for all further ones
// included.
constexpr std::int64_t reach_of(const Round& r) {
  const int kept = r.keep_frac.value_or(r.fmt.frac_bits) + 1;
  return std::max<std::int64_t>(kept, r.post_norm_frac.value_or(0) + 1) + r.rm.random_bits + 2;
}

// One place of a unit that rounds, with all that is the same for every value.
template <class H>
struct RoundingSlot {
  Slot slot;
  Round description;
  Rounder<H> rounder;

  constexpr RoundingSlot(Slot s, const Round& r) : slot(s), description(r), rounder(r) {}
};

template <class H>
constexpr std::optional<RoundingSlot<H>> slot_if(Slot s, const std::optional<Round>& r) {
  return r ? std::optional<RoundingSlot<H>>(std::in_place, s, *r) : std::nullopt;
}

// The sign of a zero sum: that of its addends if they agree, else + (but - rounding downwards);
// zero_sign = plus makes each of them + (datapath 3.4).
constexpr bool zero_is_negative(const Round& r, bool negative, bool mixed) {
  if (r.zero_sign != ZeroSign::ieee) return false;
  return mixed ? r.rm.mode == RoundingMode::rdn : negative;
}

// The first of two cuts (CDNA3): below the leading digit, before the rounding proper.
template <class M>
constexpr void cut_after_normalising(const Round& r, Term<M>& t) {
  const std::int64_t top = bit_length(t.m) - 1 + t.q;
  const std::int64_t e = std::max<std::int64_t>(top, r.fmt.emin());
  const std::int64_t n = distance(e - *r.post_norm_frac, t.q);
  if (n <= 0) return;
  t.m = round_magnitude(r.post_norm_rm, t.negative, t.m, n);
  t.q += n;
}

// The leading digits of a term as a normalised number of the rounder's carrier, the rest jammed.
template <class H, class M>
constexpr void take_leading_digits(const M& m, std::int64_t q, Number<H>& x) {
  const std::int64_t surplus = bit_length(m) - digits<H>;
  x.exp = q + surplus;
  if (surplus > 0)
    x.sig = narrow<H>(M(m >> static_cast<int>(surplus))) | H(any_low_bits<M>(m, surplus) ? 1 : 0);
  else
    x.sig = narrow<H>(m) << -surplus;
}

// A term as the rounding takes it.
template <class H, class M>
constexpr Number<H> number(const Round& r, const Term<M>& t) {
  Number<H> x{};
  x.negative = t.negative;
  if (t.kind == Kind::infinite || t.kind == Kind::nan) {
    x.infinite = t.kind == Kind::infinite;
    x.nan = t.kind == Kind::nan;
  } else if (t.m == M{}) {
    x.zero = true;
    x.negative = zero_is_negative(r, t.negative, t.mixed);
  } else if (r.post_norm_frac) {
    Term<M> cut = t;
    cut_after_normalising(r, cut);
    x.zero = cut.m == M{};
    if (!x.zero) take_leading_digits(cut.m, cut.q, x);
  } else {
    take_leading_digits(t.m, t.q, x);
  }
  return x;
}

// Where a unit stands in its work: which output, and the flags it has raised.
struct Progress {
  Where where;
  Flags flags = 0;
  bool codes_only = false;  // nobody asks which flags
};

// The random bits of one rounding: the generator's, or those that a trace brings along.
template <class H, class Trace>
constexpr H drawn(const Rounding& rounding, const Where& where, Slot slot, std::int64_t step,
                  const Trace& trace) {
  if constexpr (requires { trace.random(slot, step); })
    return H(trace.random(slot, step));
  else
    return H(random_bits(rounding.random_bits, where, slot, static_cast<std::uint64_t>(step)));
}

// Normalises and rounds a term (datapath 3.6); the code of the slot's format.
template <class H, class M, class Trace>
WIDTHWISE_APART constexpr H rounded(const RoundingSlot<H>& s, const Term<M>& t, std::int64_t step,
                                    Progress& progress, Trace& trace) {
  const Round& r = s.description;
  const Number<H> x = number<H>(r, t);
  H random{};
  if (r.rm.stochastic()) random = drawn<H>(r.rm, progress.where, s.slot, step, trace);
  trace(s.slot, step);
  const Result<H> z = deliver(s.rounder, x, {}, random, trace);
  progress.flags |= static_cast<Flags>(z.flags);
  return z.code;
}

// A rounded term goes on as its format reads it, down to the last digit that was kept (the largest
// number, on overflow, has all of them): the field exponent is taken anew.
template <class M, class H, class Trace>
constexpr Term<M> rounded_term(const RoundingSlot<H>& s, const Term<M>& t, std::int64_t step,
                               Progress& progress, Trace& trace) {
  const H code = rounded(s, t, step, progress, trace);
  Factor<H> x = factor(s.rounder.layout, code);
  if (x.kind == Kind::finite && !any_low_bits<H>(x.m, s.rounder.spare)) {
    x.m = x.m >> s.rounder.spare;
    x.q += s.rounder.spare;
  }
  return term<M>(x, t.lane);
}

}  // namespace widthwise
