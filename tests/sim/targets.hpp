#pragma once
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace tests {

// Sanitizers, under which the same steps on other numbers show nothing new, take a part of them.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// run() once for every instruction set of this machine that kernels are compiled for.
template <class Run>
void on_every_target(const Run& run) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    CAPTURE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    run();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace tests
