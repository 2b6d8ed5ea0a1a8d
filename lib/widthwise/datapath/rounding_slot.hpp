#pragma once
#include <algorithm>
#include <optional>

#include "widthwise/apart.hpp"
#include "widthwise/datapath/operand.hpp"
#include "widthwise/random.hpp"
#include "widthwise/round.hpp"

namespace widthwise {

// How far below the leading digit a rounding looks, the digit that stands for all further ones
// included; 0 where it looks at all.
constexpr std::int64_t reach_of(const Round& r) {
  if (r.fmt.wraps()) return 0;
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
template <class Truth>
constexpr Truth zero_is_negative(const Round& r, const Truth& negative, const Truth& mixed) {
  if (r.zero_sign != ZeroSign::ieee) return Truth{};
  if (r.rm.mode == RoundingMode::rdn) return Truth(negative | mixed);
  return Truth(negative & no(mixed));
}

// The first of two cuts (CDNA3): below the leading digit, before the rounding proper.
template <class M>
constexpr void cut_after_normalising(const Round& r, const Mask<M>& negative, M& m, Int<M>& q) {
  const Int<M> top = length_of(m) - 1 + q;
  const Int<M> e = greater(top, Int<M>{r.fmt.emin()});
  const Int<M> n = distance(e - *r.post_norm_frac, q);
  m = cut(r.post_norm_rm.mode, negative, m, n);
  q = q + greater(n, Int<M>{});
}

// A term as the rounding takes it: its leading digits as a normalised number of the rounder's
// carrier, the rest jammed.
template <class H, class M>
constexpr Number<H> number(const Round& r, const Term<M>& t) {
  const Mask<M> finite = no(t.endless), none = finite & (t.m == M{});
  Mask<M> negative = t.negative;
  if (any(none)) negative = select(none, zero_is_negative<Mask<M>>(r, negative, t.mixed), negative);
  if constexpr (std::is_same_v<Mask<M>, bool>)
    if (none || t.endless) return {negative, none, t.endless && !t.zero, is_nan(t), {}, {}, {}};
  M m = t.m;
  Int<M> q = t.q;
  if (r.post_norm_frac) cut_after_normalising(r, t.negative, m, q);
  const Leading<H> digits = leading_digits<H>(m);
  return {negative,
          Mask<M>(finite & (m == M{})),
          Mask<M>(t.endless & no(t.zero)),
          is_nan(t),
          {},
          q + digits.weight,
          digits.sig};
}

// Where a unit stands in its work: which output, and the flags it has raised. A row of outputs
// brings another class of these members.
struct Progress {
  Where where;
  Flags flags = 0;
  bool codes_only = false;  // nobody asks which flags

  // Whether sums may turn out to have no room in their carrier; then there is lose(where), too.
  static constexpr bool loses = false;
  constexpr bool lost() const { return false; }
  constexpr void raise(std::int64_t raised) { flags |= static_cast<Flags>(raised); }
  // Where something was computed in vain, it raised and lost nothing.
  constexpr void take_back(bool here, const Progress& before) {
    if (here) flags = before.flags;
  }
  // The random bits of one rounding.
  template <class H>
  constexpr H draw(const Rounding& rounding, Slot slot, std::int64_t step) const {
    return H(random_bits(rounding.random_bits, where, slot, static_cast<std::uint64_t>(step)));
  }
};

// The random bits of one rounding: the generator's, or those that a trace brings along.
template <class H, class State, class Trace>
constexpr H drawn(const Rounding& rounding, State& progress, Slot slot, std::int64_t step,
                  const Trace& trace) {
  if constexpr (requires { trace.random(slot, step); })
    return H(trace.random(slot, step));
  else
    return progress.template draw<H>(rounding, slot, step);
}

// A register between blocks: the code it holds and what its format reads from that.
template <class H>
struct Register {
  H code;
  Factor<H> value;
};

// Normalises and rounds a term (datapath 3.6) to the slot's format. What stays a normal number has
// its code read again without one being made; and zeros stay what they are, in formats that have
// them beside subnormals: sums that carry along what they lose often lose nothing.
template <class H, class M, class State, class Trace>
WIDTHWISE_APART constexpr void round_to(const RoundingSlot<H>& s, const Term<M>& t,
                                        std::int64_t step, State& progress, Trace& trace,
                                        Register<H>& result) {
  const Rounder<H>& to = s.rounder;
  const Layout<H>& f = to.layout;
  const Number<H> x = number<H>(s.description, t);
  H random{};
  if (to.rule.rounding.stochastic())
    random = drawn<H>(to.rule.rounding, progress, s.slot, step, trace);
  trace(s.slot, step);
  if constexpr (!traced<Trace>) {
    const InPlace<H> at = round_in_place<Natural<H>>(to, x, no(special(x)), random);
    H code = code_in_place(f, at.number), m = shift_right(at.number.sig, f.up);
    Int<H> q = at.number.exp + f.up, flags = at.flags, e = q + f.format.frac_bits;
    Mask<H> negative = x.negative, zero{}, sure = at.sure;
    if (f.format.zero && !f.all_normal && any(x.zero)) {
      zero = x.zero, sure = sure | zero;
      negative = delivered_sign(to, zero, negative);
      code = select(zero, select(negative, f.sign, H{}), code), m = select(zero, H{}, m);
      e = select(zero, Int<H>{f.emin}, e), q = select(zero, Int<H>{f.format.least_digit()}, q);
      flags = select(zero, Int<H>{}, flags);
    }
    if (!any(no(sure | progress.lost()))) [[likely]] {
      progress.raise(flags);
      result.code = code;
      Factor<H>& x = result.value;
      x.negative = negative, x.zero = zero, x.endless = {}, x.m = m, x.q = q, x.e = e;
      return;
    }
  }
  const Result<H> z = deliver(to, x, {}, random, trace);
  progress.raise(z.flags);
  result.code = z.code;
  result.value = factor(f, z.code);
}
template <class H, class M, class State, class Trace>
constexpr H rounded(const RoundingSlot<H>& s, const Term<M>& t, std::int64_t step, State& progress,
                    Trace& trace) {
  Register<H> z;
  round_to(s, t, step, progress, trace, z);
  return z.code;
}

// A rounded term goes on as its format reads it, down to the last digit that was kept (the largest
// number, on overflow, has all of them): the field exponent is taken anew.
template <class M, class H, class State, class Trace>
constexpr void round_term(const RoundingSlot<H>& s, std::int64_t step, State& progress,
                          Trace& trace, Term<M>& t) {
  Register<H> z;
  round_to(s, t, step, progress, trace, z);
  Factor<H>& x = z.value;
  if (const int spare = s.rounder.spare; spare > 0) {
    const Mask<H> shortens = no(x.zero | x.endless | any_low_bits<H>(x.m, Int<H>{spare}));
    x.m = select(shortens, x.m >> spare, x.m);
    x.q = x.q + select(shortens, Int<H>{spare}, Int<H>{});
  }
  put_term(x, t.lane, false, s.description.fmt.precision(), t);
}

}  // namespace widthwise
