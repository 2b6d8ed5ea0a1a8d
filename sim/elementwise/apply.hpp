#pragma once
#include "widthwise/operations.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/elementwise.hpp"

// An operation on one element, whichever it is. Plain data and constexpr: threads of a GPU take it
// as it is.
namespace widthwise {

// op(x...) of codes of the formats f, as many as it reads.
template <class U, class Trace = NoTrace>
constexpr Result<U> apply(Operation op, const Rounder<U>& to, const Layout<U>* f, const U* x,
                          const U& random, Trace&& trace = {}) {
  const Layout<U>&fa = f[0], &fb = f[1], &fc = f[2];
  const U &a = x[0], &b = x[1], &c = x[2];
  const auto extremes = [&](bool greater, NanOperand rule) {
    return extremum(to, greater, rule, fa, a, fb, b, random, trace);
  };
  switch (op) {
    case Operation::add: return add(to, fa, a, fb, b, random, trace);
    case Operation::subtract: return subtract(to, fa, a, fb, b, random, trace);
    case Operation::multiply: return multiply(to, fa, a, fb, b, random, trace);
    case Operation::divide: return divide(to, fa, a, fb, b, random, trace);
    case Operation::remainder: return remainder(to, fa, a, fb, b, random, trace);
    case Operation::sqrt: return sqrt(to, fa, a, random, trace);
    case Operation::fma: return fma(to, fa, a, fb, b, fc, c, random, trace);
    case Operation::convert: return convert(to, fa, a, random, trace);
    case Operation::round_to_integral: return round_to_integral(to, fa, a, false, random, trace);
    case Operation::round_to_integral_exact:
      return round_to_integral(to, fa, a, true, random, trace);
    case Operation::minimum: return extremes(false, NanOperand::wins);
    case Operation::maximum: return extremes(true, NanOperand::wins);
    case Operation::minimum_number: return extremes(false, NanOperand::loses);
    case Operation::maximum_number: return extremes(true, NanOperand::loses);
    case Operation::min_num: return extremes(false, NanOperand::loses_unless_loud);
    case Operation::max_num: return extremes(true, NanOperand::loses_unless_loud);
    case Operation::min_x86: return x86_extremum(to, false, fa, a, fb, b, random, trace);
    case Operation::max_x86: return x86_extremum(to, true, fa, a, fb, b, random, trace);
    case Operation::logb: return logb(to, fa, a, random, trace);
    case Operation::next_up: return next_up(fa, a);
    case Operation::next_down: return next_down(fa, a);
    case Operation::copysign: return copysign(to, a, fb, b);
    case Operation::negate: return negate(to, a);
    case Operation::abs: return abs(to, a);
  }
  return {};
}

// Whether a comparison holds, and what it raises. The total orders, of one format, raise nothing.
struct Truth {
  bool holds;
  Flags flags = 0;
};

constexpr bool holds(Comparison how, Relation r) {
  using enum Comparison;
  switch (how) {
    case quiet_equal:
    case signaling_equal: return r == Relation::equal;
    case quiet_less:
    case signaling_less: return r == Relation::less;
    case quiet_less_equal:
    case signaling_less_equal: return r == Relation::less || r == Relation::equal;
    case quiet_unordered: return r == Relation::unordered;
    default: return false;
  }
}

constexpr bool is_loud(Comparison how) {
  using enum Comparison;
  return how == signaling_equal || how == signaling_less || how == signaling_less_equal;
}

template <class U>
constexpr Truth apply(Comparison how, const Layout<U>& fa, const U& a, const Layout<U>& fb,
                      const U& b) {
  if (how == Comparison::total_order) return {total_order(fa, a, b)};
  if (how == Comparison::total_order_magnitude) return {total_order_magnitude(fa, a, b)};
  return {holds(how, compare(fa, a, fb, b)), comparison_flags(fa, a, fb, b, is_loud(how))};
}

// The random bits of element i; none where rounding takes none.
template <class U>
constexpr U draw(const Rounding& rounding, const RandomSource& random, std::size_t i) {
  if (!rounding.stochastic()) return U{};
  const std::uint64_t index = random.first_index + i;
  if (random.given) return U(random.given[index]);
  return U(random_bits(rounding.random_bits, {random.seed, index}, Slot::out, 0));
}

}  // namespace widthwise
