#include "result.hpp"

#include <algorithm>
#include <stdexcept>

namespace oracle {
namespace {

using widthwise::divide_by_zero;
using widthwise::invalid;

Result nan(Flags flags = 0) { return {.kind = Kind::nan, .flags = flags}; }
Result infinity(bool negative, Flags flags = 0) {
  return {.kind = Kind::infinite, .negative = negative, .flags = flags};
}
Result zero(bool negative) { return {.kind = Kind::zero, .negative = negative}; }
Result number(bool negative, Exact exact) {
  return {.kind = Kind::finite, .negative = negative, .exact = std::move(exact)};
}

bool is(Kind k, const Number& x) { return x.kind == k; }
Exact magnitude(const Number& x) { return {.num = Big(x.sig), .exp = x.exp}; }

Number negated(Number x) {
  x.negative = !x.negative;
  return x;
}

// (-1)^negative * sig * 2^exp, for sums.
struct Term {
  bool negative;
  Big sig;
  std::int64_t exp;
};

Term term(const Number& x) { return {x.negative, Big(x.sig), x.exp}; }

Term product(const Number& x, const Number& y) {
  return {x.negative != y.negative, Big(x.sig) * Big(y.sig), x.exp + y.exp};
}

Result sum(const Term& x, const Term& y) {
  if (x.exp < y.exp) return sum(y, x);
  Big total = x.sig << static_cast<unsigned>(x.exp - y.exp);
  if (x.negative == y.negative)
    total += y.sig;
  else
    total -= y.sig;
  if (total == 0) return {.kind = Kind::zero, .cancelled = true};
  return number(x.negative != (total < 0), {.num = abs(total), .exp = y.exp});
}

Result add(const Number& x, const Number& y) {
  if (is(Kind::nan, x) || is(Kind::nan, y)) return nan();
  if (is(Kind::infinite, x) && is(Kind::infinite, y) && x.negative != y.negative)
    return nan(invalid);
  if (is(Kind::infinite, x) || is(Kind::infinite, y))
    return infinity(is(Kind::infinite, x) ? x.negative : y.negative);
  if (is(Kind::zero, x) && is(Kind::zero, y)) {
    Result z = zero(x.negative && y.negative);
    z.cancelled = x.negative != y.negative;
    return z;
  }
  if (is(Kind::zero, x)) return as_is(y);
  if (is(Kind::zero, y)) return as_is(x);
  return sum(term(x), term(y));
}

Result multiply(const Number& x, const Number& y) {
  const bool negative = x.negative != y.negative;
  if (is(Kind::nan, x) || is(Kind::nan, y)) return nan();
  if (is(Kind::infinite, x) || is(Kind::infinite, y))
    return is(Kind::zero, x) || is(Kind::zero, y) ? nan(invalid) : infinity(negative);
  if (is(Kind::zero, x) || is(Kind::zero, y)) return zero(negative);
  return number(negative, {.num = Big(x.sig) * Big(y.sig), .exp = x.exp + y.exp});
}

// inf * 0 is invalid even where it is added to a NaN.
Result fma(const Number& x, const Number& y, const Number& z) {
  const Result p = multiply(x, y);
  if (p.kind == Kind::nan || is(Kind::nan, z)) return nan(p.flags);
  if (p.kind != Kind::finite) return add({.kind = p.kind, .negative = p.negative}, z);
  if (is(Kind::infinite, z)) return infinity(z.negative);
  if (is(Kind::zero, z)) return p;
  return sum(product(x, y), term(z));
}

Result divide(const Number& x, const Number& y) {
  const bool negative = x.negative != y.negative;
  if (is(Kind::nan, x) || is(Kind::nan, y)) return nan();
  if (x.kind == y.kind && !is(Kind::finite, x)) return nan(invalid);
  if (is(Kind::infinite, x)) return infinity(negative);
  if (is(Kind::zero, x) || is(Kind::infinite, y)) return zero(negative);
  if (is(Kind::zero, y)) return infinity(negative, divide_by_zero);
  return number(negative, {.num = Big(x.sig), .den = Big(y.sig), .exp = x.exp - y.exp});
}

// x - y * n for the integer n nearest x / y, the even one of two. A zero has x's sign.
Result remainder(const Number& x, const Number& y) {
  if (is(Kind::nan, x) || is(Kind::nan, y)) return nan();
  if (is(Kind::infinite, x) || is(Kind::zero, y)) return nan(invalid);
  if (is(Kind::zero, x) || is(Kind::infinite, y)) return as_is(x);
  const std::int64_t exp = std::min(x.exp, y.exp);
  const Big dividend = Big(x.sig) << static_cast<unsigned>(x.exp - exp);
  const Big divisor = Big(y.sig) << static_cast<unsigned>(y.exp - exp);
  Big quotient, rest;
  divide_qr(dividend, divisor, quotient, rest);
  const Big twice = 2 * rest;
  if (twice > divisor || (twice == divisor && bit_test(quotient, 0))) rest -= divisor;
  if (rest == 0) return zero(x.negative);
  return number(x.negative != (rest < 0), {.num = abs(rest), .exp = exp});
}

Result sqrt(const Number& x) {
  if (is(Kind::nan, x)) return nan();
  if (is(Kind::zero, x)) return zero(x.negative);
  if (x.negative) return nan(invalid);
  if (is(Kind::infinite, x)) return infinity(false);
  return number(false, {.num = Big(x.sig), .exp = x.exp, .root = true});
}

Result logb(const Number& x) {
  if (is(Kind::nan, x)) return nan();
  if (is(Kind::infinite, x)) return infinity(false);
  if (is(Kind::zero, x)) return infinity(true, divide_by_zero);
  return integer(exponent(x));
}

Result round_to_integral(const Number& x, Rounding how, std::uint64_t random, bool tells) {
  if (!is(Kind::finite, x)) return as_is(x);
  const Whole whole = nearest_integer(x, how, random);
  Result z = zero(x.negative);
  if (whole.magnitude != 0) z = number(x.negative, {.num = whole.magnitude});
  z.flags = tells && whole.inexact ? widthwise::inexact : 0;
  return z;
}

// -0 is less than +0 here.
bool precedes(const Number& x, const Number& y) {
  const int o = order(x, y);
  return o < 0 || (o == 0 && x.negative && !y.negative);
}

Result lesser_or_greater(Operation op, const Number& x, const Number& y) {
  using enum Operation;
  const bool least = op == minimum || op == minimum_number || op == min_num;
  const bool nan_wins = op == minimum || op == maximum;
  const bool of_2008 = op == min_num || op == max_num;
  if (is(Kind::nan, x) && is(Kind::nan, y)) return nan();
  if (is(Kind::nan, x) || is(Kind::nan, y)) {
    if (nan_wins || (of_2008 && (x.signalling || y.signalling))) return nan();
    return as_is(is(Kind::nan, x) ? y : x);
  }
  return as_is(precedes(x, y) == least ? x : y);
}

Result quiet_result(Operation op, const std::array<Number, 3>& x, Rounding how,
                    std::uint64_t random) {
  switch (op) {
    case Operation::add: return add(x[0], x[1]);
    case Operation::subtract: return add(x[0], negated(x[1]));
    case Operation::multiply: return multiply(x[0], x[1]);
    case Operation::divide: return divide(x[0], x[1]);
    case Operation::remainder: return remainder(x[0], x[1]);
    case Operation::sqrt: return sqrt(x[0]);
    case Operation::fma: return fma(x[0], x[1], x[2]);
    case Operation::convert:
    case Operation::next_up:
    case Operation::next_down: return as_is(x[0]);
    case Operation::round_to_integral: return round_to_integral(x[0], how, random, false);
    case Operation::round_to_integral_exact: return round_to_integral(x[0], how, random, true);
    case Operation::minimum:
    case Operation::maximum:
    case Operation::minimum_number:
    case Operation::maximum_number:
    case Operation::min_num:
    case Operation::max_num: return lesser_or_greater(op, x[0], x[1]);
    case Operation::min_x86:
    case Operation::max_x86: break;  // one of two codes: walk.cpp
    case Operation::logb: return logb(x[0]);
    case Operation::negate: return as_is(negated(x[0]));
    case Operation::abs: return as_is(x[0].negative ? negated(x[0]) : x[0]);
    case Operation::copysign: return as_is(x[0].negative == x[1].negative ? x[0] : negated(x[0]));
  }
  throw std::logic_error("no such Operation");
}

}  // namespace

int order(const Number& x, const Number& y) {
  auto rank = [](const Number& n) {
    const int size = is(Kind::zero, n) ? 0 : is(Kind::finite, n) ? 1 : 2;
    return n.negative ? -size : size;
  };
  if (rank(x) != rank(y)) return rank(x) < rank(y) ? -1 : 1;
  if (!is(Kind::finite, x)) return 0;
  const auto c = compare(magnitude(x), {y.sig, y.exp});
  if (c == 0) return 0;
  return (c < 0) != x.negative ? -1 : 1;
}

std::int64_t exponent(const Number& x) {
  return x.exp + static_cast<std::int64_t>(msb(Big(x.sig)));
}

Whole nearest_integer(const Number& x, Rounding how, std::uint64_t random) {
  if (x.exp >= 0) return {Big(x.sig) << static_cast<unsigned>(x.exp), false};
  const std::uint64_t below = x.exp > -64 ? x.sig >> -x.exp : 0;
  const Gap gap{below, Wide{below} + 1, 0, below % 2 == 1};
  const Exact exact = magnitude(x);
  if (compare(exact, {below, 0}) == 0) return {Big(below), false};
  return {Big(goes_up(how, x.negative, exact, gap, random) ? gap.hi : gap.lo), true};
}

Result integer(std::int64_t n) {
  if (n == 0) return zero(false);
  return number(n < 0, {.num = abs(Big(n))});
}

Result as_is(const Number& x) {
  switch (x.kind) {
    case Kind::nan: return nan();
    case Kind::infinite: return infinity(x.negative);
    case Kind::zero: return zero(x.negative);
    case Kind::finite: break;
  }
  return number(x.negative, magnitude(x));
}

Result exact_result(Operation op, const std::array<Number, 3>& x, Rounding how,
                    std::uint64_t random) {
  Result z = quiet_result(op, x, how, random);
  for (const Number& n : x) z.flags |= n.signalling ? invalid : 0;
  return z;
}

}  // namespace oracle
