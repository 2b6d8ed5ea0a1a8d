#pragma once
#include "widthwise/system/pattern.hpp"

// Fixed point: an integer times a power of two.
namespace widthwise {

template <class U>
constexpr Number<U> read_fixed(const Layout<U>& f, Mask<U> negative, const U& magnitude) {
  return finite<U>(negative, Int<U>{f.format.least_digit()}, magnitude);
}

// A normalised number in units of the format's last digit. One that has to be raised is past every
// range, for it fills the carrier.
template <class U>
constexpr Pattern<U> fixed_pattern(const Format& f, const Number<U>& x) {
  const Int<U> none{}, most{digits<U> - 1}, last{f.least_digit()}, up = x.exp - last;
  const Mask<U> above = up > none;
  const Integral<U> cut = cut_at(x, last);
  const U raised = shift_left(x.sig, select(above, lesser(up, most), none));
  return {select(above, select(up > most, U{}, raised), cut.whole), cut.rest, above};
}

// What the format's overflow rule makes of an integer outside its range (docs/semantics.md, F6).
template <class U>
constexpr U fixed_overflowed(const Rounder<U>& to, Mask<U> negative, const U& kept, const U& least,
                             const U& most) {
  const Layout<U>& f = to.layout;
  const U low = complemented(f, negative, kept);
  switch (to.overflow) {
    case Overflow::zero: return U{};
    case Overflow::wrap: return low;
    case Overflow::keep_sign:
      if (!f.format.is_signed()) return low;
      return (low & f.magnitude_mask) | select(negative, f.sign, U{});
    case Overflow::wrap_sm: {  // the lowest deleted bit is the new sign: a triangle wave
      const Mask<U> deleted = (negate_if(negative, kept) & (f.sign << 1)) != U{};
      const Mask<U> turned = deleted ^ ((low & f.sign) != U{});
      return low ^ select(turned, U(f.magnitude_mask | f.sign), U{});
    }
    default: return complemented(f, negative, U(select(negative, least, most)));
  }
}

// The largest magnitude on each side of zero.
template <class U>
constexpr U least_integer(const Rounder<U>& to) {
  if (!to.layout.format.is_signed()) return U{};
  return to.overflow == Overflow::symmetric ? to.layout.magnitude_mask : to.layout.sign;
}

template <class U>
constexpr Result<U> deliver_fixed(const Rounder<U>& to, const Number<U>& x, const U& random) {
  const U most = to.layout.magnitude_mask, least = least_integer(to);
  const Pattern<U> p = fixed_pattern(to.layout.format, x);
  const U n = rounded_pattern(to, x.negative, p, random);
  const Mask<U> over = p.far | (n > select(x.negative, least, most));
  Result<U> z{complemented(to.layout, x.negative, n), select(lossy(p), Int<U>{inexact}, Int<U>{})};
  z.code = select(over, fixed_overflowed(to, x.negative, n, least, most), z.code);
  z.flags = z.flags | select(over, Int<U>{overflow | inexact}, Int<U>{});

  const bool clamps = !to.layout.format.wraps() && to.overflow != Overflow::zero;
  const U end = complemented(to.layout, x.negative, U(select(x.negative, least, most)));
  z.code = select(x.infinite, clamps ? end : U{}, select(x.zero, U{}, z.code));
  z.flags = select(x.zero, Int<U>{}, z.flags);
  z.flags = select(x.infinite, Int<U>{clamps ? overflow | inexact : invalid}, z.flags);
  z.code = select(x.nan, U{}, z.code);
  z.flags = select(x.nan, Int<U>{invalid}, z.flags);
  return z;
}

}  // namespace widthwise
