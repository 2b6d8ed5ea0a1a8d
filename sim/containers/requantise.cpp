#include "widthwise/sim/requantise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "../engine/machine_rounding.hpp"
#include "widthwise/significand.hpp"

namespace widthwise {
namespace {

constexpr std::int64_t past_all = std::int64_t{1} << 41;

int bit_count(uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(x));
}

// acc M to the nearest integer. The product has at most 96 digits.
std::int64_t nearest(std::int32_t acc, const SumScale& m, bool ties_up) {
  const bool negative = acc < 0;
  uint128 dividend = static_cast<uint128>(std::abs(std::int64_t{acc})) * m.significand;
  uint128 divisor = m.divisor;
  const int log2 = bit_count(dividend) - bit_count(divisor) + m.exponent;  // or one less
  if (dividend == 0 || log2 < -1) return 0;
  if (log2 > 41) return negative ? -past_all : past_all;
  if (m.exponent >= 0)
    dividend <<= m.exponent;
  else
    divisor <<= -m.exponent;
  const auto whole = static_cast<std::int64_t>(dividend / divisor);
  const uint128 twice = dividend % divisor << 1;
  const bool tie_away = ties_up ? !negative : (whole & 1) != 0;
  const std::int64_t magnitude = whole + (twice > divisor || (twice == divisor && tie_away));
  return negative ? -magnitude : magnitude;
}

// Of x / 2^k.
std::int64_t divide_ties_up(std::int64_t x, int k) {
  return k == 0 ? x : (x + (std::int64_t{1} << (k - 1))) >> k;
}
std::int64_t divide_ties_away(std::int64_t x, int k) {
  return x < 0 ? -divide_ties_up(-x, k) : divide_ties_up(x, k);
}

// gemmlowp's SaturatingRoundingDoublingHighMul, of a positive b.
std::int64_t doubled_high(std::int32_t a, std::int64_t b) { return divide_ties_up(a * b, 31); }

// M is q 2^(h - 31), q its significand of 31 bits.
std::int64_t in_two_roundings(const RequantiseRule& rule, std::int32_t acc, const SumScale& m) {
  const int h = m.exponent + 31;
  const auto q = static_cast<std::int64_t>(m.significand);
  const std::uint32_t shifted = h >= 32 ? 0 : static_cast<std::uint32_t>(acc) << std::max(h, 0);
  const std::int64_t high = doubled_high(static_cast<std::int32_t>(shifted), q);
  return rule.how == Requantisation::ruy ? divide_ties_up(high, std::max(-h, 0))
                                         : divide_ties_away(high, std::max(-h, 0));
}

// Clamped before it is an integer, which a large number has none of.
std::int64_t by_float(const RequantiseRule& rule, std::int32_t acc, const SumScale& m,
                      std::int64_t z) {
  const double product = static_cast<float>(acc) * m.real;
  return static_cast<std::int64_t>(std::nearbyint(
      std::clamp(product, static_cast<double>(rule.qmin - z), static_cast<double>(rule.qmax - z))));
}

std::int64_t scaled(const RequantiseRule& rule, std::int32_t acc, const SumScale& m,
                    std::int64_t z) {
  switch (rule.how) {
    case Requantisation::rational: return nearest(acc, m, rule.ties_up);
    case Requantisation::fp32: return by_float(rule, acc, m, z);
    default: return in_two_roundings(rule, acc, m);
  }
}

}  // namespace

void requantise(const RequantiseRule& rule, const Channels& channels,
                const std::vector<SumScale>& multipliers,
                const std::vector<std::int64_t>& zero_points, const std::int32_t* sums,
                std::size_t first, std::size_t count, std::int32_t* codes) {
  const MachineRounding mode(RoundingMode::rne);
  for (std::size_t i = first; i < first + count; ++i) {
    const std::size_t channel = i / channels.inner % channels.count;
    const std::int64_t z = zero_points[channel];
    const std::int64_t code = scaled(rule, sums[i], multipliers[channel], z) + z;
    codes[i] = static_cast<std::int32_t>(std::clamp(code, rule.qmin, rule.qmax));
  }
}

}  // namespace widthwise
