#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "widthwise/significand.hpp"

namespace widthwise {

__extension__ typedef __int128 int128;

constexpr std::int64_t saturated(int128 x) {
  return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : static_cast<std::int64_t>(x);
}

// An upper bound of magnitudes, m * 2^exp with m > 0. Where it is not attained, all lie below it.
struct Bound {
  std::uint64_t m;
  std::int64_t exp;
  bool attained;

  // m * 2^exp of a wider m, rounded up: what was attained then is below.
  static constexpr Bound of(uint128 m, int128 exp, bool attained) {
    const int drop = std::max(static_cast<int>(bit_length(m)) - 64, 0);
    uint128 top = m >> drop;
    if (top << drop != m) {
      ++top;
      attained = false;
    }
    const int carried = top >> 64 != 0;
    return {static_cast<std::uint64_t>(top >> carried), saturated(exp + drop + carried), attained};
  }

  friend constexpr Bound operator*(const Bound& a, const Bound& b) {
    return of(uint128{a.m} * b.m, int128{a.exp} + b.exp, a.attained && b.attained);
  }

  friend constexpr Bound operator+(Bound a, Bound b) {
    if (a.exp < b.exp) std::swap(a, b);
    const int128 apart = int128{a.exp} - b.exp;
    const int up = static_cast<int>(std::min<int128>(apart, 62));
    const int down = static_cast<int>(std::min<int128>(apart - up, 63));
    const std::uint64_t low = b.m >> down, lost = b.m - (low << down);
    return of((uint128{a.m} << up) + low + (lost != 0), int128{a.exp} - up,
              a.attained && b.attained && lost == 0);
  }

  constexpr Bound times_power(std::int64_t k) const {
    return {m, saturated(int128{exp} + k), attained};
  }

  // Rounded up to a multiple of 2^lsb, and reached.
  constexpr Bound raised_to(std::int64_t lsb) const {
    const int128 below = int128{lsb} - exp;
    if (below <= 0) return {m, exp, true};
    if (below > 63) return {1, lsb, true};
    const std::uint64_t whole = m >> static_cast<int>(below);
    return {whole + (whole << static_cast<int>(below) != m), lsb, true};
  }

  // Bits of the largest magnitude above 2^lsb, in two's complement without the sign.
  constexpr std::int64_t bits(std::int64_t lsb) const {
    const int whole = 64 - std::countl_zero(m) - (!attained && std::has_single_bit(m));
    return saturated(std::max<int128>(int128{exp} - lsb + whole, 0));
  }
};

constexpr bool operator<(const Bound& a, const Bound& b) {
  const int128 top_a = int128{a.exp} - std::countl_zero(a.m);
  const int128 top_b = int128{b.exp} - std::countl_zero(b.m);
  if (top_a != top_b) return top_a < top_b;
  const std::uint64_t m_a = a.m << std::countl_zero(a.m), m_b = b.m << std::countl_zero(b.m);
  return m_a != m_b ? m_a < m_b : !a.attained && b.attained;
}

}  // namespace widthwise
