#include <bit>
#include <cmath>
#include <limits>

#include "lane_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/lane_operate.cpp"
#include <hwy/foreach_target.h>

#include "lane_vectors.hpp"
#include "sim/engine/odd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

using widthwise::HWY_NAMESPACE::to_odd;
using widthwise::HWY_NAMESPACE::two_sum;

template <class T>
HWY_INLINE auto signals(V<T> x) {
  const I<T> infinity = all<T>(lane<T>(carrier<T>.infinity));
  const I<T> quiet = all<T>(lane<T>(carrier<T>.nan_code));
  const I<T> magnitude = bits<T>(hn::Abs(x));
  return hn::RebindMask(Numbers<T>(),
                        hn::And(hn::Gt(magnitude, infinity), hn::Lt(magnitude, quiet)));
}

template <class T>
HWY_INLINE auto finite(V<T> x) {
  return hn::Lt(hn::Abs(x), hn::Inf(Numbers<T>()));
}
// z is infinite because the carrier's numbers end.
template <class T>
HWY_INLINE V<T> made_finite(V<T> z, V<T> x, V<T> y) {
  const V<T> largest = hn::Set(Numbers<T>(), std::numeric_limits<T>::max());
  const auto over = hn::AndNot(finite<T>(z), hn::And(finite<T>(x), finite<T>(y)));
  return hn::IfThenElse(over, hn::CopySign(largest, z), z);
}

// Of a product whose digits go below the last of the carrier's subnormals.
inline float subnormal_to_odd(double product) {
  const double digits = std::abs(product) * 0x1p149, whole = std::trunc(digits);
  const auto code = static_cast<std::uint32_t>(whole) | (whole != digits);
  return std::copysign(std::bit_cast<float>(code), static_cast<float>(product));
}
// x * y where it may be no normal number; they have at most 24 digits together.
HWY_NOINLINE V<float> far_product_to_odd(V<float> x, V<float> y, V<float> z) {
  const Numbers<float> d;
  alignas(64) float of_x[padding], of_y[padding], of_z[padding];
  hn::Store(x, d, of_x), hn::Store(y, d, of_y);
  hn::Store(made_finite<float>(z, x, y), d, of_z);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    if (std::abs(of_z[i]) <= std::numeric_limits<float>::min())
      of_z[i] = subnormal_to_odd(double{of_x[i]} * of_y[i]);
  return hn::Load(d, of_z);
}
HWY_INLINE V<float> product_to_odd(V<float> x, V<float> y) {
  const Numbers<float> d;
  const V<float> z = hn::Mul(x, y), size = hn::Abs(z), none = hn::Zero(d);
  const auto is_normal =
      hn::And(hn::Gt(size, hn::Set(d, std::numeric_limits<float>::min())), finite<float>(z));
  const auto is_zero = hn::Or(hn::Eq(x, none), hn::Eq(y, none));
  if (hn::AllTrue(d, hn::Or(is_normal, is_zero))) [[likely]]
    return z;
  return far_product_to_odd(x, y, z);
}

template <class T, Sum how>
HWY_INLINE V<T> sum_of([[maybe_unused]] bool downward, V<T> a, V<T> b) {
  [[maybe_unused]] const Numbers<T> d;
  auto [sum, lost] = two_sum(a, b);
  if constexpr (how != Sum::rounded) {
    sum = to_odd(sum, lost, hn::Gt(hn::Abs(lost), hn::Zero(d)));  // not where it is NaN
    if (downward) {
      const V<T> signs = hn::And(hn::Or(a, b), hn::SignBit(d));
      sum = hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), signs, sum);
    }
  }
  if constexpr (how == Sum::finite_to_odd) sum = made_finite<T>(sum, a, b);
  return sum;
}

template <class T>
HWY_INLINE auto created(V<T> nan, V<T> a, V<T> b) {
  return hn::AndNot(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::IsNaN(nan));
}

template <class T, Step step, Sum how, bool flags>
void operate(bool downward, const T* a, const T* b, const T* c, std::size_t n, T* result) {
  const Numbers<T> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V<T> x = hn::LoadU(d, a + i);
    [[maybe_unused]] V<T> y = x;
    if constexpr (step != Step::sqrt) y = hn::LoadU(d, b + i);
    V<T> z;
    [[maybe_unused]] V<T> product, addend;
    if constexpr (step == Step::subtract) y = hn::Xor(y, hn::SignBit(d));
    if constexpr (step == Step::multiply && how == Sum::finite_to_odd) z = product_to_odd(x, y);
    if constexpr (step == Step::multiply && how != Sum::finite_to_odd) z = hn::Mul(x, y);
    if constexpr (step == Step::divide) z = hn::Div(x, y);
    if constexpr (step == Step::sqrt) z = hn::Sqrt(x);
    if constexpr (step == Step::add || step == Step::subtract) z = sum_of<T, how>(downward, x, y);
    if constexpr (step == Step::fma) {
      product = hn::Mul(x, y), addend = hn::LoadU(d, c + i);
      z = sum_of<T, how>(downward, product, addend);
    }
    if constexpr (flags) {
      if (!hn::AllFalse(d, hn::IsNaN(z))) {
        auto loud = hn::Or(signals<T>(x), signals<T>(y));
        if constexpr (step == Step::fma) {
          loud = hn::Or(loud, hn::Or(signals<T>(addend), created<T>(product, x, y)));
          loud = hn::Or(loud, created<T>(z, product, addend));
        } else {
          loud = hn::Or(loud, created<T>(z, x, y));
        }
        z = hn::IfThenElse(loud, number<T>(all<T>(lane<T>(carrier<T>.infinity + 1))), z);
      }
    }
    hn::StoreU(z, d, result + i);
  }
}

template <class T, Sum how, bool flags>
typename Kernels<T>::Operate operator_of(Step step) {
  switch (step) {
    case Step::none: return nullptr;
    case Step::add: return &operate<T, Step::add, how, flags>;
    case Step::subtract: return &operate<T, Step::subtract, how, flags>;
    case Step::multiply: return &operate<T, Step::multiply, how, flags>;
    case Step::fma: return &operate<T, Step::fma, how, flags>;
    case Step::divide:
    case Step::sqrt: break;
  }
  return nullptr;
}
template <class T>
typename Kernels<T>::Operate choose_operate(const Middle& m) {
  if constexpr (sizeof(T) == 4)
    if (m.flags)
      return m.sum == Sum::finite_to_odd ? operator_of<T, Sum::finite_to_odd, true>(m.step)
                                         : operator_of<T, Sum::to_odd, true>(m.step);
  if (m.step == Step::divide) return &operate<T, Step::divide, Sum::rounded, false>;
  if (m.step == Step::sqrt) return &operate<T, Step::sqrt, Sum::rounded, false>;
  return m.sum == Sum::rounded ? operator_of<T, Sum::rounded, false>(m.step)
                               : operator_of<T, Sum::to_odd, false>(m.step);
}

// HWY_EXPORT takes no templates.
auto float_operate(const Middle& m) { return choose_operate<float>(m); }
auto double_operate(const Middle& m) { return choose_operate<double>(m); }

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(float_operate);
HWY_EXPORT(double_operate);

template <>
Kernels<float>::Operate operate_kernel<float>(const Middle& m) {
  return HWY_DYNAMIC_DISPATCH(float_operate)(m);
}
template <>
Kernels<double>::Operate operate_kernel<double>(const Middle& m) {
  return HWY_DYNAMIC_DISPATCH(double_operate)(m);
}

}  // namespace widthwise::elements
#endif
