#include <numeric>

#include "unit_shape.hpp"
#include "widthwise/datapath/block.hpp"

namespace widthwise::hdl {
namespace {

using Steps = std::vector<std::int64_t>;

// Of each two-input node the step of its right operand, which is the first lane of that
// (datapath 3.8); each term but the first begins the right operand of one.
void add_group_steps(const Unit& u, int lanes, std::int64_t first, Steps& steps) {
  const GroupShape shape = group_shape(u.groups, static_cast<std::size_t>(lanes));
  for (std::size_t g = 0; g < shape.count; ++g)
    for (std::size_t i = 1; i < shape.size && shape.lane(g, i) < static_cast<std::size_t>(lanes);
         ++i)
      steps.push_back(first + static_cast<std::int64_t>(shape.lane(g, i)));
  if (u.c_level == CLevel::group) steps.push_back(first);
}

void add_block_steps(const Unit& u, int lanes, std::int64_t first, Steps& steps) {
  const GroupShape shape = group_shape(u.groups, static_cast<std::size_t>(lanes));
  for (std::size_t g = 1; g < shape.count; ++g)
    steps.push_back(first + static_cast<std::int64_t>(shape.lane(g, 0)));
  if (u.c_level == CLevel::block) steps.push_back(first);
}

// Where the last block before each promotion began.
Steps promotion_steps(const Unit& u, const UnitShape& shape) {
  Steps steps;
  for (std::int64_t begin = 0; begin < shape.products(); begin += u.chain.promote->interval)
    steps.push_back(std::min<std::int64_t>(begin + u.chain.promote->interval, shape.products()) -
                    shape.lanes);
  return steps;
}

// Whether a slot's steps count from the first lane of a block that is one of many.
bool moves(const UnitShape& shape, Slot slot) {
  if (keeps_register(shape.running)) return slot == Slot::product;
  return !shape.whole;
}

// The ports in the order of the value's path.
class Ports {
 public:
  explicit Ports(const UnitShape& shape) : shape_(shape) {}

  std::vector<RandomPort> all;

  void add(const char* name, Slot slot, const std::optional<Round>& round, const Steps& steps) {
    if (round && round->rm.stochastic() && !steps.empty())
      all.push_back({name, slot, round->rm.random_bits, steps, moves(shape_, slot)});
  }
  void add(const char* name, Slot slot, const Sum& sum, const Steps& steps) {
    if (has_nodes(sum)) add(name, slot, sum.node_round, steps);
  }

 private:
  const UnitShape& shape_;
};

void add_compensated(const Unit& u, const Steps& products, const Steps& ends, Ports& ports) {
  const bool neumaier = u.chain.compensation == Compensation::neumaier;
  if (!neumaier) ports.add("random_addend", Slot::addend, u.out, products);
  ports.add("random_difference", Slot::difference, u.out, products);
  ports.add("random_error", Slot::error, u.out, products);
  if (!neumaier) return;
  ports.add("random_compensation", Slot::compensation, u.out, products);
  ports.add("random_compensated", Slot::compensated, u.out, ends);
}

}  // namespace

std::vector<RandomPort> random_ports(const SingleOperation& s, const RtlOptions& options) {
  if (options.rounding_port || !s.rounding.stochastic()) return {};
  return {{"random", Slot::out, s.rounding.random_bits, {0}}};
}

namespace {

std::vector<RandomPort> ports_of(const Unit& u, const UnitShape& shape) {
  Steps products(static_cast<std::size_t>(shape.products())), blocks, in_groups, in_blocks;
  std::iota(products.begin(), products.end(), 0);
  for (std::int64_t first = 0; first < shape.products(); first += shape.lanes) {
    blocks.push_back(first);
    add_group_steps(u, shape.lanes, first, in_groups);
    add_block_steps(u, shape.lanes, first, in_blocks);
  }
  const Steps ends = u.chain.promote ? promotion_steps(u, shape) : Steps{blocks.back()};
  Ports ports(shape);
  ports.add("random_product", Slot::product, u.product.round, products);
  ports.add("random_group_sum", Slot::group_node, u.group_sum, in_groups);
  ports.add("random_block_sum", Slot::block_node, u.block_sum, in_blocks);
  if (u.c_level == CLevel::late) ports.add("random_join", Slot::c_node, u.c_sum, blocks);
  ports.add("random", Slot::out, u.out, blocks);
  if (u.chain.compensation != Compensation::none) add_compensated(u, products, ends, ports);
  if (u.chain.promote) ports.add("random_promote", Slot::promote, u.chain.promote->round, ends);
  ports.add("random_c_round", Slot::c_round, u.chain.c_round, {0});
  ports.add("random_final", Slot::final, u.chain.final, {0});
  return ports.all;
}

}  // namespace

std::vector<RandomPort> random_ports(const Unit& u, const RtlOptions& options) {
  return ports_of(u, shape_of(u, options));
}

std::vector<RandomPort> random_ports(const Unit& u, int k) {
  const int lanes = u.lanes ? static_cast<int>(u.lanes) : k;
  return ports_of(u,
                  {.lanes = lanes, .blocks = std::max(1, (k + lanes - 1) / lanes), .whole = true});
}

}  // namespace widthwise::hdl
