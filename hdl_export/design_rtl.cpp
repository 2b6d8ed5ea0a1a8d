#include "design_rtl.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "unit_shape.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

void check_port(const Rounding& rm, const ExportOptions& options) {
  if (options.rounding_port && rm.stochastic())
    throw std::invalid_argument(fmt::format(
        "options.rounding_port with rounding {}: a port takes the modes that need no random bits; "
        "leave options.rounding_port out, or take another rounding",
        to_string(rm)));
}

// What a unit alone has, of a design that is called `what`.
void refuse_options_of_units(const std::string& text, std::string_view what,
                             const ExportOptions& options) {
  if (options.lanes != 0)
    throw std::invalid_argument(
        fmt::format("options.lanes = {} of {}: {} has none; leave options.lanes out", options.lanes,
                    text, what));
  if (options.multiply)
    throw std::invalid_argument(
        fmt::format("options.multiplier of {}: {} is correctly rounded; take a unit, as mac(e5m10)",
                    text, what));
  if (options.accumulate)
    throw std::invalid_argument(fmt::format(
        "options.accumulate of {}: {} keeps no sum; take a unit, as mac(e5m10)", text, what));
}

void check(const SingleOperation& s, const ExportOptions& options) {
  refuse_options_of_units(said(s), "an operation", options);
  check_port(s.rounding, options);
}

// Of a design that has no random bits, either.
template <class D>
void refuse_options(const D& design, std::string_view what, const ExportOptions& options) {
  refuse_options_of_units(said(design), what, options);
  if (options.generator)
    throw std::invalid_argument(
        fmt::format("options.generator of {}: it takes no random bits; leave options.generator out",
                    said(design)));
}

void check(const BlockQuantisation& q, const ExportOptions& options) {
  refuse_options(q, "a block's quantiser", options);
}
void check(const SumRequantisation& s, const ExportOptions& options) {
  refuse_options(s, "a requantisation", options);
}

void check(const Unit& u, const ExportOptions& options) {
  check_port(u.out.rm, options);
  if (options.rounding_port && &result_round(u) != &u.out)
    throw std::invalid_argument(
        "options.rounding_port of a unit whose result is rounded again when a chain ends: a port "
        "is "
        "for `out`; leave options.rounding_port out");
}

RunningSum running(const SingleOperation&, const RtlOptions&) { return RunningSum::none; }
RunningSum running(const BlockQuantisation&, const RtlOptions&) { return RunningSum::none; }
RunningSum running(const SumRequantisation&, const RtlOptions&) { return RunningSum::none; }
RunningSum running(const Unit& u, const RtlOptions& options) {
  return shape_of(u, options).running;
}

RtlOptions taken(const ExportOptions& options) {
  RtlOptions all;
  all.rounding_port = options.rounding_port;
  all.lanes = options.lanes;
  all.multiply = options.multiply;
  all.pipeline = options.pipeline;
  all.accumulate = options.accumulate;
  all.generator = options.generator;
  return all;
}

template <class D>
DesignRtl rtl_of(const D& design, std::string_view name, const ExportOptions& asked) {
  check(design, asked);
  const RtlOptions options = taken(asked);
  return {.files = rtl(design, name, options),
          .ports = rtl_ports(design, options),
          .random = random_ports(design, options),
          .timing = rtl_timing(design, options),
          .stages = rtl_stages(design, options),
          .clocked = options.pipeline || options.accumulate || options.generator,
          .running = running(design, options),
          .multiply = options.multiply,
          .taps = rtl_taps(design, name, options)};
}

}  // namespace

DesignRtl design_rtl(const Design& design, std::string_view name, const ExportOptions& options) {
  return std::visit([&](const auto& d) { return rtl_of(d, name, options); }, design);
}

}  // namespace widthwise::hdl
