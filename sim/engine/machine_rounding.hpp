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
  explicit MachineRounding(RoundingMode mode) {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
    std::fesetround(mode == RoundingMode::rne   ? FE_TONEAREST
                    : mode == RoundingMode::rdn ? FE_DOWNWARD
                    : mode == RoundingMode::rup ? FE_UPWARD
                                                : FE_TOWARDZERO);
  }
  ~MachineRounding() { std::fesetenv(&before_); }
  MachineRounding(const MachineRounding&) = delete;
  MachineRounding& operator=(const MachineRounding&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace widthwise
