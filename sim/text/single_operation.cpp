#include "widthwise/sim/single_operation.hpp"

#include <fmt/core.h>

#include "arguments.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

constexpr Parameter operand_keys[] = {Parameter::a, Parameter::b, Parameter::c};

// The name that a text has in front of its first bracket.
std::string_view name_ahead(const Scanner& in) {
  const std::string_view name = in.ahead("(");
  return name == in.ahead("") ? std::string_view{} : name;
}

std::optional<Fault> fault(const SingleOperation& s) {
  for (std::size_t i = 0; i < s.arity(); ++i)
    if (auto wrong = fault(s.operands[i]))
      return Fault{std::string(word(operand_keys[i])) + "." + wrong->field, wrong->message};
  if (auto wrong = fault(s.to)) return Fault{"out." + wrong->field, wrong->message};
  if (auto wrong = fault(s.rounding)) return Fault{"out." + wrong->field, wrong->message};
  if (keeps_format(s.op) && s.to != s.operands[0])
    return Fault{"out", fmt::format("{} gives codes of a's format, {}, not of {}; leave out= away",
                                    to_string(s.op), to_string(s.operands[0]), to_string(s.to))};
  if (keeps_format(s.op) && s.nan != NanResult::canonical)
    return Fault{"nan", fmt::format("{} makes no NaN; leave nan= away", to_string(s.op))};
  return {};
}

}  // namespace

SingleOperation parse_single_operation(std::string_view text) {
  Scanner in("operation", text);
  const std::string_view name = name_ahead(in);
  const auto op = find_operation(name);
  if (!op) in.fail(in.at(), "wanted an operation and a format, as in add(e5m10)");
  in.skip(name.size());
  Arguments arguments(in, name, Parameter::out);

  SingleOperation s{*op, {}, {}};
  s.operands.fill(arguments.format(Parameter::a, arguments.first()));
  for (std::size_t i = 1; i < s.arity(); ++i)
    s.operands[i] = arguments.format(operand_keys[i], s.operands[0]);
  const Round out = arguments.rounded(Parameter::out, s.operands[0]);
  s.to = out.fmt;
  s.rounding = out.rm;
  s.tininess = arguments.tininess(Parameter::tininess);
  s.nan = arguments.nan(Parameter::nan);
  arguments.refuse_rest();
  if (const auto wrong = fault(s)) arguments.fail(wrong->field, wrong->message);
  return s;
}

std::string to_string(const SingleOperation& s) {
  std::string text = fmt::format("{}({}", to_string(s.op), to_string(s.operands[0]));
  for (std::size_t i = 1; i < s.arity(); ++i)
    if (s.operands[i] != s.operands[0])
      text += fmt::format(", {}={}", word(operand_keys[i]), to_string(s.operands[i]));
  const bool rounds_otherwise = s.rounding != Rounding{};
  if (s.to != s.operands[0] || rounds_otherwise) text += ", out=" + to_string(s.to);
  if (rounds_otherwise) text += ":" + to_string(s.rounding);
  if (s.tininess != Tininess::after_rounding) text += ", tininess=" + to_string(s.tininess);
  if (s.nan != NanResult::canonical) text += ", nan=" + to_string(s.nan);
  return text + ")";
}

void check(const SingleOperation& s) {
  if (const auto wrong = fault(s))
    throw std::invalid_argument(
        fmt::format("{}: {}: {}", to_string(s.op), wrong->field, said(wrong->message)));
}

namespace {

// fma(e5m10) is the operation, and the unit where a key says so that a unit alone has: sum=, final=
// (T7). Of two errors the one counts that was met later in the text.
Design read_fma(std::string_view text) {
  try {
    return parse_single_operation(text);
  } catch (const ParseError& no_operation) {
    try {
      return parse_unit(text);
    } catch (const ParseError& no_unit) {
      const bool further = no_unit.column() > no_operation.column();
      throw ParseError(fmt::format("{}; fma is an operation here, and with sum= a unit",
                                   further ? no_unit.what() : no_operation.what()),
                       1, further ? no_unit.column() : no_operation.column());
    }
  }
}

// The unit's text, which no operation has.
std::string design_text(const Unit& u) {
  std::string text = to_string(u);
  if (reads(text, parse_single_operation))
    text.insert(text.size() - 1, ", sum=" + to_string(u.out.fmt));
  return text;
}
std::string design_text(const SingleOperation& s) { return to_string(s); }
std::string design_text(const BlockQuantisation& q) { return to_string(q); }
std::string design_text(const SumRequantisation& s) { return to_string(s); }

}  // namespace

Design parse_design(std::string_view text) {
  const Scanner in("design", text);
  const std::string_view name = name_ahead(in);
  if (name == "fma") return read_fma(text);
  if (name == "blocks") return parse_block_quantisation(text);
  if (name == "requantize") return parse_sum_requantisation(text);
  if (find_operation(name)) return parse_single_operation(text);
  return parse_unit(text);
}

std::string to_string(const Design& d) {
  return std::visit([](const auto& design) { return design_text(design); }, d);
}

}  // namespace widthwise
