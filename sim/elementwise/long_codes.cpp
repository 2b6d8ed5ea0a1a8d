#include "long_codes.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/long_codes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/for_lanes-inl.hpp"
#include "small_integers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using widthwise::HWY_NAMESPACE::for_lanes;

constexpr int fraction = 52;
constexpr std::int64_t bias = 1023;

// A double's bits from an exponent and a fraction of so many digits.
template <class D, class I>
HWY_INLINE I spelt(D di, I exponent, I digits, int count) {
  const I field = hn::ShiftLeft<fraction>(hn::Add(exponent, hn::Set(di, bias)));
  return hn::Or(field, count > fraction ? hn::ShiftRightSame(digits, count - fraction)
                                        : hn::ShiftLeftSame(digits, fraction - count));
}

//   | run of equal bits | the other bit | es exponent bits | fraction |
template <class D, class I>
HWY_INLINE I posit_bits(D di, const LongCodes& f, I magnitude) {
  const int bits = f.width - 1;
  const I all = hn::Set(di, (std::int64_t{1} << bits) - 1), one = hn::Set(di, 1);
  const auto up = hn::Ne(hn::ShiftRightSame(magnitude, bits - 1), hn::Zero(di));
  const I broken = hn::IfThenElse(up, hn::Xor(magnitude, all), magnitude);
  const I run =
      hn::Min(hn::Sub(hn::Set(di, bits - 1), leading_place(di, broken)), hn::Set(di, bits));
  const I regime = hn::IfThenElse(up, hn::Sub(run, one), hn::Neg(run));
  const I tail = hn::And(hn::Shl(magnitude, hn::Add(run, one)), all);
  const I exponent =
      hn::Add(hn::ShiftLeftSame(regime, f.es), hn::ShiftRightSame(tail, bits - f.es));
  return spelt(di, exponent, hn::And(hn::ShiftLeftSame(tail, f.es), all), bits);
}

//   | direction | how long: 3 bits | exponent, so many bits | fraction |
template <class D, class I>
HWY_INLINE I takum_bits(D di, const LongCodes& f, I magnitude) {
  const int rest = f.width - 5;
  const I all = hn::Set(di, (std::int64_t{1} << rest) - 1), one = hn::Set(di, 1);
  const I head = hn::ShiftRightSame(magnitude, rest), length = hn::And(head, hn::Set(di, 7));
  const auto up = hn::Gt(head, hn::Set(di, 7));
  const I r = hn::IfThenElse(up, length, hn::Sub(hn::Set(di, 7), length));
  const I tail = hn::Shl(hn::And(magnitude, all), r);
  const I low = hn::ShiftRightSame(tail, rest), power = hn::Shl(one, r);
  const I least = hn::IfThenElse(up, hn::Sub(power, one), hn::Sub(one, hn::Add(power, power)));
  return spelt(di, hn::Add(least, low), hn::And(tail, all), rest);
}

// Of posits and takums: zero and NaR apart.
template <class D, class I>
HWY_INLINE auto tapered_number(D di, const LongCodes& f, I code) {
  const hn::RebindToFloat<D> d;
  const I nar = hn::Set(di, std::int64_t{1} << (f.width - 1));
  const I whole = hn::Sub(hn::Xor(code, nar), nar), magnitude = hn::Abs(whole);
  const I bits =
      f.exponent == Exponent::takum ? takum_bits(di, f, magnitude) : posit_bits(di, f, magnitude);
  const I sign = hn::And(whole, hn::Set(di, std::int64_t{-1} - INT64_MAX));
  const I number = hn::IfThenZeroElse(hn::Eq(code, hn::Zero(di)), hn::Or(bits, sign));
  const I nan = hn::Set(di, std::int64_t{0x7ff8} << 48);
  return hn::BitCast(d, hn::IfThenElse(hn::Eq(code, nar), nan, number));
}

template <class D, class I>
HWY_INLINE auto fixed_number(D di, const LongCodes& f, I code, double digit) {
  const hn::RebindToFloat<D> d;
  const I sign = hn::Set(di, std::int64_t{f.is_signed} << (f.width - 1));
  const auto low = hn::Set(d, f.is_signed ? std::ldexp(1.0, f.width - 1) : 0.0);
  return hn::Mul(hn::Sub(number_of(di, hn::Xor(code, sign)), low), hn::Set(d, digit));
}

template <class D, class V>
HWY_INLINE void store_number(D d, V x, double* to) {
  hn::StoreU(x, d, to);
}
template <class D, class V>
HWY_INLINE void store_number([[maybe_unused]] D d, V x, float* to) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // whose conversions stop at the ends
  double lanes[2];
  hn::StoreU(x, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = static_cast<float>(lanes[i]);
#else
  const hn::Rebind<float, D> floats;
  hn::StoreU(hn::DemoteTo(floats, x), floats, to);
#endif
}

template <class T>
void numbers(const LongCodes& shape, const std::uint32_t* codes, std::size_t n, T* to) {
  const LongCodes f = shape;
  const double digit = std::ldexp(1.0, f.last);
  for_lanes(hn::ScalableTag<std::int64_t>(), n, [&](auto di, std::size_t i) HWY_ATTR {
    const hn::RebindToFloat<decltype(di)> d;
    const hn::RebindToUnsigned<decltype(di)> du;
    const auto stored = hn::LoadU(hn::Rebind<std::uint32_t, decltype(di)>(), codes + i);
    const auto used = hn::Set(du, (std::uint64_t{1} << f.width) - 1);
    const auto code = hn::BitCast(di, hn::And(hn::PromoteTo(du, stored), used));
    const auto x = f.exponent == Exponent::none ? fixed_number(di, f, code, digit)
                                                : tapered_number(di, f, code);
    store_number(d, x, to + i);
  });
}

// HWY_EXPORT takes no templates.
void to_floats(const LongCodes& f, const std::uint32_t* codes, std::size_t n, float* to) {
  numbers(f, codes, n, to);
}
void to_doubles(const LongCodes& f, const std::uint32_t* codes, std::size_t n, double* to) {
  numbers(f, codes, n, to);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(to_floats);
HWY_EXPORT(to_doubles);

void to_numbers(const LongCodes& f, const std::uint32_t* codes, std::size_t n, float* numbers) {
  HWY_DYNAMIC_DISPATCH(to_floats)(f, codes, n, numbers);
}
void to_numbers(const LongCodes& f, const std::uint32_t* codes, std::size_t n, double* numbers) {
  HWY_DYNAMIC_DISPATCH(to_doubles)(f, codes, n, numbers);
}

}  // namespace widthwise::elements
#endif
