#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "scale_steps.hpp"
#include "widthwise/decide.hpp"
#include "widthwise/random.hpp"
#include "widthwise/significand.hpp"
#include "widthwise/sim/affine.hpp"

// The definition of an affine code, one value at a time, in integers; and of what it stands for.
// Threads of a GPU take it as it is.
namespace widthwise::affine {

// The magnitude of a quotient x / s: digits before the point, and those behind it at the top of a
// word, what does not fit jammed into the lowest.
struct Quotient {
  std::int64_t whole;
  std::uint64_t rest;
};

inline constexpr std::int64_t past_all = std::int64_t{1} << 41;  // every code and zero point

constexpr std::uint64_t jammed(uint128 dividend, uint128 divisor) {
  return static_cast<std::uint64_t>(dividend / divisor) | (dividend % divisor != 0);
}

// Of finite numbers, s above zero.
constexpr Quotient quotient(double x, double s) {
  if (x == 0) return {0, 0};
  const auto [up, x_digits] = containers::split(x < 0 ? -x : x);
  const auto [down, s_digits] = containers::split(s);
  const uint128 of_x = x_digits, of_s = s_digits;
  const std::int64_t e = up - down;  // the quotient is below 2^(e + 1)
  if (e > 41) return {past_all, 0};
  if (e < -70) return {0, 1};
  if (e < -2) return {0, jammed(of_x << 64, of_s << -e)};
  const uint128 dividend = e > 0 ? of_x << e : of_x, divisor = e < 0 ? of_s << -e : of_s;
  return {static_cast<std::int64_t>(dividend / divisor), jammed(dividend % divisor << 64, divisor)};
}

constexpr std::int64_t rounded(const AffineRule& rule, double x, double s, RandomSource random,
                               std::size_t index) {
  const Quotient q = quotient(x, s);
  const std::uint64_t bits =
      !rule.rounding.stochastic() ? 0
      : random.given              ? random.given[random.first_index + index]
                                  : random_bits(rule.rounding.random_bits,
                                                {random.seed, random.first_index + index}, Slot::out, 0);
  const bool away = rounds_away<std::uint64_t>(RoundingRule(rule.rounding), x < 0,
                                               (q.whole & 1) != 0, q.rest, bits);
  const std::int64_t magnitude = q.whole + away;
  return x < 0 ? -magnitude : magnitude;
}

// q + z, not yet clamped. That of NaN is in range.
struct Code {
  std::int64_t sum;
  bool nan = false;
};

// The quotient as an engine has it, in binary32; torch_legacy's has z in it.
constexpr float engine_quotient(AffineArithmetic how, float x, float s, std::int64_t z) {
  switch (how) {
    case AffineArithmetic::onnx: return x / s;
    case AffineArithmetic::torch: return x * (1 / s);
    default: return std::fma(x, 1 / s, static_cast<float>(z));
  }
}

constexpr Code code_of(const AffineRule& rule, double x, double s, std::int64_t z,
                       RandomSource random, std::size_t index) {
  if (x != x) return {rule.nan_is_zero_point ? z : rule.nan, true};
  const bool exact = rule.arithmetic == AffineArithmetic::exact;
  if (!exact) {
    x = engine_quotient(rule.arithmetic, static_cast<float>(x), static_cast<float>(s), z);
    s = 1;
    if (rule.arithmetic == AffineArithmetic::torch_legacy) z = 0;
  }
  if (rule.far_is_low && !(x < 0x1p63 && x > -0x1p63)) return {-past_all};
  // Zero times an infinite reciprocal; infinity itself is past every code.
  if (x != x) return {rule.nan};
  constexpr double most = std::numeric_limits<double>::max();
  if (x < -most || x > most) return {x < 0 ? -past_all : past_all};
  return {rounded(rule, x, s, random, index) + z};
}

// NX where s (q - z) is not x, OF where q was clamped, NV for NaN.
constexpr std::uint8_t flags_of(const AffineRule& rule, double x, double s, std::int64_t z,
                                Code c) {
  if (c.nan) return invalid;
  if (c.sum < rule.qmin || c.sum > rule.qmax) return overflow | inexact;
  const Quotient q = quotient(x, s);
  const bool same = q.rest == 0 && c.sum - z == (x < 0 ? -q.whole : q.whole);
  return same ? 0 : inexact;
}

// s (q - z), rounded once where it has to be, and whether a double has not all of it.
template <class Value>
struct Dequantised {
  Value value;
  bool rounded;
};
template <class Value>
constexpr Dequantised<Value> dequantised(double code, double zero, double s) {
  const double steps = code - zero, x = steps * s, lost = std::fma(steps, s, -x);
  return {static_cast<Value>(sizeof(Value) == 4 ? to_odd(x, lost) : x), lost != 0};
}

}  // namespace widthwise::affine
