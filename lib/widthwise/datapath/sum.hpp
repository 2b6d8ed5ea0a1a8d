#pragma once
#include "widthwise/datapath/gaps.hpp"

// The three sums of a unit (datapath 3.3 to 3.5): each aligns its terms, adds them as integers and
// hands on one term, which may take the place of one of them.
namespace widthwise {

// What infinities and NaN among terms come to.
template <class M>
struct SpecialSum {
  Mask<M> plus{}, minus{}, nan{};

  constexpr void take(const Term<M>& t) {
    nan = nan | is_nan(t);
    const Mask<M> infinite = t.endless & no(t.zero);
    minus = minus | (infinite & t.negative), plus = plus | (infinite & no(t.negative));
  }
  constexpr Mask<M> endless() const { return nan | plus | minus; }

  constexpr void put(Term<M>& z) const {
    const Mask<M> here = endless();
    z.endless = z.endless | here;
    z.negative = select(here, minus & no(nan | plus), z.negative);
    z.zero = select(here, nan | (plus & minus), z.zero);
    z.mixed = z.mixed & no(here);
    z.m = select(here, M{}, z.m);
    z.q = select(here, Int<M>{}, z.q);
  }
};

// What all terms have a say in.
template <class M>
struct Votes {
  Mask<M> all_negative, any_negative, zeros, endless;

  explicit constexpr Votes(const Term<M>& t)
      : all_negative(t.negative), any_negative(t.negative), zeros(t.zero), endless(t.endless) {}
  constexpr void take(const Term<M>& t) {
    all_negative = all_negative & t.negative, any_negative = any_negative | t.negative;
    zeros = zeros & t.zero, endless = endless | t.endless;
  }
};

// Exact sums: against the last digit of any term, or of whatever comes to the same.
template <class M, class All, class State, class Trace>
constexpr Total<M> sum_exactly(const SumRule<M>& s, const All& all, const Int<M>& e,
                               std::int64_t reach, State& progress, Trace& trace) {
  if constexpr (!State::loses)
    if (reach && !s.width) return sum_to_round<M>(all, e, reach, trace);
  const bool alone = !traced<Trace> && s.value_alone(reach);
  Int<M> of_any{INT64_MAX};
  if (!alone || State::loses) each(all, [&](const Term<M>& t) { of_any = lesser(of_any, t.q); });
  Int<M> last = of_any;
  if (alone) {
    last = last_with_digits<M>(all);
    last = select(last < Int<M>{INT64_MAX}, last, Int<M>{});
  }
  if constexpr (State::loses) {
    if (s.width && !s.bounded)  // a register that holds all that a carrier does, if placed so
      progress.lose(last - of_any > Int<M>{*s.width - digits<M> + 1});
    if (!s.bounded || s.overflow != RegisterOverflow::wrap) {
      const std::int64_t room = room_for<M>(all.size());
      each(all, [&](const Term<M>& t) { lose_long(t, Int<M>(t.q - last), room, progress); });
    }
  }
  return {fit(s, sum_to_digit<M>(all, last, e, trace), progress), last};
}

template <class M>
constexpr void put_sum(const Total<M>& total, const Votes<M>& votes, std::int64_t lane,
                       Term<M>& z) {
  const Mask<M> below = is_negative(total.v);
  z.m = opposite_if<M>(below, total.v);
  const Mask<M> none = z.m == M{};
  z.negative = below | (none & votes.all_negative);
  z.mixed = none & votes.any_negative & no(votes.all_negative);
  z.zero = votes.zeros, z.endless = votes.endless;
  z.lane = lane, z.is_c = false, z.length = z.unknown;
}

// The terms as integers, added.
template <class M, class All, class State, class Trace>
WIDTHWISE_WITHIN constexpr Total<M> sum_aligned(const SumRule<M>& s, const All& all,
                                                const Int<M>& e, std::int64_t reach,
                                                State& progress, Trace& trace) {
  switch (s.align.reference) {
    case Reference::max_exponent: return sum_in_window<M>(s, all, e, progress, trace);
    case Reference::fixed_lsb: return sum_in_register<M>(s, all, e, reach, progress, trace);
    case Reference::exact: break;
  }
  return sum_exactly<M>(s, all, e, reach, progress, trace);
}

// A register's NaR.
template <class M>
constexpr void put_nar(const Mask<M>& nar, Term<M>& z) {
  SpecialSum<M> made;
  made.nan = nar;
  made.put(z);
}

// All terms aligned once and added as integers. `reach`: of the rounding that follows at once; 0
// where none does.
template <class M, class All, class State, class Trace>
WIDTHWISE_APART constexpr void fused_sum(const SumRule<M>& s, const All& all, std::int64_t reach,
                                         State& progress, Trace& trace, Term<M>& z) {
  Votes<M> votes(all.front());
  Int<M> e{INT64_MIN};
  each(all, [&](const Term<M>& t) {
    votes.take(t);
    e = select(t.zero, e, greater(e, t.e));
  });
  const Align& align = s.align;
  const bool floored = align.reference == Reference::max_exponent && align.e_floor;
  if (any(votes.zeros)) e = select(votes.zeros, Int<M>{}, e);
  if (floored) e = select(votes.zeros, Int<M>{*align.e_floor}, greater(e, Int<M>{*align.e_floor}));

  SpecialSum<M> special;
  if (any(votes.endless)) each(all, [&](const Term<M>& t) { special.take(t); });
  const State before = progress;
  Total<M> total{};
  if (any(no(votes.zeros | votes.endless)))
    total = sum_aligned<M>(s, all, e, reach, progress, trace);

  put_sum(total, votes, all.front().lane, z);
  z.q = select(votes.zeros, floored ? Int<M>(e - window_frac(align, s.late)) : Int<M>{}, total.q);
  z.e = select(votes.zeros, Int<M>{}, e);
  if (any(total.nar)) put_nar(total.nar, z);
  if (any(votes.endless)) {
    progress.take_back(votes.endless, before);
    special.put(z);
  }
}

// The sum of two that a rounding follows at once, what lies far below the larger one as one digit.
template <class M>
WIDTHWISE_APART constexpr void sum_jammed(const Term<M>& x, const Term<M>& y, Term<M>& z) {
  Votes<M> votes(x);
  votes.take(y);
  const Total<M> total = jammed_sum(x, y);
  SpecialSum<M> special;
  if (any(votes.endless)) special.take(x), special.take(y);
  put_sum(total, votes, x.lane, z);
  z.q = z.e = total.q;
  if (any(votes.endless)) special.put(z);
}

// The sum of two, which a rounding of this reach follows at once, if it is not 0.
template <class M, class State, class Trace>
constexpr void sum_of_two(const SumRule<M>& s, const Term<M>& x, const Term<M>& y,
                          std::int64_t reach, State& progress, Trace& trace, Term<M>& z) {
  if constexpr (!traced<Trace> && has_width<M>)
    if (jams(s, reach)) {
      const Mask<M> too_long = too_long_to_jam(x) | too_long_to_jam(y);
      if constexpr (State::loses) progress.lose(too_long);
      if (State::loses || !any(too_long)) return sum_jammed(x, y, z);
    }
  fused_sum(s, Pair<M>{x, y}, reach, progress, trace, z);
}

// One of the three sums with its rounding, if its nodes round.
template <class M, class H>
struct Adder {
  SumRule<M> rule;
  std::optional<RoundingSlot<H>> node;
  std::int64_t reach = 0;  // of the rounding that follows every sum at once
};

// What no number is, nodes pass on.
template <class M, class H, class State, class Trace>
constexpr void round_node(const RoundingSlot<H>& node, std::int64_t step, State& progress,
                          Trace& trace, Term<M>& z) {
  if (!any(z.endless)) return round_term(node, step, progress, trace, z);
  if (!any(no(z.endless))) return;
  const State before = progress;
  const Term<M> exact = z;
  round_term(node, step, progress, trace, z);
  z = select_term(exact.endless, exact, z);
  progress.take_back(exact.endless, before);
}

template <class M, class H, class State, class Trace>
constexpr void add_pair(const Adder<M, H>& adder, const Term<M>& x, const Term<M>& y,
                        State& progress, Trace& trace, Term<M>& z) {
  const std::int64_t lane = x.lane, step = y.lane;
  sum_of_two(adder.rule, x, y, adder.reach, progress, trace, z);
  if (adder.node) round_node(*adder.node, step, progress, trace, z);
  z.lane = lane;
}

// The exact sum of one number is that number.
template <class M, class Trace>
constexpr void take_sum_of_one(const Term<M>& t, Trace& trace, Term<M>& z) {
  if constexpr (traced<Trace>)
    if (!t.zero) trace(Stage::align, t, t);
  if (&t != &z) z = t;
  z.q = select(is_zero(z), Int<M>{}, z.q), z.e = select(is_zero(z), Int<M>{}, z.e);
  z.mixed = {}, z.is_c = false;
}

template <class M, class H, class State, class Trace>
constexpr void reduce_pair(const Adder<M, H>& adder, const Term<M>& x, const Term<M>& y,
                           State& progress, Trace& trace, Term<M>& z) {
  if (adder.rule.order == Order::fused)
    sum_of_two(adder.rule, x, y, adder.reach, progress, trace, z);
  else
    add_pair(adder, x, y, progress, trace, z);
}

// Reduces the terms in the sum's order; works in place.
template <class M, class H, class State, class Trace>
constexpr void reduce(const Adder<M, H>& adder, std::span<Term<M>> all, State& progress,
                      Trace& trace, Term<M>& z) {
  std::size_t n = all.size();
  const SumRule<M>& s = adder.rule;
  if (n == 1 && s.is_exact()) return take_sum_of_one(all[0], trace, z);
  if (n == 1) return fused_sum(s, all, 0, progress, trace, z);  // no node rounds it
  if (n == 2) return reduce_pair(adder, all[0], all[1], progress, trace, z);
  if (s.order == Order::fused) return fused_sum(s, all, adder.reach, progress, trace, z);
  if (s.order == Order::sequential) {
    for (std::size_t i = 1; i < n; ++i)
      add_pair(adder, all[0], all[i], progress, trace, i + 1 < n ? all[0] : z);
    return;
  }
  for (; n > 2; n = n / 2 + n % 2) {  // neighbours
    for (std::size_t i = 0; i < n / 2; ++i)
      add_pair(adder, all[2 * i], all[2 * i + 1], progress, trace, all[i]);
    if (n % 2) all[n / 2] = all[n - 1];  // an odd last moves up
  }
  add_pair(adder, all[0], all[1], progress, trace, z);
}

}  // namespace widthwise
