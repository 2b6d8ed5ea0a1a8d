#include "task.hpp"

#include <fmt/format.h>

#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise {
namespace {

constexpr IntegerType integer_types[] = {{32, true}, {32, false}, {64, true}, {64, false}};

bool is_integer(const NumberType& t) { return std::holds_alternative<IntegerType>(t); }

}  // namespace

NumberType parse_number_type(std::string_view text) {
  for (const IntegerType t : integer_types)
    if (text == to_string(t)) return t;
  return parse_format(text);
}

std::string to_string(const NumberType& t) {
  if (const auto* integer = std::get_if<IntegerType>(&t)) return std::string(to_string(*integer));
  return to_string(std::get<Format>(t));
}

int width(const NumberType& t) {
  const auto* integer = std::get_if<IntegerType>(&t);
  return integer ? integer->width : std::get<Format>(t).width();
}

VectorTask vector_task(std::string_view op, std::string_view from, std::string_view to,
                       const Env& env) {
  VectorTask task{parse_any_operation(op), parse_number_type(from), {}, env};
  task.to = to.empty() ? task.from : parse_number_type(to);
  const bool converts = task.op == AnyOperation(Operation::convert);
  if (!converts && (is_integer(task.from) || is_integer(task.to)))
    throw std::invalid_argument(
        fmt::format("op = {}, format = {}, to = {}: integers are converted only; "
                    "take op = convert",
                    op, said(task.from), said(task.to)));
  if (is_integer(task.from) && is_integer(task.to))
    throw std::invalid_argument(
        fmt::format("format = {}, to = {}: one of the two has to be a format, "
                    "as binary32",
                    said(task.from), said(task.to)));
  return task;
}

int operand_count(const VectorTask& task) {
  const auto* op = std::get_if<Operation>(&task.op);
  return op ? arity(*op) : 2;
}

int random_width(const VectorTask& task) {
  return delivers_truth(task) ? 0 : task.env.rounding.random_bits;
}

bool delivers_truth(const VectorTask& task) { return std::holds_alternative<Comparison>(task.op); }
bool delivers_integer(const VectorTask& task) {
  return !delivers_truth(task) && is_integer(task.to);
}
int result_width(const VectorTask& task) { return delivers_truth(task) ? 1 : width(task.to); }

int operand_bytes(const VectorTask& task) {
  return is_integer(task.from) ? 8 : item_bytes(width(task.from));
}
int result_bytes(const VectorTask& task) {
  return delivers_truth(task) ? 1 : is_integer(task.to) ? 8 : item_bytes(width(task.to));
}

void compute(const VectorTask& task, const std::vector<std::vector<std::byte>>& operands,
             const std::vector<std::uint64_t>& random, std::size_t count, std::byte* result,
             std::uint8_t* flags) {
  const RandomSource bits{0, 0, random.data()};
  if (const auto* type = std::get_if<IntegerType>(&task.from))
    return from_integers(*type, std::get<Format>(task.to), task.env,
                         reinterpret_cast<const std::uint64_t*>(operands[0].data()), count, result,
                         flags, bits);
  const Format& from = std::get<Format>(task.from);
  if (const auto* type = std::get_if<IntegerType>(&task.to))
    return to_integers(*type, task.env, {from, operands[0].data()}, count,
                       reinterpret_cast<std::uint64_t*>(result), flags, bits);
  if (const auto* how = std::get_if<Comparison>(&task.op))
    return compare(*how, {from, operands[0].data()}, {from, operands[1].data()}, count,
                   reinterpret_cast<std::uint8_t*>(result), flags);
  std::vector<CodeArray> codes;
  for (const auto& x : operands) codes.push_back({from, x.data()});
  elementwise(std::get<Operation>(task.op), std::get<Format>(task.to), task.env, codes, count,
              result, flags, bits);
}

}  // namespace widthwise
