#pragma once
#include <span>

#include "device.hpp"
#include "kernels/text_multiplier.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/multipliers.hpp"

// How the definition's kernels multiply.
namespace widthwise::cuda {

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

// A kernel in three: of exact products, of shipped multipliers, of a text that is linked with it.
struct ByMultiplier {
  Kernel exact, named, text;
};

// Calls f with the one that a task wants and its multiplier, for magnitudes in M.
template <class M, class F>
auto with_multiplier(const ProductTask& task, const ByMultiplier& kernels, const F& f) {
  if (!task.multiplier) return f(kernels.exact, ExactMultiplier<M>{});
  if (const auto* named = task.multiplier.target<NamedMultiplier>())
    return f(kernels.named, SuppliedMultiplier<M, NamedMultiplier>{*named});
  const auto& text = *task.multiplier.target<TextProduct>();
  return f(Kernel{kernels.text.source, kernels.text.name, text.source},
           SuppliedMultiplier<M, TextMultiplier>{
               {task.unit.a.fmt.precision(), task.unit.b.fmt.precision(), text.exchanged}});
}

}  // namespace widthwise::cuda
