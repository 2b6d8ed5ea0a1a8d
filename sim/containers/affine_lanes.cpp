#include "affine_lanes.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/containers/affine_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::affine::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;
using Half = hn::Rebind<float, Doubles>;
using F = hn::Vec<Floats>;
using D = hn::Vec<Doubles>;

// Of a run with one scale, or the next ones of a run with one each.
template <bool each, class Tag>
HWY_INLINE hn::Vec<Tag> lanes(Tag d, const hn::TFromD<Tag>* x, std::size_t i) {
  if constexpr (each) return hn::LoadU(d, x + i);
  return hn::Set(d, *x);
}

// x / s in double, rounded, of both halves of a vector: NaN as it is, what is far as that.
template <bool each>
HWY_INLINE F by_division(const Scales& s, F x, std::size_t i) {
  const Doubles dd;
  const Half half;
  const auto rounded = [&](hn::Vec<Half> part, std::size_t at) {
    const D y = hn::Div(hn::PromoteTo(dd, part), lanes<each>(dd, s.scale, at));
    const D near =
        hn::IfThenElse(hn::IsNaN(y), y, hn::Min(hn::Max(y, hn::Set(dd, -far)), hn::Set(dd, far)));
    return hn::DemoteTo(half, hn::Round(near));
  };
#if HWY_TARGET == HWY_SCALAR
  return rounded(x, i);
#else
  const auto low = rounded(hn::LowerHalf(half, x), i);
  const auto high = rounded(hn::UpperHalf(half, x), i + hn::Lanes(dd));
  return hn::Combine(Floats(), high, low);
#endif
}

template <class Item>
HWY_INLINE void store_items(F codes, Item* to) {
  const hn::Rebind<std::int32_t, Floats> ints;
  const hn::Rebind<Item, Floats> items;
  hn::StoreU(hn::DemoteTo(items, hn::ConvertTo(ints, codes)), items, to);
}

template <bool each>
struct Quickly {
  const Scales s;
  F low, high, nan;
  bool nan_is_zero_point;
  std::size_t nans = 0;

  // q + z, clamped; `past` counts down once for each lane that was.
  HWY_INLINE F codes(F x, std::size_t i, hn::Vec<hn::RebindToSigned<Floats>>& past) {
    const Floats d;
    const hn::RebindToSigned<Floats> di;
    const F y = hn::Mul(x, lanes<each>(d, s.reciprocal, i));
    const F zero = lanes<each>(d, s.zero32, i);
    F q = hn::Round(y);
    const F from_tie = hn::Abs(hn::Sub(hn::Abs(hn::Sub(y, q)), hn::Set(d, 0.5f)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Gt(from_tie, hn::Set(d, doubt)))))
      q = by_division<each>(s, x, i);  // near a tie, or NaN, or infinite
    F sum = hn::Add(q, zero);
    if (const auto lost = hn::IsNaN(sum); HWY_UNLIKELY(!hn::AllFalse(d, lost))) {
      nans += hn::CountTrue(d, lost);
      sum = hn::IfThenElse(lost, nan_is_zero_point ? zero : nan, sum);
    }
    const F kept = hn::Min(hn::Max(sum, low), high);
    past = hn::Add(past, hn::BitCast(di, hn::VecFromMask(d, hn::Ne(kept, sum))));
    return kept;
  }
};

template <bool each, class Item>
AffineCounts quick(const Scales& s, const AffineRule& rule, const float* x, std::size_t n,
                   void* to) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto all = [d](std::int64_t v) { return hn::Set(d, static_cast<float>(v)); };
  Quickly<each> k{s, all(rule.qmin), all(rule.qmax), all(rule.nan), rule.nan_is_zero_point};
  auto* items = static_cast<Item*>(to);
  const std::size_t width = hn::Lanes(d);
  auto past = hn::Zero(di);
  for (std::size_t i = 0; i + width <= n; i += width)
    store_items(k.codes(hn::LoadU(d, x + i), i, past), items + i);
  return {static_cast<std::uint64_t>(-std::int64_t{hn::GetLane(hn::SumOfLanes(di, past))}), k.nans};
}

// How far a quotient lies from where the mode changes its mind: a tie, or an integer.
template <bool nearest>
HWY_INLINE D from_border(D y) {
  const Doubles d;
  const D to_integer = hn::Abs(hn::Sub(y, hn::Round(y)));
  if constexpr (nearest) return hn::Abs(hn::Sub(to_integer, hn::Set(d, 0.5)));
  return to_integer;
}

HWY_INLINE D promoted(const float* x) {
  const Half half;
  return hn::PromoteTo(Doubles(), hn::LoadU(half, x));
}
HWY_INLINE D promoted(const double* x) { return hn::LoadU(Doubles(), x); }

// Codes, and which of them are sure.
HWY_INLINE void keep(D codes, hn::Mask<Doubles> sure, std::size_t i, Rounded& to) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  hn::StoreU(codes, d, to.code + i);
  hn::StoreU(hn::BitCast(di, hn::VecFromMask(d, sure)), di, to.sure + i);
}

// `exact`, by the machine's quotient: right where that is no border, and at one where no two
// operands have a quotient between it and its neighbours (short_quotients).
template <bool each, class Value, RoundingMode mode>
bool divide(const Scales& s, bool short_quotients, const Value* x, std::size_t n, Rounded& to) {
  using enum RoundingMode;
  const Doubles d;
  const D most = hn::Set(d, 0x1p40), share = hn::Set(d, 0x1p-50);
  const bool vouched = short_quotients && mode != rna;
  bool all_sure = true;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const D y = hn::Div(promoted(x + i), lanes<each>(d, s.scale, i));
    const D q = mode == rdn   ? hn::Floor(y)
                : mode == rup ? hn::Ceil(y)
                : mode == rtz ? hn::Trunc(y)
                              : hn::Round(y);
    auto sure = hn::Lt(hn::Abs(y), most);  // no NaN
    if (!vouched)
      sure = hn::And(sure, hn::Gt(from_border<is_nearest(mode)>(y), hn::Mul(hn::Abs(y), share)));
    keep(hn::Add(q, lanes<each>(d, s.zero, i)), sure, i, to);
    all_sure &= hn::AllTrue(d, sure);
  }
  return all_sure;
}

// Engines' quotients in binary32, to nearest even.
template <bool each, AffineArithmetic how>
bool engine(const Scales& s, const float* x, std::size_t n, Rounded& to) {
  using enum AffineArithmetic;
  const Doubles d;
  const Half half;
  bool all_sure = true;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(half, x + i);
    const auto by = lanes<each>(half, how == onnx ? s.scale32 : s.reciprocal, i);
    const auto y = how == onnx    ? hn::Div(v, by)
                   : how == torch ? hn::Mul(v, by)
                                  : hn::MulAdd(v, by, lanes<each>(half, s.zero32, i));
    D code = hn::Round(hn::PromoteTo(d, y));
    if (how != torch_legacy) code = hn::Add(code, lanes<each>(d, s.zero, i));
    const auto sure = hn::Lt(hn::Abs(code), hn::Set(d, 0x1p40));
    keep(code, sure, i, to);
    all_sure &= hn::AllTrue(d, sure);
  }
  return all_sure;
}

template <bool each, class Value>
bool careful_run(const Scales& s, const AffineRule& rule, bool short_quotients, const Value* x,
                 std::size_t n, Rounded& to) {
  using enum RoundingMode;
  if constexpr (sizeof(Value) == 4) {
    using enum AffineArithmetic;
    if (rule.arithmetic == onnx) return engine<each, onnx>(s, x, n, to);
    if (rule.arithmetic == torch) return engine<each, torch>(s, x, n, to);
#if HWY_NATIVE_FMA
    if (rule.arithmetic == torch_legacy) return engine<each, torch_legacy>(s, x, n, to);
#endif
  }
  switch (rule.rounding.mode) {
    case rne: return divide<each, Value, rne>(s, short_quotients, x, n, to);
    case rdn: return divide<each, Value, rdn>(s, short_quotients, x, n, to);
    case rup: return divide<each, Value, rup>(s, short_quotients, x, n, to);
    case rtz: return divide<each, Value, rtz>(s, short_quotients, x, n, to);
    default: return divide<each, Value, rna>(s, short_quotients, x, n, to);  // off its ties alike
  }
}

template <class Value>
bool careful(const Scales& s, const AffineRule& rule, bool short_quotients, const Value* x,
             std::size_t n, Rounded& to) {
  return s.each ? careful_run<true, Value>(s, rule, short_quotients, x, n, to)
                : careful_run<false, Value>(s, rule, short_quotients, x, n, to);
}

// HWY_EXPORT takes no templates.
auto careful_floats() { return &careful<float>; }
auto careful_doubles() { return &careful<double>; }
bool fuses() { return HWY_NATIVE_FMA; }
auto quick_codes(bool each, bool is_signed) {
  if (each) return is_signed ? &quick<true, std::int8_t> : &quick<true, std::uint8_t>;
  return is_signed ? &quick<false, std::int8_t> : &quick<false, std::uint8_t>;
}

}  // namespace widthwise::affine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::affine {

HWY_EXPORT(careful_floats);
HWY_EXPORT(careful_doubles);
HWY_EXPORT(fuses);
HWY_EXPORT(quick_codes);

template <>
Careful<float> careful_kernel<float>() {
  return HWY_DYNAMIC_DISPATCH(careful_floats)();
}
template <>
Careful<double> careful_kernel<double>() {
  return HWY_DYNAMIC_DISPATCH(careful_doubles)();
}
bool lanes_fuse() { return HWY_DYNAMIC_DISPATCH(fuses)(); }
Quick quick_kernel(bool each, bool is_signed) {
  return HWY_DYNAMIC_DISPATCH(quick_codes)(each, is_signed);
}

}  // namespace widthwise::affine
#endif
