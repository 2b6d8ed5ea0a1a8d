#pragma once
#include <fmt/core.h>

#include <concepts>
#include <string>

#include "widthwise/hdl/constants.hpp"

// What the printers of the table have in common.
namespace widthwise::hdl {

// What an integer of Verilog and VHDL holds, but for -2^31, whose literal would be minus 2^31.
constexpr bool fits_integer(std::int64_t x) { return -0x7fffffff <= x && x <= 0x7fffffff; }

// All bits of a pattern, a digit for four, or for one.
std::string hex_digits(const Pattern& p);
std::string binary_digits(const Pattern& p);

std::string upper(std::string_view text);

// A constant that the table has, as a T.
template <class T>
const T& value_of(const ConstantTable& table, std::string_view name) {
  for (const Constant& c : table)
    if (c.name == name) return std::get<T>(c.value);
  throw std::logic_error(fmt::format("the table has no {}", name));
}
inline const std::string& unit_name(const ConstantTable& table) {
  return value_of<std::string>(table, "UNIT_NAME");
}
bool has(const ConstantTable& table, std::string_view name);

// What a fragment or a file says of itself, then `line` of every constant under its section's
// title.
template <std::invocable<const Constant&> Line>
std::string sections(const ConstantTable& table, std::string_view mark, const Line& line) {
  std::string text;
  std::string_view section;
  for (const Constant& c : table) {
    if (c.section != section) text += fmt::format("\n{} --- {}\n", mark, c.section);
    section = c.section;
    text += line(c);
  }
  return text;
}

// A declaration with what there is to say of it.
std::string commented(std::string declaration, std::string_view mark, std::string_view note,
                      std::string_view comment);

// A string literal of Verilog, C and JSON.
std::string quoted_text(std::string_view text);
// Of VHDL, which doubles quotes.
std::string vhdl_text(std::string_view text);

}  // namespace widthwise::hdl
