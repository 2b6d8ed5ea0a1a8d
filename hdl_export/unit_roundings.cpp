#include "unit_roundings.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/slot_name.hpp"

namespace widthwise::hdl {
namespace {

// Compensated sums round in these as `out` does, a port for its mode included.
bool rounds_as_out(Slot slot) { return slot == Slot::out || slot >= Slot::addend; }

// Flags of all lanes in one.
std::string any_lane(const std::string& flags, int lanes) {
  if (lanes == 1) return flags;
  std::string all;
  for (int i = 0; i < lanes; ++i) all += fmt::format("{}{}[{} +: 5]", i ? " | " : "", flags, 5 * i);
  return all;
}

}  // namespace

// The word of the place's step; for several lanes the whole port.
Bus Roundings::random(const Place& place, int lanes) const {
  if (!place.round.rm.stochastic()) return {"1'b0", 1};
  const RandomPort& port = *std::ranges::find(ports_, place.slot, &RandomPort::slot);
  if (port.steps.size() == 1 || lanes > 1) return {port.name, port.bits, lanes};
  const auto at = std::ranges::find(port.steps, place.step) - port.steps.begin();
  return {fmt::format("{}[{} +: {}]", port.name, at * port.bits, port.bits), port.bits};
}

std::string Roundings::rounding(const Place& place) {
  if (rounds_as_out(place.slot)) return "rm";
  const Bus rm{place.name + "_rm", 4};
  out_.wire(rm, fmt::format("4'd{}", rounding_code(place.round.rm).number));
  return rm.name;
}

std::string Roundings::round(const Place& place, const Term& exact, const std::string& mixed,
                             const Specials* specials) {
  const Round& r = place.round;
  RoundingPorts ports{.rm = rounding(place), .random = random(place, exact.bus.lanes)};
  ports.stages = place.stages;
  if (!mixed.empty()) ports.mixed = mixed;
  Term t = exact;
  if (r.post_norm_frac) {
    t = stages_.cut(place.name + "_cut", exact, r);
    ports.cut = true;
    if (!keeps_sum_zeros(r)) ports.mixed = "1'b0";
  }
  if (specials) {
    ports.nan = fmt::format("{} | (!{} & {})", specials->nan(), specials->inf(), t.nan().name);
    ports.inf = fmt::format("{} | (!{} & {})", specials->inf(), specials->nan(), t.inf().name);
    ports.sign = fmt::format("{} ? {} : {}", specials->inf(), specials->minus(), t.sign().name);
  }
  stages_.deliver(place.name, t, r, ports);
  RoundingTap& tap = out_.taps().roundings.back();
  tap.slot = slot_name(place.slot), tap.step = place.step;
  return any_lane(place.name + "_flags", exact.bus.lanes);
}

Term Roundings::read(const Place& place) {
  return stages_.unpack(place.name + "_read", place.name + "_code", {.fmt = place.round.fmt});
}

void Roundings::keep_flags() {
  if (flags_.empty()) return;
  out_.wire({"flags_kept", 5});
  out_.wire({"flags_met", 5}, fmt::format("{} | (in_first ? 5'd0 : flags_kept)", flags_));
  out_.instance("ww_delay", "flags_state", {{"N", "1"}, {"W", "5"}},
                {{"clk", "clk"},
                 {"rst", "1'b0"},
                 {"enable", fmt::format("advance & {}_valid", out_.here())},
                 {"d", "flags_met"},
                 {"q", "flags_kept"}});
  flags_ = "flags_met";
}

void Roundings::add(const Place& place, const Term& x, const Term& y) {
  const std::string sum = place.name + "_sum";
  const Grid grid = grid_of_two(x, y, reach_of(place.round));
  const Term exact = stages_.sum(sum, stages_.joined(sum + "_terms", x, y), 1, grid);
  raise(round(place, exact, sum + "_mixed"));
}

}  // namespace widthwise::hdl
