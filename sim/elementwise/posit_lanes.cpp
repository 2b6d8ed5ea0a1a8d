#include "posit_lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/posit_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/for_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using widthwise::HWY_NAMESPACE::for_lanes;

constexpr int fraction = 23;  // digits behind the first of a float

// The bits of a posit behind its sign, as many as fill 63, from a magnitude in double:
//
//   | 1 1 … 1 0 | es exponent bits | 23 of fraction | 0 …      exponents from 0 on
//   | 0 0 … 0 1 |                                              below
//
// An exponent past width regimes is as good as one: both round to the ends.
template <class D, class V>
HWY_INLINE auto pattern(D, const PositShape& f, V magnitude) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, magnitude);
  const auto one = hn::Set(di, 1), none = hn::Zero(di);
  const auto far = hn::Set(di, std::int64_t{f.width - 1} << f.es);
  const auto field = hn::BitCast(di, hn::ShiftRight<52>(bits));
  const auto exponent = hn::Max(hn::Neg(far), hn::Min(hn::Sub(field, hn::Set(di, 1023)), far));
  const auto regime = hn::ShiftRightSame(exponent, f.es);
  const auto rest = hn::Sub(exponent, hn::ShiftLeftSame(regime, f.es));
  const auto below = hn::Lt(regime, none);
  // Its length, and what its bits are as a number.
  const auto length = hn::IfThenElse(below, hn::Sub(one, regime), hn::Add(regime, hn::Set(di, 2)));
  const auto ones = hn::Sub(hn::Shl(one, hn::IfThenElse(below, none, length)), hn::Set(di, 2));
  const auto digits =
      hn::And(hn::ShiftRight<52 - fraction>(bits), hn::Set(du, (std::uint64_t{1} << fraction) - 1));
  const auto tail = hn::Or(hn::BitCast(du, hn::ShiftLeft<fraction>(rest)), digits);
  const auto head = hn::BitCast(du, hn::IfThenElse(below, one, ones));
  const auto whole = hn::Or(hn::ShiftLeftSame(head, f.es + fraction), tail);
  const auto room = hn::Sub(hn::Set(di, 63 - f.es - fraction), length);
  return hn::Shl(whole, hn::BitCast(du, room));
}

// What carries out of the dropped bits where they round away: half of a unit, less one where a tie
// stays; or random bits at their top, with half of the last one's unit, which a tie may not reach.
template <class D>
HWY_INLINE auto increment(D du, const PositShape& f, int dropped, hn::Vec<D> kept,
                          const std::uint64_t* bits, std::size_t i) {
  const auto one = hn::Set(du, 1);
  if (!f.rounding.stochastic()) {
    const auto half = hn::Set(du, (std::uint64_t{1} << (dropped - 1)) - 1);
    return hn::Add(half, hn::And(kept, one));
  }
  const int shift = dropped - f.rounding.random_bits;
  const auto drawn = hn::LoadU(du, bits + i);
  auto up = hn::ShiftLeftSame(drawn, shift);
  if (f.rounding.variant != StochasticVariant::plain)
    up = hn::Add(up, hn::Set(du, std::uint64_t{1} << (shift - 1)));
  if (f.rounding.variant == StochasticVariant::even) up = hn::Sub(up, hn::And(drawn, one));
  return up;
}

template <class Code>
void posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
            Code* codes) {
  const int dropped = 64 - f.width;  // of the 63 bits
  for_lanes(hn::ScalableTag<double>(), n, [&](auto d, std::size_t i) {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<Code, decltype(d)> dc;
    const auto a = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), x + i));
    const auto p = pattern(d, f, hn::Abs(a));
    const auto one = hn::Set(du, 1), most = hn::Set(du, (std::uint64_t{1} << (f.width - 1)) - 1);
    const auto kept = hn::ShiftRightSame(p, dropped);
    const auto rest = hn::And(p, hn::Set(du, (std::uint64_t{1} << dropped) - 1));
    const auto up =
        hn::ShiftRightSame(hn::Add(rest, increment(du, f, dropped, kept, bits, i)), dropped);
    const auto held = hn::Min(hn::Max(hn::Add(kept, up), one), most);
    const auto negative = hn::RebindMask(du, hn::Lt(a, hn::Zero(d)));
    const auto code = hn::IfThenElse(negative, hn::Sub(hn::Zero(du), held), held);
    const auto zero = hn::RebindMask(du, hn::Eq(a, hn::Zero(d)));
    const auto finite = hn::RebindMask(du, hn::IsFinite(a));
    const auto nar = hn::Set(du, std::uint64_t{1} << (f.width - 1));
    const auto all = hn::Set(du, (std::uint64_t{2} << (f.width - 1)) - 1);
    const auto found = hn::IfThenElse(finite, hn::IfThenZeroElse(zero, hn::And(code, all)), nar);
    hn::StoreU(hn::TruncateTo(dc, found), dc, codes + i);
  });
}

void bytes_of(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
              std::uint8_t* codes) {
  posits(f, x, bits, n, codes);
}
void halves_of(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint16_t* codes) {
  posits(f, x, bits, n, codes);
}
void words_of(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
              std::uint32_t* codes) {
  posits(f, x, bits, n, codes);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(bytes_of);
HWY_EXPORT(halves_of);
HWY_EXPORT(words_of);

void to_posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(bytes_of)(f, x, bits, n, codes);
}
void to_posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(halves_of)(f, x, bits, n, codes);
}
void to_posits(const PositShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint32_t* codes) {
  HWY_DYNAMIC_DISPATCH(words_of)(f, x, bits, n, codes);
}

}  // namespace widthwise::elements
#endif
