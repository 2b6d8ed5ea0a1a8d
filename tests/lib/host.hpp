#pragma once
#include <bit>
#include <cfenv>
#include <cmath>

#include "apply.hpp"

// The processor this runs on: what it computes in each of its four directions, flags included.
namespace tests {

struct Direction {
  RoundingMode mode;
  int host;
};
constexpr Direction directions[] = {{RoundingMode::rne, FE_TONEAREST},
                                    {RoundingMode::rtz, FE_TOWARDZERO},
                                    {RoundingMode::rdn, FE_DOWNWARD},
                                    {RoundingMode::rup, FE_UPWARD}};

#if defined(__aarch64__) || defined(__arm__)
constexpr Tininess host_tininess = Tininess::before_rounding;
#else
constexpr Tininess host_tininess = Tininess::after_rounding;
#endif

template <class F>
struct Host;
template <>
struct Host<float> {
  using Code = std::uint32_t;
  static constexpr Format format = binary32;
};
template <>
struct Host<double> {
  using Code = std::uint64_t;
  static constexpr Format format = binary64;
};

// The compiler may neither foresee the value nor move it past the change of direction.
template <class T>
T opaque(T x) {
  volatile T y = x;
  return y;
}

inline Flags host_flags() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INEXACT ? inexact : 0) | (raised & FE_UNDERFLOW ? underflow : 0) |
         (raised & FE_OVERFLOW ? overflow : 0) | (raised & FE_DIVBYZERO ? divide_by_zero : 0) |
         (raised & FE_INVALID ? invalid : 0);
}

template <class F>
struct HostResult {
  F value;
  Flags flags;
};

template <class F, class Compute>
HostResult<F> on_host(int direction, const Compute& compute) {
  std::fesetround(direction);
  std::feclearexcept(FE_ALL_EXCEPT);
  const F value = opaque<F>(compute());
  const Flags flags = host_flags();
  std::fesetround(FE_TONEAREST);
  return {value, flags};
}

template <class F>
F compute(Operation op, F a, F b, F c) {
  switch (op) {
    case Operation::add: return a + b;
    case Operation::subtract: return a - b;
    case Operation::multiply: return a * b;
    case Operation::divide: return a / b;
    case Operation::sqrt: return std::sqrt(a);
    case Operation::fma: return std::fma(a, b, c);
    default: return std::rint(a);  // round_to_integral_exact
  }
}

// glibc's own fma rounds right but need not raise what hardware raises.
inline bool has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

}  // namespace tests
