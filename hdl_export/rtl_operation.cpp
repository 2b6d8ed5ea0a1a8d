#include <fmt/core.h>

#include <stdexcept>

#include "random_words.hpp"
#include "stages.hpp"
#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

const std::vector<std::string> operand_names{"a", "b", "c"};

void check(const RtlOperation& op) {
  const auto wanted = static_cast<std::size_t>(arity(op.operation));
  if (op.operands.size() != wanted)
    throw std::invalid_argument(fmt::format("rtl: {} takes {} operands, {} formats were given",
                                            to_string(op.operation), wanted, op.operands.size()));
  for (const Format& f : op.operands) widthwise::check(f);
  widthwise::check(op.result);
  if (op.generator && !(op.rounding && op.rounding->stochastic()))
    throw std::invalid_argument(
        fmt::format("rtl: generator is set and the rounding is {}; leave it out, or round by sr",
                    op.rounding ? to_string(*op.rounding) : "a port"));
  switch (op.operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::fma:
    case Operation::convert: return;
    default:
      throw std::invalid_argument(
          fmt::format("rtl: {} is not built; add, subtract, multiply, fma and convert are",
                      to_string(op.operation)));
  }
}

// Writes an operation's body.
class Body {
 public:
  Body(const RtlOperation& op, Netlist& out) : op_(op), out_(out), stages_(out, op.tininess) {}

  void write() {
    if (op_.generator) generate_words(out_, random_ports(op_));
    out_.stage("unpack");
    std::vector<Term> x;
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      const bool negate = op_.operation == Operation::subtract && i == 1;
      x.push_back(
          stages_.unpack(operand_names[i], operand_names[i], {.fmt = op_.operands[i]}, 1, negate));
      raise(operand_names[i] + "_signaling");
    }
    deliver(exact(x));
  }

 private:
  Term exact(const std::vector<Term>& x) {
    switch (op_.operation) {
      case Operation::multiply: return product("exact", x[0], x[1]);
      case Operation::fma: return sum(product("product", x[0], x[1]), x[2]);
      case Operation::convert: return x[0];
      default: return sum(x[0], x[1]);
    }
  }
  Term product(const std::string& name, const Term& a, const Term& b) {
    out_.stage(name);
    raise(name + "_created");
    return stages_.product(name, a, b);
  }
  Term sum(const Term& x, const Term& y) {
    out_.stage("exact_align");
    raise("exact_created");
    mixed_ = "exact_mixed";
    const Round round{.fmt = op_.result, .rm = op_.rounding.value_or(Rounding{})};
    const Grid grid = grid_of_two(x, y, reach_of(round));
    return stages_.sum("exact", stages_.joined("terms", x, y), 1, grid, {.staged = true});
  }
  void deliver(const Term& t) {
    out_.stage("normalise");
    const Rounding rm = op_.rounding.value_or(Rounding{});
    if (op_.rounding) out_.wire({"rm", 4}, fmt::format("4'd{}", rounding_code(rm).number));
    const Bus random = random_bits() ? Bus{"random", random_bits()} : Bus{"1'b0", 1};
    stages_.deliver(
        "out", t, {.fmt = op_.result, .rm = rm},
        {.rm = "rm", .random = random, .mixed = mixed_, .invalid = invalid_, .stages = ""});
    out_.stage("result");
    out_.assign("y", "out_code");
    out_.assign("flags", "out_flags");
  }

  int random_bits() const { return op_.rounding ? op_.rounding->random_bits : 0; }
  void raise(const std::string& when) { invalid_ += (invalid_.empty() ? "" : " | ") + when; }

  const RtlOperation& op_;
  Netlist& out_;
  Stages stages_;
  std::string invalid_, mixed_ = "1'b0";
};

TopModule top_module(const RtlOperation& op, std::string_view name) {
  check(op);
  TopModule top{
      .name = name, .comment = {}, .ports = rtl_ports(op), .body = {}, .pipeline = op.pipeline};
  std::string formats;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    formats += fmt::format("{} {}, ", operand_names[i], to_string(op.operands[i]));
  top.comment = {
      fmt::format("{}: {}result {}, rounding {}, tininess {} rounding.", to_string(op.operation),
                  formats, to_string(op.result),
                  op.rounding ? to_string(*op.rounding) : "by port rm", to_string(op.tininess)),
      fmt::format("{} flags: NV DZ OF UF NX.", clocking(top))};
  top.body = [&](Netlist& out) { Body(op, out).write(); };
  return top;
}

}  // namespace

std::vector<Port> rtl_ports(const RtlOperation& op) {
  std::vector<Port> all;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    all.push_back({"input ", {operand_names[i], op.operands[i].width()}});
  if (!op.rounding) all.push_back({"input ", {"rm", 4}});
  for (Port& port : random_inputs(random_ports(op), op.generator)) all.push_back(std::move(port));
  all.push_back({"output", {"y", op.result.width()}});
  all.push_back({"output", {"flags", 5}});
  return all;
}

std::vector<RtlFile> rtl(const RtlOperation& op, std::string_view name) {
  check_identifier(name);
  return rtl_files(top_module(op, name));
}

std::vector<std::string> rtl_stages(const RtlOperation& op) {
  return pipeline_stages(top_module(op, "stages"));
}

Timing rtl_timing(const RtlOperation& op) { return timing(top_module(op, "timing")); }

}  // namespace widthwise::hdl
