#pragma once
#include "widthwise/op/multiply.hpp"
#include "widthwise/wide.hpp"

namespace widthwise {

template <class W, class U>
constexpr Number<W> widened(const Number<U>& x) {
  const int up = digits<W> - digits<U>;
  return {x.negative, x.zero, x.infinite, x.nan, x.signaling, x.exp - up, W(x.sig) << up};
}

template <class U, class W>
constexpr Number<U> narrowed(const Number<W>& x) {
  const int down = digits<W> - digits<U>;
  const U sig = static_cast<U>(x.sig >> down) | U(any_low_bits<W>(x.sig, down) ? 1 : 0);
  return {x.negative, x.zero, x.infinite, x.nan, x.signaling, x.exp + down, sig};
}

// x * y + addend of finite numbers: the product is exact in a carrier twice as wide and meets the
// addend there.
template <class U>
constexpr Number<U> exact_fma(const RoundingRule& rule, const Number<U>& kind, const Number<U>& x,
                              const Number<U>& y, const Number<U>& addend) {
  using W = Twice<U>;
  Number<W> product{kind.negative, kind.zero, {}, {}, {}, x.exp + y.exp, {}};
  product.sig = joined(multiply_exact(x.sig, y.sig));
  if (any(kind.zero))
    product.exp = select(kind.zero, Int<U>{-max_exponent_magnitude}, product.exp);
  return narrowed<U>(exact_sum(rule, normalise(product), widened<W>(addend)));
}

// a * b + c with one rounding (IEEE 754-2019, 5.4.1). 0 * infinity is invalid even beside a NaN (docs/semantics.md, N3).
template <class U, class Trace = NoTrace>
constexpr Result<U> fma(const Rounder<U>& to, const Layout<U>& fa, const U& a, const Layout<U>& fb,
                        const U& b, const Layout<U>& fc, const U& c, const U& random = {},
                        Trace&& trace = {}) {
  return on_operands(fa, a, fb, b, fc, c, [&](const auto& x, const auto& y, const auto& addend) {
    const Number<U> kind = product_class(x, y);
    Number<U> z = exact_fma(to.rule, kind, x, y, addend);
    trace(Stage::exact, z.negative, z.exp, z.sig);
    Int<U> flags{};
    if (any(kind.infinite | x.nan | y.nan | infinite_or_nan(addend))) {
      Number<U> p = kind;
      flags = take_nan(p, kind.zero & kind.infinite, x, y);
      p.infinite = p.infinite & (p.nan == Mask<U>{});
      flags = flags | sum_specials(z, p, addend);
    }
    return deliver(to, z, flags, random, trace);
  });
}

}  // namespace widthwise
