#pragma once
#include "widthwise/number.hpp"
#include "widthwise/side_by_side.hpp"

// Two exact numbers beside each other: which is the lesser, their sum, their ratio.
namespace widthwise {

enum class Relation : std::uint8_t { less, equal, greater, unordered };

// Whether |x| < |y|, for normalised numbers that are not NaN.
template <class U>
constexpr bool smaller_magnitude(const Number<U>& x, const Number<U>& y) {
  if (x.infinite || y.zero) return false;
  if (y.infinite || x.zero) return true;
  return x.exp < y.exp || (x.exp == y.exp && x.sig < y.sig);
}

// The relation of two numbers of any formats (IEEE 754-2019, 5.11). Both zeros are equal.
template <class U>
constexpr Relation relation(const Number<U>& x, const Number<U>& y) {
  if (x.nan || y.nan) return Relation::unordered;
  if (x.zero && y.zero) return Relation::equal;
  if (x.negative != y.negative) return x.negative ? Relation::less : Relation::greater;
  if (smaller_magnitude(x, y)) return x.negative ? Relation::greater : Relation::less;
  if (smaller_magnitude(y, x)) return x.negative ? Relation::less : Relation::greater;
  return Relation::equal;
}

// x + y of two finite numbers, normalised; digits that fall off are jammed. The five digits that
// every carrier has to spare make that safe: where digits are lost the exponents differ by more
// than four, so at most one leading digit cancels and three stay below the last kept one
// (docs/semantics.md, E1).
template <class How = OneByOne, class U>
constexpr Number<U> exact_sum(const Number<U>& x, const Number<U>& y) {
  const Int<U> apart = x.exp - y.exp;
  const Mask<U> swap = apart < Int<U>{}, differ = x.negative ^ y.negative;
  U high = x.sig, low = y.sig;
  swap_if(swap, high, low);
  low = shift_right_jam<U>(low, negate_if(swap, apart) + 1);
  const U sum = (high >> 1) + negate_if(differ, low);  // room for the carry

  // With equal exponents the second may be the larger: the difference comes out negative.
  const Mask<U> turned = differ & ((sum >> (digits<U> - 1)) != U{});
  U magnitude = sum;
  if (How::any(turned)) magnitude = negate_if(turned, sum);
  const Normalised<U> top = How::normalised(magnitude);
  const Mask<U> negative = x.negative ^ (differ & swap) ^ turned;
  return finite<U>(negative, select(swap, y.exp, x.exp) + 1 - top.zeros, top.sig);
}

// value / whole at the top of the carrier, its lost digits jammed; 0 < value < whole.
template <class U>
constexpr U fraction_of(const U& value, const U& whole) {
  const Int<U> zeros = Significand<U>::leading_zeros(whole);
  const Division<U> z = divide_halves(Halves<U>{U(value << zeros), U{}}, U(whole << zeros));
  return z.quotient | select(z.remainder != U{}, U(1), U{});
}

}  // namespace widthwise
