#pragma once
#include <cstring>

#include "widthwise/side_by_side.hpp"

// Rows of integers as a carrier: the arithmetic of lib on N values at a time, in vector registers.
//
// A row lies in an array, so that it is passed in memory whatever instruction set a function is
// compiled for; in between it is a vector of the compiler's own, and inside one function the array
// is never seen.
namespace widthwise {

template <class E, int N>
struct RowItems {
  typedef E Vector __attribute__((vector_size(sizeof(E) * N)));
  alignas(sizeof(E) * N) E item[N];
};
template <class E, int N>
using RowVector = typename RowItems<E, N>::Vector;

// What the three kinds of rows have in common. No function returns a vector.
#define WIDTHWISE_ROW_OPERATOR(Type, op)                                               \
  friend Type operator op(const Type& a, const Type& b) {                              \
    return __builtin_bit_cast(                                                         \
        Type, Vector(__builtin_bit_cast(Vector, a) op __builtin_bit_cast(Vector, b))); \
  }
#define WIDTHWISE_ROW_COMPARISON(Type, op)                                                        \
  friend RowMask<T, N> operator op(const Type& a, const Type& b) {                                \
    using M = RowMask<T, N>;                                                                      \
    return __builtin_bit_cast(M, __builtin_bit_cast(Vector, a) op __builtin_bit_cast(Vector, b)); \
  }

template <class T, int N>
struct Row;
template <class T, int N>
struct RowInt;

// A truth for every value: all digits set, or none. T is the unsigned type of the values beside it.
template <class T, int N>
struct RowMask : RowItems<std::make_signed_t<T>, N> {
  using typename RowItems<std::make_signed_t<T>, N>::Vector;

  RowMask(bool all = false)
      : RowMask(__builtin_bit_cast(RowMask,
                                   Vector(Vector{} - static_cast<std::make_signed_t<T>>(all)))) {}
  WIDTHWISE_ROW_OPERATOR(RowMask, &)
  WIDTHWISE_ROW_OPERATOR(RowMask, |)
  WIDTHWISE_ROW_OPERATOR(RowMask, ^)
  friend RowMask operator==(const RowMask& a, const RowMask& b) { return a ^ b ^ RowMask(true); }
  RowMask& operator|=(const RowMask& b) { return *this = *this | b; }
};

// Exponents and flags. Exponents of numbers that are not there stand far outside, yet two of them
// have a sum.
template <class T, int N>
struct RowInt : RowItems<std::make_signed_t<T>, N> {
  using Item = std::make_signed_t<T>;
  using typename RowItems<Item, N>::Vector;

  RowInt() : RowInt(0) {}
  RowInt(std::int64_t x)
      : RowInt(__builtin_bit_cast(RowInt, Vector(Vector{} + static_cast<Item>(x)))) {}
  explicit RowInt(const Row<T, N>& x) : RowInt(__builtin_bit_cast(RowInt, x)) {}
  WIDTHWISE_ROW_OPERATOR(RowInt, +)
  WIDTHWISE_ROW_OPERATOR(RowInt, -)
  WIDTHWISE_ROW_OPERATOR(RowInt, &)
  WIDTHWISE_ROW_OPERATOR(RowInt, |)
  WIDTHWISE_ROW_OPERATOR(RowInt, ^)
  WIDTHWISE_ROW_OPERATOR(RowInt, >>)
  WIDTHWISE_ROW_COMPARISON(RowInt, ==)
  WIDTHWISE_ROW_COMPARISON(RowInt, !=)
  WIDTHWISE_ROW_COMPARISON(RowInt, <)
  WIDTHWISE_ROW_COMPARISON(RowInt, >)
  WIDTHWISE_ROW_COMPARISON(RowInt, <=)
  WIDTHWISE_ROW_COMPARISON(RowInt, >=)
};

template <class T, int N>
struct Row : RowItems<T, N> {
  using typename RowItems<T, N>::Vector;

  Row() : Row(0) {}
  explicit Row(std::uint64_t x)
      : Row(__builtin_bit_cast(Row, Vector(Vector{} + static_cast<T>(x)))) {}
  explicit Row(const RowInt<T, N>& x) : Row(__builtin_bit_cast(Row, x)) {}
  // Of a row that holds one value throughout.
  explicit operator std::int64_t() const { return static_cast<std::int64_t>(this->item[0]); }
  WIDTHWISE_ROW_OPERATOR(Row, +)
  WIDTHWISE_ROW_OPERATOR(Row, -)
  WIDTHWISE_ROW_OPERATOR(Row, *)
  WIDTHWISE_ROW_OPERATOR(Row, &)
  WIDTHWISE_ROW_OPERATOR(Row, |)
  WIDTHWISE_ROW_OPERATOR(Row, ^)
  WIDTHWISE_ROW_COMPARISON(Row, ==)
  WIDTHWISE_ROW_COMPARISON(Row, !=)
  WIDTHWISE_ROW_COMPARISON(Row, <)
  WIDTHWISE_ROW_COMPARISON(Row, >)
  WIDTHWISE_ROW_COMPARISON(Row, <=)
  WIDTHWISE_ROW_COMPARISON(Row, >=)
  friend Row operator<<(const Row& x, const RowInt<T, N>& n) {
    return __builtin_bit_cast(
        Row, Vector(__builtin_bit_cast(Vector, x) << __builtin_bit_cast(Vector, n)));
  }
  friend Row operator>>(const Row& x, const RowInt<T, N>& n) {
    return __builtin_bit_cast(
        Row, Vector(__builtin_bit_cast(Vector, x) >> __builtin_bit_cast(Vector, n)));
  }
};
#undef WIDTHWISE_ROW_OPERATOR
#undef WIDTHWISE_ROW_COMPARISON

// --- What the arithmetic asks beyond operators -------------------------------------------------

// Whether any is true, by halves.
template <int words>
[[gnu::always_inline]] inline bool any_bits(const std::uint64_t* x) {
  if constexpr (words == 1) {
    return *x != 0;
  } else {
    constexpr int half = words / 2;
    typedef std::uint64_t Half __attribute__((vector_size(8 * half)));
    Half low, high;
    std::memcpy(&low, x, sizeof low);
    std::memcpy(&high, x + half, sizeof high);
    low |= high;
    std::uint64_t rest[half];
    std::memcpy(rest, &low, sizeof low);
    return any_bits<half>(rest);
  }
}
template <class T, int N>
bool any(const RowMask<T, N>& c) {
  std::uint64_t words[sizeof c / 8];
  std::memcpy(words, &c, sizeof c);
  return any_bits<sizeof c / 8>(words);
}

template <class R, class T, int N>
R mask_if(const RowMask<T, N>& c) {
  return __builtin_bit_cast(R, c);
}
template <class X, class T, int N>
X select(const RowMask<T, N>& c, const X& a, const X& b) {
  return b ^ ((a ^ b) & mask_if<X>(c));
}
template <class T, int N>
RowInt<T, N> lesser(const RowInt<T, N>& a, const RowInt<T, N>& b) {
  using V = typename RowInt<T, N>::Vector;
  const V x = __builtin_bit_cast(V, a), y = __builtin_bit_cast(V, b);
  return __builtin_bit_cast(decltype(a + b), V(x < y ? x : y));
}
template <class X, class T, int N>
void swap_if(const RowMask<T, N>& c, X& x, X& y) {
  const X apart = (x ^ y) & mask_if<X>(c);
  x = x ^ apart;
  y = y ^ apart;
}
template <class T, int N>
Row<T, N> negate_if(const RowMask<T, N>& c, const Row<T, N>& x) {
  const auto mask = mask_if<Row<T, N>>(c);
  return (x ^ mask) - mask;
}
template <class T, int N>
RowInt<T, N> negate_if(const RowMask<T, N>& c, const RowInt<T, N>& x) {
  const auto mask = mask_if<RowInt<T, N>>(c);
  return (x ^ mask) - mask;
}
template <class T, int N>
RowInt<T, N> wrapped_sum(const RowInt<T, N>& a, const RowInt<T, N>& b) {
  return RowInt<T, N>(Row<T, N>(a) + Row<T, N>(b));
}
template <class T, int N>
RowInt<T, N> wrapped_sum(const RowInt<T, N>& a, std::int64_t b) {
  return wrapped_sum(a, RowInt<T, N>(b));
}

// The even places' products and the odd ones', in lanes of twice the width.
template <int N>
Halves<Row<std::uint32_t, N>> multiply_exact(const Row<std::uint32_t, N>& a,
                                             const Row<std::uint32_t, N>& b) {
  using Narrow = Row<std::uint32_t, N>;
  using Pairs = Row<std::uint64_t, N / 2>;
  const auto pairs = [](const Row<std::uint32_t, N>& x) { return __builtin_bit_cast(Pairs, x); };
  const auto row = [](const Pairs& x) { return __builtin_bit_cast(Narrow, x); };
  const Pairs low(0xffffffff), x = pairs(a), y = pairs(b);
  const Pairs even = (x & low) * (y & low), odd = (x >> 32) * (y >> 32);
  return {row(even >> 32 | (odd & (low << 32))), row((even & low) | odd << 32)};
}
template <int N>
Halves<Row<std::uint64_t, N>> multiply_exact(const Row<std::uint64_t, N>& a,
                                             const Row<std::uint64_t, N>& b) {
  return SideBySide::multiply(a, b);
}
template <class T, int N>
Division<Row<T, N>> divide_halves(const Halves<Row<T, N>>& n, const Row<T, N>& d) {
  Division<Row<T, N>> z;
  for (int i = 0; i < N; ++i) {
    const Division<T> one = divide_halves(Halves<T>{n.high.item[i], n.low.item[i]}, d.item[i]);
    z.quotient.item[i] = one.quotient, z.remainder.item[i] = one.remainder;
  }
  return z;
}

// The exponent of a float or a double tells where the leading one is, however it was rounded: the
// digit below it has been cleared. Of 0 it is what keeps a shift defined.
template <int N>
RowInt<std::uint32_t, N> leading_zeros(const Row<std::uint32_t, N>& x) {
  using Integers = RowInt<std::uint32_t, N>;
  typedef float Floats __attribute__((vector_size(4 * N)));
  const Integers spaced(x ^ (x & (x >> 1)));  // a top digit makes it negative
  const Floats f =
      __builtin_convertvector(__builtin_bit_cast(typename Integers::Vector, spaced), Floats);
  const Integers zeros =
      Integers(158) - Integers(__builtin_bit_cast(Row<std::uint32_t, N>, f) >> 23);
  return select(zeros < Integers(0), Integers(0), lesser(zeros, Integers(31)));
}
// The upper half, or the lower one if that is empty, as the last digits of 2^52 + x.
template <int N>
RowInt<std::uint64_t, N> leading_zeros(const Row<std::uint64_t, N>& x) {
  using Integers = RowInt<std::uint64_t, N>;
  using U = Row<std::uint64_t, N>;
  typedef double Doubles __attribute__((vector_size(8 * N)));
  const U high = x >> 32;
  const auto low_half = high == U(0);
  const U biased = select(low_half, x, high) | U(0x4330000000000000);
  const Doubles d = __builtin_bit_cast(Doubles, biased) - 0x1p52;
  const Integers exponent((__builtin_bit_cast(U, d) >> 52) & U(0x7ff));
  return lesser(select(low_half, Integers(63 + 1023), Integers(31 + 1023)) - exponent,
                Integers(63));
}

// Asks before it works for few, as one integer does; the rest goes side by side.
struct InRows : SideBySide {
  template <class M>
  static bool any(const M& c) {
    using widthwise::any;
    return any(c);
  }
  template <class U>
  static Halves<U> multiply(const U& a, const U& b) {
    return multiply_exact(a, b);
  }
  template <class U>
  static Normalised<U> normalised(const U& x) {
    const Int<U> zeros = leading_zeros(x);
    return {x << zeros, zeros};
  }
};

template <class T, int N>
struct Significand<Row<T, N>> {
  using Mask = RowMask<T, N>;
  using Int = RowInt<T, N>;
  using How = InRows;
  static constexpr int digits = 8 * sizeof(T);
  static constexpr std::int64_t exponent_of_zero = -(std::int64_t{1} << (digits - 3));
  static Int leading_zeros(const Row<T, N>& x) { return widthwise::leading_zeros(x); }
};

}  // namespace widthwise
