#include "fixed_lanes.hpp"

#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/fixed_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lane_pack-inl.hpp"
#include "random_words-inl.hpp"
#include "sim/engine/for_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using widthwise::HWY_NAMESPACE::for_lanes;

template <class D, class T>
HWY_INLINE auto load(D d, const T* x) {
  if constexpr (sizeof(T) < sizeof(hn::TFromD<D>))
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), x));
  else
    return hn::LoadU(d, x);
}

// Whether a magnitude goes away from the integer below it, above which so much of a unit is left.
template <RoundingMode mode, class D, class V, class M>
HWY_INLINE auto goes_away(D d, V y, V left, M even) {
  using enum RoundingMode;
  const auto half = hn::Set(d, hn::TFromD<D>{0.5}), zero = hn::Zero(d);
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
               half = hn::Mul(below, hn::Set(d, hn::TFromD<D>{0.5}));
    const auto away = goes_away<mode>(d, y, hn::Sub(m, below), hn::Eq(half, hn::Floor(half)));
    const auto next = hn::Add(below, hn::Set(d, hn::TFromD<D>{1.0}));
    return hn::CopySign(hn::IfThenElse(away, next, below), y);
  }
}

// By chance: what is left of a unit, cut to k bits, and as many random ones reach 2^k together;
// read the other way round, so that all is exact.
template <StochasticVariant variant, class D, class V>
HWY_INLINE V rounded_by(D d, const FixedSteps& steps, V y, V random) {
  const auto m = hn::Abs(y), below = hn::Floor(m);
  const auto whole =
      hn::Set(d, static_cast<double>(std::uint64_t{1} << steps.rounding.random_bits));
  auto left = hn::Mul(hn::Sub(m, below), whole), reaches = hn::Sub(whole, random);
  if constexpr (variant == StochasticVariant::even) left = hn::Round(left);
  if constexpr (variant == StochasticVariant::half)
    reaches = hn::Sub(reaches, hn::Set(d, hn::TFromD<D>{0.5}));
  const auto next = hn::Add(below, hn::Set(d, hn::TFromD<D>{1.0}));
  return hn::CopySign(hn::IfThenElse(hn::Ge(left, reaches), next, below), y);
}

// The integers that x becomes, each given to put(d, integer, i).
template <bool to_nearest, class D, class T, class Round, class Put>
HWY_INLINE void integers_by(D whole, const FixedSteps& steps, const T* x, std::size_t n,
                            const Round& round, const Put& put) {
  using Lane = hn::TFromD<D>;
  const auto lane = [](double y) HWY_ATTR { return static_cast<Lane>(y); };
  for_lanes(whole, n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto a = load(d, x + i);
    auto y = hn::Mul(a, hn::Set(d, lane(steps.up)));
    if constexpr (!to_nearest) {
      // A product too small for a normal number rounds as any other one below half a unit.
      const auto tiny = hn::Set(d, std::numeric_limits<Lane>::min());
      const auto lost = hn::And(hn::Lt(hn::Abs(y), tiny), hn::Ne(a, hn::Zero(d)));
      y = hn::IfThenElse(lost, hn::CopySign(tiny, a), y);
    }
    const auto r = round(d, y, i);
    const auto held =
        hn::Min(hn::Max(r, hn::Set(d, lane(steps.least))), hn::Set(d, lane(steps.most)));
    put(d, hn::IfThenZeroElse(hn::IsNaN(a), held), i);
  });
}

// What an array is rounded by, and where to.
template <class D, class T, class Put>
struct Pass {
  D d;
  const FixedSteps& steps;
  const T* x;
  const std::uint64_t* bits;
  std::size_t n;
  Put put;

  template <RoundingMode mode>
  HWY_INLINE void rounds() const {
    integers_by<is_nearest(mode)>(
        d, steps, x, n, [](auto d, auto y, std::size_t) HWY_ATTR { return rounded<mode>(d, y); },
        put);
  }
  template <StochasticVariant variant>
  HWY_INLINE void draws() const {
    const auto round = [&](auto d, auto y, std::size_t i) HWY_ATTR {
      return rounded_by<variant>(d, steps, y, load_bits(d, bits + i));
    };
    integers_by<false>(d, steps, x, n, round, put);
  }
};

template <class Pass>
void by_chance(const Pass& pass) {
  using enum StochasticVariant;
  switch (pass.steps.rounding.variant) {
    case plain: return pass.template draws<plain>();
    case half: return pass.template draws<half>();
    case even: return pass.template draws<even>();
  }
}

template <class Pass>
void in_mode(const Pass& pass) {
  using enum RoundingMode;
  switch (pass.steps.rounding.mode) {
    case rne: return pass.template rounds<rne>();
    case rna: return pass.template rounds<rna>();
    case rnz: return pass.template rounds<rnz>();
    case rnp: return pass.template rounds<rnp>();
    case rnm: return pass.template rounds<rnm>();
    case rno: return pass.template rounds<rno>();
    case rtz: return pass.template rounds<rtz>();
    case rdn: return pass.template rounds<rdn>();
    case rup: return pass.template rounds<rup>();
    case raz: return pass.template rounds<raz>();
    case odd: return pass.template rounds<odd>();
    case sr: return by_chance(pass);
  }
}

template <class T, class V>
void integers(const FixedSteps& s, const T* x, const std::uint64_t* bits, std::size_t n, V* v) {
  const auto put = [&](auto d, auto integer, std::size_t i)
                       HWY_ATTR { hn::StoreU(integer, d, v + i); };
  using D = hn::ScalableTag<V>;
  in_mode(Pass<D, T, decltype(put)>{D(), s, x, bits, n, put});
}

// A sum with +0 has no -0, as fixed point has none.
void values(const FixedSteps& s, const float* x, const std::uint64_t* bits, std::size_t n,
            float* y) {
  const float down = static_cast<float>(1 / s.up);
  const auto put = [&](auto d, auto integer, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Add(hn::Mul(integer, hn::Set(d, down)), hn::Zero(d)), d, y + i);
  };
  using D = hn::ScalableTag<float>;
  in_mode(Pass<D, float, decltype(put)>{D(), s, x, bits, n, put});
}

// Added to a number it leaves the nearest integer in the sum's last digits, in two's complement.
inline constexpr float place = 0x1.8p23F;

// In two's complement.
template <class D, class V>
HWY_INLINE auto integers_of(D d, V v) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float))
    return hn::BitCast(du, hn::Add(v, hn::Set(d, place)));
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

// `place` plus the nearest integers, held in the range.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> nearest_sums(D d, const FixedSteps& steps,
                                                       const float* x) {
  const auto at = [&](double y) HWY_ATTR { return hn::Set(d, place + static_cast<float>(y)); };
  const auto a = hn::LoadU(d, x),
             sum = hn::MulAdd(a, hn::Set(d, static_cast<float>(steps.up)), at(0)),
             held = hn::Min(hn::Max(sum, at(steps.least)), at(steps.most));
  return hn::BitCast(hn::RebindToSigned<D>(), hn::IfThenElse(hn::IsNaN(a), at(0), held));
}

void nearest_bytes(const FixedSteps& steps, const float* x, std::size_t n, std::uint8_t* codes) {
  const Numbers<float> d;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  // Less by half a byte's range where there is no sign, so that saturation changes none.
  const std::int32_t half_range = steps.least < 0 ? 0 : 0x80;
  const I<float> zero = all<float>(std::bit_cast<std::int32_t>(place) + half_range);
  const Narrow<std::uint8_t> bytes;
  const auto turn = hn::Set(bytes, static_cast<std::int8_t>(half_range)),
             mask = hn::Set(bytes, static_cast<std::int8_t>(steps.mask));
  const auto places = packed_places<4>();
  const std::size_t lanes = hn::Lanes(d);
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto part = [&](std::size_t k) HWY_ATTR {
      return hn::Sub(nearest_sums(d, steps, x + i + k * lanes), zero);
    };
    const auto codes_here = bytes_of(words_of(part(0), part(1)), words_of(part(2), part(3)));
    store_in_order<std::uint8_t>(hn::And(hn::Xor(codes_here, turn), mask), places, codes + i);
  }
#endif
  for_lanes(d, n - i, [&](auto part, std::size_t j) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(part)> words;
    const hn::Rebind<std::uint8_t, decltype(part)> items;
    const auto sums = hn::BitCast(words, nearest_sums(part, steps, x + i + j));
    hn::StoreU(hn::TruncateTo(items, hn::And(sums, hn::Set(words, steps.mask))), items,
               codes + i + j);
  });
}

// HWY_EXPORT takes no templates.
template <class V>
FixedCodes<V> codes_for() {
  return {&codes_of<V, std::uint8_t>, &codes_of<V, std::uint16_t>, &codes_of<V, std::uint32_t>};
}
FixedCodes<float> codes_of_floats() { return codes_for<float>(); }
FixedCodes<double> codes_of_doubles() { return codes_for<double>(); }
void floats_to_floats(const FixedSteps& s, const float* x, const std::uint64_t* bits, std::size_t n,
                      float* v) {
  integers(s, x, bits, n, v);
}
void floats_to_doubles(const FixedSteps& s, const float* x, const std::uint64_t* bits,
                       std::size_t n, double* v) {
  integers(s, x, bits, n, v);
}
void doubles_to_doubles(const FixedSteps& s, const double* x, const std::uint64_t* bits,
                        std::size_t n, double* v) {
  integers(s, x, bits, n, v);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(floats_to_floats);
HWY_EXPORT(floats_to_doubles);
HWY_EXPORT(doubles_to_doubles);
HWY_EXPORT(values);
HWY_EXPORT(nearest_bytes);
HWY_EXPORT(codes_of_floats);
HWY_EXPORT(codes_of_doubles);

void to_integers(const FixedSteps& steps, const float* x, const std::uint64_t* bits, std::size_t n,
                 float* v) {
  HWY_DYNAMIC_DISPATCH(floats_to_floats)(steps, x, bits, n, v);
}
void to_integers(const FixedSteps& steps, const float* x, const std::uint64_t* bits, std::size_t n,
                 double* v) {
  HWY_DYNAMIC_DISPATCH(floats_to_doubles)(steps, x, bits, n, v);
}
void to_integers(const FixedSteps& steps, const double* x, const std::uint64_t* bits, std::size_t n,
                 double* v) {
  HWY_DYNAMIC_DISPATCH(doubles_to_doubles)(steps, x, bits, n, v);
}
void to_values(const FixedSteps& steps, const float* x, const std::uint64_t* bits, std::size_t n,
               float* y) {
  HWY_DYNAMIC_DISPATCH(values)(steps, x, bits, n, y);
}
void to_nearest_bytes(const FixedSteps& steps, const float* x, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(nearest_bytes)(steps, x, n, codes);
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
