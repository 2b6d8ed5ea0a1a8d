#include "block_elements.hpp"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>

#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::containers {
namespace {

void check_digits(const BlockFormat& f, const Rounding& r) {
  constexpr int most = std::numeric_limits<double>::digits;
  if (digits_wanted(f.element, r) <= most) return;
  throw std::invalid_argument(fmt::format(
      "rounding = {}: elements of {} under scales in {} take up to {} random bits", to_string(r),
      said(f.element), said(f.scale), most - digits_wanted(f.element, {})));
}

}  // namespace

int digits_wanted(const Format& element, const Rounding& r) {
  return element.rounding_digits() + r.random_bits + 2;
}

ElementStep element_step(const BlockFormat& f, const BlockHow& how) {
  const bool single = how.steps == BlockSteps::single;
  if (single && !f.takes_tensor_scale())
    throw std::invalid_argument(fmt::format(
        "steps = single: {} has no scale of the tensor, to which they are bound", said(f)));
  if (f.power_of_two()) return ElementStep::multiplied;
  if (single) return ElementStep::multiplied_once;
  if (f.scale == binary32) return ElementStep::divided_once;
  check_digits(f, how.rounding);
  return ElementStep::divided_to_odd;
}

bool keeps_specials(const BlockFormat& f) { return f.specials_in_elements && f.element.has_nan(); }

std::optional<Spelled> spelled(const BlockFormat& f) {
  const Format& e = f.element;
  const std::uint64_t sign = std::uint64_t{1} << (e.width() - 1);
  if (e.is_tapered() && f.refuses_specials()) return Spelled{sign - 1, sign + 1};
  if (!keeps_specials(f)) return {};
  if (e.has_signed_nans()) return Spelled{sign - 1, 2 * sign - 1};
  const std::uint64_t nan = find_code(e, NamedCode::nan)->front();
  return Spelled{nan, nan};
}

}  // namespace widthwise::containers
