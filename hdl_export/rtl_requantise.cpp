#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "rtl_files.hpp"
#include "stages.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

constexpr int product_bits = 65, room = 40;  // digits above it: what is moved there is clamped
constexpr int width = product_bits + room + 2;
constexpr int most_right = width - 2;

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
    const Requantisation how = s_.rule().how;
    const bool once = how == Requantisation::rational;
    out_.stage("product");
    multiplier(once);
    out_.signed_wire({"product", product_bits});
    out_.instance("ww_scale_sum", "scale_sum", {},
                  {{"sum", "a"}, {"left", once ? "6'd0" : "left"}, {"m", "m"}, {"p", "product"}});
    out_.stage("round");
    out_.signed_wire({"moved", width});
    out_.assign("moved", fmt::format("{} << {}", extended("product", product_bits, true),
                                     once ? "left" : "6'd0"));
    if (!once)
      return cut("rounded", cut("high", "moved", "7'd31", Ties::up), "right",
                 how == Requantisation::ruy ? Ties::up : Ties::away);
    return cut("rounded", "moved", "right", s_.rule().ties_up ? Ties::up : Ties::to_even);
  }

  // Its integer on a wire m, how far left the sum goes, or the product of one step, and how many
  // digits the last cut takes.
  void multiplier(bool once) {
    if (!s_.multiplier_port) return constant_multiplier(once);
    s_.takes_shift() ? shifted_multiplier(once) : binary32_multiplier();
  }

  void constant_multiplier(bool once) {
    const SumScale m = s_.scale();
    const int h = once ? m.exponent : m.exponent + 31;
    out_.wire({"m", 32}, fmt::format("32'd{}", m.significand));
    out_.wire({"left", 6}, fmt::format("6'd{}", std::clamp(h, 0, room)));
    out_.wire({"right", 7}, fmt::format("7'd{}", std::clamp(-h, 0, most_right)));
  }

  // Where one step cuts, it takes 31 - h; of two the second takes -h.
  void shifted_multiplier(bool once) {
    out_.wire({"m", 32}, "b[31:0]");
    out_.wire({"left", 6}, once ? "6'd0" : "b[37] ? 6'd0 : b[37:32]");
    out_.wire({"right", 7},
              once ? "7'd31 - {b[37], b[37:32]}" : "b[37] ? 7'd0 - {b[37], b[37:32]} : 7'd0");
  }

  // Fields from 150 on are those of integers.
  void binary32_multiplier() {
    constexpr int whole = 150;
    out_.wire({"m", 32}, "{8'd0, |b[30:23], b[22:0]}");
    out_.wire({"above", 8}, fmt::format("b[30:23] - 8'd{}", whole));
    out_.wire({"below", 8}, fmt::format("8'd{} - b[30:23]", whole));
    out_.wire({"left", 6}, fmt::format("b[30:23] < 8'd{0} ? 6'd0 : above > 8'd{1} ? 6'd{1} : "
                                       "above[5:0]",
                                       whole, room));
    out_.wire({"right", 7}, fmt::format("b[30:23] >= 8'd{0} ? 7'd0 : below > 8'd{1} ? 7'd{1} : "
                                        "below[6:0]",
                                        whole, most_right));
  }

  std::string cut(const std::string& name, const std::string& x, const std::string& digits,
                  Ties ties) {
    out_.signed_wire({name, width});
    out_.instance("ww_round_shift", name + "_stage",
                  {{"W", decimal(width)}, {"TIES", decimal(static_cast<int>(ties))}},
                  {{"x", x}, {"k", digits}, {"y", name}});
    return name;
  }

  static std::string extended(const std::string& x, int bits, bool is_signed) {
    const std::string top = is_signed ? fmt::format("{}[{}]", x, bits - 1) : "1'b0";
    return fmt::format("{{{{{}{{{}}}}}, {}}}", width - bits, top, x);
  }

  // The sum and its product in binary32, and the integer nearest that.
  std::string by_floats() {
    out_.stage("unpack");
    out_.wire({"rm", 4}, "4'd0");
    const Term sum = stages_.unpack("a", "a", {.fmt = sum_format});
    out_.stage("sum_round");
    deliver("single", sum, binary32);
    out_.stage("product");
    const Term single = stages_.unpack("sum", "single_code", {.fmt = binary32});
    const Term product = stages_.product("product", single, float_multiplier());
    out_.stage("product_round");
    deliver("scaled", product, binary32);
    out_.stage("round");
    deliver("whole", stages_.unpack("quotient", "scaled_code", {.fmt = binary32}), sum_format);
    out_.signed_wire({"rounded", width});
    out_.assign("rounded", extended("whole_code", 32, true));
    return "rounded";
  }
  Term float_multiplier() {
    if (s_.multiplier_port)
      return stages_.unpack("multiplier", "b", {.fmt = s_.multiplier_format()});
    const auto bits = std::bit_cast<std::uint32_t>(s_.scale().real);
    out_.wire({"multiplier_code", 32}, fmt::format("32'h{:08x}", bits));
    return stages_.unpack("multiplier", "multiplier_code", {.fmt = binary32});
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
                   {"LEAST", constant(s_.qmin)},
                   {"MOST", constant(s_.qmax)}},
                  {{"x", x},
                   {"zero", s_.zero_point_port ? extended("c", f.width(), f.is_signed())
                                               : constant(s_.zero_point)},
                   {"code", "packed_code"},
                   {"clamped", "clamped"}});
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
  std::vector<Port> all{{"input ", {"a", 32}}};
  if (s.multiplier_port) all.push_back({"input ", {"b", s.multiplier_format().width()}});
  if (s.zero_point_port) all.push_back({"input ", {"c", s.code().width()}});
  all.push_back({"output", {"y", s.code().width()}});
  all.push_back({"output", {"flags", 5}});
  return all;
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
