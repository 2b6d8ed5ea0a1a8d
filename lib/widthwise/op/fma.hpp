#pragma once
#include "widthwise/halves.hpp"
#include "widthwise/op/multiply.hpp"

namespace widthwise {

// x * y + addend of finite numbers. The product is exact in two halves and meets the addend there;
// both leave a digit of room for the carry. The lowest digit of the two is far below all that a
// result of `digits` digits shows, as in exact_sum.
template <class How = OneByOne, class U>
constexpr Number<U> exact_fma(const Number<U>& x, const Number<U>& y, const Number<U>& addend) {
  const Mask<U> sign = x.negative ^ y.negative, differ = sign ^ addend.negative;
  Halves<U> high = How::multiply(U(x.sig >> 1), y.sig), low{U(addend.sig >> 1), U{}};
  Int<U> exp = x.exp + y.exp + 1, low_exp = addend.exp + 1 - digits<U>;
  if (any(x.zero | y.zero)) exp = select(x.zero | y.zero, Int<U>{exponent_of_zero<U>}, exp);
  const Mask<U> swap = exp < low_exp;
  swap_if(swap, exp, low_exp);
  swap_if(swap, high.high, low.high);
  swap_if(swap, high.low, low.low);
  low = shift_right_jam<How, U>(low, exp - low_exp);

  Halves<U> total = sum(high, negate_if<U>(differ, low));
  const Mask<U> turned = differ & ((total.high >> (digits<U> - 1)) != U{});
  if (How::any(turned)) total = negate_if<U>(turned, total);
  const Normalised<U> top = normalised<How, U>(total);
  const Mask<U> negative = sign ^ (differ & swap) ^ turned;
  return finite<U>(negative, exp + digits<U> - top.zeros, top.sig);
}

template <class U, class Trace>
[[gnu::noinline]] constexpr Result<U> full_fma(const Rounder<U>& to, const Layout<U>& fa,
                                               const U& a, const Layout<U>& fb, const U& b,
                                               const Layout<U>& fc, const U& c, const U& random,
                                               Trace& trace) {
  const Number<U> x = operand(fa, a), y = operand(fb, b), addend = operand(fc, c);
  Number<U> product = product_class(x, y);
  Number<U> z = exact_fma(x, y, addend);
  z.negative = select<Mask<U>>(z.zero, zero_sum_sign(to.rule, product, addend), z.negative);
  Int<U> flags{};
  if (any(product.infinite | x.nan | y.nan | infinite_or_nan(addend))) {
    const NanResult how = to.env.nan;
    Mask<U> made = product.zero & product.infinite;
    if (how == NanResult::x86) made = made & (addend.nan == Mask<U>{});
    flags = take_nan(product, made, x, y, how);
    product.infinite = product.infinite & (product.nan == Mask<U>{});
    flags = flags | sum_specials(z, product, addend, how);
  }
  trace(Stage::exact, z);
  return deliver(to, z, flags, random, trace);
}

// The same for normal numbers whose result is one too.
template <class How, class U>
constexpr Quick<U> quick_fma(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                             const Layout<U>& fb, const U& b, const Layout<U>& fc, const U& c,
                             const U& random = {}) {
  const Mask<U> usual = plain(fa, a) & plain(fb, b) & plain(fc, c);
  const Number<U> exact =
      exact_fma<How>(plain_operand(fa, a), plain_operand(fb, b), plain_operand(fc, c));
  return deliver_quick<How>(to, exact, usual & (exact.zero == Mask<U>{}), random);
}

// a * b + c with one rounding (IEEE 754-2019, 5.4.1). 0 * infinity is invalid even beside a NaN,
// but for x86 (docs/semantics.md, N3).
template <class U, class Trace = NoTrace>
constexpr Result<U> fma(const Rounder<U>& to, const Layout<U>& fa, const U& a, const Layout<U>& fb,
                        const U& b, const Layout<U>& fc, const U& c, const U& random = {},
                        Trace&& trace = {}) {
  if (!traced<Trace> && !any((plain(fa, a) & plain(fb, b) & plain(fc, c)) == Mask<U>{}))
      [[likely]] {
    const Quick<U> z = quick_fma<OneByOne>(to, fa, a, fb, b, fc, c, random);
    if (!any(z.sure == Mask<U>{})) [[likely]]
      return {z.code, z.flags};
  }
  return full_fma(to, fa, a, fb, b, fc, c, random, trace);
}

}  // namespace widthwise
