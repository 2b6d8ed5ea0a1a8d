#include "lane_plan.hpp"

#include <algorithm>

namespace widthwise::elements {
namespace {

std::optional<Step> step_of(Operation op) {
  switch (op) {
    case Operation::convert: return Step::none;
    case Operation::add: return Step::add;
    case Operation::subtract: return Step::subtract;
    case Operation::multiply: return Step::multiply;
    case Operation::fma: return Step::fma;
    case Operation::divide: return Step::divide;
    case Operation::sqrt: return Step::sqrt;
    default: return std::nullopt;
  }
}

// Every number of the format is one of the carrier, and its fields slide there in one piece.
bool decodes(const Format& own, const Format& f) {
  return f == own ||
         (f.width() < own.width() && f.width() <= 32 && f.precision() <= own.precision() &&
          f.emax() <= own.emax() && f.emin() >= own.emin() && f.least_digit() >= own.least_digit());
}

// Three digits of the carrier lie below the last of the format, and half of its least number is no
// subnormal of the carrier's.
bool encodes(const Format& own, const Format& f) {
  return f.width() <= 32 && f.precision() + 3 <= own.precision() && f.emax() <= own.emax() &&
         f.emin() - f.all_normal() >= own.emin() &&
         f.emin() + own.precision() - f.precision() <= own.emax();
}

// The carrier's own product has all digits of the exact one.
bool product_exact(const Format& own, const Format& a, const Format& b) {
  return a.precision() + b.precision() <= own.precision() && a.emax() + b.emax() < own.emax() &&
         a.least_digit() + b.least_digit() >= own.least_digit();
}

// Of a product with digits below the carrier's last, nothing is left in the result: it lies below
// half of its least number, and a tie with that half goes to 0 as well.
bool loses_underflow_only(const Format& own, const Format& to, const Format& a, const Format& b) {
  const int digits = a.precision() + b.precision();
  return digits <= own.precision() && !to.all_normal() &&
         own.least_digit() + digits <= to.least_digit();
}

// Rounding twice by these is rounding once: ties away after toward zero.
bool composes(RoundingMode mode) {
  return mode == RoundingMode::rtz || mode == RoundingMode::rdn || mode == RoundingMode::rup ||
         mode == RoundingMode::rna;
}

// To nearest even it is for sums, quotients and roots of numbers of the result's format, or of
// fewer digits.
bool nearest_composes(const Format& own, const Format& to, std::span<const Format> x) {
  const auto alike = [&](const Format& f) {
    return f.precision() <= to.precision() && f.least_digit() >= to.least_digit();
  };
  return !to.all_normal() && own.precision() >= 2 * to.precision() + 2 &&
         std::all_of(x.begin(), x.end(), alike);
}

// The exponents leave room for the carry, and for what TwoSum makes on its way.
bool sum_stays_inside(const Format& own, Step step, std::span<const Format> x) {
  std::int64_t most = 0;
  for (const Format& f : x) most = std::max(most, f.emax());
  if (step == Step::fma) most = std::max(x[0].emax() + x[1].emax() + 1, x[2].emax());
  return most + 2 <= own.emax();
}

// Where it does not: the machine's overflow, to nearest even, is one of `to` that gives the same
// code, and so is the carrier's largest number.
bool overflow_agrees(const Format& own, const Format& to) {
  return to.emax() == own.emax() && to.has_inf() && to.overflow == Overflow::ieee;
}

// Quotients are normal numbers of the carrier, and roots always are.
bool quotient_stays_inside(const Format& own, std::span<const Format> x) {
  return x.size() < 2 || (x[0].emax() - x[1].least_digit() < own.emax() &&
                          x[0].least_digit() - x[1].emax() - 1 >= own.emin());
}

// Floats to odd serve for doubles: they keep three digits more than the format, and what lies
// beyond their normal numbers is far below half of the least number, or overflows.
bool rounds_once_from_odd(const Format& to, RoundingMode mode) {
  return encodes(binary32, to) && !to.all_normal() &&
         (mode == RoundingMode::rne || composes(mode)) && to.least_digit() - 1 > binary32.emin() &&
         to.emax() < binary32.emax();
}

// The random bits find their digits below the last kept one, and nothing but them decides: of plain
// ones floor(delta 2^k) alone, else a half, and what lies below it, besides.
bool draws(const Format& own, const Format& to, const Rounding& rounding) {
  const int dropped = own.precision() - to.precision();
  const int looked_at = rounding.variant == StochasticVariant::plain ? 0 : 2;
  return rounding.random_bits + looked_at <= dropped && to.is_signed() && !to.all_normal() &&
         !to.ftz && to.precision() > 1;
}

LaneAnswer plan_in(Carrier carrier, Step step, const Format& to, const Env& env,
                   std::span<const Format> x, bool flags) {
  const Format& own = carrier == Carrier::in_float ? binary32 : binary64;
  const auto refuse = [](const char* why) { return LaneAnswer{std::nullopt, why}; };
  const RoundingMode mode = env.rounding.mode;
  const bool to_odd = own == binary32 && step == Step::none && x[0] == binary64 && !flags &&
                      rounds_once_from_odd(to, mode);
  for (const Format& f : x)
    if (!to_odd && !decodes(own, f)) return refuse("lanes do not hold all numbers of an operand");
  // What the machine has rounded does not tell what was tiny before.
  const bool keeps_lost = flags || (to.ftz && env.tininess == Tininess::before_rounding);
  const bool by_machine = !keeps_lost && composes(mode);
  if (env.rounding.stochastic()) {
    if (!encodes(own, to) || !draws(own, to, env.rounding))
      return refuse("lanes have too few digits for so many random bits");
    return {LanePlan{carrier, {step, Sum::rounded, flags}, RoundingMode::rne}, nullptr};
  }
  LanePlan plan{carrier, {step, Sum::rounded, flags}, by_machine ? mode : RoundingMode::rne};
  if (step == Step::none && to == own) return {plan, nullptr};
  if (!encodes(own, to)) return refuse("lanes have too few digits or exponents to round");
  const bool to_nearest = !keeps_lost && mode == RoundingMode::rne;
  // Flags tell an overflow from an infinity.
  const bool past_the_end = mode == RoundingMode::rne && overflow_agrees(own, to);
  const bool multiplies = step == Step::multiply || step == Step::fma;
  if (multiplies && !product_exact(own, x[0], x[1])) {
    if (step == Step::fma || !past_the_end || !loses_underflow_only(own, to, x[0], x[1]))
      return refuse("products are not exact in lanes");
    if (flags) plan.middle.sum = Sum::finite_to_odd;
  }
  if (step == Step::none || step == Step::multiply) return {plan, nullptr};

  const bool nearest = to_nearest && step != Step::fma && nearest_composes(own, to, x);
  if (step == Step::divide || step == Step::sqrt) {
    if (!by_machine && !nearest)
      return refuse("lanes divide and take roots only where two roundings are one");
    if (!quotient_stays_inside(own, x)) return refuse("quotients may overflow in lanes");
    return {plan, nullptr};
  }
  const bool inside = sum_stays_inside(own, step, x);
  if (!inside && !(past_the_end && (nearest || (flags && step != Step::fma))))
    return refuse("sums may overflow in lanes");
  if (!by_machine && !nearest) plan.middle.sum = inside ? Sum::to_odd : Sum::finite_to_odd;
  return {plan, nullptr};
}

}  // namespace

LaneAnswer plan_lanes(Operation op, const Format& to, const Env& env,
                      std::span<const Format> operands, bool flags) {
  const std::optional<Step> step = step_of(op);
  if (!step)
    return {std::nullopt, "lanes add, subtract, multiply, divide, fuse, take roots and convert"};
  if (!to.is_float() || !std::ranges::all_of(operands, &Format::is_float))
    return {std::nullopt, "lanes hold floats"};
  if (env.rounding.stochastic() && (flags || *step != Step::none))
    return {std::nullopt, "lanes draw random bits for conversions alone, without flags"};
  if (env.nan != NanResult::canonical)
    return {std::nullopt, "lanes deliver the canonical NaN alone"};
  if (flags && to.all_normal())
    return {std::nullopt, "lanes do not tell what is tiny in a format without subnormals"};
  const LaneAnswer narrow = plan_in(Carrier::in_float, *step, to, env, operands, flags);
  if (narrow.plan) return narrow;
  if (flags && *step != Step::none)
    return {std::nullopt, "integers are as fast as double lanes where flags are wanted"};
  return plan_in(Carrier::in_double, *step, to, env, operands, flags);
}

}  // namespace widthwise::elements
