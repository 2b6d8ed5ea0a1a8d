#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "rtl_files.hpp"
#include "stages.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

constexpr Format sum_format = fixed_format(32, 0, true);
constexpr int product_bits = 65, room = 40;  // digits above it: what is moved there is clamped
constexpr int width = product_bits + room + 2;

enum class Ties { to_even, up, away };

// Writes the body of a sum's requantisation.
class Body {
 public:
  Body(const SumRequantisation& s, Netlist& out) : s_(s), out_(out), stages_(out) {}

  void write() {
    pack(s_.variant == "fp32" ? by_floats() : by_integers());
    out_.stage("result");
    out_.assign("y", "packed_code");
    out_.assign("flags", "{2'd0, clamped, 1'b0, clamped}");
  }

 private:
  // The product by an integer, cut in one step or two.
  std::string by_integers() {
    const SumScale m = s_.scale();
    const Requantisation how = s_.rule().how;
    const bool once = how == Requantisation::rational;
    const int left = std::max(once ? m.exponent : m.exponent + 31, 0);
    out_.stage("product");
    out_.signed_wire({"product", product_bits});
    out_.instance("ww_scale_sum", "scale_sum",
                  {{"LEFT", decimal(once ? 0 : left)}, {"M", fmt::format("32'd{}", m.significand)}},
                  {{"sum", "a"}, {"p", "product"}});
    out_.stage("round");
    out_.signed_wire({"moved", width});
    out_.assign("moved",
                fmt::format("{{{{{}{{product[{}]}}}}, product}} << {}", width - product_bits,
                            product_bits - 1, once ? std::min(left, room) : 0));
    if (!once)
      return cut("rounded", cut("high", "moved", 31, Ties::up), std::max(-(m.exponent + 31), 0),
                 how == Requantisation::ruy ? Ties::up : Ties::away);
    return cut("rounded", "moved", std::min(std::max(-m.exponent, 0), width - 2),
               s_.rule().ties_up ? Ties::up : Ties::to_even);
  }

  std::string cut(const std::string& name, const std::string& x, int digits, Ties ties) {
    out_.signed_wire({name, width});
    out_.instance(
        "ww_round_shift", name + "_stage",
        {{"W", decimal(width)}, {"K", decimal(digits)}, {"TIES", decimal(static_cast<int>(ties))}},
        {{"x", x}, {"y", name}});
    return name;
  }

  // The sum and its product in binary32, and the integer nearest that.
  std::string by_floats() {
    const auto bits = std::bit_cast<std::uint32_t>(s_.scale().real);
    out_.stage("unpack");
    out_.wire({"rm", 4}, "4'd0");
    const Term sum = stages_.unpack("a", "a", {.fmt = sum_format});
    out_.stage("sum_round");
    deliver("single", sum, binary32);
    out_.stage("product");
    const Term single = stages_.unpack("sum", "single_code", {.fmt = binary32});
    out_.wire({"multiplier_code", 32}, fmt::format("32'h{:08x}", bits));
    const Term by = stages_.unpack("multiplier", "multiplier_code", {.fmt = binary32});
    const Term product = stages_.product("product", single, by);
    out_.stage("product_round");
    deliver("scaled", product, binary32);
    out_.stage("round");
    deliver("whole", stages_.unpack("quotient", "scaled_code", {.fmt = binary32}), sum_format);
    out_.signed_wire({"rounded", width});
    out_.assign("rounded", fmt::format("{{{{{}{{whole_code[31]}}}}, whole_code}}", width - 32));
    return "rounded";
  }
  void deliver(const std::string& name, const Term& t, const Format& f) {
    stages_.deliver(name, t, {.fmt = f, .rm = {}}, {.rm = "rm", .random = {"1'b0", 1}});
  }

  void pack(const std::string& x) {
    out_.stage("pack");
    const auto constant = [](std::int64_t v) {
      return fmt::format("{}{}'sd{}", v < 0 ? "-" : "", width, v < 0 ? -v : v);
    };
    const Format f = s_.code();
    out_.wire({"packed_code", f.width()});
    out_.wire({"clamped", 1});
    out_.instance("ww_clamp", "clamp",
                  {{"W", decimal(width)},
                   {"CODE", decimal(f.width())},
                   {"ZERO", constant(s_.zero_point)},
                   {"LEAST", constant(s_.qmin)},
                   {"MOST", constant(s_.qmax)}},
                  {{"x", x}, {"code", "packed_code"}, {"clamped", "clamped"}});
  }

  const SumRequantisation& s_;
  Netlist& out_;
  Stages stages_;
};

void check_options(const SumRequantisation& s, const RtlOptions& options) {
  check(s);
  if (options.rounding_port)
    throw std::invalid_argument(fmt::format(
        "options.rounding_port of {}: the variant says how it rounds; leave it out", to_string(s)));
}

TopModule top_module(const SumRequantisation& s, const RtlOptions& options, std::string_view name) {
  check_options(s, options);
  TopModule top{.name = name,
                .comment = {},
                .ports = rtl_ports(s, options),
                .body = {},
                .pipeline = options.pipeline};
  top.comment = {fmt::format("{}: a sum of 32 bits to {}.", to_string(s), to_string(s.code())),
                 fmt::format("{} flags: OF and NX of a code that was clamped.", clocking(top))};
  top.body = [&](Netlist& out) { Body(s, out).write(); };
  return top;
}

}  // namespace

std::vector<Port> rtl_ports(const SumRequantisation& s, const RtlOptions&) {
  return {{"input ", {"a", 32}}, {"output", {"y", s.code().width()}}, {"output", {"flags", 5}}};
}

std::vector<RtlFile> rtl(const SumRequantisation& s, std::string_view name,
                         const RtlOptions& options) {
  check_identifier(name);
  return rtl_files(top_module(s, options, name));
}

std::vector<std::string> rtl_stages(const SumRequantisation& s, const RtlOptions& options) {
  return pipeline_stages(top_module(s, options, "stages"));
}

Timing rtl_timing(const SumRequantisation& s, const RtlOptions& options) {
  return timing(top_module(s, options, "timing"));
}

std::string rtl_taps(const SumRequantisation& s, std::string_view name, const RtlOptions& options) {
  return taps(top_module(s, options, name));
}

std::vector<RandomPort> random_ports(const SumRequantisation&, const RtlOptions&) { return {}; }

}  // namespace widthwise::hdl
