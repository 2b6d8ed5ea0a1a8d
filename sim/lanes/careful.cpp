#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/careful.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "careful-inl.hpp"
#include "steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA

// To nearest even.
template <class C, Multiply multiply>
struct CarefulNearest {
  using V = hn::Vec<hn::ScalableTag<C>>;
  CarefulRounding<C> product, sum;

  HWY_INLINE CarefulNearest(const Constants<double>& k, const Ends& e)
      : product(k.product_up, k.product_least, e.product_most, e.product_infinity),
        sum(k.sum_up, k.sum_least, e.sum_most, e.sum_infinity) {}

  HWY_INLINE V operator()(V a, V b, V s) const {
    if constexpr (multiply == Multiply::exact) return sum(hn::MulAdd(a, b, s));
    if constexpr (multiply == Multiply::odd) return sum(fused_to_odd(a, b, s));
    if constexpr (multiply == Multiply::native) return sum(hn::Add(s, product.whole(a, b)));
    return sum(hn::Add(s, product(a, b)));
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
  for (std::size_t column = 0; column < t.columns; column += vectors * lanes) {
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
    return own_modes ? &careful_tile<C, CarefulNearest<C, Multiply::odd>, T> : nullptr;
  if (multiply == Multiply::native) return &careful_tile<C, CarefulNearest<C, Multiply::native>, T>;
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
