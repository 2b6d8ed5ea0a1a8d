#include "on_device.cuh"
#include "pair_tile.hpp"

// The GPU's own 16-bit arithmetic: products and sums each rounded, or once together.
using namespace widthwise::cuda;

#define WIDTHWISE_PAIR_TILE(name, P, fused)                   \
  extern "C" __global__ void __launch_bounds__(128, 4)        \
      pair_##name(const __grid_constant__ TileArgs<P> args) { \
    run_phases<PairTile<P, fused>>(args);                     \
  }
WIDTHWISE_PAIR_TILE(half_rounded, HalfPair, false)
WIDTHWISE_PAIR_TILE(half_fused, HalfPair, true)
WIDTHWISE_PAIR_TILE(brain_rounded, BrainPair, false)
WIDTHWISE_PAIR_TILE(brain_fused, BrainPair, true)

extern "C" __global__ void __launch_bounds__(256)
    pack_pairs(const __grid_constant__ PackPairs args) {
  run_threads(args);
}
extern "C" __global__ void __launch_bounds__(256)
    unpack_pairs(const __grid_constant__ UnpackPairs args) {
  run_threads(args);
}
