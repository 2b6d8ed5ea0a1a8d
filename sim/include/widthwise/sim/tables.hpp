#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"

// Tables of values as formats (docs/semantics.md, F9).
namespace widthwise {

// The format whose codes 0, 1, … are these values: finite ones and at most one NaN; -0 stands for a
// second zero that no rounding gives. By an empty name the values themselves are its text. Throws
// std::invalid_argument where values are equal, or where the name has other values already.
Format table_of(std::string_view name, std::span<const double> values);

// The table known by this name: shipped, made in this process, or a file's, for names with a dot or
// a slash. Throws std::invalid_argument.
Format find_table(std::string_view name);

// What stands between the parentheses of its text, and the values by code.
const std::string& table_name(const Format& f);
std::span<const double> table_values(const Format& f);

// Refuses a rounding that a format lacks: to odd, of a table, whose codes need not alternate.
void check_rounding(const Format& to, const Rounding& how);

struct ShippedTable {
  std::string_view name, source;
};
std::span<const ShippedTable> shipped_tables();

}  // namespace widthwise
