#include "definition.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels/unit_outputs.hpp"
#include "sim/dot/capacity.hpp"
#include "supplied.hpp"
#include "unit_threads.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

template <class M, class H, class Multiplier>
class Definition final : public Way {
 public:
  Definition(const ProductTask& task, Device& device, Kernel kernel, Multiplier multiplier)
      : device_(device),
        kernel_(std::move(kernel)),
        multiplier_(multiplier),
        threads_(task.unit, task.k, device) {}

  void compute(const RegionThere& region, const std::uint8_t* redo) const override {
    Multiplier multiplier = multiplier_;
    const Watch<Multiplier> watch(device_, multiplier);
    threads_.launch(kernel_, region, 0, [&](const UnitWork<M, H>& work) {
      return UnitOutputs<M, H, Multiplier>{work, redo, multiplier};
    });
    watch.check();
  }

 private:
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
