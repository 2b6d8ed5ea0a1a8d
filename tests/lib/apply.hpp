#pragma once
#include <cstdint>
#include <stdexcept>

#include "widthwise/operations.hpp"
#include "widthwise/sim/operation.hpp"

// The definition, called by an operation's name: one loop can then test them all.
namespace tests {

using namespace widthwise;

template <class U>
struct Coded {
  const Layout<U>* layout;
  U code;
};

template <class U>
Result<U> extreme(Operation op, const Rounder<U>& to, const Coded<U>* x, const U& random) {
  using enum Operation;
  const bool greater = op == maximum || op == maximum_number || op == max_num;
  const NanOperand rule = op == minimum || op == maximum   ? NanOperand::wins
                          : op == min_num || op == max_num ? NanOperand::loses_unless_loud
                                                           : NanOperand::loses;
  return extremum<U>(to, greater, rule, *x[0].layout, x[0].code, *x[1].layout, x[1].code, random);
}

// The rounder of an operand's own format, which may be another than the results'.
template <class U>
Rounder<U> own(const Rounder<U>& to, const Layout<U>& f) {
  return to.layout.format == f.format ? to : Rounder<U>(f.format, to.env);
}

// next_up, next_down, copysign, negate and abs answer in the format of their operand.
template <class U>
Result<U> apply(Operation op, const Rounder<U>& to, const Coded<U>* x, const U& random) {
  using enum Operation;
  const auto f = [x](int i) -> const Layout<U>& { return *x[i].layout; };
  const auto c = [x](int i) -> const U& { return x[i].code; };
  switch (op) {
    case add: return widthwise::add<U>(to, f(0), c(0), f(1), c(1), random);
    case subtract: return widthwise::subtract<U>(to, f(0), c(0), f(1), c(1), random);
    case multiply: return widthwise::multiply<U>(to, f(0), c(0), f(1), c(1), random);
    case divide: return widthwise::divide<U>(to, f(0), c(0), f(1), c(1), random);
    case remainder: return widthwise::remainder<U>(to, f(0), c(0), f(1), c(1), random);
    case sqrt: return widthwise::sqrt<U>(to, f(0), c(0), random);
    case fma: return widthwise::fma<U>(to, f(0), c(0), f(1), c(1), f(2), c(2), random);
    case convert: return widthwise::convert<U>(to, f(0), c(0), random);
    case round_to_integral: return widthwise::round_to_integral<U>(to, f(0), c(0), false, random);
    case round_to_integral_exact:
      return widthwise::round_to_integral<U>(to, f(0), c(0), true, random);
    case minimum:
    case maximum:
    case minimum_number:
    case maximum_number:
    case min_num:
    case max_num: return extreme(op, to, x, random);
    case min_x86:
    case max_x86: return x86_extremum<U>(to, op == max_x86, f(0), c(0), f(1), c(1), random);
    case next_up: return widthwise::next_up<U>(f(0), c(0));
    case next_down: return widthwise::next_down<U>(f(0), c(0));
    case logb: return widthwise::logb<U>(to, f(0), c(0), random);
    case copysign: return widthwise::copysign<U>(own(to, f(0)), c(0), f(1), c(1));
    case negate: return widthwise::negate<U>(own(to, f(0)), c(0));
    case abs: return widthwise::abs<U>(own(to, f(0)), c(0));
  }
  throw std::logic_error("no such Operation");
}

// Compiled once, in apply.cpp and apply_wide.cpp.
extern template Result<std::uint32_t> apply(Operation, const Rounder<std::uint32_t>&,
                                            const Coded<std::uint32_t>*, const std::uint32_t&);
extern template Result<std::uint64_t> apply(Operation, const Rounder<std::uint64_t>&,
                                            const Coded<std::uint64_t>*, const std::uint64_t&);
extern template Result<uint128> apply(Operation, const Rounder<uint128>&, const Coded<uint128>*,
                                      const uint128&);
extern template Result<Wide<4>> apply(Operation, const Rounder<Wide<4>>&, const Coded<Wide<4>>*,
                                      const Wide<4>&);
extern template Result<Wide<17>> apply(Operation, const Rounder<Wide<17>>&, const Coded<Wide<17>>*,
                                       const Wide<17>&);
extern template Result<Wide<65>> apply(Operation, const Rounder<Wide<65>>&, const Coded<Wide<65>>*,
                                       const Wide<65>&);

}  // namespace tests
