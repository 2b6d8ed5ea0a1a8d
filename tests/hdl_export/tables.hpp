#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/hdl/constants.hpp"
#include "widthwise/wide.hpp"

namespace tests {

using widthwise::hdl::Constant;
using widthwise::hdl::ConstantTable;
using Code = widthwise::Wide<65>;  // of every format within the limits

// Units that between them have every kind of format, sum and rounding place, as text.
const std::vector<std::string>& units();

// Operations of every arity, with operands and results of one format and of several.
const std::vector<std::string>& operations();
std::vector<std::string> designs();  // both

ConstantTable table_of(const std::string& design);

// The constant of a name, or null.
const Constant* find(const ConstantTable& table, std::string_view name);

// Its value; a fault, and zero, where there is no constant of that name and kind.
std::int64_t integer(const ConstantTable& table, std::string_view name);
bool flag(const ConstantTable& table, std::string_view name);
Code code(const ConstantTable& table, std::string_view name);
std::string text(const ConstantTable& table, std::string_view name);

}  // namespace tests
