#pragma once
#include <cfenv>
#include <cstring>
#include <vector>

#include "widthwise/sim/dot.hpp"

// What engines that hold codes as machine numbers have in common.
namespace widthwise {

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

// n codes along a stride from code `first` of a matrix on, side by side: where they are, or in
// `held`.
inline const std::byte* side_by_side(const CodeMatrix& x, std::ptrdiff_t first,
                                     std::ptrdiff_t stride, std::size_t n, int bytes,
                                     std::vector<std::byte>& held) {
  const auto* at = static_cast<const std::byte*>(x.data) + first * bytes;
  if (stride == 1) return at;
  const auto size = static_cast<std::size_t>(bytes);
  held.resize(n * size);
  for (std::size_t i = 0; i < n; ++i)
    std::memcpy(&held[i * size], at + static_cast<std::ptrdiff_t>(i) * stride * bytes, size);
  return held.data();
}

}  // namespace widthwise
