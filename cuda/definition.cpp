#include "definition.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels/marks.hpp"
#include "kernels/unit_outputs.hpp"
#include "sim/dot/capacity.hpp"
#include "supplied.hpp"
#include "unit_threads.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::cuda {
namespace {

// Most often there are none, and then no thread is to wait for room to work in.
struct Marked {
  std::size_t count;
  Buffer list;

  Marked(Device& device, const std::uint8_t* marks, std::size_t outputs) {
    count = listed(device, {marks, outputs, nullptr, nullptr});
    if (count == 0) return;
    list = Buffer(device, count * sizeof(std::size_t));
    listed(device, {marks, outputs, nullptr, list.at<std::size_t>()});
  }

 private:
  static std::size_t listed(Device& device, ListMarks marks) {
    unsigned long long found = 0;
    const Buffer count = copied_in(device, std::span<const unsigned long long>(&found, 1));
    marks.count = count.at<unsigned long long>();
    launch_each(device, {"values", "list_marks"}, (marks.outputs + 7) / 8, &marks);
    device.copy_out(&found, count.at(), sizeof found);
    return found;
  }
};

template <class M, class H, class Multiplier>
class Definition final : public Way {
 public:
  Definition(const ProductTask& task, Device& device, Kernel kernel, Multiplier multiplier)
      : device_(device),
        kernel_(std::move(kernel)),
        multiplier_(multiplier),
        threads_(task.unit, task.k, device) {}

  void compute(const RegionThere& region, const std::uint8_t* redo) const override {
    const std::size_t outputs = region.p.m * region.p.n;
    if (!redo) return compute(region, nullptr, outputs);
    const Marked marked(device_, redo, outputs);
    if (marked.count) compute(region, marked.list.template at<std::size_t>(), marked.count);
  }

 private:
  void compute(const RegionThere& region, const std::size_t* which, std::size_t count) const {
    Multiplier multiplier = multiplier_;
    const Watch<Multiplier> watch(device_, multiplier);
    threads_.launch(kernel_, region, count, 0, [&](const UnitWork<M, H>& work) {
      return UnitOutputs<M, H, Multiplier>{work, which, count, multiplier};
    });
    watch.check();
  }

  Device& device_;
  Kernel kernel_;
  Multiplier multiplier_;
  UnitThreads<M, H> threads_;
};

template <class M, class H>
std::unique_ptr<const Way> definition_in(const ProductTask& task, Device& device,
                                         const ByMultiplier& kernels) {
  return with_multiplier<M>(
      task, kernels,
      [&](const Kernel& kernel, const auto& multiplier) -> std::unique_ptr<const Way> {
        using Threads = Definition<M, H, std::decay_t<decltype(multiplier)>>;
        return std::make_unique<Threads>(task, device, kernel, multiplier);
      });
}

}  // namespace

Carriers carriers_for(const ProductTask& task) {
  check(task.unit);
  check_scale_groups(task.unit, task.k);
  if (task.multiplier) check_multiplier(task.unit);
  if (const Format* f = table_in(task.unit))
    throw std::invalid_argument(
        fmt::format("{} is a table, in which a GPU's products look nothing up", to_string(*f)));
  const Capacity need =
      capacity(task.unit, static_cast<std::int64_t>(task.k), bool(task.multiplier));
  if (need.magnitude_bits <= 126 && need.code_digits <= 64) return Carriers::small;
  if (need.magnitude_bits <= 766 && need.code_digits <= 128) return Carriers::medium;
  throw std::invalid_argument(
      fmt::format("numbers of {} bits on their way, and codes of {} digits: more than 766 or 128",
                  need.magnitude_bits, need.code_digits));
}

std::unique_ptr<const Way> definition(const ProductTask& task, Device& device) {
  if (carriers_for(task) == Carriers::small)
    return definition_in<uint128, std::uint64_t>(task, device,
                                                 {{"unit_outputs", "unit_small"},
                                                  {"unit_named", "unit_small_named"},
                                                  {"unit_text", "unit_small_text"}});
  return definition_in<Wide<12>, uint128>(task, device,
                                          {{"unit_outputs", "unit_medium"},
                                           {"unit_named", "unit_medium_named"},
                                           {"unit_text", "unit_medium_text"}});
}

}  // namespace widthwise::cuda
