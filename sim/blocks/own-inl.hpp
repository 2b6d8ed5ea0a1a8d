// Strips that the machine's additions and multiplications round to binary64, and the flags those
// raise (docs/exactness.md, 48). Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_OWN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_OWN_INL
#undef WIDTHWISE_BLOCKS_OWN_INL
#else
#define WIDTHWISE_BLOCKS_OWN_INL
#endif

#include "sim/blocks/arithmetic-inl.hpp"
#include "sim/blocks/own_flags.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// Joins what was there before.
HWY_INLINE void raise(I flags, std::int64_t* before) {
  hn::StoreU(hn::Or(hn::LoadU(Ints(), before), flags), Ints(), before);
}
HWY_INLINE I flag(M when, Flags flags) {
  return hn::And(hn::VecFromMask(Ints(), hn::RebindMask(Ints(), when)), hn::Set(Ints(), flags));
}

// definition(mode, x, y) of the lanes that are told to ask it, before any other.
template <class Definition>
HWY_NOINLINE I asked(const Definition& definition, RoundingMode mode, M asks, V x, V y, I others) {
  alignas(64) double all_x[HWY_MAX_BYTES / sizeof(double)], all_y[std::size(all_x)];
  alignas(64) std::int64_t flags[std::size(all_x)], ask[std::size(all_x)];
  store(x, all_x), store(y, all_y);
  hn::StoreU(others, Ints(), flags);
  hn::StoreU(flag(asks, 1), Ints(), ask);
  for (std::size_t i = 0; i < hn::Lanes(Ints()); ++i)
    if (ask[i]) flags[i] = definition(mode, all_x[i], all_y[i]);
  return hn::LoadU(Ints(), flags);
}

HWY_INLINE M below_largest(V x) {
  return hn::Lt(hn::Abs(x), number(std::numeric_limits<double>::max()));
}

// What x + y raises, rounded to `sum`; tiny sums of doubles are exact.
HWY_INLINE I flags_of_sum(RoundingMode mode, V x, V y, V sum) {
  const I plain = flag(hn::Not(is_exact_sum(x, y, sum)), inexact);
  const M far = hn::Not(below_largest(sum));
  if (hn::AllFalse(Doubles(), far)) [[likely]]
    return plain;
  return asked(&blocks::flags_of_sum, mode, far, x, y, plain);
}

// The last digit of x that is not 0, as a number.
HWY_INLINE V last_digit(V x) {
  const I fraction = hn::And(bits(x), hn::Set(Ints(), (std::int64_t{1} << 52) - 1));
  const I last = hn::And(fraction, hn::Neg(fraction));
  const V power = leading_power(x);
  const V digit = hn::Sub(from_bits(hn::Or(bits(power), last)), power);
  return hn::IfThenElse(hn::Eq(digit, number(0)), power, digit);
}
// Whether x * y, which is no less than 2^-960, is `product`, to which the machine has rounded it.
HWY_INLINE M is_exact_product(V x, V y, V product) {
#if HWY_NATIVE_FMA
  return hn::Eq(lost_of_product(x, y, product), number(0));
#else
  const V last_place = hn::Mul(leading_power(product), number(0x1p-52));
  return hn::Ge(hn::Mul(last_digit(x), last_digit(y)), last_place);
#endif
}
// What x * y raises, rounded to `product`.
HWY_INLINE I flags_of_product(RoundingMode mode, V x, V y, V product) {
  const M zero = hn::Or(hn::Eq(x, number(0)), hn::Eq(y, number(0)));
  const I plain = flag(hn::Not(hn::Or(zero, is_exact_product(x, y, product))), inexact);
  const M inside = hn::And(hn::Ge(hn::Abs(product), number(0x1p-960)), below_largest(product));
  const M known = hn::Or(inside, hn::And(zero, hn::Eq(product, number(0))));
  if (hn::AllTrue(Doubles(), known)) [[likely]]
    return plain;
  return asked(&blocks::flags_of_product, mode, hn::Not(known), x, y, plain);
}

// Whether a sum that is nearest to even goes by another mode, which knows the sign of what that
// left out, to its neighbour there.
HWY_INLINE M moves(RoundingMode mode, V sum, V lost) {
  const V zero = number(0);
  const M some = finite_number(lost), inward = hn::And(some, has_minus(hn::Xor(sum, lost)));
  switch (mode) {
    case RoundingMode::rtz: return inward;
    case RoundingMode::raz: return hn::AndNot(inward, some);
    case RoundingMode::rdn: return hn::And(some, hn::Lt(lost, zero));
    case RoundingMode::rup: return hn::And(some, hn::Gt(lost, zero));
    default: break;
  }
  // Half of the way, from the even one.
  const V distance = hn::Sub(neighbour(sum, lost), sum);
  const M tie = hn::And(some, hn::Eq(distance, hn::Add(lost, lost)));
  switch (mode) {
    case RoundingMode::rna: return hn::AndNot(inward, tie);
    case RoundingMode::rnz: return hn::And(inward, tie);
    case RoundingMode::rnp: return hn::And(tie, hn::Gt(lost, zero));
    case RoundingMode::rnm: return hn::And(tie, hn::Lt(lost, zero));
    case RoundingMode::rno: return tie;
    default: return hn::Lt(zero, zero);
  }
}
HWY_INLINE V by_hand(RoundingMode mode, const TwoSum& z) {
  if (mode == RoundingMode::odd) return to_odd(z);
  return hn::IfThenElse(moves(mode, z.sum, z.lost), neighbour(z.sum, z.lost), z.sum);
}

// By k random bits: away from zero where the part that is cut off, in units of 2^-k, and those bits
// reach 2^k together (rounding-inl.hpp). The sum lies between the double nearest to it and the next
// one on its side, a rest away from the nearer one.
struct Chance {
  const Slot& to;
  V random, other, distance;  // the next one, and how far it is
  M outside;                  // the sum lies past the nearer one, not before it

  HWY_INLINE Chance(const Slot& slot, V bits, V nearest, V rest)
      : to(slot),
        random(bits),
        other(neighbour(nearest, rest)),
        distance(hn::Abs(hn::Sub(other, nearest))),
        outside(hn::Gt(hn::Abs(other), hn::Abs(nearest))) {}

  // Whether a sum with a rest of that size goes to the other one.
  HWY_INLINE M leaves(V size) const {
    const double one = power_of_two(to.random_bits);
    const double half = to.variant == StochasticVariant::half ? 0.5 : 0;
    V part = hn::Div(hn::Mul(size, number(one)), distance);
    part = hn::Max(part, number(0x1p-1000));  // not 0 where the quotient is too small
    if (to.variant == StochasticVariant::even) part = hn::Round(part);
    const M away = hn::Ge(part, hn::Sub(number(one - half), random));
    const M inward = hn::Gt(part, hn::Add(random, number(half)));
    return hn::Or(hn::And(outside, away), hn::AndNot(outside, inward));
  }
};
// No flag can be but the one (docs/exactness.md, 53).
HWY_INLINE V by_hand(const Slot& to, const double* random, const TwoSum& z, std::int64_t* flags) {
  if (flags) raise(flag(finite_number(z.lost), inexact), flags);
  if (to.random_bits == 0) return by_hand(to.mode, z);
  const Chance chance(to, load(random), z.sum, z.lost);
  const M leaves = hn::And(finite_number(z.lost), chance.leaves(hn::Abs(z.lost)));
  return hn::IfThenElse(leaves, chance.other, z.sum);
}

// The sum of two terms as a slot rounds it, by these random bits if by any.
HWY_INLINE V own_sum(const Slot& to, const double* random, V x, V y, std::int64_t* flags) {
  if (!to.by_hand) {
    const V sum = hn::Add(x, y);
    if (flags) raise(flags_of_sum(to.mode, x, y, sum), flags);
    return sum;
  }
  return by_hand(to, random, two_sum(x, y), flags);
}

// x(at), or the sum of two terms, of every vector of a strip, and how it votes if anything asks for
// that.
template <class Number>
HWY_INLINE void own_each(const Slot& to, const double* random, const Number& x,
                         const Progress& progress, bool votes, Strip& result) {
  std::int64_t* const flags = progress.flags;
  for_each_vector(progress.columns, [&](std::size_t at) HWY_ATTR {
    V sum;
    if constexpr (requires { x.terms(at); }) {
      const auto [one, other] = x.terms(at);
      sum = own_sum(to, random + at, one, other, flags ? flags + at : nullptr);
    } else {
      sum = x(at);
    }
    store(sum, result.value + at);
    if (votes) store(vote(sum, number(0)), result.power + at);
  });
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
