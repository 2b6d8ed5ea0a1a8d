#pragma once
#include "widthwise/op/nan.hpp"
#include "widthwise/round.hpp"

namespace widthwise {

template <class U, class Trace>
[[gnu::noinline]] constexpr Result<U> full_conversion(const Rounder<U>& to, const Layout<U>& fa,
                                                      const U& a, const U& random, Trace& trace) {
  const Number<U> x = operand(fa, a);
  trace(Stage::exact, x);
  return deliver(to, x, raised<U>(x.signaling, invalid), random, trace);
}

// The same for a normal number that stays one, and for zeros that keep their sign: data has many.
template <class How, class U>
constexpr Quick<U> quick_conversion(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                                    const U& random = {}) {
  Quick<U> z = deliver_quick<How>(to, plain_operand(fa, a), plain(fa, a), random);
  const Mask<U> zero = (a & fa.magnitude_mask) < (fa.signed_zeros & to.layout.signed_zeros);
  const Mask<U> negative = (a & fa.sign) != U{};
  z.code = select(zero, select(negative, to.layout.sign, U{}), z.code);
  z.flags = select(zero, Int<U>{}, z.flags);
  z.sure = z.sure | zero;
  return z;
}

// A code of one format in another, correctly rounded (IEEE 754-2019, 5.4.2).
template <class U, class Trace = NoTrace>
constexpr Result<U> convert(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                            const U& random = {}, Trace&& trace = {}) {
  if constexpr (!traced<Trace>) {
    const Quick<U> z = quick_conversion<OneByOne>(to, fa, a, random);
    if (!any(z.sure == Mask<U>{})) [[likely]]
      return {z.code, z.flags};
  }
  return full_conversion(to, fa, a, random, trace);
}

// The integer next to a in the direction of the rounding, in to's format (5.9). Where that format
// is too narrow for the integer it is rounded once more, with flags (docs/semantics.md, E5).
template <class U, class Trace = NoTrace>
constexpr Result<U> round_to_integral(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                                      bool exact, const U& random = {}, Trace&& trace = {}) {
  Number<U> x = operand(fa, a);
  Int<U> flags = raised<U>(x.signaling, invalid);
  if (!special(x) && x.exp < 0) {
    const Integral<U> cut = cut_at(x, Int<U>{});
    const bool odd = (cut.whole & U(1)) != U{};
    x.sig = cut.whole + U(rounds_away<U>(to.rule, x.negative, odd, cut.rest, random) ? 1 : 0);
    x.exp = 0;
    x.zero = x.sig == U{};
    x = normalise(x);
    if (exact && cut.rest != U{}) flags = inexact;
  }
  trace(Stage::exact, x);
  return deliver(to, x, flags, random, trace);
}

// An integer result: two's complement in the low bits, sign extended.
struct IntegerResult {
  std::uint64_t value;
  Flags flags;
};

// What an integer of `width` bits holds in place of a value it cannot.
constexpr IntegerResult invalid_integer(int width, bool is_signed, InvalidInteger how, bool nan,
                                        bool negative) {
  const std::uint64_t all = ~std::uint64_t{0}, least = is_signed ? all << (width - 1) : 0,
                      most = all >> (64 - width + is_signed);
  if (how == InvalidInteger::x86) return {is_signed ? least : most, invalid};
  if (nan) return {how == InvalidInteger::arm ? 0 : most, invalid};
  return {negative ? least : most, invalid};
}

// What a posit or a takum gives for NaR and past every end: 10...0 (Posit Standard 2022).
constexpr IntegerResult integer_of_nar(int width, bool is_signed) {
  const std::uint64_t all = ~std::uint64_t{0} << (width - 1), one = std::uint64_t{1} << (width - 1);
  return {is_signed ? all : one, invalid};
}

// a as an integer of 8, 16, 32 or 64 bits (5.4.1, 5.8). Needs digits >= 64.
template <class U>
constexpr IntegerResult to_integer(int width, bool is_signed, const RoundingRule& rule,
                                   const Layout<U>& fa, const U& a, const U& random = {},
                                   InvalidInteger how = InvalidInteger::riscv) {
  const Number<U> x = operand(fa, a);
  const IntegerResult none = fa.format.is_tapered()
                                 ? integer_of_nar(width, is_signed)
                                 : invalid_integer(width, is_signed, how, x.nan, x.negative);
  if (x.nan || x.infinite) return none;
  if (x.zero) return {0, 0};
  if (x.exp > 0) return none;  // 2^64 or more
  const Integral<U> cut = cut_at(x, Int<U>{});
  if (bit_length(cut.whole) > 64) return none;

  const bool odd = (cut.whole & U(1)) != U{};
  const bool away = rounds_away<U>(rule, x.negative, odd, cut.rest, random);
  const uint128 magnitude = uint128{static_cast<std::uint64_t>(cut.whole)} + away;
  const uint128 limit = !is_signed ? (x.negative ? 0 : (uint128{1} << width) - 1)
                                   : (uint128{1} << (width - 1)) - !x.negative;
  if (magnitude > limit) return none;
  const auto value = static_cast<std::uint64_t>(magnitude);
  return {x.negative ? 0 - value : value, cut.rest != U{} ? inexact : 0};
}

// An integer of up to 64 bits in a format, correctly rounded (5.4.1). Needs digits >= 64.
template <class U, class Trace = NoTrace>
constexpr Result<U> from_integer(const Rounder<U>& to, bool negative, std::uint64_t magnitude,
                                 const U& random = {}, Trace&& trace = {}) {
  Number<U> x{};
  x.negative = negative;
  x.zero = magnitude == 0;
  x.sig = U(magnitude);
  x = normalise(x);
  trace(Stage::exact, x);
  return deliver(to, x, {}, random, trace);
}

}  // namespace widthwise
