#include "design_rtl.hpp"

#include <fmt/core.h>

#include <stdexcept>

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
  check_port(s.rounding, options);
  const auto read = s.read();
  const RtlOperation op{
      .operation = s.op,
      .operands = {read.begin(), read.end()},
      .result = s.to,
      .rounding = options.rounding_port ? std::nullopt : std::optional<Rounding>(s.rounding),
      .tininess = s.tininess};
  return {rtl(op, name), rtl_ports(op)};
}

DesignRtl rtl_of(const Unit& u, std::string_view name, const ExportOptions& options) {
  check_port(u.out.rm, options);
  const RtlOptions taken{
      .rounding_port = options.rounding_port, .lanes = options.lanes, .multiplier = "ww_multiply"};
  return {rtl(u, name, taken), rtl_ports(u, taken)};
}

}  // namespace

DesignRtl design_rtl(const Design& design, std::string_view name, const ExportOptions& options) {
  return std::visit([&](const auto& d) { return rtl_of(d, name, options); }, design);
}

}  // namespace widthwise::hdl
