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

template <class D>
HWY_INLINE auto load(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}
template <class D>
HWY_INLINE auto load(D d, const double* x) {
  return hn::LoadU(d, x);
}

// Whether a magnitude goes away from the integer below it, above which so much of a unit is left.
template <RoundingMode mode, class D, class V, class M>
HWY_INLINE auto goes_away(D d, V y, V left, M even) {
  using enum RoundingMode;
  const auto half = hn::Set(d, 0.5), zero = hn::Zero(d);
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

// Past 2^52 all doubles are integers, so nothing is left there.
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
    const auto m = hn::Abs(y), below = hn::Floor(m), half = hn::Mul(below, hn::Set(d, 0.5));
    const auto away = goes_away<mode>(d, y, hn::Sub(m, below), hn::Eq(half, hn::Floor(half)));
    const auto next = hn::Add(below, hn::Set(d, 1.0));
    return hn::CopySign(hn::IfThenElse(away, next, below), y);
  }
}

template <RoundingMode mode, class T>
void integers(const FixedSteps& steps, const T* x, std::size_t n, double* v) {
  for_lanes(hn::ScalableTag<double>(), n, [&](auto d, std::size_t i) {
    const auto a = load(d, x + i), y = hn::Mul(a, hn::Set(d, steps.up));
    // A product too small for a double rounds as any other one below half a unit.
    const auto tiny = hn::Set(d, std::numeric_limits<double>::min());
    const auto lost = hn::And(hn::Lt(hn::Abs(y), tiny), hn::Ne(a, hn::Zero(d)));
    const auto r = rounded<mode>(d, hn::IfThenElse(lost, hn::CopySign(tiny, a), y));
    const auto held = hn::Min(hn::Max(r, hn::Set(d, steps.least)), hn::Set(d, steps.most));
    hn::StoreU(hn::IfThenZeroElse(hn::IsNaN(a), held), d, v + i);
  });
}

template <class T>
void in_mode(const FixedSteps& steps, const T* x, std::size_t n, double* v) {
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

template <class Code>
void codes_of(const FixedSteps& steps, const double* v, std::size_t n, Code* codes) {
  for_lanes(hn::ScalableTag<double>(), n, [&](auto d, std::size_t i) {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<Code, decltype(d)> dc;
    const auto integer = hn::BitCast(du, hn::ConvertTo(di, hn::LoadU(d, v + i)));
    hn::StoreU(hn::TruncateTo(dc, hn::And(integer, hn::Set(du, steps.mask))), dc, codes + i);
  });
}

void integers_of_floats(const FixedSteps& s, const float* x, std::size_t n, double* v) {
  in_mode(s, x, n, v);
}
void integers_of_doubles(const FixedSteps& s, const double* x, std::size_t n, double* v) {
  in_mode(s, x, n, v);
}
void bytes_of(const FixedSteps& s, const double* v, std::size_t n, std::uint8_t* codes) {
  codes_of(s, v, n, codes);
}
void halves_of(const FixedSteps& s, const double* v, std::size_t n, std::uint16_t* codes) {
  codes_of(s, v, n, codes);
}
void words_of(const FixedSteps& s, const double* v, std::size_t n, std::uint32_t* codes) {
  codes_of(s, v, n, codes);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(integers_of_floats);
HWY_EXPORT(integers_of_doubles);
HWY_EXPORT(bytes_of);
HWY_EXPORT(halves_of);
HWY_EXPORT(words_of);

void to_integers(const FixedSteps& steps, const float* x, std::size_t n, double* v) {
  HWY_DYNAMIC_DISPATCH(integers_of_floats)(steps, x, n, v);
}
void to_integers(const FixedSteps& steps, const double* x, std::size_t n, double* v) {
  HWY_DYNAMIC_DISPATCH(integers_of_doubles)(steps, x, n, v);
}
void to_codes(const FixedSteps& steps, const double* v, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(bytes_of)(steps, v, n, codes);
}
void to_codes(const FixedSteps& steps, const double* v, std::size_t n, std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(halves_of)(steps, v, n, codes);
}
void to_codes(const FixedSteps& steps, const double* v, std::size_t n, std::uint32_t* codes) {
  HWY_DYNAMIC_DISPATCH(words_of)(steps, v, n, codes);
}

}  // namespace widthwise::elements
#endif
