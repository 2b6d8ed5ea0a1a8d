#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "carried_nan.hpp"
#include "format_constants.hpp"
#include "random_words.hpp"
#include "stages.hpp"
#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

const std::vector<std::string> operand_names{"a", "b", "c"};

void check(const SingleOperation& s, const RtlOptions& options) {
  widthwise::check(s);
  std::ranges::for_each(s.read(), require_known);
  require_rounded(s.to);
  if (options.generator && (options.rounding_port || !s.rounding.stochastic()))
    throw std::invalid_argument(fmt::format(
        "rtl: options.generator is set and the rounding is {}; leave it out, or round by sr",
        options.rounding_port ? "a port" : to_string(s.rounding)));
  switch (s.op) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::fma:
    case Operation::convert: return;
    default:
      throw std::invalid_argument(fmt::format(
          "rtl: {} is not built; add, subtract, multiply, fma and convert are", to_string(s.op)));
  }
}

// Writes an operation's body.
class OperationBody {
 public:
  OperationBody(const SingleOperation& s, const RtlOptions& options, Netlist& out)
      : s_(s), options_(options), out_(out), stages_(out), carried_(s, out) {}

  void write() {
    out_.stage("unpack");
    std::vector<Term> x;
    for (std::size_t i = 0; i < s_.arity(); ++i) {
      const bool negate = s_.op == Operation::subtract && i == 1;
      x.push_back(
          stages_.unpack(operand_names[i], operand_names[i], {.fmt = s_.operands[i]}, 1, negate));
      raise(operand_names[i] + "_signaling");
    }
    if (carried_.carries())
      carried_.read({operand_names.begin(), operand_names.begin() + static_cast<int>(s_.arity())});
    deliver(exact(x));
  }

 private:
  Term exact(const std::vector<Term>& x) {
    switch (s_.op) {
      case Operation::multiply: return product("exact", x[0], x[1]);
      case Operation::fma: return sum(product("product", x[0], x[1]), x[2]);
      case Operation::convert: return x[0];
      default: return sum(x[0], x[1]);
    }
  }
  Term product(const std::string& name, const Term& a, const Term& b) {
    out_.stage(name);
    if (s_.op == Operation::fma && !silent_beside_nan()) made_ = name + "_created";
    raise(silent_beside_nan() ? fmt::format("({}_created & ~c_nan)", name) : name + "_created");
    return stages_.product(name, a, b);
  }
  Term sum(const Term& x, const Term& y) {
    out_.stage("exact_align");
    raise("exact_created");
    mixed_ = "exact_mixed";
    const Round round{.fmt = s_.to, .rm = rounding()};
    const Grid grid = grid_of_two(x, y, reach_of(round));
    return stages_.sum("exact", stages_.joined("terms", x, y), 1, grid, {.staged = true});
  }
  void deliver(const Term& t) {
    out_.stage("normalise");
    const Rounding rm = rounding();
    if (!options_.rounding_port)
      out_.wire({"rm", 4}, fmt::format("4'd{}", rounding_code(rm).number));
    const Bus random = rm.random_bits ? Bus{"random", rm.random_bits} : Bus{"1'b0", 1};
    stages_.deliver("out", t, {.fmt = s_.to, .rm = rm, .tininess = s_.tininess},
                    {.rm = "rm",
                     .random = random,
                     .mixed = mixed_,
                     .invalid = invalid_,
                     .made = s_.nan,
                     .stages = ""});
    out_.stage("result");
    out_.assign("y", carried_.carries() ? with_carried("out_code") : "out_code");
    out_.assign("flags", "out_flags");
  }

  // y, and what a trace calls the code.
  std::string with_carried(const std::string& code) {
    RoundingTap& tap = out_.taps().roundings.back();
    tap.code = carried_.chosen(code, made_);
    tap.pack = out_.reading();
    return tap.code;
  }
  // x86's fma takes 0 * infinity beside a NaN for that NaN (docs/semantics.md, N3).
  bool silent_beside_nan() const { return s_.op == Operation::fma && s_.nan == NanResult::x86; }

  // A port's modes take no random bits.
  Rounding rounding() const { return options_.rounding_port ? Rounding{} : s_.rounding; }
  void raise(const std::string& when) { invalid_ += (invalid_.empty() ? "" : " | ") + when; }

  const SingleOperation& s_;
  const RtlOptions& options_;
  Netlist& out_;
  Stages stages_;
  CarriedNan carried_;
  std::string invalid_, made_, mixed_ = "1'b0";
};

TopModule top_module(const SingleOperation& s, const RtlOptions& options, std::string_view name) {
  check(s, options);
  TopModule top{.name = name,
                .comment = {},
                .ports = rtl_ports(s, options),
                .body = {},
                .pipeline = options.pipeline};
  std::string formats;
  for (std::size_t i = 0; i < s.arity(); ++i)
    formats += fmt::format("{} {}, ", operand_names[i], to_string(s.operands[i]));
  top.comment = {
      fmt::format("{}: {}result {}, rounding {}, tininess: {}, NaN: {}.", to_string(s.op), formats,
                  to_string(s.to), options.rounding_port ? "by port rm" : to_string(s.rounding),
                  to_string(s.tininess), to_string(s.nan)),
      fmt::format("{} flags: NV DZ OF UF NX.", clocking(top))};
  top.body = [&](Netlist& out) { OperationBody(s, options, out).write(); };
  draw_words(top, random_ports(s, options), options, rtl_ports(s, without_generator(options)));
  return top;
}

}  // namespace

std::vector<Port> rtl_ports(const SingleOperation& s, const RtlOptions& options) {
  std::vector<Port> all;
  for (std::size_t i = 0; i < s.arity(); ++i)
    all.push_back({"input ", {operand_names[i], s.operands[i].width()}});
  if (options.rounding_port) all.push_back({"input ", {"rm", 4}});
  for (Port& port : random_inputs(random_ports(s, options), options.generator))
    all.push_back(std::move(port));
  all.push_back({"output", {"y", s.to.width()}});
  all.push_back({"output", {"flags", 5}});
  return all;
}

std::vector<RtlFile> rtl(const SingleOperation& s, std::string_view name,
                         const RtlOptions& options) {
  check_identifier(name);
  return rtl_files(top_module(s, options, name));
}

std::vector<std::string> rtl_stages(const SingleOperation& s, const RtlOptions& options) {
  return pipeline_stages(top_module(s, options, "stages"));
}

Timing rtl_timing(const SingleOperation& s, const RtlOptions& options) {
  return timing(top_module(s, options, "timing"));
}

std::string rtl_taps(const SingleOperation& s, std::string_view name, const RtlOptions& options) {
  return taps(top_module(s, options, name));
}

}  // namespace widthwise::hdl
