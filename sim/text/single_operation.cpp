#include "widthwise/sim/single_operation.hpp"

#include <fmt/core.h>

#include "arguments.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

constexpr std::string_view operand_keys[] = {"a", "b", "c"};

std::string_view name_of(Operation op) { return op == Operation::fma ? "muladd" : to_string(op); }

// The name that a text has in front of its first bracket.
std::string_view name_ahead(const Scanner& in) {
  const std::string_view name = in.ahead("(");
  return name == in.ahead("") ? std::string_view{} : name;
}

std::optional<Fault> fault(const SingleOperation& s) {
  for (std::size_t i = 0; i < s.arity(); ++i)
    if (auto wrong = fault(s.operands[i]))
      return Fault{std::string(operand_keys[i]) + "." + wrong->field, wrong->message};
  if (auto wrong = fault(s.to)) return Fault{"out." + wrong->field, wrong->message};
  if (auto wrong = fault(s.rounding)) return Fault{"out." + wrong->field, wrong->message};
  if (keeps_format(s.op) && s.to != s.operands[0])
    return Fault{"out", fmt::format("{} gives codes of a's format, {}, not of {}; leave out= away",
                                    name_of(s.op), to_string(s.operands[0]), to_string(s.to))};
  return {};
}

}  // namespace

SingleOperation parse_single_operation(std::string_view text) {
  Scanner in("operation", text);
  const std::string_view name = name_ahead(in);
  const auto op = find_operation(name);
  if (!op) in.fail(in.at(), "wanted an operation and a format, as in add(e5m10)");
  in.skip(name.size());
  Arguments arguments(in, name);

  SingleOperation s{*op, {}, {}};
  s.operands.fill(arguments.format("a", arguments.first()));
  for (std::size_t i = 1; i < s.arity(); ++i)
    s.operands[i] = arguments.format(operand_keys[i], s.operands[0]);
  const Round out = arguments.rounded("out", s.operands[0]);
  s.to = out.fmt;
  s.rounding = out.rm;
  s.tininess = arguments.tininess("tininess");
  arguments.refuse_rest();
  if (const auto wrong = fault(s)) arguments.fail(wrong->field, wrong->message);
  return s;
}

std::string to_string(const SingleOperation& s) {
  std::string text = fmt::format("{}({}", name_of(s.op), to_string(s.operands[0]));
  for (std::size_t i = 1; i < s.arity(); ++i)
    if (s.operands[i] != s.operands[0])
      text += fmt::format(", {}={}", operand_keys[i], to_string(s.operands[i]));
  const bool rounds_otherwise = s.rounding != Rounding{};
  if (s.to != s.operands[0] || rounds_otherwise) text += ", out=" + to_string(s.to);
  if (rounds_otherwise) text += ":" + to_string(s.rounding);
  if (s.tininess != Tininess::after_rounding) text += ", tininess=" + to_string(s.tininess);
  return text + ")";
}

void check(const SingleOperation& s) {
  if (const auto wrong = fault(s))
    throw std::invalid_argument(
        fmt::format("{}: {}: {}", name_of(s.op), wrong->field, wrong->message));
}

Design parse_design(std::string_view text) {
  const Scanner in("design", text);
  const std::string_view name = name_ahead(in);
  if (name != "fma") {
    if (find_operation(name)) return parse_single_operation(text);
    return parse_unit(text);
  }
  try {
    return parse_unit(text);
  } catch (const ParseError& e) {
    throw ParseError(fmt::format("{}; this is the unit, the operation is muladd", e.what()),
                     e.line(), e.column());
  }
}

std::string to_string(const Design& d) {
  return std::visit([](const auto& design) { return to_string(design); }, d);
}

}  // namespace widthwise
