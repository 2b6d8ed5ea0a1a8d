#include "widthwise/sim/unit_text.hpp"

#include <fmt/ranges.h>

#include "short_form.hpp"
#include "toml_reader.hpp"
#include "toml_writer.hpp"
#include "widthwise/sim/presets.hpp"

namespace widthwise {
namespace {

constexpr std::string_view blanks = " \t\r\n";

// The long form assigns before it opens any bracket but a table's.
bool is_toml(std::string_view text) {
  const std::size_t start = text.find_first_not_of(blanks);
  if (start == text.npos) return false;
  if (text[start] == '[' || text[start] == '#') return true;
  const std::size_t mark = text.find_first_of("=(");
  return mark != text.npos && text[mark] == '=';
}

bool is_inline_toml(std::string_view text) {
  const std::size_t start = text.find_first_not_of(blanks);
  return start != text.npos && text[start] == '{';
}

bool is_format(std::string_view text) {
  try {
    parse_format(text);
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

// "; there are hopper.f16.f32, …": of the chip that the name begins with, or nothing.
std::string of_its_chip(std::string_view name, std::vector<std::string_view> names) {
  const std::string chip = fmt::format("{}.", name.substr(0, name.find_first_of("._- ")));
  std::erase_if(names, [&](std::string_view other) { return !other.starts_with(chip); });
  return names.empty() ? "" : fmt::format("; there are {}", fmt::join(names, ", "));
}

std::string hint_at_presets(std::string_view name) {
  if (is_format(name)) return fmt::format("; it is a format: take mac({0}) or fma({0})", name);
  std::vector<std::string_view> names;
  for (const Preset& p : presets()) names.push_back(p.name);
  const std::string near = nearest(name, names);
  return near.empty() ? of_its_chip(name, std::move(names)) : near;
}

Unit preset_unit(const Scanner& in, std::string_view name) {
  if (const Preset* preset = find_preset(name)) return preset->unit;
  in.fail(in.at(),
          fmt::format("no unit {}{}; write a preset's name as hopper.f16.f32, a short form "
                      "as mac(e5m10), or TOML",
                      quoted(name), hint_at_presets(name)));
}

}  // namespace

Unit parse_unit(std::string_view text) {
  if (is_inline_toml(text)) return unit_from_inline_toml(text);
  if (is_toml(text)) return unit_from_toml(text);
  Scanner in("unit", text);
  const std::string_view name = in.ahead("(");
  return name == in.ahead("") ? preset_unit(in, name) : read_short_form(in);
}

std::string to_string(const Unit& u) {
  for (const Preset& p : presets())
    if (p.unit == u) return std::string(p.name);
  if (const auto text = short_form(u)) return *text;
  return to_inline_toml(u);
}

}  // namespace widthwise
