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

// Of the calling thread's lanes. On x86 std::fesetround sets another unit's besides, which takes
// hundreds of cycles.
inline void set_lanes_rounding(RoundingMode mode) {
#ifdef __SSE__
  _MM_SET_ROUNDING_MODE(mode == RoundingMode::rne ? _MM_ROUND_NEAREST : _MM_ROUND_TOWARD_ZERO);
#else
  std::fesetround(mode == RoundingMode::rne ? FE_TONEAREST : FE_TOWARDZERO);
#endif
}

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
