#pragma once
#include "widthwise/rounder.hpp"

namespace widthwise {

// The magnitude of an exact number as its number system would spell it with no end of bits: what a
// code keeps of these, as an integer, and the part below at the top of the carrier. The lowest
// digit of either may be jammed.
template <class U>
struct Pattern {
  U kept, rest;
  Mask<U> far;  // past all that `kept` can say
};

template <class U>
constexpr Mask<U> lossy(const Pattern<U>& p) {
  return p.rest != U{};
}

// The pattern's own last bit tells odd from even.
template <class U>
constexpr U rounded_pattern(const Rounder<U>& to, Mask<U> negative, const Pattern<U>& p,
                            const U& random) {
  const Mask<U> odd = (p.kept & U(1)) != U{};
  const Mask<U> away = rounds_away<U>(to.rule, negative, odd, p.rest, random);
  return p.kept + select(away, U(1), U{});
}

// A code in two's complement as sign and magnitude; of NaR the magnitude is the sign bit.
template <class U>
struct SignedMagnitude {
  Mask<U> negative;
  U magnitude;
};
template <class U>
constexpr SignedMagnitude<U> integer_magnitude(const Layout<U>& f, const U& code) {
  const Mask<U> negative = (code & f.sign) != U{};
  return {negative, U(negate_if(negative, code) & (f.magnitude_mask | f.sign))};
}

// A magnitude with its sign, as a code in two's complement.
template <class U>
constexpr U complemented(const Layout<U>& f, Mask<U> negative, const U& magnitude) {
  return negate_if(negative, magnitude) & (f.magnitude_mask | f.sign);
}

}  // namespace widthwise
