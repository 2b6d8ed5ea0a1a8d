#include "design_rtl.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "unit_shape.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

void check_port(const Rounding& rm, const ExportOptions& options) {
  if (options.rounding_port && rm.stochastic())
    throw std::invalid_argument(fmt::format(
        "rounding_port with rounding {}: a port takes the modes that need no random bits; leave "
        "rounding_port out, or take another rounding",
        to_string(rm)));
}

DesignRtl rtl_of(const SingleOperation& s, std::string_view name, const ExportOptions& options) {
  if (options.lanes != 0)
    throw std::invalid_argument(fmt::format(
        "lanes = {} of {}: an operation has none; leave lanes out", options.lanes, to_string(s)));
  if (options.multiply)
    throw std::invalid_argument(fmt::format(
        "multiplier of {}: an operation is correctly rounded; take a unit, as mac(e5m10)",
        to_string(s)));
  if (options.accumulate)
    throw std::invalid_argument(fmt::format(
        "accumulate of {}: an operation keeps no sum; take a unit, as mac(e5m10)", to_string(s)));
  check_port(s.rounding, options);
  const auto read = s.read();
  RtlOperation op{.operation = s.op, .operands = {read.begin(), read.end()}, .result = s.to};
  if (!options.rounding_port) op.rounding = s.rounding;
  op.tininess = s.tininess;
  op.pipeline = options.pipeline;
  op.generator = options.generator;
  return {.files = rtl(op, name),
          .ports = rtl_ports(op),
          .random = random_ports(op),
          .timing = rtl_timing(op),
          .stages = rtl_stages(op),
          .clocked = options.pipeline.has_value()};
}

DesignRtl rtl_of(const Unit& u, std::string_view name, const ExportOptions& options) {
  check_port(u.out.rm, options);
  if (options.rounding_port && &result_round(u) != &u.out)
    throw std::invalid_argument(
        "rounding_port of a unit whose result is rounded again when a chain ends: a port is for "
        "`out`; leave rounding_port out");
  RtlOptions taken;
  taken.rounding_port = options.rounding_port;
  taken.lanes = options.lanes;
  taken.multiply = options.multiply;
  taken.pipeline = options.pipeline;
  taken.accumulate = options.accumulate;
  taken.generator = options.generator;
  return {.files = rtl(u, name, taken),
          .ports = rtl_ports(u, taken),
          .random = random_ports(u, taken),
          .timing = rtl_timing(u, taken),
          .stages = rtl_stages(u, taken),
          .clocked = options.pipeline || options.accumulate,
          .running = shape_of(u, taken).running,
          .multiply = options.multiply};
}

}  // namespace

DesignRtl design_rtl(const Design& design, std::string_view name, const ExportOptions& options) {
  return std::visit([&](const auto& d) { return rtl_of(d, name, options); }, design);
}

}  // namespace widthwise::hdl
