#include "block_tile.hpp"
#include "on_device.cuh"

using namespace widthwise;
using namespace widthwise::cuda;

#define WIDTHWISE_BLOCK_TILE(name, blocks, ...)                                           \
  extern "C" __global__ void __launch_bounds__(256, blocks)                               \
      block_##name(const __grid_constant__ TileArgs<typename __VA_ARGS__::Number> args) { \
    run_phases<BlockTile<__VA_ARGS__>>(args);                                             \
  }
WIDTHWISE_BLOCK_TILE(tree_2, 2, TreeBlock<2, false>)
WIDTHWISE_BLOCK_TILE(tree_4, 2, TreeBlock<4, false>)
WIDTHWISE_BLOCK_TILE(tree_8, 2, TreeBlock<8, false>)
WIDTHWISE_BLOCK_TILE(tree_2_flushed, 2, TreeBlock<2, true>)
WIDTHWISE_BLOCK_TILE(tree_4_flushed, 2, TreeBlock<4, true>)
WIDTHWISE_BLOCK_TILE(exact_2, 2, ExactBlock<2>)
WIDTHWISE_BLOCK_TILE(exact_4, 1, ExactBlock<4>)
