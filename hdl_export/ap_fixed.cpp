#include <algorithm>
#include <array>
#include <optional>

#include "printing.hpp"
#include "widthwise/hdl/adapters.hpp"

namespace widthwise::hdl {
namespace {

// HLS's words for our roundings and rules, by their constants; there are no others.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> quantisations{{
    {"RM_RNE", "AP_RND_CONV"},
    {"RM_RTZ", "AP_TRN_ZERO"},
    {"RM_RDN", "AP_TRN"},
    {"RM_RMM", "AP_RND_INF"},
    {"RM_RNZ", "AP_RND_ZERO"},
    {"RM_RNP", "AP_RND"},
    {"RM_RNM", "AP_RND_MIN_INF"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> overflows{{
    {"FIXED_SATURATE", "AP_SAT"},
    {"FIXED_SYMMETRIC", "AP_SAT_SYM"},
    {"FIXED_ZERO", "AP_SAT_ZERO"},
    {"FIXED_WRAP", "AP_WRAP"},
    {"FIXED_WRAP_SM", "AP_WRAP_SM"},
}};

// Of operands and the result, and how their types end.
constexpr std::pair<std::string_view, char> letters[] = {
    {"A", 'a'}, {"B", 'b'}, {"C", 'c'}, {"Y", 'y'}};

bool is_fixed(const ConstantTable& table, std::string_view letter) {
  const std::string flag = fmt::format("{}_IS_FIXED", letter);
  return has(table, flag) && value_of<bool>(table, flag);
}

// The word for a code, which bears one of our names.
template <std::size_t N>
std::optional<std::string_view> word_for(
    const ConstantTable& table, const std::string& name,
    const std::array<std::pair<std::string_view, std::string_view>, N>& words) {
  for (const auto& [ours, theirs] : words)
    if (has(table, ours) && value_of<Pattern>(table, name) == value_of<Pattern>(table, ours))
      return theirs;
  return {};
}

std::string type_of(const ConstantTable& table, std::string_view letter, char ending) {
  const std::string x(letter), name = fmt::format("{}_{}_t", unit_name(table), ending);
  const auto width = value_of<std::int64_t>(table, x + "_WIDTH");
  const auto whole = value_of<std::int64_t>(table, x + "_INT_WIDTH");
  const char* kind = value_of<bool>(table, x + "_HAS_SIGN") ? "ap_fixed" : "ap_ufixed";
  if (letter != "Y") return fmt::format("typedef {}<{}, {}> {};\n", kind, width, whole, name);
  const auto q = word_for(table, "Y_RM", quantisations),
             o = word_for(table, "Y_OVERFLOW", overflows);
  if (!q || !o)
    return fmt::format("// {}: HLS has no such {}.\n", name, q ? "overflow" : "rounding");
  return fmt::format("typedef {}<{}, {}, {}, {}> {};\n", kind, width, whole, *q, *o, name);
}

}  // namespace

bool has_fixed_point(const ConstantTable& table) {
  return std::ranges::any_of(letters, [&](const auto& x) { return is_fixed(table, x.first); });
}

std::string ap_fixed_header(const ConstantTable& table) {
  std::string types;
  for (const auto& [letter, ending] : letters)
    if (is_fixed(table, letter)) types += type_of(table, letter, ending);
  return fmt::format(
      "// Generated from {0}, for HLS in C++. The second number counts bits above the point, the "
      "sign's\n// included; a result is rounded and fitted once, as its type says.\n"
      "#ifndef {1}_AP_FIXED_H\n#define {1}_AP_FIXED_H\n\n#include \"ap_fixed.h\"\n\n{2}\n#endif\n",
      value_of<std::string>(table, "SPEC"), upper(unit_name(table)), types);
}

}  // namespace widthwise::hdl
