#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "widthwise/decide.hpp"
#include "widthwise/random.hpp"
#include "widthwise/significand.hpp"
#include "widthwise/sim/affine.hpp"

// The definition of an affine code, one value at a time, in integers.
namespace widthwise::affine {

// The magnitude of a quotient x / s: digits before the point, and those behind it at the top of a
// word, what does not fit jammed into the lowest.
struct Quotient {
  std::int64_t whole;
  std::uint64_t rest;
};

inline constexpr std::int64_t past_all = std::int64_t{1} << 41;  // every code and zero point

inline std::uint64_t jammed(uint128 dividend, uint128 divisor) {
  return static_cast<std::uint64_t>(dividend / divisor) | (dividend % divisor != 0);
}

// Of finite numbers, s above zero.
inline Quotient quotient(double x, double s) {
  if (x == 0) return {0, 0};
  int up, down;
  const auto significand = [](double v, int& exponent) {
    return static_cast<uint128>(std::ldexp(std::frexp(std::abs(v), &exponent), 53));
  };
  const uint128 of_x = significand(x, up), of_s = significand(s, down);
  const int e = up - down;  // the quotient is below 2^(e + 1)
  if (e > 41) return {past_all, 0};
  if (e < -70) return {0, 1};
  if (e < -2) return {0, jammed(of_x << 64, of_s << -e)};
  const uint128 dividend = of_x << std::max(e, 0), divisor = of_s << std::max(-e, 0);
  return {static_cast<std::int64_t>(dividend / divisor), jammed(dividend % divisor << 64, divisor)};
}

inline std::int64_t rounded(const AffineRule& rule, double x, double s, RandomSource random,
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
inline float engine_quotient(AffineArithmetic how, float x, float s, std::int64_t z) {
  switch (how) {
    case AffineArithmetic::onnx: return x / s;
    case AffineArithmetic::torch: return x * (1 / s);
    default: return std::fma(x, 1 / s, static_cast<float>(z));
  }
}

inline Code code_of(const AffineRule& rule, double x, double s, std::int64_t z, RandomSource random,
                    std::size_t index) {
  if (std::isnan(x)) return {rule.nan_is_zero_point ? z : rule.nan, true};
  const bool exact = rule.arithmetic == AffineArithmetic::exact;
  if (!exact) {
    x = engine_quotient(rule.arithmetic, static_cast<float>(x), static_cast<float>(s), z);
    s = 1;
    if (rule.arithmetic == AffineArithmetic::torch_legacy) z = 0;
  }
  if (rule.far_is_low && !(std::abs(x) < 0x1p63)) return {-past_all};
  // Zero times an infinite reciprocal; infinity itself is past every code.
  if (std::isnan(x)) return {rule.nan};
  if (std::isinf(x)) return {x < 0 ? -past_all : past_all};
  return {rounded(rule, x, s, random, index) + z};
}

// NX where s (q - z) is not x, OF where q was clamped, NV for NaN.
inline std::uint8_t flags_of(const AffineRule& rule, double x, double s, std::int64_t z, Code c) {
  if (c.nan) return invalid;
  if (c.sum < rule.qmin || c.sum > rule.qmax) return overflow | inexact;
  const Quotient q = quotient(x, s);
  const bool same = q.rest == 0 && c.sum - z == (x < 0 ? -q.whole : q.whole);
  return same ? 0 : inexact;
}

}  // namespace widthwise::affine
