#pragma once
#include <algorithm>

#include "widthwise/side_by_side.hpp"

// One integer of a thread as a carrier. A GPU's registers hold 32 bits, and so do its exponents.
namespace widthwise {

namespace cuda {

// Exponents and flags. What lib works out of a format in 64 bits fits (docs/exactness.md, 38).
struct Short {
  std::int32_t x = 0;

  Short() = default;
  constexpr Short(std::int64_t wide) : x(static_cast<std::int32_t>(wide)) {}
  explicit constexpr operator std::int64_t() const { return x; }

#define WIDTHWISE_SHORT_OPERATOR(op) \
  friend constexpr Short operator op(Short a, Short b) { return std::int64_t{a.x op b.x}; }
  WIDTHWISE_SHORT_OPERATOR(+)
  WIDTHWISE_SHORT_OPERATOR(-)
  WIDTHWISE_SHORT_OPERATOR(&)
  WIDTHWISE_SHORT_OPERATOR(|)
  WIDTHWISE_SHORT_OPERATOR(^)
  WIDTHWISE_SHORT_OPERATOR(>>)
#undef WIDTHWISE_SHORT_OPERATOR
#define WIDTHWISE_SHORT_COMPARISON(op) \
  friend constexpr bool operator op(Short a, Short b) { return a.x op b.x; }
  WIDTHWISE_SHORT_COMPARISON(==)
  WIDTHWISE_SHORT_COMPARISON(!=)
  WIDTHWISE_SHORT_COMPARISON(<)
  WIDTHWISE_SHORT_COMPARISON(>)
  WIDTHWISE_SHORT_COMPARISON(<=)
  WIDTHWISE_SHORT_COMPARISON(>=)
#undef WIDTHWISE_SHORT_COMPARISON
};

// No jumps where a value can be picked, for neighbouring threads would wait for one another.
struct InThreads : SideBySide {
  template <class U>
  static constexpr Halves<U> multiply(const U& a, const U& b) {
    return multiply_exact(a, b);
  }
  template <class U>
  static constexpr Normalised<U> normalised(const U& x) {
    const Int<U> zeros = Significand<U>::leading_zeros(x);
    return {x << zeros, zeros};
  }
};

// T has 32 or 64 bits.
template <class T>
struct Word {
  T x = 0;

  Word() = default;
  explicit constexpr Word(std::uint64_t wide) : x(static_cast<T>(wide)) {}
  // Of one that is not negative.
  explicit constexpr Word(Short exponent) : x(static_cast<std::uint32_t>(exponent.x)) {}
  explicit constexpr operator Short() const { return static_cast<std::int64_t>(x); }
  explicit constexpr operator std::int64_t() const { return static_cast<std::int64_t>(x); }
  explicit constexpr operator T() const { return x; }

#define WIDTHWISE_WORD_OPERATOR(op) \
  friend constexpr Word operator op(Word a, Word b) { return Word(T(a.x op b.x)); }
  WIDTHWISE_WORD_OPERATOR(+)
  WIDTHWISE_WORD_OPERATOR(-)
  WIDTHWISE_WORD_OPERATOR(*)
  WIDTHWISE_WORD_OPERATOR(&)
  WIDTHWISE_WORD_OPERATOR(|)
  WIDTHWISE_WORD_OPERATOR(^)
#undef WIDTHWISE_WORD_OPERATOR
  friend constexpr Word operator<<(Word a, Short n) { return Word(T(a.x << n.x)); }
  friend constexpr Word operator>>(Word a, Short n) { return Word(T(a.x >> n.x)); }
#define WIDTHWISE_WORD_COMPARISON(op) \
  friend constexpr bool operator op(Word a, Word b) { return a.x op b.x; }
  WIDTHWISE_WORD_COMPARISON(==)
  WIDTHWISE_WORD_COMPARISON(!=)
  WIDTHWISE_WORD_COMPARISON(<)
  WIDTHWISE_WORD_COMPARISON(>)
  WIDTHWISE_WORD_COMPARISON(<=)
  WIDTHWISE_WORD_COMPARISON(>=)
#undef WIDTHWISE_WORD_COMPARISON
};

}  // namespace cuda

template <class T>
struct Significand<cuda::Word<T>> {
  using Mask = bool;
  using Int = cuda::Short;
  using How = cuda::InThreads;
  static constexpr int digits = 8 * sizeof(T);
  static constexpr std::int64_t exponent_of_zero = -(std::int64_t{1} << 29);
  // The machine looks through 32 digits at a time.
  static constexpr Int leading_zeros(cuda::Word<T> x) {
    if constexpr (sizeof(T) == 4) return std::int64_t{Significand<T>::leading_zeros(x.x)};
    const auto high = static_cast<std::uint32_t>(x.x >> (digits - 32));
    const std::uint32_t leading = high ? high : static_cast<std::uint32_t>(x.x) | 1;
    return std::int64_t{Significand<std::uint32_t>::leading_zeros(leading) + (high ? 0 : 32)};
  }
};

namespace cuda {

constexpr Short lesser(Short a, Short b) { return a < b ? a : b; }
constexpr Short wrapped_sum(Short a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(a.x) + static_cast<std::uint32_t>(b));
}
// With its sign known, one instruction.
constexpr Short negate_if(bool c, Short x) { return c ? Short(-std::int64_t{x.x}) : x; }

// What comes back when it is shifted back tells in fewer instructions what was lost.
template <class U>
requires std::is_same_v<Int<U>, Short>
constexpr U shift_right_jam(const U& x, Short n) {
  // Without its sign one instruction finds the lesser, and n's own addition stays out of it.
  const Short m =
      std::int64_t{std::min(static_cast<std::uint32_t>(n.x), std::uint32_t{digits<U> - 1})};
  const U kept = x >> m;
  return kept | select(kept << m != x, U(1), U{});
}
// By selection: two instructions a register where three would mask.
template <class T>
constexpr void swap_if(bool c, Word<T>& x, Word<T>& y) {
  const Word<T> first = c ? y : x;
  y = c ? x : y;
  x = first;
}

template <class T>
constexpr Halves<Word<T>> multiply_exact(Word<T> a, Word<T> b) {
  const Halves<T> z = widthwise::multiply_exact(a.x, b.x);
  return {Word<T>(z.high), Word<T>(z.low)};
}
template <class T>
constexpr Division<Word<T>> divide_halves(Halves<Word<T>> n, Word<T> d) {
  const Division<T> z = widthwise::divide_halves(Halves<T>{n.high.x, n.low.x}, d.x);
  return {Word<T>(z.quotient), Word<T>(z.remainder)};
}

}  // namespace cuda
}  // namespace widthwise
