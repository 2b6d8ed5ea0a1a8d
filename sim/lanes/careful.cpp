#include <limits>

#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/careful.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA

// What a rounding of a format ends on.
template <class C>
struct End {
  using V = hn::Vec<hn::ScalableTag<C>>;
  V most, infinity;

  HWY_INLINE End(double largest, double infinite)
      : most(hn::Set(hn::ScalableTag<C>(), static_cast<C>(largest))),
        infinity(hn::Set(hn::ScalableTag<C>(), static_cast<C>(infinite))) {}

  // r with the sign of x, and what it becomes past the largest number.
  template <RoundingMode mode>
  HWY_INLINE V by(V r, V x) const {
    using enum RoundingMode;
    const hn::ScalableTag<C> d;
    const V magnitude = hn::Abs(r);
    V past = infinity;
    if constexpr (mode != rne && mode != rna) {  // finite numbers may stop at the largest one
      auto away = hn::Eq(magnitude, hn::Set(d, std::numeric_limits<C>::infinity()));
      if constexpr (mode == rdn) away = hn::Or(away, hn::Lt(r, hn::Zero(d)));
      if constexpr (mode == rup) away = hn::Or(away, hn::Gt(r, hn::Zero(d)));
      past = hn::IfThenElse(away, infinity, most);
    }
    return hn::CopySign(hn::IfThenElse(hn::Gt(magnitude, most), past, magnitude), x);
  }
};

// To nearest even, by c = 3/2 S max(2^e, 2^emin) as in the fast kernels, but never an infinite c:
// x then comes through as it is.
template <class C, Multiply multiply>
struct CarefulNearest {
  const hn::ScalableTag<C> d{};
  using V = hn::Vec<hn::ScalableTag<C>>;
  V product_up, product_least, sum_up, sum_least, exponent, largest;
  End<C> product_end, sum_end;

  HWY_INLINE CarefulNearest(const Constants<double>& k, const Ends& e)
      : product_up(hn::Set(d, static_cast<C>(1.5 * k.product_up))),
        product_least(hn::Set(d, static_cast<C>(k.product_least))),
        sum_up(hn::Set(d, static_cast<C>(1.5 * k.sum_up))),
        sum_least(hn::Set(d, static_cast<C>(k.sum_least))),
        exponent(hn::Set(d, std::numeric_limits<C>::infinity())),  // all ones there, no others
        largest(hn::Set(d, std::numeric_limits<C>::max() / 4)),
        product_end(e.product_most, e.product_infinity),
        sum_end(e.sum_most, e.sum_infinity) {}

  HWY_INLINE V helper(V x, V up, V least) const {
    return hn::Min(hn::Max(hn::Mul(hn::And(x, exponent), up), least), largest);
  }
  HWY_INLINE V operator()(V a, V b, V sum) const {
    V x;
    if constexpr (multiply == Multiply::exact) {
      x = hn::MulAdd(a, b, sum);
    } else if constexpr (multiply == Multiply::odd) {
      x = fused_to_odd(a, b, sum);
    } else {
      const V product = hn::Mul(a, b), c = helper(product, product_up, product_least);
      const V rounded = hn::Sub(hn::MulAdd(a, b, c), c);
      x = hn::Add(sum, product_end.template by<RoundingMode::rne>(rounded, product));
    }
    const V c = helper(x, sum_up, sum_least);
    return sum_end.template by<RoundingMode::rne>(hn::Sub(hn::Add(x, c), c), x);
  }
};

// By the other modes: as in the fast kernels, with an eye on the ends.
template <class C, Multiply multiply, RoundingMode mode>
struct CarefulCut {
  const hn::ScalableTag<C> d{};
  using Integers = hn::RebindToSigned<hn::ScalableTag<C>>;
  using V = hn::Vec<hn::ScalableTag<C>>;
  Cut<Integers> product_cut, sum_cut;
  End<C> product_end, sum_end;

  HWY_INLINE CarefulCut(const Constants<double>& k, const Ends& e)
      : product_cut(k.product_cut),
        sum_cut(k.sum_cut),
        product_end(e.product_most, e.product_infinity),
        sum_end(e.sum_most, e.sum_infinity) {}

  HWY_INLINE V operator()(V a, V b, V sum) const {
    V x;
    if constexpr (multiply == Multiply::exact) {
      x = hn::MulAdd(a, b, sum);
    } else {
      const V product = hn::Mul(a, b);
      const V rounded = product_cut.template by<mode>(d, product);
      x = hn::Add(sum, product_end.template by<mode>(rounded, product));
    }
    return sum_end.template by<mode>(sum_cut.template by<mode>(d, x), x);
  }
};

// Of columns at a time: with all rows, as many sums as hide the steps' latency in the registers.
inline constexpr std::size_t vectors = HWY_MAX_BYTES == 64 || HWY_TARGET == HWY_NEON ? 2 : 1;

// Numbers of the tile as numbers of the lanes, and back.
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>)
    return hn::LoadU(d, from);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
}
template <class D, class T>
HWY_INLINE void store(D d, hn::Vec<D> x, T* to) {
  if constexpr (std::is_same_v<T, hn::TFromD<D>>)
    hn::StoreU(x, d, to);
  else
    hn::StoreU(hn::DemoteTo(hn::Rebind<T, D>(), x), hn::Rebind<T, D>(), to);
}

// All rows of the tile, `vectors` vectors of columns at a time.
template <class C, class Step, class T>
void careful_tile(const Tile<T>& t, const Constants<double>& k, const Ends& e) {
  const hn::ScalableTag<C> d;
  const Step step(k, e);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t column = 0; column < tile_columns<T>; column += vectors * lanes) {
    T* const at = t.sum + column;
    hn::Vec<decltype(d)> sum[tile_rows][vectors], b[vectors];
    for (std::size_t r = 0; r < tile_rows; ++r)
      for (std::size_t v = 0; v < vectors; ++v)
        sum[r][v] = load(d, at + r * tile_columns<T> + v * lanes);
    for (std::size_t i = 0; i < t.k; ++i) {
      for (std::size_t v = 0; v < vectors; ++v)
        b[v] = load(d, t.b + i * tile_columns<T> + column + v * lanes);
      for (std::size_t r = 0; r < tile_rows; ++r) {
        const auto a = hn::Set(d, static_cast<C>(t.a[r * t.a_stride + i]));
        for (std::size_t v = 0; v < vectors; ++v) sum[r][v] = step(a, b[v], sum[r][v]);
      }
    }
    for (std::size_t r = 0; r < tile_rows; ++r)
      for (std::size_t v = 0; v < vectors; ++v)
        store(d, sum[r][v], at + r * tile_columns<T> + v * lanes);
  }
}

template <class T, class C, Multiply multiply>
CarefulKernel<T> careful_of(RoundingMode mode) {
  switch (mode) {
    case RoundingMode::rtz: return &careful_tile<C, CarefulCut<C, multiply, RoundingMode::rtz>, T>;
    case RoundingMode::rdn: return &careful_tile<C, CarefulCut<C, multiply, RoundingMode::rdn>, T>;
    case RoundingMode::rup: return &careful_tile<C, CarefulCut<C, multiply, RoundingMode::rup>, T>;
    case RoundingMode::rna: return &careful_tile<C, CarefulCut<C, multiply, RoundingMode::rna>, T>;
    default: return &careful_tile<C, CarefulNearest<C, multiply>, T>;
  }
}

template <class T, class C>
CarefulKernel<T> careful_in(Multiply multiply, RoundingMode mode) {
  if (multiply == Multiply::odd)
    return rounds_to_odd ? &careful_tile<C, CarefulNearest<C, Multiply::odd>, T> : nullptr;
  return multiply == Multiply::exact ? careful_of<T, C, Multiply::exact>(mode)
                                     : careful_of<T, C, Multiply::rounded>(mode);
}

#else

template <class T, class C>
CarefulKernel<T> careful_in(Multiply, RoundingMode) {
  return nullptr;
}

#endif

CarefulKernel<float> float_in_float(Multiply multiply, RoundingMode mode) {
  return careful_in<float, float>(multiply, mode);
}
CarefulKernel<float> float_in_double(Multiply multiply, RoundingMode mode) {
  return careful_in<float, double>(multiply, mode);
}
CarefulKernel<double> double_in_double(Multiply multiply, RoundingMode mode) {
  return careful_in<double, double>(multiply, mode);
}

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::lanes {

HWY_EXPORT(float_in_float);
HWY_EXPORT(float_in_double);
HWY_EXPORT(double_in_double);

template <>
CarefulKernel<float> careful_kernel<float>(const Carrier& carrier, Multiply multiply,
                                           RoundingMode mode) {
  return carrier.digits == in_float.digits ? HWY_DYNAMIC_DISPATCH(float_in_float)(multiply, mode)
                                           : HWY_DYNAMIC_DISPATCH(float_in_double)(multiply, mode);
}
template <>
CarefulKernel<double> careful_kernel<double>(const Carrier&, Multiply multiply, RoundingMode mode) {
  return HWY_DYNAMIC_DISPATCH(double_in_double)(multiply, mode);
}

}  // namespace widthwise::lanes
#endif
