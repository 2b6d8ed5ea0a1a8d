#pragma once
#include "widthwise/significand.hpp"

// What one integer and a row of them do differently. The exact operations take one of these as
// their template argument How; both give the same digits.
namespace widthwise {

// x with its leading one at the top digit, and how far it went. 0 stays 0.
template <class U>
struct Normalised {
  U sig;
  Int<U> zeros;
};

// One value at a time: the machine counts zeros, has a product's upper half and reads tables.
struct OneByOne {
  // Whether there is a value in c to work for.
  static constexpr bool any(bool c) { return c; }
  template <class U>
  static constexpr U pick(const U (&table)[4], bool high, bool low) {
    return table[2 * high + low];
  }
  template <class U>
  static constexpr Halves<U> multiply(const U& a, const U& b) {
    return multiply_exact(a, b);
  }
  template <class U>
  static constexpr Normalised<U> normalised(const U& x) {
    const Int<U> zeros = Significand<U>::leading_zeros(x);
    return {shift_left(x, zeros), zeros};
  }
};

// Values of up to 64 digits in a loop without jumps, out of what every vector unit has: the
// compiler then turns the loop into SIMD code. On a Zen 4 a binary64 sum takes 2.8 ns with AVX-512
// and 3.6 ns with AVX2, where OneByOne takes 7.8 ns.
struct SideBySide {
  template <class M>
  static constexpr bool any(const M&) {
    return true;  // to ask would be a jump
  }
  template <class U>
  static constexpr U pick(const U (&table)[4], Mask<U> high, Mask<U> low) {
    return select(low, select(high, table[3], table[1]), select(high, table[2], table[0]));
  }
  static constexpr Halves<std::uint32_t> multiply(std::uint32_t a, std::uint32_t b) {
    return multiply_exact(a, b);
  }
  template <class U>  // of 64 digits
  static constexpr Halves<U> multiply(const U& a, const U& b) {
    const U half(0xffffffff);
    const U a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
    const U low = a0 * b0, cross = a1 * b0 + (low >> 32);
    const U other = a0 * b1 + (cross & half);
    return {a1 * b1 + (cross >> 32) + (other >> 32), other << 32 | (low & half)};
  }
  // By halving: is the upper half empty, the upper quarter, the upper eighth, …
  template <class U, int step = digits<U> / 2>
  static constexpr Normalised<U> normalised(const U& x, Int<U> zeros = {}) {
    const Mask<U> empty = (x >> (digits<U> - step)) == U{};
    const Int<U> shift = select(empty, Int<U>{step}, Int<U>{});
    const U sig = x << shift;
    zeros = zeros + shift;
    if constexpr (step > 1)
      return normalised<U, step / 2>(sig, zeros);
    else
      return {sig, zeros};
  }
};

// A row of integers in vectors: asks before it works for few, as one integer does; the rest goes
// side by side.
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

// How a carrier works where nobody says: a row of integers has a way of its own.
template <class U>
struct NaturalOf {
  using type = OneByOne;
};
template <class U>
requires requires { typename Significand<U>::How; }
struct NaturalOf<U> {
  using type = typename Significand<U>::How;
};
template <class U>
using Natural = typename NaturalOf<U>::type;

// The faster one for a loop over values of U.
template <class U>
using InLoops = std::conditional_t<digits<U> <= 64, SideBySide, OneByOne>;

}  // namespace widthwise
