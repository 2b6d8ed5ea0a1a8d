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
    case Operation::logb: return logb(to, fa, a, random, trace);
    case Operation::next_up: return next_up(fa, a);
    case Operation::next_down: return next_down(fa, a);
    case Operation::copysign: return {copysign(fa, a, fb, b), 0};
    case Operation::negate: return {negate(fa, a), 0};
    case Operation::abs: return {abs(fa, a), 0};
  }
  return {};
}

// The random bits of element i; none where rounding takes none.
template <class U>
constexpr U draw(const Rounding& rounding, const RandomSource& random, std::size_t i) {
  if (!rounding.stochastic()) return U{};
  return U(random_bits(rounding.random_bits, {random.seed, random.first_index + i}, Slot::out, 0));
}

}  // namespace widthwise
