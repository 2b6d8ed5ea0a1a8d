#pragma once
#include "widthwise/datapath/register.hpp"

// Sums that carry along what they lose: W. Kahan, "Pracniques: further remarks on reducing
// truncation errors" (1965); A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
// endlicher Summen" (1974). One product a step, each operation rounded by `out`, whatever it meets
// (docs/semantics.md, D10).
namespace widthwise {

// The registers of a chain. Every output has its own.
template <class H>
struct Accumulator {
  Register<H> sum, compensation;
};

template <class M>
constexpr Term<M> negated(Term<M> t) {
  t.negative = no(t.negative);
  return t;
}

// Whether the digits of x, from its leading one on, are those of the lesser number.
template <class M>
constexpr Mask<M> lead_lower(const M& x, const M& y) {
  if constexpr (has_width<M>) {
    return shift_left(x, Significand<M>::leading_zeros(x)) <
           shift_left(y, Significand<M>::leading_zeros(y));
  } else {
    const std::int64_t most = std::max(bit_length(x), bit_length(y));
    return moved_up(x, most - bit_length(x)) < moved_up(y, most - bit_length(y));
  }
}

// |x| >= |y|; false where one is NaN.
template <class M>
constexpr Mask<M> at_least(const Term<M>& x, const Term<M>& y) {
  const Mask<M> x_none = x.m == M{}, y_none = y.m == M{};
  const Int<M> x_top = x.q + length_of(x.m), y_top = y.q + length_of(y.m);
  const Mask<M> leads = (x_top > y_top) | ((x_top == y_top) & no(lead_lower(x.m, y.m)));
  const Mask<M> of_numbers = y_none | (no(x_none) & leads);
  return select(x.endless | y.endless, x.endless & no(is_nan(x) | is_nan(y)), of_numbers);
}

// The rounded additions of one step, that of product p.
template <class M, class H, class State, class Trace>
struct CompensatedStep {
  const Datapath<M, H>& unit;
  const Term<M>& p;
  State& progress;
  Trace& trace;

  constexpr void kahan(Accumulator<H>& acc) {
    const Term<M> before = read(acc.sum), comp = read(acc.compensation);
    const Term<M> y = sum(slots().addend, p, negated(comp));
    add(unit.out, before, y, acc.sum);
    const Term<M> moved = sum(slots().difference, read(acc.sum), negated(before));
    add(slots().error, moved, negated(y), acc.compensation);
  }

  constexpr void neumaier(Accumulator<H>& acc) {
    const Term<M> before = read(acc.sum), comp = read(acc.compensation);
    const Mask<M> sum_leads = at_least(before, p);
    const Term<M> large = select_term(sum_leads, before, p),
                  small = select_term(sum_leads, p, before);
    add(unit.out, before, p, acc.sum);
    const Term<M> rest = sum(slots().difference, large, negated(read(acc.sum)));
    const Term<M> error = sum(slots().error, rest, small);
    add(slots().compensation, comp, error, acc.compensation);
  }

 private:
  constexpr const CompensationSlots<H>& slots() const { return *unit.compensation; }
  constexpr Term<M> read(const Register<H>& r) const {
    return term<M>(r.value, p.lane, false, unit.register_digits);
  }
  constexpr void add(const RoundingSlot<H>& slot, const Term<M>& x, const Term<M>& y,
                     Register<H>& to) {
    add_rounded(unit, slot, x, y, p.lane, progress, trace, to);
  }
  constexpr Term<M> sum(const RoundingSlot<H>& slot, const Term<M>& x, const Term<M>& y) {
    Register<H> z;
    add(slot, x, y, z);
    return read(z);
  }
};

// The product of a block's one lane, at position `step` along k, added to the running sum.
template <class M, class H, class Lanes, class Multiplier, class State, class Trace>
constexpr void add_compensated(const Datapath<M, H>& u, const Lanes& lanes, std::int64_t step,
                               const Multiplier& multiplier, State& progress, Trace& trace,
                               Accumulator<H>& acc) {
  if constexpr (traced<Trace>) {
    const Term<M> sum = term<M>(acc.sum.value, step, true);
    trace(Stage::unpack, sum, sum);
  }
  Term<M> p;
  product(u, lanes, 0, step, multiplier, progress, trace, p);
  CompensatedStep<M, H, State, Trace> add{u, p, progress, trace};
  u.unit.chain.compensation == Compensation::kahan ? add.kahan(acc) : add.neumaier(acc);
}

// What the registers come to after the step: Neumaier's way keeps two until the end, Kahan's has
// the sum already, which the trace then ends with.
template <class M, class H, class State, class Trace>
constexpr Register<H> settled(const Datapath<M, H>& u, const Accumulator<H>& acc, std::int64_t step,
                              State& progress, Trace& trace) {
  if (u.unit.chain.compensation == Compensation::none) return acc.sum;
  if (u.unit.chain.compensation == Compensation::kahan) {
    trace(u.out.slot, step);
    trace(Stage::pack, acc.sum.value.negative, std::int64_t{}, acc.sum.code);
    return acc.sum;
  }
  Register<H> z;
  add_rounded(u, u.compensation->compensated, acc.sum.value, acc.compensation.value, step, progress,
              trace, z);
  return z;
}

}  // namespace widthwise
