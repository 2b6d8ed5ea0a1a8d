#include "fixed_lanes.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/fixed_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/for_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using widthwise::HWY_NAMESPACE::for_lanes;

template <class D, class T>
HWY_INLINE auto load(D d, const T* x) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>))
    return hn::LoadU(d, x);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), x));
}

template <class D>
constexpr auto one_of = hn::TFromD<D>{1};

// Whether a magnitude goes away from the integer below it, above which so much of a unit is left.
template <RoundingMode mode, class D, class V, class M>
HWY_INLINE auto goes_away(D d, V y, V left, M even) {
  using enum RoundingMode;
  const auto half = hn::Set(d, one_of<D> / 2), zero = hn::Zero(d);
  if constexpr (mode == odd) {
    return hn::And(hn::Gt(left, zero), even);
  } else if constexpr (mode == rna) {
    return hn::Ge(left, half);
  } else if constexpr (mode == rnz) {
    return hn::Gt(left, half);
  } else {
    const auto there = mode == rnp ? hn::Gt(y, zero) : mode == rnm ? hn::Lt(y, zero) : even;
    return hn::Or(hn::Gt(left, half), hn::And(hn::Eq(left, half), there));
  }
}

// Past 2^52 all doubles are integers, and past 2^23 all floats, so nothing is left there.
template <RoundingMode mode, class D, class V>
HWY_INLINE V rounded(D d, V y) {
  using enum RoundingMode;
  if constexpr (mode == rne) {
    return hn::Round(y);
  } else if constexpr (mode == rtz) {
    return hn::Trunc(y);
  } else if constexpr (mode == rdn) {
    return hn::Floor(y);
  } else if constexpr (mode == rup) {
    return hn::Ceil(y);
  } else if constexpr (mode == raz) {
    return hn::CopySign(hn::Ceil(hn::Abs(y)), y);
  } else {
    const auto m = hn::Abs(y), below = hn::Floor(m),
               half = hn::Mul(below, hn::Set(d, one_of<D> / 2));
    const auto away = goes_away<mode>(d, y, hn::Sub(m, below), hn::Eq(half, hn::Floor(half)));
    const auto next = hn::Add(below, hn::Set(d, one_of<D>));
    return hn::CopySign(hn::IfThenElse(away, next, below), y);
  }
}

template <RoundingMode mode, class T, class V>
void integers(const FixedSteps& steps, const T* x, std::size_t n, V* v) {
  const auto up = static_cast<V>(steps.up), least = static_cast<V>(steps.least),
             most = static_cast<V>(steps.most);
  for_lanes(hn::ScalableTag<V>(), n, [&](auto d, std::size_t i) {
    const auto a = load(d, x + i);
    auto y = hn::Mul(a, hn::Set(d, up));
    if constexpr (!is_nearest(mode)) {
      // A product too small for a normal number rounds as any other one below half a unit.
      const auto tiny = hn::Set(d, std::numeric_limits<V>::min());
      const auto lost = hn::And(hn::Lt(hn::Abs(y), tiny), hn::Ne(a, hn::Zero(d)));
      y = hn::IfThenElse(lost, hn::CopySign(tiny, a), y);
    }
    const auto r = rounded<mode>(d, y);
    const auto held = hn::Min(hn::Max(r, hn::Set(d, least)), hn::Set(d, most));
    hn::StoreU(hn::IfThenZeroElse(hn::IsNaN(a), held), d, v + i);
  });
}

template <class T, class V>
void in_mode(const FixedSteps& steps, const T* x, std::size_t n, V* v) {
  using enum RoundingMode;
  switch (steps.mode) {
    case rne: return integers<rne>(steps, x, n, v);
    case rna: return integers<rna>(steps, x, n, v);
    case rnz: return integers<rnz>(steps, x, n, v);
    case rnp: return integers<rnp>(steps, x, n, v);
    case rnm: return integers<rnm>(steps, x, n, v);
    case rno: return integers<rno>(steps, x, n, v);
    case rtz: return integers<rtz>(steps, x, n, v);
    case rdn: return integers<rdn>(steps, x, n, v);
    case rup: return integers<rup>(steps, x, n, v);
    case raz: return integers<raz>(steps, x, n, v);
    case odd: return integers<odd>(steps, x, n, v);
    case sr: return;  // refused by whoever calls
  }
}

// In two's complement.
template <class D, class V>
HWY_INLINE auto integers_of(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float))  // the sum's last digits are those
    return hn::BitCast(du, hn::Add(v, hn::Set(d, 0x1.8p23F)));
  else
    return hn::BitCast(du, hn::ConvertTo(hn::RebindToSigned<D>(), v));
}

template <class V, class Code>
void codes_of(const FixedSteps& steps, const V* v, std::size_t n, Code* codes) {
  for_lanes(hn::ScalableTag<V>(), n, [&](auto d, std::size_t i) {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<Code, decltype(d)> dc;
    const auto code = hn::And(integers_of(d, hn::LoadU(d, v + i)), hn::Set(du, steps.mask));
    if constexpr (sizeof(Code) == sizeof(V))
      hn::StoreU(code, dc, codes + i);
    else
      hn::StoreU(hn::TruncateTo(dc, code), dc, codes + i);
  });
}

// HWY_EXPORT takes no templates.
template <class V>
FixedCodes<V> codes_for() {
  return {&codes_of<V, std::uint8_t>, &codes_of<V, std::uint16_t>, &codes_of<V, std::uint32_t>};
}
FixedCodes<float> codes_of_floats() { return codes_for<float>(); }
FixedCodes<double> codes_of_doubles() { return codes_for<double>(); }
void floats_to_floats(const FixedSteps& s, const float* x, std::size_t n, float* v) {
  in_mode(s, x, n, v);
}
void floats_to_doubles(const FixedSteps& s, const float* x, std::size_t n, double* v) {
  in_mode(s, x, n, v);
}
void doubles_to_doubles(const FixedSteps& s, const double* x, std::size_t n, double* v) {
  in_mode(s, x, n, v);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(floats_to_floats);
HWY_EXPORT(floats_to_doubles);
HWY_EXPORT(doubles_to_doubles);
HWY_EXPORT(codes_of_floats);
HWY_EXPORT(codes_of_doubles);

void to_integers(const FixedSteps& steps, const float* x, std::size_t n, float* v) {
  HWY_DYNAMIC_DISPATCH(floats_to_floats)(steps, x, n, v);
}
void to_integers(const FixedSteps& steps, const float* x, std::size_t n, double* v) {
  HWY_DYNAMIC_DISPATCH(floats_to_doubles)(steps, x, n, v);
}
void to_integers(const FixedSteps& steps, const double* x, std::size_t n, double* v) {
  HWY_DYNAMIC_DISPATCH(doubles_to_doubles)(steps, x, n, v);
}
template <>
FixedCodes<float> fixed_codes<float>() {
  return HWY_DYNAMIC_DISPATCH(codes_of_floats)();
}
template <>
FixedCodes<double> fixed_codes<double>() {
  return HWY_DYNAMIC_DISPATCH(codes_of_doubles)();
}

}  // namespace widthwise::elements
#endif
