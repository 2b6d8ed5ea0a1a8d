#include "lane_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "widthwise/datapath/block.hpp"

namespace widthwise {

std::vector<std::size_t> lane_order(const Unit& u, std::size_t k) {
  std::vector<std::size_t> order(k);
  const auto& permutation = u.chain.lane_permutation;
  const std::size_t run = permutation ? static_cast<std::size_t>(permutation->run) : k;
  const std::size_t ways = permutation ? static_cast<std::size_t>(permutation->ways) : 1;
  auto next = order.begin();
  for (std::size_t way = 0; next != order.end(); ++way)
    for (std::size_t i = way; next != order.end() && i <= (k - 1) / run; i += ways) {
      const std::size_t first = i * run, length = std::min(run, k - first);
      std::iota(next, next + static_cast<std::ptrdiff_t>(length), first);
      next += static_cast<std::ptrdiff_t>(length);
    }
  return order;
}

namespace {

// Lanes in their own order are settled by check(u), and so is any length of whole groups.
bool one_scale_a_group(const Unit& u, std::size_t k) {
  if (k <= static_cast<std::size_t>(u.scale->block)) return true;
  if (u.chain.lane_permutation) return false;
  const auto& groups = u.groups;
  return u.lanes != 0 ||
         (groups && groups->consecutive && u.scale->block % *groups->consecutive == 0);
}

}  // namespace

void check_scale_groups(const Unit& u, std::size_t k) {
  if (!u.scale || u.scale->apply == ScaleApply::term || one_scale_a_group(u, k)) return;
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
