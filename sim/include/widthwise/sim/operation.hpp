#pragma once
#include <cstdint>

#include "widthwise/rounding.hpp"

namespace widthwise {

// The operations on codes, by the names Python and the command line call them. Operand order is
// IEEE 754-2019's: fma is a * b + c, remainder a - b * n, scaleb a * 2^b.
enum class Operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,  // n the integer nearest a / b, ties to even
  sqrt,
  fma,
  convert,
  round_to_integral,        // never inexact (roundToIntegralTies…)
  round_to_integral_exact,  // raises inexact
  minimum,                  // 754-2019 9.6: NaN wins, -0 < +0
  maximum,
  minimum_number,  // 754-2019 9.6: the number wins, -0 < +0
  maximum_number,
  min_num,  // 754-2008 5.3.1: a quiet NaN loses, a signalling one is invalid
  max_num,
  min_x86,  // MINSS: b unless a is less, so of two zeros and beside a NaN, which is invalid
  max_x86,
  next_up,
  next_down,
  logb,
  copysign,
  negate,
  abs,
};

// How many of a, b, c the operation reads.
constexpr int arity(Operation op) {
  switch (op) {
    case Operation::fma: return 3;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::remainder:
    case Operation::minimum:
    case Operation::maximum:
    case Operation::minimum_number:
    case Operation::maximum_number:
    case Operation::min_num:
    case Operation::max_num:
    case Operation::min_x86:
    case Operation::max_x86:
    case Operation::copysign: return 2;
    default: return 1;
  }
}

// Comparisons deliver a truth; the signalling ones raise invalid on any NaN (754-2019, 5.11).
enum class Comparison : std::uint8_t {
  quiet_equal,
  quiet_less,
  quiet_less_equal,
  quiet_unordered,
  signaling_equal,
  signaling_less,
  signaling_less_equal,
  total_order,
  total_order_magnitude,
};

// An integer type of two's-complement or unsigned codes, for conversions.
struct IntegerType {
  int width;  // 8, 16, 32 or 64
  bool is_signed;
  InvalidInteger invalid = InvalidInteger::riscv;  // of conversions to it
  constexpr bool operator==(const IntegerType&) const = default;
};

}  // namespace widthwise
