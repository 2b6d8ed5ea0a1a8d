#pragma once
#include <array>
#include <cstdint>

#include "rounding_rule.hpp"
#include "values.hpp"
#include "widthwise/sim/operation.hpp"

// What an operation's result is before any rounding, IEEE 754-2019 read once more.
namespace oracle {

using widthwise::Flags;
using widthwise::Operation;

struct Result {
  Kind kind = Kind::nan;
  bool negative = false;
  bool cancelled = false;  // zero as the sum of opposites: -0 only where rounding is downward
  Flags flags = 0;
  Exact exact{};
};

// An integer next to a number, on the same side of zero, and whether it differs from it.
struct Whole {
  Big magnitude;
  bool inexact;
};

// -1, 0 or 1 as x is less than, equal to or greater than y; the zeros are equal. No NaN.
int order(const Number& x, const Number& y);

// Floor of the logarithm to base 2 of a finite number.
std::int64_t exponent(const Number& x);

Whole nearest_integer(const Number& x, Rounding how, std::uint64_t random);
Result integer(std::int64_t n);
Result as_is(const Number& x);

// The operations on numbers; signalling operands raise invalid here too.
Result exact_result(Operation op, const std::array<Number, 3>& x, Rounding how,
                    std::uint64_t random);

}  // namespace oracle
