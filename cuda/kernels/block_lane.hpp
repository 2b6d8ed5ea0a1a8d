#pragma once
#include "lane.hpp"
#include "sim/containers/to_odd.hpp"

// The steps of blocks in lanes that are one thread's number (sim/containers/steps.inl).
namespace widthwise::cuda {

// What stands for a lane's type.
template <class T>
struct Lane {};

namespace hn {

template <class D>
struct TypeOf;
template <class T>
struct TypeOf<Lane<T>> {
  using type = T;
};
template <class D>
using TFromD = typename TypeOf<D>::type;

#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE float Div(float a, float b) { return __fdiv_rn(a, b); }
WIDTHWISE_BOTH_INLINE double Div(double a, double b) { return __ddiv_rn(a, b); }
#else
template <class T>
T Div(T a, T b) {
  return with_nan_of_gpu(a / b);
}
#endif
template <class T>
WIDTHWISE_BOTH_INLINE T NegMulAdd(T a, T b, T c) {
  return MulAdd(-a, b, c);
}
template <class T>
WIDTHWISE_BOTH_INLINE T Set(Lane<T>, T x) {
  return x;
}
template <class T>
WIDTHWISE_BOTH_INLINE T Zero(Lane<T>) {
  return 0;
}
template <class T>
WIDTHWISE_BOTH_INLINE T CopySign(T magnitude, T sign) {
  return std::copysign(magnitude, sign);
}
template <class T>
WIDTHWISE_BOTH_INLINE T IfThenElse(bool c, T a, T b) {
  return c ? a : b;
}
template <class T>
WIDTHWISE_BOTH_INLINE bool Lt(T a, T b) {
  return a < b;
}
template <class T>
WIDTHWISE_BOTH_INLINE bool Eq(T a, T b) {
  return a == b;
}
template <class T>
WIDTHWISE_BOTH_INLINE bool Ne(T a, T b) {
  return a != b;
}
template <class T>
WIDTHWISE_BOTH_INLINE bool IsNaN(T x) {
  return x != x;
}
WIDTHWISE_BOTH_INLINE bool And(bool a, bool b) { return a && b; }

}  // namespace hn

WIDTHWISE_BOTH_INLINE double to_odd(double nearest, double lost, bool inexact) {
  return inexact ? widthwise::to_odd(nearest, lost) : nearest;
}

#define WIDTHWISE_SEQUENCE WIDTHWISE_BOTH_INLINE
#include "sim/containers/steps.inl"
#undef WIDTHWISE_SEQUENCE

}  // namespace widthwise::cuda
