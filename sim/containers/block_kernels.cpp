#include "block_kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/containers/block_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/containers/cut-inl.hpp"
#include "sim/engine/for_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::containers::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// f(i, lanes) for whole vectors, and one lane at a time for the rest.
using widthwise::HWY_NAMESPACE::for_lanes;

template <class T>
constexpr Magnitude<T> infinity_bits() {
  return sizeof(T) == 4 ? static_cast<Magnitude<T>>(0x7f800000)
                        : static_cast<Magnitude<T>>(0x7ff0000000000000);
}

// The magnitudes of numbers, as integers; 0 for what is left out.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<BitsTag<D>> magnitudes(D d, const T* x, bool finite) {
  const BitsTag<D> du;
  const auto m = hn::BitCast(du, hn::Abs(hn::LoadU(d, x)));
  return finite ? hn::IfThenElseZero(hn::Lt(m, hn::Set(du, infinity_bits<T>())), m) : m;
}

template <class T>
Magnitude<T> largest_of(const T* x, std::size_t n, bool finite) {
  const hn::ScalableTag<T> d;
  const BitsTag<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  auto most = hn::Zero(du);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) most = hn::Max(most, magnitudes(d, x + i, finite));
  Magnitude<T> found = n < lanes ? 0 : hn::GetLane(hn::MaxOfLanes(du, most));
  const hn::CappedTag<T, 1> single;
  for (; i < n; ++i) found = std::max(found, hn::GetLane(magnitudes(single, x + i, finite)));
  return found;
}

template <class T>
void raise_maxima(const T* x, std::size_t n, std::size_t group, bool finite, Magnitude<T>* most) {
  if (group > 1) {
    for (std::size_t i = 0, g = 0; i < n; i += group, ++g)
      most[g] = std::max(most[g], largest_of(x + i, std::min(group, n - i), finite));
    return;
  }
  for_lanes(hn::ScalableTag<T>(), n, [&](auto d, std::size_t i) {
    const BitsTag<decltype(d)> du;
    hn::StoreU(hn::Max(hn::LoadU(du, most + i), magnitudes(d, x + i, finite)), du, most + i);
  });
}

// f(d, i, scales of the numbers at i).
template <class D, class T, class F>
HWY_INLINE void for_scaled(D d, const T* by, std::size_t n, std::size_t group, const F& f) {
  if (group == 1)
    return for_lanes(d, n, [&](auto part, std::size_t i) { f(part, i, hn::LoadU(part, by + i)); });
  for (std::size_t first = 0; first < n; first += group, ++by)
    for_lanes(d, std::min(group, n - first),
              [&](auto part, std::size_t i) { f(part, first + i, hn::Set(part, *by)); });
}

template <class T>
void multiply(const T* x, const T* by, std::size_t n, std::size_t group, T* v) {
  for_scaled(hn::ScalableTag<T>(), by, n, group, [&](auto d, std::size_t i, auto f) {
    hn::StoreU(multiplied(d, hn::LoadU(d, x + i), f), d, v + i);
  });
}

template <class T>
void scale(const T* x, const T* by, std::size_t n, std::size_t group, T* v) {
  for_scaled(hn::ScalableTag<T>(), by, n, group, [&](auto d, std::size_t i, auto f) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), f), d, v + i);
  });
}

void divide(const float* x, const float* by, std::size_t n, std::size_t group, float* v) {
  for_scaled(hn::ScalableTag<float>(), by, n, group, [&](auto d, std::size_t i, auto f) {
    hn::StoreU(hn::Div(hn::LoadU(d, x + i), f), d, v + i);
  });
}

void divide_to_odd(const double* x, const double* by, std::size_t n, std::size_t group, double* v) {
  for_scaled(hn::ScalableTag<double>(), by, n, group, [&](auto d, std::size_t i, auto s) {
    hn::StoreU(divided_to_odd(d, hn::LoadU(d, x + i), s), d, v + i);
  });
}

template <class F>
HWY_INLINE void for_halves(std::size_t n, const F& f) {
  const hn::ScalableTag<double> d;
  for_lanes(d, n,
            [&](auto part, std::size_t i) { f(part, hn::Rebind<float, decltype(part)>(), i); });
}

void widen(const float* x, std::size_t n, double* v) {
  for_halves(n, [&](auto d, auto half, std::size_t i) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, x + i)), d, v + i);
  });
}

void narrow(const double* x, std::size_t n, float* v) {
  for_halves(n, [&](auto d, auto half, std::size_t i) {
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, x + i)), half, v + i);
  });
}

void narrow_to_odd(const double* x, std::size_t n, float* v) {
  for_halves(n, [&](auto d, auto half, std::size_t i) {
    hn::StoreU(cut(d, hn::LoadU(d, x + i)), half, v + i);
  });
}

void divide_floats_to_odd(const float* x, const double* by, std::size_t n, std::size_t group,
                          float* v) {
  for_scaled(hn::ScalableTag<double>(), by, n, group, [&](auto d, std::size_t i, auto s) {
    const hn::Rebind<float, decltype(d)> half;
    hn::StoreU(quotient_to_odd(d, x + i, s), half, v + i);
  });
}

template <class T>
std::size_t count_outside(const T* v, std::size_t n, T least, T most, T end) {
  std::size_t count = 0;
  for_lanes(hn::ScalableTag<T>(), n, [&](auto d, std::size_t i) {
    const auto a = hn::LoadU(d, v + i);
    const auto outside = hn::Or(hn::Gt(a, hn::Set(d, most)), hn::Lt(a, hn::Set(d, least)));
    count += hn::CountTrue(d, hn::And(outside, hn::Le(hn::Abs(a), hn::Set(d, end))));
  });
  return count;
}

template <class T>
Passes<T> passes_of() {
  return {&raise_maxima<T>, &multiply<T>, &scale<T>, &count_outside<T>};
}
// HWY_EXPORT takes no templates.
Passes<float> float_passes() { return passes_of<float>(); }
Passes<double> double_passes() { return passes_of<double>(); }

}  // namespace widthwise::containers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::containers {

HWY_EXPORT(float_passes);
HWY_EXPORT(double_passes);
HWY_EXPORT(divide);
HWY_EXPORT(divide_to_odd);
HWY_EXPORT(divide_floats_to_odd);
HWY_EXPORT(widen);
HWY_EXPORT(narrow);
HWY_EXPORT(narrow_to_odd);

template <>
Passes<float> passes<float>() {
  return HWY_DYNAMIC_DISPATCH(float_passes)();
}
template <>
Passes<double> passes<double>() {
  return HWY_DYNAMIC_DISPATCH(double_passes)();
}
void divide(const float* x, const float* by, std::size_t n, std::size_t group, float* v) {
  HWY_DYNAMIC_DISPATCH(divide)(x, by, n, group, v);
}
void divide_to_odd(const double* x, const double* by, std::size_t n, std::size_t group, double* v) {
  HWY_DYNAMIC_DISPATCH(divide_to_odd)(x, by, n, group, v);
}
void divide_to_odd(const float* x, const double* by, std::size_t n, std::size_t group, float* v) {
  HWY_DYNAMIC_DISPATCH(divide_floats_to_odd)(x, by, n, group, v);
}
void widen(const float* x, std::size_t n, double* v) { HWY_DYNAMIC_DISPATCH(widen)(x, n, v); }
void narrow(const double* x, std::size_t n, float* v) { HWY_DYNAMIC_DISPATCH(narrow)(x, n, v); }
void narrow_to_odd(const double* x, std::size_t n, float* v) {
  HWY_DYNAMIC_DISPATCH(narrow_to_odd)(x, n, v);
}

}  // namespace widthwise::containers
#endif
