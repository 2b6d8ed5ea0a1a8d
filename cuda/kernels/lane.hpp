#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "side.hpp"
#include "sim/lanes/plan.hpp"
#ifndef __CUDA_ARCH__
#include "sim/engine/machine_rounding.hpp"
#endif

// Lanes that are one thread's float or double. Tests run the same text on the CPU, whose files are
// built with -ffp-contract=off.
namespace widthwise::cuda {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
WIDTHWISE_BOTH_INLINE BitsOf<T> bits_of(T x) {
  return std::bit_cast<BitsOf<T>>(x);
}

#ifndef __CUDA_ARCH__
// A GPU's float operations make one NaN alone, with all digits set (PTX ISA 9.0, 9.7.3), and sums
// of its bits with others carry.
template <class T>
T with_nan_of_gpu(T x) {
  if constexpr (sizeof(T) == 4)
    if (x != x) return std::bit_cast<T>(0x7fffffffu);
  return x;
}
#endif

// The operations of a lane, by the names that sequences.inl knows them by. Each rounds once, and no
// compiler is to make one of two.
namespace hn {

#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE float Mul(float a, float b) { return __fmul_rn(a, b); }
WIDTHWISE_BOTH_INLINE float Add(float a, float b) { return __fadd_rn(a, b); }
WIDTHWISE_BOTH_INLINE float Sub(float a, float b) { return __fsub_rn(a, b); }
WIDTHWISE_BOTH_INLINE float MulAdd(float a, float b, float c) { return __fmaf_rn(a, b, c); }
WIDTHWISE_BOTH_INLINE double Mul(double a, double b) { return __dmul_rn(a, b); }
WIDTHWISE_BOTH_INLINE double Add(double a, double b) { return __dadd_rn(a, b); }
WIDTHWISE_BOTH_INLINE double Sub(double a, double b) { return __dsub_rn(a, b); }
WIDTHWISE_BOTH_INLINE double MulAdd(double a, double b, double c) { return __fma_rn(a, b, c); }
#else
template <class T>
T Mul(T a, T b) {
  return with_nan_of_gpu(a * b);
}
template <class T>
T Add(T a, T b) {
  return with_nan_of_gpu(a + b);
}
template <class T>
T Sub(T a, T b) {
  return with_nan_of_gpu(a - b);
}
template <class T>
T MulAdd(T a, T b, T c) {
  return with_nan_of_gpu(std::fma(a, b, c));
}
#endif

template <class T>
WIDTHWISE_BOTH_INLINE T Abs(T x) {
  return std::fabs(x);
}
template <class T>
WIDTHWISE_BOTH_INLINE T And(T a, T b) {
  return std::bit_cast<T>(bits_of(a) & bits_of(b));
}

// Not NaN where the other is a number. One that would tell of NaN costs two instructions more, and
// a NaN comes through by the multiply-add all the same.
WIDTHWISE_BOTH_INLINE float Max(float a, float b) { return fmaxf(a, b); }

// There is no instruction for doubles. Of two that are not negative, and a second one whose lower
// word is 0: numbers alike in their upper words make the same c (docs/exactness.md, 2), so those
// alone are compared, where a comparison of doubles would take up the pipe that all else is in.
WIDTHWISE_BOTH_INLINE double Max(double a, double b) {
  const auto upper = [](double x) { return static_cast<std::int32_t>(bits_of(x) >> 32); };
  return upper(a) > upper(b) ? a : b;
}

}  // namespace hn

using lanes::Add;

#define WIDTHWISE_SEQUENCE WIDTHWISE_BOTH_INLINE
#include "sim/lanes/sequences.inl"
#undef WIDTHWISE_SEQUENCE

// By a directed mode: down, or else toward zero, which ties away start from. A CPU has one mode for
// all operations, and whoever runs these there sets it.
#ifdef __CUDA_ARCH__
#define WIDTHWISE_DIRECTED(T, name, down, toward_zero, parameters, arguments) \
  template <RoundingMode mode>                                                \
  WIDTHWISE_BOTH_INLINE T name parameters {                                   \
    if constexpr (mode == RoundingMode::rdn) return down arguments;           \
    return toward_zero arguments;                                             \
  }
WIDTHWISE_DIRECTED(float, mul, __fmul_rd, __fmul_rz, (float a, float b), (a, b))
WIDTHWISE_DIRECTED(float, add, __fadd_rd, __fadd_rz, (float a, float b), (a, b))
WIDTHWISE_DIRECTED(float, mul_add, __fmaf_rd, __fmaf_rz, (float a, float b, float c), (a, b, c))
WIDTHWISE_DIRECTED(double, mul, __dmul_rd, __dmul_rz, (double a, double b), (a, b))
WIDTHWISE_DIRECTED(double, add, __dadd_rd, __dadd_rz, (double a, double b), (a, b))
WIDTHWISE_DIRECTED(double, mul_add, __fma_rd, __fma_rz, (double a, double b, double c), (a, b, c))
#undef WIDTHWISE_DIRECTED
#else
template <RoundingMode mode, class T>
T mul(T a, T b) {
  return with_nan_of_gpu(a * b);
}
template <RoundingMode mode, class T>
T add(T a, T b) {
  return with_nan_of_gpu(a + b);
}
template <RoundingMode mode, class T>
T mul_add(T a, T b, T c) {
  return with_nan_of_gpu(std::fma(a, b, c));
}
#endif

// Cuts the low digits off a number that the carrier rounded by the same mode (toward zero for ties
// away). On the bits: a carry goes on into the exponent, as it should.
template <RoundingMode mode, class T>
WIDTHWISE_BOTH_INLINE T cut(T x, BitsOf<T> kept) {
  const BitsOf<T> bits = bits_of(x);
  if constexpr (mode == RoundingMode::rdn)
    return std::bit_cast<T>((std::signbit(x) ? bits + ~kept : bits) & kept);
  if constexpr (mode == RoundingMode::rna) {
    const T away = std::bit_cast<T>((bits + (~kept >> 1) + 1) & kept);
    return hn::MulAdd(x, T{0}, away);  // a GPU's NaN has all digits set, of which a carry made -0
  }
  return std::bit_cast<T>(bits & kept);
}

#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE float fused_down(float a, float b, float c) { return __fmaf_rd(a, b, c); }
WIDTHWISE_BOTH_INLINE float fused_up(float a, float b, float c) { return __fmaf_ru(a, b, c); }
WIDTHWISE_BOTH_INLINE double fused_down(double a, double b, double c) { return __fma_rd(a, b, c); }
WIDTHWISE_BOTH_INLINE double fused_up(double a, double b, double c) { return __fma_ru(a, b, c); }
#else
// Volatile, or a compiler might move the operation past the changes of mode. On x86 those are of
// the processor's own fused operation, which libm calls where there is one (AVX2 and later).
template <RoundingMode mode, class T>
T fused_by(T a, T b, T c) {
  const MachineRounding meanwhile(mode);
  volatile T factor = a;
  volatile T sum = std::fma(static_cast<T>(factor), b, c);
  return with_nan_of_gpu<T>(sum);
}
template <class T>
T fused_down(T a, T b, T c) {
  return fused_by<RoundingMode::rdn>(a, b, c);
}
template <class T>
T fused_up(T a, T b, T c) {
  return fused_by<RoundingMode::rup>(a, b, c);
}
#endif

// Toward zero, whatever mode the machine is in.
#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE float toward_zero(float a, float b, float c) { return __fmaf_rz(a, b, c); }
WIDTHWISE_BOTH_INLINE float toward_zero(float a, float b) { return __fadd_rz(a, b); }
#else
inline float toward_zero(float a, float b, float c) { return fused_by<RoundingMode::rtz>(a, b, c); }
inline float toward_zero(float a, float b) { return toward_zero(1.0f, a, b); }
#endif

// a b + c: of its two neighbours the odd one, or the sum itself. An exact zero is +0 unless both
// addends are -0, as to nearest.
template <class T>
WIDTHWISE_BOTH_INLINE T fused_to_odd(T a, T b, T c) {
  const T down = fused_down(a, b, c), up = fused_up(a, b, c);
  return bits_of(down) & 1 ? down : up;
}

}  // namespace widthwise::cuda
