#pragma once
#include <cfenv>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "widthwise/rounding.hpp"

namespace widthwise {

// Whether the machine rounds so by itself.
constexpr bool is_machine_mode(const Rounding& r) {
  using enum RoundingMode;
  return !r.stochastic() && (r.mode == rne || r.mode == rtz || r.mode == rdn || r.mode == rup);
}

// The calling thread's lanes, which round to nearest, round toward zero meanwhile. On x86
// std::fesetround sets another unit's mode besides, which takes hundreds of cycles.
class LanesTowardZero {
 public:
#ifdef __SSE__
  LanesTowardZero() { _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO); }
  ~LanesTowardZero() { _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST); }
#else
  LanesTowardZero() { std::fesetround(FE_TOWARDZERO); }
  ~LanesTowardZero() { std::fesetround(FE_TONEAREST); }
#endif
  LanesTowardZero(const LanesTowardZero&) = delete;
  LanesTowardZero& operator=(const LanesTowardZero&) = delete;
};

// The machine's rounding that serves a mode, with subnormals, whatever the calling thread has set.
// Ties away need it toward zero: the digits they look at are then still there.
class MachineRounding {
 public:
#ifdef __SSE__
  explicit MachineRounding(RoundingMode mode) : before_(_mm_getcsr()) {
    _mm_setcsr(masked | (mode == RoundingMode::rne   ? _MM_ROUND_NEAREST
                         : mode == RoundingMode::rdn ? _MM_ROUND_DOWN
                         : mode == RoundingMode::rup ? _MM_ROUND_UP
                                                     : _MM_ROUND_TOWARD_ZERO));
  }
  ~MachineRounding() { _mm_setcsr(before_); }
#else
  explicit MachineRounding(RoundingMode mode) {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
    std::fesetround(mode == RoundingMode::rne   ? FE_TONEAREST
                    : mode == RoundingMode::rdn ? FE_DOWNWARD
                    : mode == RoundingMode::rup ? FE_UPWARD
                                                : FE_TOWARDZERO);
  }
  ~MachineRounding() { std::fesetenv(&before_); }
#endif
  MachineRounding(const MachineRounding&) = delete;
  MachineRounding& operator=(const MachineRounding&) = delete;

 private:
#ifdef __SSE__
  static constexpr unsigned masked = 0x1f80;  // no traps, no flags, subnormals as they are
  unsigned before_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace widthwise
