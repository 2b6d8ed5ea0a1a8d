#pragma once
#include "widthwise/datapath/block.hpp"

// One product into a sum: a block of one product, exact sums and roundings that cut once, as one
// operation, whose numbers stay normalised from step to step. It comes to what block.hpp does
// (docs/exactness.md, 12), in a carrier of what codes take.
namespace widthwise::single {

template <class U>
using Path = Datapath<U, U>;

template <class U>
constexpr Mask<U> usual(const Number<U>& x) {
  return special(x) == Mask<U>{};
}
template <class U>
constexpr Mask<U> endless(const Number<U>& x) {
  return x.infinite | x.nan;
}

// x * y. As the datapath has it: a NaN that arises raises no flag.
template <class U>
constexpr Number<U> product(const Number<U>& x, const Number<U>& y) {
  Number<U> z = exact_product<Natural<U>>(x, y);
  if (any(endless(x) | endless(y))) {
    take_nan(z, z.zero & z.infinite, x, y);
    z.infinite = z.infinite & (z.nan == Mask<U>{});
  }
  return z;
}

// The sign of z, a sum of x and y, where it is zero.
template <class U>
constexpr void sign_zero(const RoundingSlot<U>& to, Number<U>& z, const Number<U>& x,
                         const Number<U>& y) {
  const Mask<U> mixed = x.negative ^ y.negative;
  const Mask<U> sign = zero_is_negative<Mask<U>>(to.description, x.negative, mixed);
  z.negative = select(z.zero, sign, z.negative);
}

// x + y, to be rounded to `to`.
template <class U>
constexpr Number<U> sum(const RoundingSlot<U>& to, const Number<U>& x, const Number<U>& y) {
  Number<U> z = exact_sum<Natural<U>>(x, y);
  sign_zero(to, z, x, y);
  if (any(endless(x) | endless(y))) sum_specials(z, x, y);
  return z;
}

// x * y + addend likewise.
template <class U>
constexpr Number<U> fused_sum(const RoundingSlot<U>& to, const Number<U>& x, const Number<U>& y,
                              const Number<U>& addend) {
  Number<U> z = exact_fma<Natural<U>>(x, y, addend);
  Number<U> p = product_class(x, y);
  sign_zero(to, z, p, addend);
  if (any(endless(x) | endless(y) | endless(addend))) {
    take_nan(p, p.zero & p.infinite, x, y);
    p.infinite = p.infinite & (p.nan == Mask<U>{});
    sum_specials(z, p, addend);
  }
  return z;
}

// What sums start at.
template <class U>
constexpr Number<U> no_number() {
  const Mask<U> none{};
  return {none, none == none, none, none, none, Int<U>{exponent_of_zero<U>}, U(0)};
}

// An output: its sum as a number and as a code, and all flags raised so far.
template <class U>
struct Output {
  Number<U> sum;
  U code;
  Int<U> flags;
};

// The random bits of a step's two roundings.
template <class U>
struct Draw {
  U product, out;
};

// What a step comes to where it is sure.
template <class U>
using Step = InPlace<U>;

// Factors of less than half a carrier's digits: their product is one multiplication and exact, with
// two digits to spare, so that a fused sum is an exact_sum (docs/exactness.md, 12).
template <class U>
constexpr bool short_factors(const Path<U>& u) {
  return std::max(u.unit.a.fmt.precision(), u.unit.b.fmt.precision()) < digits<U> / 2;
}
template <class How>
struct OfShortFactors : How {
  template <class U>
  static constexpr Halves<U> multiply(const U& a, const U& b) {
    constexpr int half = digits<U> / 2;
    return {U(a >> half) * U(b >> half), U{}};
  }
};

// Of longer ones the product's upper half, what is lost jammed into its last digit but one, which
// an exact_sum keeps: seldom a fused sum needs more (`cut_product_will_do`).
template <class How>
struct OfLongFactors : How {
  template <class U>
  static constexpr Halves<U> multiply(const U& a, const U& b) {
    const Halves<U> p = How::multiply(a, b);
    return {U(p.high | select(U(U(p.high & U(1)) | p.low) != U{}, U(2), U{})), U{}};
  }
};
// Digits of a sum below all that its rounding looks at, and below a jammed one.
template <class U>
constexpr int spare_digits(const Path<U>& u) {
  const Rounder<U>& out = u.out.rounder;
  return out.drop - 4 - (out.rule.rounding.stochastic() ? out.rule.rounding.random_bits : 0);
}
// With fewer, too many sums would not be sure.
inline constexpr int least_spare_digits = 6;

// Whether the sum with a product that was cut so rounds as the whole one's: none was cut, or the
// cut is below all that the rounding looks at and the other addend lost nothing
// (docs/exactness.md, 12).
template <class U>
constexpr Mask<U> cut_product_will_do(const Path<U>& u, const Number<U>& product,
                                      const Number<U>& sum, const Number<U>& exact) {
  const int longest = std::max(u.unit.c.fmt.precision(), u.unit.out.fmt.precision());
  const Mask<U> product_leads = sum.exp < product.exp;
  const Int<U> leading = select(product_leads, product.exp, sum.exp);
  const Mask<U> none_cut = (product.sig & U(7)) == U{};
  const Mask<U> all_of_sum = sum.exp + (digits<U> - 3 - longest) >= product.exp;
  return none_cut | (all_of_sum & (exact.exp + spare_digits(u) >= leading));
}

// A step where all is a normal number, the product and the sum as well; sure where it is so.
// `rounded`: u.product_round is there, which a caller may know beforehand.
template <class U>
constexpr Step<U> quick_step(const Path<U>& u, bool rounded, const Number<U>& a, const Number<U>& b,
                             const Draw<U>& random, const Number<U>& sum) {
  using How = Natural<U>;
  Mask<U> sure = usual(a) & usual(b) & usual(sum);
  Number<U> exact;
  Int<U> flags{};
  if (rounded) {
    const Number<U> product =
        short_factors(u) ? exact_product<OfShortFactors<How>>(a, b) : exact_product<How>(a, b);
    const Step<U> p = round_in_place<How>(u.product_round->rounder, product, sure, random.product);
    exact = exact_sum<How>(sum, p.number), flags = p.flags, sure = p.sure;
  } else if (short_factors(u)) {
    exact = exact_sum<How>(sum, exact_product<OfShortFactors<How>>(a, b));
  } else if (spare_digits(u) >= least_spare_digits) {
    const Number<U> product = exact_product<OfLongFactors<How>>(a, b);
    exact = exact_sum<How>(sum, product);
    sure = sure & cut_product_will_do(u, product, sum, exact);
  } else {
    exact = exact_fma<How>(a, b, sum);
  }
  Step<U> z =
      round_in_place<How>(u.out.rounder, exact, sure & (exact.zero == Mask<U>{}), random.out);
  z.flags = z.flags | flags;
  return z;
}

// What it came to, where all are sure of it; but for the code, which only the last step needs.
template <class U>
constexpr void take(const Step<U>& step, Output<U>& z) {
  z.sum = step.number;
  z.flags = z.flags | step.flags;
}

// The code of an output after its last step: `take` left it out where the sum is a normal number,
// and any other number has but the one. Where the last step was promoted no sum is left, and the
// promotion's code stays.
template <class U>
constexpr U code_of(const Path<U>& u, const Output<U>& z) {
  const Layout<U>& f = u.out.rounder.layout;
  const Int<U> field = z.sum.exp + f.plain_offset;
  return select<U>(usual(z.sum) & (field > Int<U>{}), code_in_place(f, z.sum), z.code);
}

// Rounds x into z.
template <class U>
constexpr void settle(const RoundingSlot<U>& to, const Number<U>& x, const U& random,
                      Output<U>& z) {
  const Result<U> r = deliver(to.rounder, x, {}, random);
  z.sum = operand(to.rounder.layout, r.code);
  z.code = r.code;
  z.flags = z.flags | r.flags;
}

// One step, whatever the numbers are, by a `settle` that the caller may have put where it likes.
template <class U, class Settle>
constexpr void any_step(const Path<U>& u, const Number<U>& a, const Number<U>& b,
                        const Draw<U>& random, Output<U>& z, const Settle& settle) {
  if (!u.product_round) return settle(u.out, fused_sum(u.out, a, b, z.sum), random.out, z);
  const Number<U> before = z.sum;
  settle(*u.product_round, product(a, b), random.product, z);
  settle(u.out, sum(u.out, before, z.sum), random.out, z);
}

// What a slot that only rounds takes: a zero by its own rule.
template <class U>
constexpr Number<U> to_round_once(const RoundingSlot<U>& to, Number<U> x) {
  const Mask<U> sign = zero_is_negative<Mask<U>>(to.description, x.negative, Mask<U>{});
  x.negative = select(x.zero, sign, x.negative);
  return x;
}

}  // namespace widthwise::single
