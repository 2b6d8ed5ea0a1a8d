#pragma once
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace tests {

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
