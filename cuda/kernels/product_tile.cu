#include "on_device.cuh"
#include "random_tile.hpp"

// One kernel for every pair of sequences that docs/exactness.md speaks of; formats are arguments.
using namespace widthwise;
using namespace widthwise::cuda;

#define WIDTHWISE_TILE(T, name, ...)                                  \
  extern "C" __global__ void __launch_bounds__(256, 2)                \
      tile_##T##_##name(const __grid_constant__ TileLayers<T> args) { \
    run_phases<LaunchedTile<T, __VA_ARGS__>>(args.layer[blockIdx.z]); \
  }

#define WIDTHWISE_NEAREST_TILE(T, multiply, add) \
  WIDTHWISE_TILE(T, multiply##_##add, NearestStep<T, lanes::Multiply::multiply, lanes::Add::add>)
#define WIDTHWISE_NEAREST_TILES(T)           \
  WIDTHWISE_NEAREST_TILE(T, native, native)  \
  WIDTHWISE_NEAREST_TILE(T, exact, native)   \
  WIDTHWISE_NEAREST_TILE(T, exact, normal)   \
  WIDTHWISE_NEAREST_TILE(T, exact, rounded)  \
  WIDTHWISE_NEAREST_TILE(T, odd, rounded)    \
  WIDTHWISE_NEAREST_TILE(T, rounded, normal) \
  WIDTHWISE_NEAREST_TILE(T, rounded, rounded)
WIDTHWISE_NEAREST_TILES(float)
WIDTHWISE_NEAREST_TILES(double)

#define WIDTHWISE_CUT_TILE(T, multiply, mode) \
  WIDTHWISE_TILE(T, multiply##_##mode, CutStep<T, lanes::Multiply::multiply, RoundingMode::mode>)
#define WIDTHWISE_CUT_TILES(T)        \
  WIDTHWISE_CUT_TILE(T, exact, rtz)   \
  WIDTHWISE_CUT_TILE(T, exact, rdn)   \
  WIDTHWISE_CUT_TILE(T, exact, rna)   \
  WIDTHWISE_CUT_TILE(T, rounded, rtz) \
  WIDTHWISE_CUT_TILE(T, rounded, rdn) \
  WIDTHWISE_CUT_TILE(T, rounded, rna)
WIDTHWISE_CUT_TILES(float)
WIDTHWISE_CUT_TILES(double)

// One product a launch: keys and places of a layer picked by blockIdx.z would be loaded where those
// of one product are operands.
#define WIDTHWISE_RANDOM_TILE(multiply, name, special)                               \
  extern "C" __global__ void __launch_bounds__(256, 1)                               \
      tile_float_##multiply##_##name(const __grid_constant__ TileArgs<float> args) { \
    run_phases<RandomTile<lanes::Multiply::multiply, special>>(args);                \
  }
WIDTHWISE_RANDOM_TILE(exact, random, false)
WIDTHWISE_RANDOM_TILE(exact, random_special, true)
WIDTHWISE_RANDOM_TILE(rounded, random, false)
WIDTHWISE_RANDOM_TILE(rounded, random_special, true)
