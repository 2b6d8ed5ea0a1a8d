#include "value_lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/value_lanes.cpp"
#include <hwy/foreach_target.h>

#include "lane_finish-inl.hpp"
#include "lane_pack-inl.hpp"
#include "random_words-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

using T = float;

// A magnitude below the least normal number, by the machine's mode: a power of two is added whose
// last digit is the format's last, and taken away; what is left is -0 where the machine rounds
// down.
template <Quick quick>
HWY_INLINE I<T> rounded_subnormal(const Encoding<T>& to, V<T> x, V<T> absolute) {
  const Numbers<T> d;
  const V<T> half_normal = hn::Set(d, to.half_normal);
  if constexpr (quick == Quick::by_sign) {
    const V<T> sum = hn::Add(x, hn::Or(half_normal, hn::And(x, hn::SignBit(d))));
    return bits<T>(hn::Abs(hn::Sub(hn::Abs(sum), half_normal)));
  } else {
    V<T> low = absolute;
    if constexpr (quick == Quick::ties_away) low = hn::Add(low, hn::Set(d, to.half_quantum));
    return bits<T>(hn::Abs(hn::Sub(hn::Add(low, half_normal), half_normal)));
  }
}

template <bool by_chance, Quick quick>
void values(const Encoding<T>& format, const ValueEnds& given, const RandomPlaces& places,
            const float* x, const std::uint64_t* drawn, std::size_t n, float* y) {
  const Encoding<T> to = format;
  const ValueEnds ends = given;
  const Numbers<T> d;
  const V<T> least = hn::Set(d, to.least_normal);
  const I<T> least_bits = bits<T>(least), kept = all<T>(-(Bits<T>{1} << to.drop));
  const I<T> infinity = all<T>(lane<T>(carrier<T>.infinity));
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V<T> v = hn::LoadU(d, x + i), absolute = hn::Abs(v);
    const I<T> a = bits<T>(absolute), negative = hn::BroadcastSignBit(bits<T>(v));
    const auto low = hn::Lt(a, least_bits);
    I<T> r;
    if constexpr (by_chance) {
      const I<T> up =
          random_increment<T>(to, places, hn::BitCast(Integers<T>(), random_words(d, drawn + i)));
      r = hn::And(hn::Add(a, up), kept);
      if (to.has_subnormals) {
        const I<T> rounded =
            hn::And(hn::Add(random_subnormal<T>(places, absolute, least), up), kept);
        const V<T> value = hn::Sub(number<T>(hn::Add(rounded, least_bits)), least);
        r = hn::IfThenElse(low, bits<T>(value), r);
      }
    } else {
      r = hn::And(hn::Add(a, quick_increment<T, quick>(to, a, negative)), kept);
      if (to.has_subnormals) r = hn::IfThenElse(low, rounded_subnormal<quick>(to, v, absolute), r);
    }
    const I<T> sign = hn::And(negative, all<T>(lane<T>(carrier<T>.sign)));
    const auto over = hn::Gt(r, all<T>(ends.largest));
    I<T> z = hn::IfThenElse(over, by_sign<T>(negative, ends.over), hn::Or(r, sign));
    if (!to.signed_zero) z = hn::IfThenElse(hn::Eq(r, hn::Zero(Integers<T>())), r, z);
    if (!hn::AllTrue(Integers<T>(), hn::Lt(a, infinity))) {  // hardly ever
      z = hn::IfThenElse(hn::Eq(a, infinity), by_sign<T>(negative, ends.infinite), z);
      z = hn::IfThenElse(hn::Gt(a, infinity), all<T>(ends.nan), z);
    }
    hn::StoreU(number<T>(z), d, y + i);
  }
}

ValueKernel choose(Quick quick) {
  switch (quick) {
    case Quick::none: return &values<true, Quick::none>;
    case Quick::to_even: return &values<false, Quick::to_even>;
    case Quick::ties_away: return &values<false, Quick::ties_away>;
    case Quick::toward_zero: return &values<false, Quick::toward_zero>;
    case Quick::by_sign: return &values<false, Quick::by_sign>;
  }
  return nullptr;
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(choose);

ValueKernel value_kernel(Quick quick) { return HWY_DYNAMIC_DISPATCH(choose)(quick); }

}  // namespace widthwise::elements
#endif
