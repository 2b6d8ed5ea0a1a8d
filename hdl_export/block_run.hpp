#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "entries.hpp"
#include "widthwise/sim/block_quantisation.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/elementwise.hpp"

namespace widthwise::hdl {

// What the simulator makes of one block, and the flags of its roundings, NV for NaN or infinity.
// Where those are refused, in bfp and where scales divide, there is still a block: its scale has
// all ones, which no other has, and its elements are 0.
class BlockRun {
 public:
  explicit BlockRun(const BlockQuantisation& q);

  struct Block {
    std::vector<Code> elements;
    Code scale;
    std::uint8_t flags = 0;
  };
  // Where the tensor's scale is a port, `tensor_scale` is its code; one that is no scale makes such
  // a block, too.
  Block quantised(const std::vector<Code>& numbers, const Code& tensor_scale = {}) const;
  // What the numbers of a block of that scale are over; of zeros 1.
  double divisor(const Code& scale) const;

 private:
  Block special() const;
  std::vector<float> values(const std::vector<Code>& numbers) const;
  std::uint8_t flags_of(const std::vector<float>& x, double by) const;

  BlockQuantisation q_;
  Elementwise read_, divide_;
  std::optional<Elementwise> round_;  // quotients in binary32 to elements
  BlockQuantiser run_;
};

}  // namespace widthwise::hdl
