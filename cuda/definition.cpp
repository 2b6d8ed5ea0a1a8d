#include "definition.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels/text_multiplier.hpp"
#include "kernels/unit_outputs.hpp"
#include "sim/dot/capacity.hpp"
#include "unit_threads.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

// What a multiplier has to tell when a launch is over: nothing.
template <class Multiplier>
struct Watch {
  Watch(Device&, Multiplier&) {}
  void check() const {}
};

// Of a text: whether a product had too many digits.
template <class M>
class Watch<SuppliedMultiplier<M, TextMultiplier>> {
 public:
  Watch(Device& device, SuppliedMultiplier<M, TextMultiplier>& multiplier)
      : device_(device),
        multiplier_(multiplier.multiply),
        wide_(copied_in(device, std::span(&none, 1))) {
    multiplier_.wide = wide_.template at<FirstWide>();
  }
  void check() const {
    FirstWide first;
    device_.copy_out(&first, multiplier_.wide, sizeof first);
    if (first.told) refuse(first.product, multiplier_.digits_a, multiplier_.digits_b);
  }

 private:
  static constexpr FirstWide none{};

  Device& device_;
  TextMultiplier& multiplier_;
  Buffer wide_;
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

// The kernels of one size of carriers.
struct Names {
  const char *exact, *named, *text;
};

template <class M, class H>
std::unique_ptr<const Way> definition(const ProductTask& task, Device& device, const Names& names) {
  const auto way = [&](Kernel kernel, const auto& multiplier) -> std::unique_ptr<const Way> {
    using Threads = Definition<M, H, std::decay_t<decltype(multiplier)>>;
    return std::make_unique<Threads>(task, device, std::move(kernel), multiplier);
  };
  if (!task.multiplier) return way({"unit_outputs", names.exact}, ExactMultiplier<M>{});
  if (const auto* named = task.multiplier.target<NamedMultiplier>())
    return way({"unit_named", names.named}, SuppliedMultiplier<M, NamedMultiplier>{*named});
  const auto& text = *task.multiplier.target<TextProduct>();
  return way({"unit_text", names.text, text.source},
             SuppliedMultiplier<M, TextMultiplier>{
                 {task.unit.a.fmt.precision(), task.unit.b.fmt.precision(), text.exchanged}});
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
    return definition<uint128, std::uint64_t>(
        task, device, {"unit_small", "unit_small_named", "unit_small_text"});
  return definition<Wide<12>, uint128>(task, device,
                                       {"unit_medium", "unit_medium_named", "unit_medium_text"});
}

}  // namespace widthwise::cuda
