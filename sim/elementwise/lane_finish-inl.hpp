// Included once for each instruction set, after <hwy/foreach_target.h>.
#if defined(WIDTHWISE_LANE_FINISH) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_LANE_FINISH
#undef WIDTHWISE_LANE_FINISH
#else
#define WIDTHWISE_LANE_FINISH
#endif

#include "lane_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

// A number below the least normal one as a long code, cut off: the sum's digits end where a long
// subnormal's do.
template <class T>
HWY_INLINE I<T> cut_subnormal(V<T> absolute, V<T> least) {
  const V<T> sum = hn::Add(absolute, least), rounded = hn::Sub(sum, least);
  const I<T> code = hn::Sub(bits<T>(sum), bits<T>(least));
  return hn::Add(code, mask<T>(hn::Gt(rounded, absolute)));
}

// The same to odd.
template <class T>
HWY_INLINE I<T> long_subnormal(V<T> absolute, V<T> least) {
  const V<T> rounded = hn::Sub(hn::Add(absolute, least), least);
  const I<T> lost = hn::And(mask<T>(hn::Ne(rounded, absolute)), all<T>(1));
  return hn::Or(cut_subnormal<T>(absolute, least), lost);
}

// The one of these whose digits random bits look at (docs/exactness.md, 71).
template <class T>
HWY_INLINE I<T> random_subnormal(const RandomPlaces& places, V<T> absolute, V<T> least) {
  return places.jams ? long_subnormal<T>(absolute, least) : cut_subnormal<T>(absolute, least);
}

// What random bits add to the digits below the last kept one, before they are cut off.
template <class T>
HWY_INLINE I<T> random_increment(const Encoding<T>& to, const RandomPlaces& places, I<T> drawn) {
  const I<T> up = hn::Add(all<T>(to.increment[0]), hn::ShiftLeftSame(drawn, places.shift));
  return hn::Sub(up, hn::And(drawn, all<T>(places.ties ? 1 : 0)));
}

template <class T, class Item>
HWY_INLINE void store(I<T> code, Item* items) {
  const hn::RebindToUnsigned<Integers<T>> d;
  if constexpr (sizeof(Item) == sizeof(T))
    hn::StoreU(hn::BitCast(d, code), d, items);
  else
    hn::StoreU(hn::TruncateTo(hn::Rebind<Item, decltype(d)>(), hn::BitCast(d, code)),
               hn::Rebind<Item, decltype(d)>(), items);
}

// The sign, and all that is no number or too large for one, on a magnitude.
template <class T>
HWY_INLINE I<T> finished(const Encoding<T>& to, I<T> magnitude, I<T> absolute, I<T> negative) {
  const auto over = hn::Gt(magnitude, all<T>(to.max_finite));
  const I<T> infinity = all<T>(lane<T>(carrier<T>.infinity));
  I<T> code = magnitude;
  if (to.mirrored) code = hn::Min(code, all<T>(to.over[0]));
  code = hn::Or(code, hn::And(negative, all<T>(to.sign)));
  if (!to.signed_zero)
    code = hn::IfThenElse(hn::Eq(magnitude, hn::Zero(Integers<T>())), magnitude, code);
  if (to.one_way) return hn::IfThenElse(over, all<T>(to.nan), code);
  if (!to.mirrored) {
    code = hn::IfThenElse(over, by_sign<T>(negative, to.over), code);
    if (hn::AllTrue(Integers<T>(), hn::Lt(absolute, infinity))) return code;  // nearly always
    code = hn::IfThenElse(hn::Eq(absolute, infinity), by_sign<T>(negative, to.infinite), code);
  }
  return hn::IfThenElse(hn::Gt(absolute, infinity), all<T>(to.nan), code);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
