// Exact sums as two doubles and a bound on what those leave out (docs/exactness.md, 49). Compiled
// once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_TWOFOLD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_TWOFOLD_INL
#undef WIDTHWISE_BLOCKS_TWOFOLD_INL
#else
#define WIDTHWISE_BLOCKS_TWOFOLD_INL
#endif

#include "sim/blocks/rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// high + low, but for at most `lost` either way.
struct Twofold {
  V high, low, lost;
};
HWY_INLINE Twofold with_low(const Twofold& s, V term) {
  const TwoSum low = two_sum(s.low, term);
  return {s.high, low.sum, hn::Add(s.lost, hn::Abs(low.lost))};
}
HWY_INLINE Twofold operator+(const Twofold& s, V term) {
  const TwoSum high = two_sum(s.high, term);
  return with_low({high.sum, s.low, s.lost}, high.lost);
}

// A sum as a slot wants it, and where nobody can tell.
struct Settled {
  V value;
  M doubtful;
};

// To nearest even, where the least and the largest that the sum may be are rounded to the same.
HWY_INLINE Settled nearest(V sum, V rest, V bound) {
  const M sure = hn::And(hn::Eq(hn::Add(sum, hn::Add(rest, bound)), sum),
                         hn::Eq(hn::Add(sum, hn::Sub(rest, bound)), sum));
  return {sum, hn::Not(sure)};
}

// By another mode of those to nearest, where neither end of what the sum may be is, or is past, a
// tie that it is not.
HWY_INLINE Settled by_tie(const Slot& to, V sum, V rest, V bound) {
  const V value = by_hand(to.mode, {sum, rest});
  const auto is_same = [&](V end) HWY_ATTR {
    return hn::And(hn::Eq(hn::Add(sum, end), sum), hn::Eq(by_hand(to.mode, {sum, end}), value));
  };
  const M sure = hn::And(is_same(hn::Add(rest, bound)), is_same(hn::Sub(rest, bound)));
  return {value, hn::Not(sure)};
}

// By the sign of what is left: to odd, or by another mode that knows no ties.
HWY_INLINE Settled by_rest(const Slot& to, V sum, V rest, V bound) {
  const M sure = hn::Or(hn::Gt(hn::Abs(rest), bound), hn::Eq(bound, number(0)));
  const V value = by_hand(to.own ? to.mode : RoundingMode::odd, {sum, rest});
  return {value, hn::Or(hn::Not(sure), infinite_or_nan(sum))};
}

HWY_INLINE Settled by_chance(const Slot& to, V random, V sum, V rest, V bound) {
  const Chance chance(to, random, sum, rest);
  const V size = hn::Abs(rest);
  const M most = chance.leaves(hn::Add(size, bound)), least = chance.leaves(hn::Sub(size, bound));
  const M leaves = hn::And(hn::Ne(rest, number(0)), least);
  const M sure =
      hn::And(hn::Or(hn::Gt(size, bound), hn::Eq(bound, number(0))), hn::Not(hn::Xor(most, least)));
  const M far = hn::Or(infinite_or_nan(sum), infinite_or_nan(chance.other));
  return {hn::IfThenElse(leaves, chance.other, sum), hn::Or(hn::Not(sure), far)};
}

// The double nearest to a sum, what that leaves out, and how far both together may be off.
struct Split {
  V sum, rest, bound;
};
HWY_INLINE Split split(const Twofold& s) {
  const TwoSum z = two_sum(s.high, s.low);
  const V sum = hn::IfThenElse(hn::Eq(s.low, number(0)), s.high, z.sum);  // which may be -0
  // `lost` was itself rounded, and so will be what it is added to.
  const V wider =
      hn::MulAdd(s.lost, number(1 + 0x1p-20), hn::Mul(hn::Abs(z.lost), number(0x1p-50)));
  return {sum, z.lost, hn::IfThenElseZero(hn::Ne(s.lost, number(0)), wider)};
}
HWY_INLINE Settled settled(const Slot& to, const Split& x, V random) {
  if (to.own && to.random_bits > 0) return by_chance(to, random, x.sum, x.rest, x.bound);
  if (to.own && to.mode == RoundingMode::rne) return nearest(x.sum, x.rest, x.bound);
  if (to.own && is_nearest(to.mode)) return by_tie(to, x.sum, x.rest, x.bound);
  return by_rest(to, x.sum, x.rest, x.bound);
}

// Where nobody can tell what flags a sum that becomes `value` raises: whether it is that very
// number, or has gone past the largest one.
HWY_INLINE M has_doubtful_flags(const Split& x, V value) {
  const M maybe_exact = hn::And(hn::Ne(x.bound, number(0)), hn::Le(hn::Abs(x.rest), x.bound));
  return hn::Or(maybe_exact, hn::Not(below_largest(value)));
}

// A vector of sums, ready for the slot that rounds them, by these random bits if by any.
HWY_INLINE void settle(const Slot& to, const Twofold& sum, V random, std::size_t at,
                       const Progress& progress, Strip& result) {
  const Split x = split(sum);
  Settled z = settled(to, x, random);
  store(z.value, result.value + at);
  if (to.own && progress.flags) {
    raise(flag(hn::Ne(x.rest, number(0)), inexact), progress.flags + at);
    z.doubtful = hn::Or(z.doubtful, has_doubtful_flags(x, z.value));
  }
  raise(flag(z.doubtful, 1), progress.doubts + at);
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
