#pragma once
#include <cstdint>

#include "widthwise/apart.hpp"
#include "widthwise/significand.hpp"

namespace widthwise {

// An unsigned integer of N 64-bit limbs, least significant first. It wraps like a built-in one and
// never allocates. Shift counts lie in [0, digits).
template <int N>
struct Wide {
  std::uint64_t limb[N];

  constexpr Wide() : limb{} {}
  explicit constexpr Wide(std::uint64_t x) : limb{x} {}
  explicit constexpr Wide(int x) : limb{static_cast<std::uint64_t>(x)} {}
  explicit constexpr Wide(std::int64_t x) : limb{static_cast<std::uint64_t>(x)} {}
  explicit constexpr Wide(uint128 x)
      : limb{static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64)} {}
  template <int M>
  explicit constexpr Wide(const Wide<M>& x) : limb{} {
    for (int i = 0; i < (M < N ? M : N); ++i) limb[i] = x.limb[i];
  }
  explicit constexpr operator std::uint64_t() const { return limb[0]; }
  explicit constexpr operator std::int64_t() const { return static_cast<std::int64_t>(limb[0]); }
  explicit constexpr operator uint128() const { return uint128{limb[1]} << 64 | limb[0]; }

  constexpr bool operator==(const Wide&) const = default;
  friend constexpr bool operator<(const Wide& a, const Wide& b) {
    for (int i = N; i-- > 0;)
      if (a.limb[i] != b.limb[i]) return a.limb[i] < b.limb[i];
    return false;
  }
  friend constexpr bool operator>(const Wide& a, const Wide& b) { return b < a; }
  friend constexpr bool operator>=(const Wide& a, const Wide& b) { return !(a < b); }
  friend constexpr bool operator<=(const Wide& a, const Wide& b) { return !(b < a); }

  friend constexpr Wide operator+(const Wide& a, const Wide& b) {
    Wide z;
    bool carry = false;
    for (int i = 0; i < N; ++i) {
      const std::uint64_t s = a.limb[i] + b.limb[i];
      z.limb[i] = s + carry;
      carry = s < a.limb[i] || z.limb[i] < s;
    }
    return z;
  }
  friend constexpr Wide operator-(const Wide& a, const Wide& b) {
    Wide z;
    bool borrow = false;
    for (int i = 0; i < N; ++i) {
      const std::uint64_t d = a.limb[i] - b.limb[i];
      z.limb[i] = d - borrow;
      borrow = a.limb[i] < b.limb[i] || d < borrow;
    }
    return z;
  }
  friend constexpr Wide operator&(const Wide& a, const Wide& b) {
    Wide z;
    for (int i = 0; i < N; ++i) z.limb[i] = a.limb[i] & b.limb[i];
    return z;
  }
  friend constexpr Wide operator|(const Wide& a, const Wide& b) {
    Wide z;
    for (int i = 0; i < N; ++i) z.limb[i] = a.limb[i] | b.limb[i];
    return z;
  }
  friend constexpr Wide operator^(const Wide& a, const Wide& b) {
    Wide z;
    for (int i = 0; i < N; ++i) z.limb[i] = a.limb[i] ^ b.limb[i];
    return z;
  }
  WIDTHWISE_APART friend constexpr Wide operator<<(const Wide& x, std::int64_t n) {
    const int skip = static_cast<int>(n / 64), up = static_cast<int>(n % 64);
    Wide z;
    for (int i = skip; i < N; ++i) {  // (… >> 1) >> (63 - up): no shift by 64 when up is 0
      const std::uint64_t below = i > skip ? x.limb[i - skip - 1] : 0;
      z.limb[i] = x.limb[i - skip] << up | (below >> 1) >> (63 - up);
    }
    return z;
  }
  WIDTHWISE_APART friend constexpr Wide operator>>(const Wide& x, std::int64_t n) {
    const int skip = static_cast<int>(n / 64), down = static_cast<int>(n % 64);
    Wide z;
    for (int i = 0; i + skip < N; ++i) {
      const std::uint64_t above = i + skip + 1 < N ? x.limb[i + skip + 1] : 0;
      z.limb[i] = x.limb[i + skip] >> down | (above << 1) << (63 - down);
    }
    return z;
  }
};

template <int N>
struct Significand<Wide<N>> {
  using Mask = bool;
  using Int = std::int64_t;
  static constexpr int digits = 64 * N;
  static constexpr int leading_zeros(const Wide<N>& x) {
    for (int i = N; i-- > 0;)
      if (x.limb[i]) return 64 * (N - 1 - i) + zeros_above(x.limb[i]);
    return digits - 1;
  }
  static constexpr bool any_low_bits(const Wide<N>& x, std::int64_t n) {
    const int whole = static_cast<int>(n / 64);
    std::uint64_t seen = x.limb[whole] & ((std::uint64_t{1} << n % 64) - 1);
    for (int i = 0; i < whole; ++i) seen |= x.limb[i];
    return seen != 0;
  }
};

// Schoolbook, row by row.
template <int N>
WIDTHWISE_APART constexpr Halves<Wide<N>> multiply_exact(const Wide<N>& a, const Wide<N>& b) {
  std::uint64_t p[2 * N]{};
  for (int i = 0; i < N; ++i) {
    std::uint64_t carry = 0;
    for (int j = 0; j < N; ++j) {
      const uint128 t = uint128{a.limb[i]} * b.limb[j] + p[i + j] + carry;
      p[i + j] = static_cast<std::uint64_t>(t);
      carry = static_cast<std::uint64_t>(t >> 64);
    }
    p[i + N] = carry;
  }
  Halves<Wide<N>> z;
  for (int i = 0; i < N; ++i) z.low.limb[i] = p[i], z.high.limb[i] = p[i + N];
  return z;
}

// One quotient limb of long division (Knuth, TAOCP 2, 4.3.1, algorithm D): r := r * 2^64 + next
// modulo d, for r < d and d with its top bit set.
template <int N>
constexpr std::uint64_t divide_step(Wide<N>& r, std::uint64_t next, const Wide<N>& d) {
  const uint128 head = uint128{r.limb[N - 1]} << 64 | (N > 1 ? r.limb[N > 1 ? N - 2 : 0] : next);
  const std::uint64_t lead = d.limb[N - 1];
  // Never below the true limb and at most 2 above it (theorem B).
  std::uint64_t q =
      r.limb[N - 1] >= lead ? ~std::uint64_t{0} : static_cast<std::uint64_t>(head / lead);

  const Wide<N + 1> shifted = Wide<N + 1>(r) << 64 | Wide<N + 1>(next);
  Wide<N + 1> back;
  std::uint64_t carry = 0;
  for (int i = 0; i < N; ++i) {
    const uint128 t = uint128{q} * d.limb[i] + carry;
    back.limb[i] = static_cast<std::uint64_t>(t);
    carry = static_cast<std::uint64_t>(t >> 64);
  }
  back.limb[N] = carry;
  while (back > shifted) back = back - Wide<N + 1>(d), --q;
  r = Wide<N>(shifted - back);
  return q;
}

template <int N>
WIDTHWISE_APART constexpr Division<Wide<N>> divide_halves(const Halves<Wide<N>>& n,
                                                          const Wide<N>& d) {
  Division<Wide<N>> z{{}, n.high};
  for (int i = N; i-- > 0;) z.quotient.limb[i] = divide_step<N>(z.remainder, n.low.limb[i], d);
  return z;
}
constexpr Division<uint128> divide_halves(Halves<uint128> n, uint128 d) {
  const auto z = divide_halves<2>({Wide<2>(n.high), Wide<2>(n.low)}, Wide<2>(d));
  return {static_cast<uint128>(z.quotient), static_cast<uint128>(z.remainder)};
}

}  // namespace widthwise
