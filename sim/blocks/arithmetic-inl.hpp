// Numbers in double lanes, each an exact value with at most 53 digits, and the roundings that
// keep them so. Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_ARITHMETIC_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_ARITHMETIC_INL
#undef WIDTHWISE_BLOCKS_ARITHMETIC_INL
#else
#define WIDTHWISE_BLOCKS_ARITHMETIC_INL
#endif

#include <hwy/highway.h>

#include <bit>
#include <limits>
#include <type_traits>

#include "kernels.hpp"
#include "sim/engine/odd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Ints = hn::RebindToSigned<Doubles>;
using Floats = hn::Rebind<float, Doubles>;
using V = hn::Vec<Doubles>;
using I = hn::Vec<Ints>;
using M = hn::Mask<Doubles>;

HWY_INLINE V number(double x) { return hn::Set(Doubles(), x); }
HWY_INLINE V load(const double* at) { return hn::LoadU(Doubles(), at); }
HWY_INLINE void store(V x, double* at) { hn::StoreU(x, Doubles(), at); }
HWY_INLINE I bits(V x) { return hn::BitCast(Ints(), x); }
HWY_INLINE V from_bits(I x) { return hn::BitCast(Doubles(), x); }

// 2^e with 2^e <= |x| < 2^(e + 1); 0 of a zero.
HWY_INLINE V leading_power(V x) {
  return hn::And(x, from_bits(hn::Set(Ints(), std::int64_t{0x7ff} << 52)));
}
// 2^frac_bits / power.
HWY_INLINE V over(V power, int frac_bits) {
  return from_bits(hn::Sub(hn::Set(Ints(), std::int64_t{2046 + frac_bits} << 52), bits(power)));
}
HWY_INLINE double power_of_two(int e) {
  return std::bit_cast<double>(std::int64_t{1023 + e} << 52);
}
// 2^e, or 0 of no_exponent.
HWY_INLINE V power_of_exponent(I e) {
  const I field = hn::Max(hn::Add(e, hn::Set(Ints(), 1023)), hn::Zero(Ints()));
  return from_bits(hn::ShiftLeft<52>(field));
}

HWY_INLINE M finite_number(V x) {  // and not zero
  const V magnitude = hn::Abs(x);
  return hn::And(hn::Gt(magnitude, number(0)),
                 hn::Lt(magnitude, number(std::numeric_limits<double>::infinity())));
}
HWY_INLINE M has_minus(V x) { return hn::MaskFromVec(from_bits(hn::BroadcastSignBit(bits(x)))); }
// The double next to x in magnitude, on the side where `toward` has it.
HWY_INLINE V neighbour(V x, V toward) {
  const I away = hn::BroadcastSignBit(bits(hn::Xor(x, toward)));  // -1 or 0
  return from_bits(hn::Add(bits(x), hn::Or(away, hn::Set(Ints(), 1))));
}
// The power of two with which a register votes.
HWY_INLINE V vote(V x, V least_normal) {
  return hn::IfThenElseZero(finite_number(x), hn::Max(leading_power(x), least_normal));
}
HWY_INLINE V vote(V x, double least_normal) { return vote(x, number(least_normal)); }

HWY_INLINE M infinite_or_nan(V x) {
  return hn::Not(hn::Lt(hn::Abs(x), number(std::numeric_limits<double>::infinity())));
}

HWY_INLINE M odd(V whole) {
  const V half = hn::Mul(whole, number(0.5));
  return hn::Ne(half, hn::Trunc(half));
}

// Modes that the machine has no instruction for: by the part that is cut off.
HWY_INLINE V to_integer_by_digits(RoundingMode mode, V x) {
  const V whole = hn::Trunc(x), rest = hn::Abs(hn::Sub(x, whole)), half = number(0.5);
  const M above = hn::Gt(rest, half), tie = hn::Eq(rest, half), inexact = hn::Gt(rest, number(0));
  M away = above;
  switch (mode) {
    case RoundingMode::rna: away = hn::Or(above, tie); break;
    case RoundingMode::rnp: away = hn::Or(above, hn::And(tie, hn::Gt(x, number(0)))); break;
    case RoundingMode::rnm: away = hn::Or(above, hn::And(tie, hn::Lt(x, number(0)))); break;
    case RoundingMode::rno: away = hn::Or(above, hn::AndNot(odd(whole), tie)); break;
    case RoundingMode::raz: away = inexact; break;
    case RoundingMode::odd: away = hn::AndNot(odd(whole), inexact); break;
    default: break;
  }
  return hn::IfThenElse(away, hn::Add(whole, hn::CopySignToAbs(number(1), x)), whole);
}

// To a whole number; a zero keeps the sign of x.
HWY_INLINE V to_integer(RoundingMode mode, V x) {
  V z = x;
  switch (mode) {
    case RoundingMode::rne: z = hn::Round(x); break;
    case RoundingMode::rtz: z = hn::Trunc(x); break;
    case RoundingMode::rdn: z = hn::Floor(x); break;
    case RoundingMode::rup: z = hn::Ceil(x); break;
    default: z = to_integer_by_digits(mode, x);
  }
#if HWY_TARGET == HWY_SCALAR
  z = hn::CopySign(z, x);  // without an instruction for it the sign is lost
#endif
  return z;
}

// To frac_bits below the leading digit, or below that of the least normal number: a whole number of
// the last one, whole(x times so much, so much).
template <class Whole>
HWY_INLINE V cut(V x, int frac_bits, double least_normal, const Whole& whole) {
  const V power = hn::Min(hn::Max(leading_power(x), number(least_normal)),
                          number(0x1p970));  // an infinity stays one
  const V up = over(power, frac_bits);
  return hn::Mul(whole(hn::Mul(x, up), up), hn::Mul(power, number(power_of_two(-frac_bits))));
}

// use(mode), compiled anew for the usual modes.
template <class Use>
HWY_INLINE void with_mode(RoundingMode mode, const Use& use) {
  using enum RoundingMode;
  switch (mode) {
    case rne: return use(std::integral_constant<RoundingMode, rne>{});
    case rtz: return use(std::integral_constant<RoundingMode, rtz>{});
    case rdn: return use(std::integral_constant<RoundingMode, rdn>{});
    default: return use(mode);
  }
}

using TwoSum = widthwise::HWY_NAMESPACE::TwoSum<V>;
using widthwise::HWY_NAMESPACE::two_sum;

// The sum's last digit odd where others were lost: to be rounded to some digits less.
HWY_INLINE V to_odd(const TwoSum& z) {
  return widthwise::HWY_NAMESPACE::to_odd(z.sum, z.lost, finite_number(z.lost));
}

HWY_INLINE V sum_to_odd(V x, V y) { return to_odd(two_sum(x, y)); }

#if !HWY_NATIVE_FMA
// The upper 26 digits of 53 (Dekker, A floating-point technique for extending the available
// precision, 1971); NaN past 2^996.
HWY_INLINE V upper_half(V x) {
  const V up = hn::Mul(x, number(0x1p27 + 1));
  return hn::Sub(up, hn::Sub(up, x));
}
#endif
// x * y - product, the product rounded to nearest.
HWY_INLINE V lost_of_product(V x, V y, V product) {
#if HWY_NATIVE_FMA
  return hn::MulSub(x, y, product);
#else
  const V x_high = upper_half(x), y_high = upper_half(y);
  const V x_low = hn::Sub(x, x_high), y_low = hn::Sub(y, y_high);
  const V rest = hn::Sub(hn::Mul(x_high, y_high), product);
  const V crossed = hn::Add(hn::Add(rest, hn::Mul(x_high, y_low)), hn::Mul(x_low, y_high));
  return hn::Add(crossed, hn::Mul(x_low, y_low));
#endif
}

struct Pair {
  V one, other;
};
HWY_INLINE V sum_to_odd(const Pair& x) { return sum_to_odd(x.one, x.other); }

// Where x + y has lost no digit and is neither infinite nor NaN: what is lost differs from nothing
// where the larger number is taken off again, whichever way the machine rounds.
HWY_INLINE M is_exact_sum(V x, V y, V sum) {
  return hn::And(hn::Eq(hn::Sub(sum, x), y), hn::Eq(hn::Sub(sum, y), x));
}

// body(at) for every vector of a strip's first columns.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t columns, const Body& body) {
  for (std::size_t at = 0; at < columns; at += hn::Lanes(Doubles())) body(at);
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
