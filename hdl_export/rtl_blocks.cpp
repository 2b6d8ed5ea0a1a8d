#include <fmt/core.h>

#include "block_division.hpp"
#include "block_scaling.hpp"
#include "format_constants.hpp"
#include "rtl_files.hpp"
#include "stages.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

constexpr Exponent least_normal = -126;  // of binary32, below which flush=block has zeros

// Writes the body of a block's quantiser.
class QuantiserBody {
 public:
  QuantiserBody(const BlockQuantisation& q, const RtlOptions& options, Netlist& out)
      : q_(q),
        options_(options),
        out_(out),
        stages_(out),
        lanes_(static_cast<int>(q.numbers())),
        division_(q, out, stages_) {}

  void write() {
    out_.stage("unpack");
    const Term x = stages_.unpack("a", "a", {.fmt = q_.from}, lanes_);
    const Term peak = largest();
    deliver(q_.to.power_of_two() ? align(x, peak) : division_.quotients(x, peak));
  }

 private:
  // Codes without their signs, NaN and infinity by themselves.
  Term largest() {
    out_.stage("largest");
    const int width = q_.from.magnitude_bits();
    const Bus magnitudes{"a_magnitude", width, lanes_}, most{"largest_magnitude", width};
    out_.wire(magnitudes);
    out_.lanes(lanes_, "magnitude_lane", [&](const std::string& i) {
      out_.assign(magnitudes.lane(i),
                  lanes_ == 1 ? fmt::format("a[{}:0]", width - 1)
                              : fmt::format("a[{}*{} +: {}]", i, q_.from.width(), width));
    });
    out_.wire({"special", 1}, fmt::format("(|a_nan) | (|a_inf){}", no_tensor_scale()));
    out_.wire(most);
    out_.instance("ww_largest_magnitude", "largest_tree",
                  {{"N", decimal(lanes_)}, {"W", decimal(width)}},
                  {{"x", magnitudes.name}, {"largest", most.name}});
    const Bus code{"largest_code", q_.from.width()};
    out_.wire(code, q_.from.is_signed() ? "{1'b0, largest_magnitude}" : "largest_magnitude");
    return stages_.normalised("peak", stages_.unpack("largest", code.name, {.fmt = q_.from}));
  }

  // A code that is no finite number above zero.
  std::string no_tensor_scale() const {
    return q_.tensor_scale_port ? " | b[31] | (&b[30:23]) | ~(|b[30:0])" : "";
  }

  void scale(const Term& peak, const BlockScaling& scaling) {
    out_.stage("scale");
    const Exponent top = scaling.top;
    for (const Exponent e : {peak.least - scaling.emax - 1, peak.largest - scaling.emax + 1,
                             Exponent{scaling.emax}, 2 * top + 1, -top, least_normal})
      out_.reach(e);
    const int width = peak.bus.width;
    out_.wire({"scale_code", q_.to.scale.width()});
    out_.signed_wire({"scale_exp", out_.exponent_bits()});
    out_.wire({"flushed", 1});
    out_.instance("ww_block_scale", "block_scale",
                  {{"W", decimal(width)},
                   {"XW", decimal(out_.exponent_bits())},
                   {"CODE", decimal(q_.to.scale.width())},
                   {"EMAX", out_.exponent(scaling.emax)},
                   {"TOP", out_.exponent(top)},
                   {"UP", literal(width + 1, Code(scaling.up))},
                   {"DOWN", literal(width + 1, Code(scaling.down))},
                   {"FLUSH", truth(q_.to.flush)},
                   {"LEAST", out_.exponent(least_normal)}},
                  {{"special", "special"},
                   {"zero", peak.zero().name},
                   {"exp", peak.bus.part("exp", out_.exponent_bits()).name},
                   {"sig", peak.sig().name},
                   {"code", "scale_code"},
                   {"scale", "scale_exp"},
                   {"flushed", "flushed"}});
  }

  // Numbers over their scale: exponents less its own.
  Term align(const Term& x, const Term& peak) {
    const BlockScaling scaling = scaling_of(q_);
    scale(peak, scaling);
    out_.stage("align");
    return stages_.rescaled("quotient", x, "scale_exp", scaling.top, "flushed");
  }

  void deliver(const Term& quotient) {
    out_.stage("normalise");
    const Rounding rm = options_.rounding_port ? Rounding{} : q_.rounding;
    if (!options_.rounding_port)
      out_.wire({"rm", 4}, fmt::format("4'd{}", rounding_code(rm).number));
    stages_.deliver("out", quotient, {.fmt = q_.element(), .rm = rm},
                    {.rm = "rm", .random = {"1'b0", 1}, .stages = ""});
    out_.stage("result");
    const int width = q_.to.element.width();
    out_.assign("y", fmt::format("special ? {}'d0 : out_code", width * lanes_));
    out_.assign("scale", "scale_code");
    out_.assign("flags", fmt::format("special ? 5'd16 : {}", any_flags()));
  }
  std::string any_flags() const {
    std::string all;
    for (const std::string& flags : {std::string("out_flags"), lost_before()})
      for (int i = 0; i < lanes_ && !flags.empty(); ++i)
        all += fmt::format("{}{}[{} +: 5]", all.empty() ? "" : " | ", flags, 5 * i);
    return all;
  }
  std::string lost_before() const {
    return q_.to.power_of_two() ? std::string() : division_.flags();
  }

  const BlockQuantisation& q_;
  const RtlOptions& options_;
  Netlist& out_;
  Stages stages_;
  int lanes_;
  BlockDivision division_;
};

TopModule top_module(const BlockQuantisation& q, const RtlOptions& options, std::string_view name) {
  check(q);
  require_rounded(q.to.element);
  TopModule top{.name = name,
                .comment = {},
                .ports = rtl_ports(q, options),
                .body = {},
                .pipeline = options.pipeline};
  top.comment = {
      fmt::format("{}: {} numbers of {}, rounding {}.", to_string(q), q.numbers(),
                  to_string(q.from), options.rounding_port ? "by port rm" : to_string(q.rounding)),
      fmt::format("{} flags: NV DZ OF UF NX, of any element.", clocking(top))};
  top.body = [&](Netlist& out) { QuantiserBody(q, options, out).write(); };
  return top;
}

}  // namespace

std::vector<Port> rtl_ports(const BlockQuantisation& q, const RtlOptions& options) {
  const int lanes = static_cast<int>(q.numbers());
  std::vector<Port> all{{"input ", {"a", q.from.width(), lanes}}};
  if (q.tensor_scale_port) all.push_back({"input ", {"b", binary32.width()}});
  if (options.rounding_port) all.push_back({"input ", {"rm", 4}});
  all.push_back({"output", {"y", q.to.element.width(), lanes}});
  all.push_back({"output", {"scale", q.to.scale.width()}});
  all.push_back({"output", {"flags", 5}});
  return all;
}

std::vector<RtlFile> rtl(const BlockQuantisation& q, std::string_view name,
                         const RtlOptions& options) {
  check_identifier(name);
  return rtl_files(top_module(q, options, name));
}

std::vector<std::string> rtl_stages(const BlockQuantisation& q, const RtlOptions& options) {
  return pipeline_stages(top_module(q, options, "stages"));
}

Timing rtl_timing(const BlockQuantisation& q, const RtlOptions& options) {
  return timing(top_module(q, options, "timing"));
}

std::string rtl_taps(const BlockQuantisation& q, std::string_view name, const RtlOptions& options) {
  return taps(top_module(q, options, name));
}

std::vector<RandomPort> random_ports(const BlockQuantisation&, const RtlOptions&) { return {}; }

}  // namespace widthwise::hdl
