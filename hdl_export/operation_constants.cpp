#include <fmt/core.h>

#include "format_constants.hpp"
#include "shared_constants.hpp"
#include "sum_constants.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/rounder.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

std::string description(const SingleOperation& s) {
  std::string text(to_string(s.op));
  for (std::size_t i = 0; i < s.arity(); ++i)
    text += fmt::format("{} {} {}", i ? "," : " of", "abc"[i], to_string(s.operands[i]));
  return fmt::format("{}; result {}", text, to_string(s.to));
}

// The unit of one step that has the operation's exact product in it.
Unit around_product(const SingleOperation& s) {
  return {.a = {.fmt = s.operands[0]},
          .b = {.fmt = s.operands[1]},
          .c = {.fmt = s.operands[2]},
          .lanes = 1,
          .c_level = CLevel::group,
          .out = {.fmt = s.to}};
}

void add_operation(Draft& draft, const SingleOperation& s) {
  Entries x(draft, "operation");
  x.text("OPERATION", std::string(to_string(s.op)));
  x.integer("NUM_OPERANDS", s.arity());
  x.text("NAN_RESULT", to_string(s.nan));
}

void add_operation_codes(Draft& draft, const SingleOperation& s) {
  std::vector<Format> formats(s.read().begin(), s.read().end());
  formats.push_back(s.to);
  add_overflow_codes(draft, formats);
  add_codes<Flush>(draft, "codes: subnormal numbers");
  add_codes<StochasticVariant>(draft, "codes: variants of stochastic rounding");
  add_rounding_codes(draft);
}

void add_operands(Draft& draft, const SingleOperation& s) {
  for (std::size_t i = 0; i < s.arity(); ++i) {
    const char letter = "ABC"[i];
    Entries x(draft, fmt::format("operand {}: {}", letter, to_string(s.operands[i])),
              fmt::format("{}_", letter));
    add_operand(x, {.fmt = s.operands[i]});
  }
}

Ports ports(const SingleOperation& s) {
  const auto flushed = [](const Format& f) { return f.daz; };
  return {.rm = s.rounding,
          .tininess = s.tininess,
          .flushes_in = std::ranges::any_of(s.read(), flushed),
          .flushes_out = s.to.ftz};
}

}  // namespace

ConstantTable operation_constants(const SingleOperation& s, std::string_view name,
                                  const Timing& timing) {
  check_identifier(name);
  check(s);
  Draft draft{{}, rm_width({&s.rounding, 1})};
  add_identity(
      draft, {name, description(s), to_string(s), model_hash(s), "FNV-1a of the operation's text"});
  add_operation(draft, s);
  add_operation_codes(draft, s);
  add_operands(draft, s);
  if (s.op == Operation::multiply || s.op == Operation::fma) {
    const Unit around = around_product(s);
    add_product(draft, around, derive_widths(around));
  }
  Entries y(draft, fmt::format("result: {}", to_string(s.to)), "Y_");
  add_round(y, {.fmt = s.to, .rm = s.rounding, .tininess = s.tininess}, s.nan);
  add_ports(draft, ports(s), timing);
  return std::move(draft.table);
}

std::uint64_t model_hash(const SingleOperation& s) { return text_hash(to_string(s)); }

ConstantTable design_constants(const Design& design, std::string_view name, const Timing& timing) {
  if (const auto* unit = std::get_if<Unit>(&design)) return unit_constants(*unit, name, timing);
  if (const auto* q = std::get_if<BlockQuantisation>(&design))
    return block_constants(*q, name, timing);
  if (const auto* s = std::get_if<SumRequantisation>(&design))
    return requantise_constants(*s, name, timing);
  return operation_constants(std::get<SingleOperation>(design), name, timing);
}

std::uint64_t model_hash(const Design& design) {
  return std::visit([](const auto& d) { return model_hash(d); }, design);
}

}  // namespace widthwise::hdl
