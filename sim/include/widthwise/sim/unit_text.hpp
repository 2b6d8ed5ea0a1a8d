#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/sim/text.hpp"
#include "widthwise/unit.hpp"

// Units as text: the name of a preset, a short form, or the long form, TOML with one key a field
// of the datapath page, 2.1. docs/semantics.md, T2 to T4 say what the short forms leave unsaid.
namespace widthwise {

// Limits: an accumulator of more bits, or a block of more lanes, is refused by check() (T5).
inline constexpr std::int64_t max_register_bits = std::int64_t{1} << 20;
inline constexpr std::int64_t max_lanes = std::int64_t{1} << 20;

// "hopper.e4m3.f32"; "mac(e4m3fn, product=e5m7:rtz, sum=e8m13)"; "a.fmt = ..." or "{a.fmt = ...}".
Unit parse_unit(std::string_view text);

// A TOML document: the keys of one unit, or one table of any name that holds them.
Unit unit_from_toml(std::string_view text);

struct NamedUnit {
  std::string name;
  Unit unit;
};
// A TOML document of named tables, a unit each, in the document's order.
std::vector<NamedUnit> units_from_toml(std::string_view text);

// The preset's name (the first of those that are the same unit), else the shortest short form,
// else the long form in braces on one line. parse_unit gives the same unit back.
std::string to_string(const Unit& u);

// Every field that is not its default, a dotted key a line, in the page's order; a table if named.
std::string to_toml(const Unit& u, std::string_view name = {});

// Refuses a unit that contradicts itself or passes a limit. All parsers here have called it.
void check(const Unit& u);

}  // namespace widthwise
