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
  t.negative = !t.negative;
  return t;
}

// |x| >= |y|; false where one is NaN.
template <class M>
constexpr bool at_least(const Term<M>& x, const Term<M>& y) {
  if (x.kind == Kind::nan || y.kind == Kind::nan) return false;
  if (x.kind == Kind::infinite || y.kind == Kind::infinite) return x.kind == Kind::infinite;
  if (x.m == M{} || y.m == M{}) return y.m == M{};
  const std::int64_t digits_x = bit_length(x.m), digits_y = bit_length(y.m);
  if (digits_x + x.q != digits_y + y.q) return digits_x + x.q > digits_y + y.q;
  const std::int64_t digits = std::max(digits_x, digits_y);
  return M(y.m << static_cast<int>(digits - digits_y)) <=
         M(x.m << static_cast<int>(digits - digits_x));
}

// The rounded additions of one step, that of product p.
template <class M, class H, class Trace>
struct CompensatedStep {
  const Datapath<M, H>& unit;
  const Term<M>& p;
  Progress& progress;
  Trace& trace;

  constexpr Accumulator<H> kahan(const Accumulator<H>& acc) {
    const Term<M> sum = read(acc.sum), comp = read(acc.compensation);
    const Term<M> y = read(add(slots().addend, p, negated(comp)));
    const Register<H> t = add(unit.out, sum, y);
    const Term<M> moved = read(add(slots().difference, read(t), negated(sum)));
    return {t, add(slots().error, moved, negated(y))};
  }

  constexpr Accumulator<H> neumaier(const Accumulator<H>& acc) {
    const Term<M> sum = read(acc.sum), comp = read(acc.compensation);
    const bool sum_leads = at_least(sum, p);
    const Term<M>&large = sum_leads ? sum : p, &small = sum_leads ? p : sum;
    const Register<H> t = add(unit.out, sum, p);
    const Term<M> rest = read(add(slots().difference, large, negated(read(t))));
    const Term<M> error = read(add(slots().error, rest, small));
    return {t, add(slots().compensation, comp, error)};
  }

 private:
  constexpr const CompensationSlots<H>& slots() const { return *unit.compensation; }
  constexpr Term<M> read(const Register<H>& r) const { return term<M>(r.value, p.lane); }
  constexpr Register<H> add(const RoundingSlot<H>& slot, const Term<M>& x, const Term<M>& y) {
    return add_rounded(slot, x, y, p.lane, progress, trace);
  }
};

// The lane at position `step` along k added to the running sum.
template <class M, class H, class Multiplier, class Trace>
constexpr Accumulator<H> add_compensated(const Datapath<M, H>& u, const Lane<H>& lane,
                                         const Accumulator<H>& acc, std::int64_t step,
                                         const Multiplier& multiplier, Progress& progress,
                                         Trace& trace) {
  const Term<M> sum = term<M>(acc.sum.value, step, true);
  trace(Stage::unpack, sum, sum);
  const Term<M> p = product(u, lane, step, multiplier, progress, trace);
  CompensatedStep<M, H, Trace> add{u, p, progress, trace};
  return u.unit.chain.compensation == Compensation::kahan ? add.kahan(acc) : add.neumaier(acc);
}

// What the registers come to after the step: Neumaier's way keeps two until the end, Kahan's has
// the sum already, which the trace then ends with.
template <class M, class H, class Trace>
constexpr Register<H> settled(const Datapath<M, H>& u, const Accumulator<H>& acc, std::int64_t step,
                              Progress& progress, Trace& trace) {
  if (u.unit.chain.compensation == Compensation::none) return acc.sum;
  if (u.unit.chain.compensation == Compensation::kahan) {
    trace(u.out.slot, step);
    trace(Stage::pack, false, std::int64_t{}, acc.sum.code);
    return acc.sum;
  }
  return add_rounded<M>(u.compensation->compensated, acc.sum.value, acc.compensation.value, step,
                        progress, trace);
}

}  // namespace widthwise
