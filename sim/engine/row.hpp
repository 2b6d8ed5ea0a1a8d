#pragma once
#include <cstring>

#include "widthwise/side_by_side.hpp"

// Rows of integers as a carrier: the arithmetic of lib on N values at a time, in vector registers.
//
// A row lies in an array, so that it is passed in memory whatever instruction set a function is
// compiled for; a vector of the compiler's own crosses no call. Inside one function the array is
// never seen.
//
// GCC warns of calls that would depend on the instruction set, which are all in line, and of how
// GCC 4.5 passed aligned rows. Not undone: it warns where such a function is used.
#pragma GCC diagnostic ignored "-Wpsabi"
namespace widthwise {

template <class E, int N>
struct RowItems {
  typedef E Vector __attribute__((vector_size(sizeof(E) * N), may_alias));
  alignas(sizeof(E) * N) E item[N];

  // GCC 12 keeps rows of 64 bytes in registers where they are cast, and shorter ones where they are
  // read and assigned; the other way round each goes through memory at every step.
  [[gnu::always_inline]] Vector vector() const {
    if constexpr (sizeof item == 64)
      return __builtin_bit_cast(Vector, *this);
    else
      return *reinterpret_cast<const Vector*>(item);
  }
};

// A row of these bits.
template <class Type, class V>
Type row_of(const V& bits) {
  static_assert(sizeof(Type) == sizeof bits);
  if constexpr (sizeof bits == 64) {
    return __builtin_bit_cast(Type, bits);
  } else {
    Type z;
    *reinterpret_cast<typename Type::Vector*>(z.item) = (typename Type::Vector)bits;
    return z;
  }
}
template <class To, class From>
To as_row(const From& x) {
  return row_of<To>(x.vector());
}

#define WIDTHWISE_ROW_OPERATOR(Type, op)                  \
  friend Type operator op(const Type& a, const Type& b) { \
    return row_of<Type>(a.vector() op b.vector());        \
  }
#define WIDTHWISE_ROW_COMPARISON(Type, op)                         \
  friend RowMask<T, N> operator op(const Type& a, const Type& b) { \
    return row_of<RowMask<T, N>>(a.vector() op b.vector());        \
  }

template <class T, int N>
struct Row;

// A truth for every value: all digits set, or none. T is the unsigned type of the values beside it.
template <class T, int N>
struct RowMask : RowItems<std::make_signed_t<T>, N> {
  using Item = std::make_signed_t<T>;
  using typename RowItems<Item, N>::Vector;

  RowMask() = default;
  RowMask(bool all) : RowMask(row_of<RowMask>(Vector(Vector{} - Item{all}))) {}
  WIDTHWISE_ROW_OPERATOR(RowMask, &)
  WIDTHWISE_ROW_OPERATOR(RowMask, |)
  WIDTHWISE_ROW_OPERATOR(RowMask, ^)
  friend RowMask operator==(const RowMask& a, const RowMask& b) { return a ^ b ^ RowMask(true); }
};

// Exponents and flags.
template <class T, int N>
struct RowInt : RowItems<std::make_signed_t<T>, N> {
  using Item = std::make_signed_t<T>;
  using typename RowItems<Item, N>::Vector;

  RowInt() = default;
  RowInt(std::int64_t x) : RowInt(row_of<RowInt>(Vector(Vector{} + static_cast<Item>(x)))) {}
  explicit RowInt(const Row<T, N>& x) : RowInt(as_row<RowInt>(x)) {}
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

  Row() = default;
  explicit Row(std::uint64_t x) : Row(row_of<Row>(Vector(Vector{} + static_cast<T>(x)))) {}
  explicit Row(const RowInt<T, N>& x) : Row(as_row<Row>(x)) {}
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
    return row_of<Row>(x.vector() << (Vector)n.vector());
  }
  friend Row operator>>(const Row& x, const RowInt<T, N>& n) {
    return row_of<Row>(x.vector() >> (Vector)n.vector());
  }
};
#undef WIDTHWISE_ROW_OPERATOR
#undef WIDTHWISE_ROW_COMPARISON

// --- What the arithmetic asks beyond operators -------------------------------------------------

// Whether any is true, by halves.
template <int words>
bool any_bits(const RowItems<std::uint64_t, words>& x) {
  if constexpr (words == 1) {
    return x.item[0] != 0;
  } else {
    RowItems<std::uint64_t, words / 2> low, high;
    std::memcpy(low.item, x.item, sizeof low);
    std::memcpy(high.item, x.item + words / 2, sizeof high);
    return any_bits(row_of<decltype(low)>(low.vector() | high.vector()));
  }
}
template <class T, int N>
bool any(const RowMask<T, N>& c) {
  using Words = RowItems<std::uint64_t, N* int{sizeof(T)} / 8>;
  return any_bits(as_row<Words>(c));
}

template <class R, class T, int N>
R mask_if(const RowMask<T, N>& c) {
  if constexpr (requires { R::mask(c); })
    return R::mask(c);  // of several words
  else
    return as_row<R>(c);
}
template <class X, class T, int N>
X select(const RowMask<T, N>& c, const X& a, const X& b) {
  return b ^ ((a ^ b) & mask_if<X>(c));
}
template <class T, int N>
RowInt<T, N> lesser(const RowInt<T, N>& a, const RowInt<T, N>& b) {
  return row_of<RowInt<T, N>>(a.vector() < b.vector() ? a.vector() : b.vector());
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
  const Pairs low(0xffffffff), x = as_row<Pairs>(a), y = as_row<Pairs>(b);
  const Pairs even = (x & low) * (y & low), odd = (x >> 32) * (y >> 32);
  return {as_row<Narrow>(even >> 32 | (odd & (low << 32))),
          as_row<Narrow>((even & low) | odd << 32)};
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
  const Integers spaced(x ^ (x & (x >> 1)));  // a top digit makes it negative
  const auto f = row_of<RowItems<float, N>>(
      __builtin_convertvector(spaced.vector(), typename RowItems<float, N>::Vector));
  const Integers zeros = Integers(158) - Integers(as_row<Row<std::uint32_t, N>>(f) >> 23);
  return select(zeros < Integers(0), Integers(0), lesser(zeros, Integers(31)));
}
// The upper half, or the lower one if that is empty, as the last digits of 2^52 + x.
template <int N>
RowInt<std::uint64_t, N> leading_zeros(const Row<std::uint64_t, N>& x) {
  using Integers = RowInt<std::uint64_t, N>;
  using U = Row<std::uint64_t, N>;
  const U high = x >> 32;
  const auto low_half = high == U(0);
  const U biased = select(low_half, x, high) | U(0x4330000000000000);
  const auto d = as_row<RowItems<double, N>>(biased).vector() - 0x1p52;
  const Integers exponent((row_of<U>(d) >> 52) & U(0x7ff));
  return lesser(select(low_half, Integers(63 + 1023), Integers(31 + 1023)) - exponent,
                Integers(63));
}

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
