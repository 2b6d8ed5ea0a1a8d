#include "chain_tile.hpp"
#include "on_device.cuh"

// Chains in integers of either width; formats, modes and all else are arguments.
using namespace widthwise::cuda;

#define WIDTHWISE_CHAIN_TILE(name, width, rounded, random)                                   \
  extern "C" __global__ void __launch_bounds__(256, random ? 1 : 2)                          \
      chain_##name##_##width(const __grid_constant__ ChainArgs<std::uint##width##_t> args) { \
    run_phases<ChainTile<std::uint##width##_t, rounded, random>>(args);                      \
  }
#define WIDTHWISE_CHAIN_TILES(width)                                            \
  WIDTHWISE_CHAIN_TILE(rounded, width, true, false)                             \
  WIDTHWISE_CHAIN_TILE(fused, width, false, false)                              \
  WIDTHWISE_CHAIN_TILE(rounded_random, width, true, true)                       \
  WIDTHWISE_CHAIN_TILE(fused_random, width, false, true)                        \
  extern "C" __global__ void __launch_bounds__(256) unpack_chain_##width(       \
      const __grid_constant__ UnpackChainOperands<std::uint##width##_t> args) { \
    run_threads(args);                                                          \
  }
WIDTHWISE_CHAIN_TILES(32)
WIDTHWISE_CHAIN_TILES(64)
