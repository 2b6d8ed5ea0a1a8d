#pragma once
#include "stimuli.hpp"

namespace widthwise::hdl {

// What a module takes at once: a block of a running sum, or all there is.
struct Block {
  Stimulus operands;
  std::size_t step = 0;  // its first lane's position along k
  bool first = true, last = true;
};

// A design's blocks, so many in a row.
Dataflow repeated(Dataflow block, int count);

// A running sum as its blocks. The one that does not read C is given another number there, to be
// left alone.
std::vector<Block> blocks_of(const Stimulus& sum, const Dataflow& block, RunningSum running);

}  // namespace widthwise::hdl
