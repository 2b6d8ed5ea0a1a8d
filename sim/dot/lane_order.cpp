#include "lane_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "widthwise/datapath/block.hpp"

namespace widthwise {

std::vector<std::size_t> lane_order(const Unit& u, std::size_t k) {
  std::vector<std::size_t> order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& permutation = u.chain.lane_permutation;
  if (!permutation) return order;
  const auto run = static_cast<std::size_t>(permutation->run);
  const auto ways = static_cast<std::size_t>(permutation->ways);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return i / run % ways; });
  return order;
}

void check_scale_groups(const Unit& u, std::size_t k) {
  if (!u.scale || u.scale->apply == ScaleApply::term) return;
  const std::vector<std::size_t> order = lane_order(u, k);
  const auto block = static_cast<std::size_t>(u.scale->block);
  const std::size_t lanes = u.lanes ? static_cast<std::size_t>(u.lanes) : k;
  const GroupShape shape = group_shape(u.groups, lanes);
  for (std::size_t first = 0; first < k; first += lanes)
    for (std::size_t g = 0; g < shape.count; ++g)
      for (std::size_t i = 1; i < shape.size && shape.lane(g, i) < lanes; ++i) {
        const std::size_t head = first + shape.lane(g, 0), lane = first + shape.lane(g, i);
        if (lane >= k || order[head] / block == order[lane] / block) continue;
        throw std::invalid_argument(fmt::format(
            "unit: scale.block: {} elements a scale, but at k={} elements {} and {} are summed in "
            "one group before they "
            "are scaled; take groups that lie inside one scale's elements, or scale.apply = term",
            block, k, order[head], order[lane]));
      }
}

}  // namespace widthwise
