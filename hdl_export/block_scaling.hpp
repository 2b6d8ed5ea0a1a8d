#pragma once
#include <cstdint>

#include "widthwise/sim/block_quantisation.hpp"

namespace widthwise::hdl {

// How a block's largest magnitude, significand * 2^(exponent - digits + 1), becomes its scale's
// exponent: exponent - emax, one more from the significand `up` on, one less below `down`, clamped
// to +-top. Both are found by asking the simulator.
struct BlockScaling {
  int digits;
  std::int64_t emax, top;
  std::uint64_t up, down;
};
BlockScaling scaling_of(const BlockQuantisation& q);

}  // namespace widthwise::hdl
