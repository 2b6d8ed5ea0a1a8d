#pragma once
#include <optional>
#include <span>

#include "lane_kernels.hpp"
#include "widthwise/sim/operation.hpp"

// Which elementwise operations float and double lanes compute. docs/exactness.md argues every
// condition.
namespace widthwise::elements {

enum class Carrier : std::uint8_t { in_float, in_double };

struct LanePlan {
  Carrier carrier;
  Middle middle;
  RoundingMode machine = RoundingMode::rne;  // which the machine rounds by
};

struct LaneAnswer {
  std::optional<LanePlan> plan;
  const char* refusal;  // the condition that fails
};

LaneAnswer plan_lanes(Operation op, const Format& to, const Env& env,
                      std::span<const Format> operands, bool flags);

}  // namespace widthwise::elements
