#include "format_hint.hpp"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "format_names.hpp"
#include "other_names.hpp"
#include "scanner.hpp"
#include "widthwise/sim/tables.hpp"

namespace widthwise {
namespace {

// sfix16_En8, ufix8: MATLAB's.
std::optional<std::string> fix_hint(std::string_view text) {
  const bool is_unsigned = text.starts_with("ufix");
  if (!is_unsigned && !text.starts_with("sfix")) return {};
  std::size_t at = 4;
  const auto width = number_at(text, at);
  if (!width) return {};
  const bool has_fraction = text.substr(at).starts_with("_en");
  at += has_fraction ? 3 : 0;
  const auto fraction = has_fraction ? number_at(text, at) : 0;
  if (!fraction || at != text.size()) return {};
  return fmt::format("{}fixed{}.{}", is_unsigned ? "u" : "", *width, *fraction);
}

// posit(16,2), posit<16, 2>, fixed(8,4), takum(16), int(8): what stands in the brackets.
std::optional<std::string> bracket_hint(std::string_view text) {
  for (const auto& [word, between] :
       {std::pair{"posit", "es"}, std::pair{"fixed", "."}, std::pair{"ufixed", "."},
        std::pair{"takum", ""}, std::pair{"int", ""}, std::pair{"uint", ""}}) {
    if (!text.starts_with(word)) continue;
    std::size_t at = std::string_view(word).size();
    if (at >= text.size() || (text[at] != '(' && text[at] != '<')) continue;
    const auto width = number_at(text, ++at);
    if (!width) return {};
    while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
    const auto second = number_at(text, at);
    if (second && *between == '\0') return {};  // of takums and integers the width is all
    if (second) return fmt::format("{}{}{}{}", word, *width, between, *second);
    return fmt::format("{}{}{}", word, *width, *between == '.' ? ".0" : "");
  }
  return {};
}

// NumPy's f4, <f8, i2, u1.
std::optional<std::string> typestr_hint(std::string_view text) {
  if (!text.empty() && std::string_view("<>=|").find(text[0]) != text.npos) text.remove_prefix(1);
  if (text.size() != 2 || std::string_view("1248").find(text[1]) == text.npos) return {};
  const int bits = 8 * (text[1] - '0');
  if (text[0] == 'f' && bits > 8) return fmt::format("binary{}", bits);
  if (text[0] == 'i' || text[0] == 'u')
    return fmt::format("{}int{}", text[0] == 'u' ? "u" : "", bits);
  return {};
}

// torch.float16, np.float32, FP8_E4M3, nf4: a name behind another one, or a table's.
std::optional<std::string> name_hint(std::string_view text) {
  if (text == "fp8_e4m3") return "e4m3fn";  // OCP's, where float8_e4m3 is ml_dtypes'
  for (const std::string_view table : {"nf4", "af4", "apot4", "dynamic8"})
    if (text == table) return fmt::format("table({})", table);
  const std::size_t end = text.find_last_of('.');
  const std::string_view last = end == text.npos ? text : text.substr(end + 1);
  for (const std::string_view before : {"fp8_", "fp6_", "fp4_", ""})
    if (last != text || !before.empty())
      if (last.starts_with(before) && find_format(last.substr(before.size())))
        return std::string(last.substr(before.size()));
  return {};
}

struct Several {
  std::string_view text, ways;
};
constexpr Several several[] = {
    {"fp8", "e4m3fn or e5m2"},
    {"float8", "e4m3fn or e5m2"},
    {"fp6", "e3m2fn or e2m3fn"},
    {"float6", "e3m2fn or e2m3fn"},
    {"fp4", "e2m1fn or table(fp4)"},
    {"float4", "e2m1fn"},
    {"float", "binary32 or binary64"},
    {"posit", "posit16, posit16es1 or another width"},
    {"takum", "takum16 or another width"},
    {"fixed", "fixed8.4 or other widths"},
    {"fixed_point", "fixed8.4 or other widths"},
    {"int", "int8 or another width"},
    {"uint", "uint8 or another width"},
    {"table", "table(nf4) or table(-1,0,1)"},
};

}  // namespace

std::string format_hint(std::string_view text) {
  for (const auto hint : {fixed_hint, fix_hint, bracket_hint, typestr_hint, name_hint})
    if (const auto found = hint(text)) return fmt::format("; here it is {}", *found);
  for (const Several& s : several)
    if (s.text == text) return fmt::format("; here it is {}", s.ways);
  return nearest_format(text);
}

}  // namespace widthwise
