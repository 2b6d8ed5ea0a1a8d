#include "elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/elements.hpp"
#include "quantise.hpp"
#include "sim/elementwise/way.hpp"
#include "values.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::cuda {
namespace {

// The definition, in integers of one size.
template <class U>
class Integers final : public Elementwise::Way {
 public:
  Integers(const ElementTask& task, Device& device, Kernel kernel)
      : device_(device),
        kernel_(kernel),
        elements_{.op = task.op,
                  .operands = arity(task.op),
                  .to = Rounder<U>(task.to, task.env),
                  .format = {layout(task, 0), layout(task, 1), layout(task, 2)}} {}

  const char* name() const override { return "integers"; }

  void run(const ElementArrays& x) const override {
    Elements<U> elements = elements_;
    std::ranges::copy(x.operands, elements.data);
    elements.count = x.count;
    elements.result = x.result;
    elements.flags = x.flags;
    elements.random = x.random;
    launch_each(device_, kernel_, x.count, &elements);
  }

 private:
  // Of operands there are not, what nobody reads.
  static Layout<U> layout(const ElementTask& task, std::size_t i) {
    return Layout<U>(i < task.operands.size() ? task.operands[i] : task.to);
  }

  Device& device_;
  Kernel kernel_;
  Elements<U> elements_;
};

ElementwiseWay integers(const ElementTask& task, Device& device) {
  const int digits = digits_needed(task);
  if (digits <= 64)
    return std::make_unique<Integers<std::uint64_t>>(task, device,
                                                     Kernel{"elements", "elements_64"});
  if (digits <= 128)
    return std::make_unique<Integers<uint128>>(task, device,
                                               Kernel{"elements_wide", "elements_128"});
  if (digits <= 256)
    return std::make_unique<Integers<Wide<4>>>(task, device,
                                               Kernel{"elements_wide", "elements_256"});
  std::string operands;
  for (const Format& f : task.operands) operands += to_string(f) + ", ";
  throw std::invalid_argument(fmt::format(
      "operands {}result {}: {} digits of working precision are needed, a GPU's threads "
      "have 256; compute on the CPU",
      operands, to_string(task.to), digits));
}

}  // namespace

DeviceElementwise::DeviceElementwise(Device& device, Operation op, const Format& to, const Env& env,
                                     std::span<const Format> operands, bool flags) {
  const ElementTask task{op, to, env, operands, flags, 0};
  check(task);
  ElementwiseWay way = quantise_way(task, device);
  if (!way) way = dequantise_way(task, device);
  if (!way) way = fuse_way(task, device);
  if (!way) way = integers(task, device);
  way_ = std::move(way);
}

void DeviceElementwise::run(std::span<const void* const> operands, std::size_t count, void* result,
                            std::uint8_t* flags, RandomSource random) const {
  if (count > 0) way_->run({operands, count, result, flags, random});
}

const char* DeviceElementwise::way() const { return way_->name(); }

}  // namespace widthwise::cuda
