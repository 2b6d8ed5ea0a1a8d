#pragma once
#include <cstdint>

#include "cuda/kernels/on_device.cuh"
#include "cuda/kernels/unit_work.hpp"
#include "widthwise/wide.hpp"

// The definition on threads, for two sizes of carriers: Work is UnitWork and what is done with it.
#define WIDTHWISE_UNIT_KERNEL(name, Work, M, H)                                        \
  extern "C" __global__ void __launch_bounds__(128)                                    \
      name(const __grid_constant__ widthwise::cuda::LaunchArgument<Work<M, H>> work) { \
    widthwise::cuda::run_threads(work);                                                \
  }
#define WIDTHWISE_UNIT_KERNELS(small, medium, Work)                     \
  WIDTHWISE_UNIT_KERNEL(small, Work, widthwise::uint128, std::uint64_t) \
  WIDTHWISE_UNIT_KERNEL(medium, Work, widthwise::Wide<12>, widthwise::uint128)
