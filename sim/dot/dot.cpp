#include "widthwise/sim/dot.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "capacity.hpp"
#include "lane_order.hpp"
#include "make.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

void check_multiplier(const Unit& u) {
  for (const Operand* op : {&u.a, &u.b})
    if (op->fmt.precision() > 64)
      throw std::invalid_argument(fmt::format(
          "multiplier: {} has {} significand digits, a supplied multiplier takes at most 64",
          to_string(op->fmt), op->fmt.precision()));
}

}  // namespace

std::unique_ptr<ReferenceUnit> make_reference(const Unit& unit, std::size_t k,
                                              Multiplier multiplier) {
  check(unit);
  check_scale_groups(unit, k);
  if (multiplier) check_multiplier(unit);
  const Capacity need = capacity(unit, static_cast<std::int64_t>(k));
  const std::int64_t magnitude =
      multiplier ? std::max<std::int64_t>(need.magnitude_bits, 128) : need.magnitude_bits;
  if (magnitude <= 126 && need.code_digits <= 64) return make_small(unit, k, std::move(multiplier));
  if (magnitude <= 638 && need.code_digits <= 128)
    return make_medium(unit, k, std::move(multiplier));
  return make_large(unit, k, std::move(multiplier));
}

void check(const Unit& unit, const MatrixProduct& p) {
  if (bool(unit.scale) == (p.scale_a.data && p.scale_b.data) &&
      bool(p.scale_a.data) == bool(p.scale_b.data))
    return;
  throw std::invalid_argument(unit.scale
                                  ? "scale_a, scale_b: this unit scales its blocks, give both"
                                  : "scale_a, scale_b: this unit has no block scales, give none");
}

}  // namespace widthwise
