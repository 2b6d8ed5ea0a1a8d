#pragma once
#include <optional>
#include <string_view>
#include <variant>

#include "widthwise/operations.hpp"
#include "widthwise/sim/operation.hpp"

// The names of operations, as Python and the command line write them. Parsing also takes
// TestFloat's, "mulAdd" and "le_quiet", and any case; what() of its errors names what there is.
namespace widthwise {

std::string_view to_string(Operation op);   // "add", "round_to_integral_exact"
std::string_view to_string(Comparison op);  // "equal", "less_signaling", "total_order"
std::string_view to_string(IntegerType t);  // "i32", "ui64"
std::string_view to_string(NumberClass c);  // "negative_subnormal"

Operation parse_operation(std::string_view text);
std::optional<Operation> find_operation(std::string_view text);  // none: it is no operation's name
Comparison parse_comparison(std::string_view text);

// What delivers a code, and what delivers a truth.
using AnyOperation = std::variant<Operation, Comparison>;
AnyOperation parse_any_operation(std::string_view text);

}  // namespace widthwise
