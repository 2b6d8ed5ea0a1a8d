#pragma once
#include <optional>
#include <string>

#include "widthwise/unit.hpp"

// Which units add all their products exactly, or in a register of one fixed last digit, and round
// once at the end. docs/exactness.md argues every condition.
namespace widthwise::exact {

// Finite numbers: multiples of 2^last, below 2^top, of at most so many digits.
struct Span {
  std::int64_t last, top;
  int digits;
};
constexpr Span operator*(const Span& x, const Span& y) {
  return {x.last + y.last, x.top + y.top, x.digits + y.digits};
}

// How terms lose the digits below the register's last one.
enum class Terms : std::uint8_t {
  whole,      // none has any there
  in_sum,     // down, up: a sum of such terms rounds as each term does
  nearest,    // to even, each by itself
  magnitude,  // toward zero, away from it: what is rounded has no sign
  stepwise,   // by other rules, in integers
};

// What becomes of a sum that the register cannot hold.
enum class Register : std::uint8_t {
  open,  // there is none
  wraps,
  saturates,
  watched,  // wraps, and raises a flag at the step where it does
};

struct Plan {
  Span a, b;       // operands with their scales
  bool doubles;    // hold operands and products, all digits of them
  bool c_doubles;  // C too, and the register takes all digits of it
  Terms terms;
  Register reg;
  std::int64_t last;   // digit of the register
  std::int64_t bits;   // its sums are below 2^(last + bits), if it is an open one
  bool long_rounding;  // the roundings at the end look at more than 64 digits
};

// Whether sums have the register's last digit, whatever the products.
constexpr bool of_one_digit(const Plan& p) {
  return p.terms != Terms::whole || p.reg == Register::saturates;
}

struct Answer {
  std::optional<Plan> plan;
  std::string reason;  // the conditions that hold, or the one that fails
};

// For sums of k products.
Answer plan(const Unit& unit, std::size_t k, bool flags);

}  // namespace widthwise::exact
