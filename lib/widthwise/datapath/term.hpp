#pragma once
#include <algorithm>
#include <span>

#include "widthwise/op/fma.hpp"
#include "widthwise/unit.hpp"

// What travels inside a unit. H carries codes and significands of operands and results, M the
// magnitudes between them: an unsigned integer wide enough for the unit's sums.
namespace widthwise {

enum class Kind : std::uint8_t { zero, finite, infinite, nan };

// An operand or a scale, conditioned: (-1)^negative * m * 2^q.
template <class H>
struct Factor {
  Kind kind = Kind::zero;
  bool negative = false;
  H m{};
  std::int64_t q{};
  std::int64_t e{};  // field exponent: that of the least normal number for a subnormal
};

// A lane's position along k. It has a constructor to copy it, which makes that of a term go member
// by member: 16 bytes that are read right after flags and words were written there one by one wait
// until the last of these is in the cache, a seventh of all the time of a chain.
struct Position {
  std::int64_t value = 0;

  constexpr Position(std::int64_t x = 0) : value(x) {}
  constexpr Position(const Position& x) : value(x.value) {}
  constexpr Position& operator=(const Position& x) {
    value = x.value;
    return *this;
  }
  constexpr operator std::int64_t() const { return value; }
};

// A summand or a sum. An exact zero is of kind zero and has no vote on the alignment; a sum that
// cancelled is finite with m = 0, and votes.
template <class M>
struct Term {
  Kind kind = Kind::zero;
  bool negative = false;
  bool mixed = false;  // a zero sum of addends of both signs
  bool is_c = false;
  M m{};
  std::int64_t q{};
  std::int64_t e{};
  Position lane{};  // of its first lane: the step of its random bits
};

template <class H>
constexpr Factor<H> factor(const Layout<H>& f, const H& code) {
  const Number<H> x = unpack(f, code);
  const Kind kind = x.nan        ? Kind::nan
                    : x.infinite ? Kind::infinite
                    : x.zero     ? Kind::zero
                                 : Kind::finite;
  return {kind, x.negative, x.sig, x.exp, x.exp + f.format.frac_bits};
}

// The same of a plain code: its fields as they stand.
template <class H>
constexpr Factor<H> plain_factor(const Layout<H>& f, const H& code) {
  const H magnitude = code & f.magnitude_mask;
  const std::int64_t e = static_cast<std::int64_t>(magnitude >> f.format.frac_bits) - f.format.bias;
  return {Kind::finite, (code & f.sign) != H{}, (magnitude & f.fraction_mask) | f.hidden,
          e - f.format.frac_bits, e};
}

// +0 as registers of a format start with it, also one that has no code for it.
template <class H>
constexpr Factor<H> cleared(const Format& f) {
  return {.kind = Kind::zero, .q = f.least_digit(), .e = f.emin()};
}

// The same magnitude in a wider carrier.
template <class M, class H>
constexpr M widen(const H& x) {
  if constexpr (requires { Significand<M>::from(x); })
    return Significand<M>::from(x);
  else
    return M(x);
}

// A magnitude that fits, in the carrier of codes.
template <class H, class M>
constexpr H narrow(const M& x) {
  if constexpr (requires { Significand<M>::template to<H>(x); })
    return Significand<M>::template to<H>(x);
  else
    return static_cast<H>(x);
}

template <class M>
constexpr M multiplied(const M& a, const M& b) {
  if constexpr (requires { a* b; })
    return a * b;
  else
    return multiply_exact(a, b).low;
}

template <class M, class H>
constexpr Term<M> term(const Factor<H>& x, std::int64_t lane, bool is_c = false) {
  return {x.kind, x.negative, false, is_c, widen<M>(x.m), x.q, x.e, lane};
}

// a - b, kept inside 64 bits: terms of 62-bit exponents may lie 2^63 apart.
constexpr std::int64_t distance(std::int64_t a, std::int64_t b) {
  const auto wrapped = static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
  const auto d = static_cast<std::int64_t>(wrapped);
  const bool passes = ((a ^ b) & (a ^ d)) < 0;
  if (!passes) return d;
  return a < b ? INT64_MIN : INT64_MAX;
}

// Drops the n low digits of a magnitude; n <= 0 appends zeros. Not for stochastic rounding. To drop
// more than one digit above the leading one is all the same.
template <class M>
constexpr M round_magnitude(const Rounding& rule, bool negative, const M& m, std::int64_t n) {
  if (n <= 0) return M(m << static_cast<int>(-n));
  const auto drop = static_cast<int>(std::min<std::int64_t>(n, bit_length(m) + 1));
  const M kept = m >> drop;
  const bool guard = bool(((m >> (drop - 1)) & M(1)) != M{});
  const bool sticky = any_low_bits<M>(m, drop - 1);
  const bool odd = (kept & M(1)) != M{};
  return goes_away(rule.mode, negative, odd, guard, sticky) ? M(kept + M(1)) : kept;
}

}  // namespace widthwise
