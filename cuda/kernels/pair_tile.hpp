#pragma once
#include "pair_lane.hpp"
#include "product_tile.hpp"

namespace widthwise::cuda {

// A thread has 8 x 8 pairs, 8 x 16 outputs.
template <class P, bool fused>
using PairTile = ProductTile<P, PairStep<P, fused>, 128, 64, 16, 8, 8>;

}  // namespace widthwise::cuda
