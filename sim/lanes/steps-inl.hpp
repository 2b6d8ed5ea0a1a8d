// Included once for every instruction set, by the sources of the kernels.
#if defined(WIDTHWISE_LANES_STEPS) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_LANES_STEPS
#undef WIDTHWISE_LANES_STEPS
#else
#define WIDTHWISE_LANES_STEPS
#endif

#include <hwy/highway.h>

#include "plan.hpp"
#include "sim/engine/odd-inl.hpp"
#include "widthwise/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using widthwise::HWY_NAMESPACE::OddCut;
using widthwise::HWY_NAMESPACE::to_odd;
using widthwise::HWY_NAMESPACE::two_sum;
using widthwise::HWY_NAMESPACE::TwoSum;

#define WIDTHWISE_SEQUENCE HWY_INLINE
#include "sim/lanes/sequences.inl"
#undef WIDTHWISE_SEQUENCE

// Of numbers that are finite.
template <class V>
HWY_INLINE V to_odd(V nearest, V lost) {
  return to_odd(nearest, lost, hn::Ne(lost, hn::Zero(hn::DFromV<V>())));
}

// Whether each operation can have a rounding mode of its own.
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
inline constexpr bool own_modes = true;

HWY_INLINE __m512 fused_down(__m512 a, __m512 b, __m512 c) {
  return _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512 fused_up(__m512 a, __m512 b, __m512 c) {
  return _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d fused_down(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_round_pd(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d fused_up(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_round_pd(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

using FloatVector = hn::Vec<hn::ScalableTag<float>>;
using DoubleVector = hn::Vec<hn::ScalableTag<double>>;

HWY_INLINE FloatVector fused_toward_zero(FloatVector a, FloatVector b, FloatVector c) {
  return {_mm512_fmadd_round_ps(a.raw, b.raw, c.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
}
HWY_INLINE DoubleVector fused_toward_zero(DoubleVector a, DoubleVector b, DoubleVector c) {
  return {_mm512_fmadd_round_pd(a.raw, b.raw, c.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
}
HWY_INLINE FloatVector sum_toward_zero(FloatVector a, FloatVector b) {
  return {_mm512_add_round_ps(a.raw, b.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
}
HWY_INLINE DoubleVector sum_toward_zero(DoubleVector a, DoubleVector b) {
  return {_mm512_add_round_pd(a.raw, b.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
}

// a b + c: of its two neighbours the odd one, or the sum itself. An exact zero is +0 unless both
// addends are -0, as to nearest.
template <class V>
HWY_INLINE V fused_to_odd(V a, V b, V c) {
  using D = hn::DFromV<V>;
  const hn::RebindToSigned<D> di;
  const V down{fused_down(a.raw, b.raw, c.raw)}, up{fused_up(a.raw, b.raw, c.raw)};
  const auto odd = hn::TestBit(hn::BitCast(di, down), hn::Set(di, 1));
  return hn::IfThenElse(hn::RebindMask(D(), odd), down, up);
}
template <class V>
HWY_INLINE V sum_to_odd(V a, V b) {
  return fused_to_odd(a, hn::Set(hn::DFromV<V>(), 1), b);
}
#else
inline constexpr bool own_modes = false;

// Where these are called the machine itself rounds toward zero.
template <class V>
HWY_INLINE V fused_toward_zero(V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}
template <class V>
HWY_INLINE V sum_toward_zero(V a, V b) {
  return hn::Add(a, b);
}

template <class V>
HWY_INLINE V fused_to_odd(V, V, V c) {
  return c;
}

template <class V>
HWY_INLINE V sum_to_odd(V a, V b) {
  const TwoSum<V> z = two_sum(a, b);
  return to_odd(z.sum, z.lost);
}
#endif

// Where no digit of the product lies below the carrier's least one.
template <class V>
HWY_INLINE V product_to_odd(V a, V b) {
  const V product = hn::Mul(a, b);
  return to_odd(product, hn::MulSub(a, b, product));
}

// Cuts the low digits off a number that the carrier rounded by the same mode (toward zero for ties
// away). On the bits: a carry goes on into the exponent, as it should.
template <class DI>
struct Cut {
  using I = hn::Vec<DI>;
  using Lane = hn::TFromD<DI>;
  I kept, half;

  HWY_INLINE explicit Cut(int digits)
      : kept(hn::Set(DI(), static_cast<Lane>(-(Lane{1} << digits)))),
        half(hn::Set(DI(), static_cast<Lane>((Lane{1} << digits) >> 1))) {}

  template <RoundingMode mode, class D>
  HWY_INLINE hn::Vec<D> by(D d, hn::Vec<D> x) const {
    I bits = hn::BitCast(DI(), x);
    if constexpr (mode == RoundingMode::rna) bits = hn::Add(bits, half);
    const I negative = hn::BroadcastSignBit(bits);
    if constexpr (mode == RoundingMode::rdn) bits = hn::Add(bits, hn::AndNot(kept, negative));
    if constexpr (mode == RoundingMode::rup)
      bits = hn::Add(bits, hn::AndNot(hn::Or(kept, negative), hn::Set(DI(), -1)));
    return hn::BitCast(d, hn::And(bits, kept));
  }
};

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
