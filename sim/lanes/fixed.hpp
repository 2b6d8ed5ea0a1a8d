#pragma once
#include "kernels.hpp"
#include "widthwise/sim/engine.hpp"

// Chains whose sums are rounded to fixed point, in float and double lanes (docs/exactness.md, 72).
namespace widthwise::lanes {

struct FixedPlan {
  Carrier carrier;
  RoundingMode machine = RoundingMode::rne;  // what the machine is set to
  FixedSteps steps;
  std::optional<std::size_t> unwrapped = {};  // steps that sums which wrap may grow in
};
struct FixedAnswer {
  std::optional<FixedPlan> plan;
  std::string reason;  // the conditions that hold, or the one that fails
};
FixedAnswer plan_in_fixed(const Unit& unit);

// What the steps need of the unit's roundings.
template <class T>
FixedConstants<T> fixed_constants(const Carrier& carrier, const Unit& u);

// Of a unit whose sums are fixed point.
Opinion opinion_in_fixed(const ProductTask& task);
std::unique_ptr<ProductEngine> make_in_fixed(const ProductTask& task);

}  // namespace widthwise::lanes
