#include "lines_there.hpp"

#include "sim/dot/lane_order.hpp"

namespace widthwise::cuda {

LinesThere::LinesThere(const ProductTask& task, Device& device) : unit_(task.unit) {
  if (unit_.chain.lane_permutation)
    order_ = copied_in(device, std::span<const std::size_t>(lane_order(unit_, task.k)));
}

Lines LinesThere::of(const Operand& operand, const CodeMatrix& codes, const CodeMatrix& scales,
                     std::size_t count, std::size_t k) const {
  const Format& scale = unit_.scale ? unit_.scale->fmt : operand.fmt;
  return {.operand = operand,
          .layout = Layout<std::uint64_t>(operand.fmt),
          .scale_layout = Layout<std::uint64_t>(scale),
          .codes = codes,
          .scales = scales,
          .count = count,
          .length = k,
          .scale_block = unit_.scale ? static_cast<std::size_t>(unit_.scale->block) : 1,
          .order = order_.at<const std::size_t>()};
}

}  // namespace widthwise::cuda
