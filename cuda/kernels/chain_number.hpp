#pragma once
#include "widthwise/datapath/operand.hpp"

// Numbers of a chain as they wait in memory.
namespace widthwise::cuda::steps {

// What a number is, beside its digits.
enum Mark : unsigned { negative = 1, zero = 2, infinite = 4, nan = 8 };

template <class T>
constexpr unsigned marks_of(const Factor<T>& x) {
  unsigned marks = x.negative ? unsigned{negative} : 0;
  if (is_zero(x)) marks |= zero;
  if (x.kind() == Kind::infinite) marks |= infinite;
  if (is_nan(x)) marks |= nan;
  return marks;
}

// Digits with the leading one at the top, and the weight of the last.
template <class T>
struct Digits {
  T sig;
  std::int64_t exp;
};
template <class T>
constexpr Digits<T> normalised(const Factor<T>& x, std::int64_t exponent_of_zero) {
  if (x.m == T{}) return {T{}, exponent_of_zero};
  const int zeros = Significand<T>::leading_zeros(x.m);
  return {static_cast<T>(x.m << zeros), x.q - zeros};
}

// Of a number as it lies in memory, and its marks there.
template <class U, class Marks>
constexpr Number<U> number(const U& sig, const Int<U>& exp, const Marks& marks) {
  const auto has = [&](Mark m) { return (marks & Marks(m)) != Marks(0); };
  return {has(negative), has(zero), has(infinite), has(nan), {}, exp, sig};
}

}  // namespace widthwise::cuda::steps
