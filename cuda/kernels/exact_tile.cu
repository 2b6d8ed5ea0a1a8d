#include "exact_sums.hpp"
#include "exact_tile.hpp"
#include "on_device.cuh"

using namespace widthwise::cuda;

#define WIDTHWISE_EXACT_TILE(name, blocks, ...)              \
  extern "C" __global__ void __launch_bounds__(256, blocks)  \
      exact_##name(const __grid_constant__ ExactArgs args) { \
    run_phases<ExactTile<__VA_ARGS__>>(args);                \
  }
WIDTHWISE_EXACT_TILE(one, 2, IntoOne)
WIDTHWISE_EXACT_TILE(one_saturating, 2, IntoOne, true)
WIDTHWISE_EXACT_TILE(nearest, 2, NearestTerms)
WIDTHWISE_EXACT_TILE(nearest_saturating, 2, NearestTerms, true)
WIDTHWISE_EXACT_TILE(magnitude, 2, CutTerms)
WIDTHWISE_EXACT_TILE(magnitude_saturating, 2, CutTerms, true)
WIDTHWISE_EXACT_TILE(two, 2, SplitTerms<2>)
WIDTHWISE_EXACT_TILE(three, 1, SplitTerms<3>)

extern "C" __global__ void __launch_bounds__(256)
    decode_lines(const __grid_constant__ DecodeLines args) {
  run_threads(args);
}
extern "C" __global__ void __launch_bounds__(256)
    finish_sums(const __grid_constant__ FinishSums args) {
  run_threads(args);
}
