#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace widthwise {

__extension__ typedef unsigned __int128 uint128;  // __extension__: else -Wpedantic rejects it

// What the arithmetic asks of a significand type U beyond its operators:
//   Mask              a truth per value: bool, or one bit-mask per lane
//   Int               an exponent or flag set per value: int64_t, or one int per lane
//   digits            bits held exactly; results wider than this are the caller's error
//   leading_zeros(x)  of a non-zero x; for zero, anything in [0, digits)
// Specialise it beside each new type. A free function would not do: one declared after the
// arithmetic is not found for built-in types when the templates are instantiated.
template <class U>
struct Significand;

// Of an x that is not 0. std::countl_zero would do, but nvcc takes what GCC's calls for 64 bits to
// be a function of the CPU's, and without a word makes nothing of it in a kernel.
constexpr int zeros_above(std::uint64_t x) { return __builtin_clzll(x); }

template <std::unsigned_integral U>
struct Significand<U> {
  using Mask = bool;
  using Int = std::int64_t;
  static constexpr int digits = 8 * sizeof(U);
  static constexpr int leading_zeros(U x) {
    if constexpr (digits == 64)
      return zeros_above(x | 1);
    else
      return std::countl_zero(U(x | 1));
  }
};

template <>
struct Significand<uint128> {
  using Mask = bool;
  using Int = std::int64_t;
  static constexpr int digits = 128;
  static constexpr int leading_zeros(uint128 x) {
    const auto high = static_cast<std::uint64_t>(x >> 64);
    return high ? zeros_above(high) : 64 + zeros_above(static_cast<std::uint64_t>(x) | 1);
  }
};

template <class U>
using Mask = typename Significand<U>::Mask;
template <class U>
using Int = typename Significand<U>::Int;
template <class U>
inline constexpr int digits = Significand<U>::digits;

template <class T>
inline constexpr bool is_word = std::is_integral_v<T> || std::is_same_v<T, uint128>;

// All digits set where c holds, none elsewhere.
template <class T>
constexpr T mask_if(bool c) {
  if constexpr (std::is_same_v<T, uint128>)  // of a negated truth GCC makes a jump here
    return static_cast<T>(static_cast<std::int64_t>(std::uint64_t{c} << 63) >> 63);
  else if constexpr (is_word<T>)
    return static_cast<T>(-static_cast<std::int64_t>(c));
  else
    return c ? T{} - T(1) : T{};
}

// c ? a : b for every value. The only way the arithmetic branches on data, so that U may be
// one integer or a row of them.
// Integers go by mask, for a compiler likes to make a jump of `c ? a : b`, and a jump that hangs on
// data is guessed wrong every other time.
template <class T>
constexpr T select(bool c, const T& a, const T& b) {
  if constexpr (is_word<T>)
    return static_cast<T>(b ^ ((a ^ b) & mask_if<T>(c)));
  else
    return c ? a : b;
}

// Of truths, which become an int where they meet.
template <class A, class B>
requires((std::is_same_v<A, bool> && std::is_same_v<B, int>) ||
         (std::is_same_v<A, int> && std::is_same_v<B, bool>)) constexpr bool select(bool c, A a,
                                                                                    B b) {
  return c ? a : b;
}

constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t greater(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

// Exchanges x and y where told, and turns x's sign: without a jump, for which of two operands is
// the larger one, and their signs, no branch predictor can guess.
template <class T>
constexpr void swap_if(bool c, T& x, T& y) {
  const T apart = (x ^ y) & mask_if<T>(c);
  x = x ^ apart;
  y = y ^ apart;
}
template <class T>
constexpr T negate_if(bool c, const T& x) {
  const T mask = mask_if<T>(c);
  return T(x ^ mask) - mask;
}

// x << n and x >> n; 0 <= n < digits. The compiler's own shift of an unsigned __int128 works out
// both sides of n = 64 and picks one; a jump takes half the instructions and is guessed right,
// since most counts come from the format or are small.
template <class U>
constexpr U shift_left(const U& x, Int<U> n) {
  return x << n;
}
template <class U>
constexpr U shift_right(const U& x, Int<U> n) {
  return x >> n;
}
constexpr uint128 shift_left(const uint128& x, std::int64_t n) {
  const auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
  if (n >= 64) return uint128{low << (n - 64)} << 64;
  return uint128{high << n | (low >> 1) >> (63 - n)} << 64 | low << n;
}
constexpr uint128 shift_right(const uint128& x, std::int64_t n) {
  const auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
  if (n >= 64) return high >> (n - 64);
  return uint128{high >> n} << 64 | (low >> n | (high << 1) << (63 - n));
}

// a + b modulo 2^64, for exponents that are worked out whether they mean something or not.
constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Whether any value is concerned: work that few values need stands behind an `if (any(…))`.
constexpr bool any(bool c) { return c; }

template <class U>
constexpr U bit(int n) {
  return U(U{} + U(1)) << n;
}
template <class U>
constexpr U ones(int n) {
  return n == 0 ? U{} : U((bit<U>(n - 1) - U(1)) | bit<U>(n - 1));
}

// Bits of x: 0 for 0.
template <class U>
constexpr std::int64_t bit_length(const U& x) {
  if constexpr (requires { Significand<U>::bit_length(x); })
    return Significand<U>::bit_length(x);  // an integer without a width of its own
  else
    return x == U{} ? 0 : digits<U> - Significand<U>::leading_zeros(x);
}

// Whether one of the n low bits of x is set; 0 <= n < digits.
template <class U>
constexpr Mask<U> any_low_bits(const U& x, Int<U> n) {
  if constexpr (requires { Significand<U>::any_low_bits(x, n); })
    return Significand<U>::any_low_bits(x, n);
  else
    return (x & U((U(1) << n) - U(1))) != U{};
}

// Whether one of its n low bits is set, n the same for all.
template <int n, class U>
constexpr Mask<U> has_low_bits(const U& x) {
  if constexpr (requires { Significand<U>::any_low_bits(x, n); })
    return Significand<U>::any_low_bits(x, n);
  else
    return U(x << (digits<U> - n)) != U{};
}

// Whether the top digit is set, which says of two's complement that it lies below zero.
template <class U>
constexpr Mask<U> is_negative(const U& x) {
  if constexpr (requires { Significand<U>::is_negative(x); })
    return Significand<U>::is_negative(x);
  else
    return U(x >> (digits<U> - 1)) != U{};
}

// What x >> n loses: the first digit below those that stay, and whether there are more.
template <class U>
struct Lost {
  Mask<U> first, more;
};
template <class U>
constexpr Lost<U> lost_digits(const U& x, Int<U> n) {
  if constexpr (requires { Significand<U>::any_low_bits(x, n); }) {
    if (n == 0) return {};
    return {U(U(x >> (n - 1)) & U(1)) != U{}, any_low_bits(x, n - 1)};
  } else {
    const U rest = shift_left(U(x << 1), Int<U>{digits<U> - 1} - n);
    return {is_negative(rest), U(rest << 1) != U{}};
  }
}

// x >> n with every lost one folded into bit 0, so that rounding later still sees it. n >= 0, and
// as large as it likes: past the last digit only the folded bit is left.
template <class U>
constexpr U shift_right_jam(const U& x, Int<U> n) {
  const Int<U> most = Int<U>{} + (digits<U> - 1);
  const Int<U> m = lesser(n, most);
  const U lost = shift_left(U(x << 1), most - m);
  return shift_right(x, m) | select(lost != U{}, U(1), U{});
}

// A product in two halves: high * 2^digits + low.
template <class U>
struct Halves {
  U high, low;
};
constexpr Halves<std::uint32_t> multiply_exact(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t p = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(p >> 32), static_cast<std::uint32_t>(p)};
}
constexpr Halves<std::uint64_t> multiply_exact(std::uint64_t a, std::uint64_t b) {
  const uint128 p = uint128{a} * b;
  return {static_cast<std::uint64_t>(p >> 64), static_cast<std::uint64_t>(p)};
}
constexpr Halves<uint128> multiply_exact(uint128 a, uint128 b) {
  const auto a0 = static_cast<std::uint64_t>(a), a1 = static_cast<std::uint64_t>(a >> 64);
  const auto b0 = static_cast<std::uint64_t>(b), b1 = static_cast<std::uint64_t>(b >> 64);
  const uint128 low = uint128{a0} * b0, high = uint128{a1} * b1;
  const uint128 cross = uint128{a1} * b0 + (low >> 64);  // cannot carry: (2^64-1)^2 + 2^64-1
  const uint128 other = uint128{a0} * b1 + static_cast<std::uint64_t>(cross);
  return {high + (cross >> 64) + (other >> 64), other << 64 | static_cast<std::uint64_t>(low)};
}

// Quotient and remainder of n.high * 2^digits + n.low by d, where n.high < d and d has its top bit.
template <class U>
struct Division {
  U quotient, remainder;
};
constexpr Division<std::uint32_t> divide_halves(Halves<std::uint32_t> n, std::uint32_t d) {
  const std::uint64_t x = std::uint64_t{n.high} << 32 | n.low;
  return {static_cast<std::uint32_t>(x / d), static_cast<std::uint32_t>(x % d)};
}
constexpr Division<std::uint64_t> divide_halves(Halves<std::uint64_t> n, std::uint64_t d) {
  const uint128 x = uint128{n.high} << 64 | n.low;
  const auto q = static_cast<std::uint64_t>(x / d);
  return {q, n.low - q * d};
}

}  // namespace widthwise
