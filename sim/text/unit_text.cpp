#include "widthwise/sim/unit_text.hpp"

#include <fmt/core.h>

#include "preset_hint.hpp"
#include "short_form.hpp"
#include "toml_reader.hpp"
#include "toml_writer.hpp"
#include "widthwise/sim/presets.hpp"

namespace widthwise {
namespace {

constexpr std::string_view blanks = " \t\r\n";

// The long form assigns before it opens any bracket but a table's, and no key begins with a kind.
bool is_toml(std::string_view text) {
  const std::size_t start = text.find_first_not_of(blanks);
  if (start == text.npos) return false;
  if (text[start] == '[' || text[start] == '#') return true;
  const std::size_t mark = text.find_first_of("=(");
  if (mark == text.npos || text[mark] == '(') return false;
  const std::string_view key = text.substr(start, mark - start);
  return kind_example(key.substr(0, key.find_first_of(" [:,;"))).empty();  // mac e5m10, sum=e8m23
}

bool is_inline_toml(std::string_view text) {
  const std::size_t start = text.find_first_not_of(blanks);
  return start != text.npos && text[start] == '{';
}

Unit preset_unit(const Scanner& in, std::string_view name) {
  if (const Preset* preset = find_preset(name)) return preset->unit;
  in.fail(in.at(),
          fmt::format("no unit {}{}; write a preset's name as hopper.f16.f32, a short form "
                      "as mac(e5m10), or TOML",
                      quoted(name), preset_hint(name)));
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
