#pragma once
#include <memory>

#include "kernels.hpp"
#include "sim/engine/row.hpp"
#include "widthwise/datapath/block.hpp"

// One product into each sum of a row. U is a row; every digit comes from lib's operations.
namespace widthwise::chain {

template <class U>
using Path = Datapath<U, U>;

// Out of line: for whoever takes all that it calls into itself.
template <class U>
[[gnu::noinline]] std::unique_ptr<const Path<U>> path(const Unit& unit) {
  return std::make_unique<const Path<U>>(unit);
}

// Words of 32 bits, each in a place of 64.
template <int N>
struct SpacedWords {
  Row<std::uint64_t, N> row;

  SpacedWords() = default;
  explicit SpacedWords(std::uint64_t x) : row(x) {}
  explicit SpacedWords(const Row<std::uint64_t, N>& x) : row(x) {}
  explicit operator Row<std::uint64_t, N>() const { return row; }
  friend SpacedWords operator^(const SpacedWords& a, const SpacedWords& b) {
    return SpacedWords(a.row ^ b.row);
  }
  friend SpacedWords operator&(const SpacedWords& a, const SpacedWords& b) {
    return SpacedWords(a.row & b.row);
  }
  friend SpacedWords operator>>(const SpacedWords& x, int n) { return SpacedWords(x.row >> n); }
};
template <int N>
Halves<SpacedWords<N>> multiply_exact(const SpacedWords<N>& a, const SpacedWords<N>& b) {
  const Row<std::uint64_t, N> z = a.row * b.row;
  return {SpacedWords<N>(z >> 32), SpacedWords<N>(z) & SpacedWords<N>(0xffffffff)};
}

// What the generator of random bits takes for a row of outputs.
template <class U>
struct WordsOf {
  using type = U;
};
template <int N>
struct WordsOf<Row<std::uint64_t, N>> {
  using type = SpacedWords<N>;
};

template <class U>
Mask<U> usual(const Number<U>& x) {
  return special(x) == Mask<U>{};
}
template <class U>
Mask<U> endless(const Number<U>& x) {
  return x.infinite | x.nan;
}

// x * y. As the datapath has it: a NaN that arises raises no flag.
template <class U>
Number<U> product(const Number<U>& x, const Number<U>& y) {
  Number<U> z = exact_product<InRows>(x, y);
  if (any(endless(x) | endless(y))) {
    take_nan(z, z.zero & z.infinite, x, y);
    z.infinite = z.infinite & (z.nan == Mask<U>{});
  }
  return z;
}

// The sign of z, a sum of x and y, where it is zero.
template <class U>
void sign_zero(const RoundingSlot<U>& to, Number<U>& z, const Number<U>& x, const Number<U>& y) {
  const Mask<U> sign = zero_sum_sign(to.rounder.rule, x, y);
  const bool plus = to.description.zero_sign == ZeroSign::plus;
  z.negative = select(z.zero, plus ? Mask<U>{} : sign, z.negative);
}

// x + y, to be rounded to `to`.
template <class U>
Number<U> sum(const RoundingSlot<U>& to, const Number<U>& x, const Number<U>& y) {
  Number<U> z = exact_sum<InRows>(x, y);
  sign_zero(to, z, x, y);
  if (any(endless(x) | endless(y))) sum_specials(z, x, y);
  return z;
}

// x * y + addend likewise.
template <class U>
Number<U> fused_sum(const RoundingSlot<U>& to, const Number<U>& x, const Number<U>& y,
                    const Number<U>& addend) {
  Number<U> z = exact_fma<InRows>(x, y, addend);
  Number<U> p = product_class(x, y);
  sign_zero(to, z, p, addend);
  if (any(endless(x) | endless(y) | endless(addend))) {
    take_nan(p, p.zero & p.infinite, x, y);
    p.infinite = p.infinite & (p.nan == Mask<U>{});
    sum_specials(z, p, addend);
  }
  return z;
}

// An output of a row: its sum as a number and as a code, and all flags raised so far.
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

// Where all is a normal number, the product and the sum as well. False where it is not, and then
// nothing has been done.
template <class U>
bool quick_step(const Path<U>& u, const Number<U>& a, const Number<U>& b, const Draw<U>& random,
                Output<U>& z) {
  Mask<U> sure = usual(a) & usual(b) & usual(z.sum);
  Number<U> exact;
  Int<U> flags{};
  if (u.product_round) {
    const Rounder<U>& to = u.product_round->rounder;
    const Quick<U> p = deliver_quick<InRows>(to, exact_product<InRows>(a, b), sure, random.product);
    exact = exact_sum<InRows>(z.sum, plain_operand(to.layout, p.code));
    flags = p.flags;
    sure = p.sure;
  } else {
    exact = exact_fma<InRows>(a, b, z.sum);
  }
  const Quick<U> s =
      deliver_quick<InRows>(u.out.rounder, exact, sure & (exact.zero == Mask<U>{}), random.out);
  if (any(s.sure == Mask<U>{})) return false;
  z.sum = plain_operand(u.out.rounder.layout, s.code);
  z.code = s.code;
  z.flags = z.flags | flags | s.flags;
  return true;
}

}  // namespace widthwise::chain
