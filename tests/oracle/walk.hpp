#pragma once
#include <cstdint>
#include <initializer_list>

#include "values.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/sim/operation.hpp"

// A second definition of every operation that shares no code with the first: the exact result is a
// fraction or a root, the result format is the sorted list of its values, and rounding is a look at
// the two neighbours. Slow, and plain enough to be believed.
//
//   const Values &f = values(e4m3fn), &g = values(e5m2);
//   const Outcome x = outcome(Operation::add, g, {f[a], f[b]});   // once a pair of operands
//   const Answer z = deliver(x, env, random);                     // once an environment
//
// NaN results are canonical; Env::nan is not read. Decisions followed here and nowhere in the
// literature: docs/semantics.md.
namespace oracle {

using widthwise::Comparison;
using widthwise::Env;
using widthwise::Flags;
using widthwise::IntegerType;
using widthwise::Operation;
using widthwise::Rounding;

struct Answer {
  std::uint64_t code;
  Flags flags;
  bool operator==(const Answer&) const = default;
};

// An operation's exact result and where it lies among the values of the result format.
struct Outcome {
  const Values* to;
  Kind kind = Kind::nan;
  bool negative = false;
  bool cancelled = false;  // zero as the sum of opposites: -0 only where rounding is downward
  Flags flags = 0;         // raised by the operation itself, whatever the rounding
  bool sealed = false;     // code and flags are known: sign operations move bits, not numbers
  std::uint64_t code = 0;

  // Of a finite result.
  Exact exact{};
  bool below_all = false;  // less than the least number of a format without zero
  std::size_t lower = 0;   // the point at or below
  bool at_lower = false;
  std::strong_ordering half = std::strong_ordering::equal;  // against the middle of the gap
  bool past_end = false;                                    // at least one step past the largest
  bool tiny = false;                                        // less than the least normal number
  bool may_grow = false;  // tiny, but in the last gap below the least normal number
  std::strong_ordering growth = std::strong_ordering::equal;
};

// An operand with the format that says how it is read.
struct Coded {
  const Format* format;
  Number number;
  Coded(const Format& f, std::uint64_t code) : format(&f), number(decode(f, code)) {}
  Coded(const Values& v, std::uint64_t code) : format(&v.format()), number(v[code]) {}
};

// Every Operation. Only round_to_integral and round_to_integral_exact read how (and its random
// bits): they round twice. next_up, next_down take operands of the result's format.
Outcome outcome(Operation op, const Values& to, std::initializer_list<Coded> operands,
                Rounding how = {}, std::uint64_t random = 0);
// A number by itself: num / den * 2^exp, not zero.
Outcome real(const Values& to, bool negative, const Exact& exact);
Outcome scaleb(const Values& to, const Coded& a, std::int64_t n);
Outcome from_integer(const Values& to, IntegerType type, std::uint64_t integer);

Answer deliver(const Outcome& x, const Env& env, std::uint64_t random = 0);

// outcome and deliver in one.
Answer answer(Operation op, const Format& to, const Env& env, std::initializer_list<Coded> operands,
              std::uint64_t random = 0);

// RISC-V's values where there is no right one, with invalid alone; else inexact where it is.
Answer to_integer(IntegerType type, Rounding how, const Coded& a, std::uint64_t random = 0);

// code is 0 or 1.
Answer compare(Comparison what, const Coded& a, const Coded& b);

// IEEE 754-2019, 5.7.2, in its order: signalling NaN 0, quiet NaN 1, -infinity 2, -normal 3,
// -subnormal 4, -0 5, +0 6, +subnormal 7, +normal 8, +infinity 9.
int class_of(const Coded& a);

}  // namespace oracle
