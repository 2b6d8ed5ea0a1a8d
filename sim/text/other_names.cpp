#include "other_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "scanner.hpp"

namespace widthwise {
namespace {

struct Synonym {
  std::string_view theirs, ours;
};

// HLS's, AC's and SystemC's behind their prefixes, which are APyTypes' older ones; its own.
constexpr Synonym roundings[] = {
    {"trn", "rdn"},          {"trn_zero", "rtz"},      {"trn_inf", "rup"},   {"trn_away", "raz"},
    {"rnd", "rnp"},          {"rnd_zero", "rnz"},      {"rnd_inf", "rna"},   {"rnd_min_inf", "rnm"},
    {"rnd_conv", "rne"},     {"to_neg", "rdn"},        {"to_zero", "rtz"},   {"to_pos", "rup"},
    {"rnd_conv_odd", "rno"}, {"to_away", "raz"},       {"ties_pos", "rnp"},  {"ties_zero", "rnz"},
    {"ties_away", "rna"},    {"ties_neg", "rnm"},      {"ties_even", "rne"}, {"ties_odd", "rno"},
    {"jam_unbiased", "odd"}, {"stoch_weighted", "sr"},
};
// APyTypes' that there are not here: they move numbers that are exact.
constexpr Synonym not_offered[] = {
    {"jam", "it sets the last bit, of exact numbers, too; take odd"},
    {"trn_mag", "it cuts and adds the sign bit, to exact numbers, too; take rtz"},
    {"stoch_equal", "it goes either way alike, exact numbers, too; take sr"},
};
// Of floats: CUDA's and OpenCL's, TestFloat's, Python's, IEEE 754's in words. What others call up
// and down is away from zero and towards it to some, so neither is here.
constexpr Synonym float_roundings[] = {
    {"rn", "rne"},           {"rz", "rtz"},          {"ru", "rup"},       {"rd", "rdn"},
    {"rte", "rne"},          {"rtne", "rne"},        {"rtp", "rup"},      {"rtn", "rdn"},
    {"near_even", "rne"},    {"near_maxmag", "rna"}, {"minmag", "rtz"},   {"min", "rdn"},
    {"max", "rup"},          {"half_even", "rne"},   {"nearest", "rne"},  {"nearest_even", "rne"},
    {"nearest_away", "rna"}, {"even", "rne"},        {"truncate", "rtz"}, {"trunc", "rtz"},
    {"toward_zero", "rtz"},  {"towardzero", "rtz"},  {"floor", "rdn"},    {"ceil", "rup"},
    {"ceiling", "rup"},      {"stochastic", "sr"},   {"to_odd", "odd"},
};
constexpr Synonym overflows[] = {
    {"sat", "saturate"}, {"sat_sym", "symmetric"}, {"sat_zero", "zero"},
    {"wrap", "wrap"},    {"wrap_sm", "wrap_sm"},   {"numeric_std", "keep_sign"},
};

std::string_view without_prefix(std::string_view text) {
  for (const std::string_view prefix : {"ap_", "ac_", "sc_"})
    if (text.starts_with(prefix)) return text.substr(prefix.size());
  return text;
}

std::optional<std::string_view> found(std::span<const Synonym> names, std::string_view text) {
  const auto at = std::ranges::find(names, without_prefix(text), &Synonym::theirs);
  if (at == names.end()) return {};
  return at->ours;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::size_t at = 0;
  const auto n = number_at(text, at);
  return at == text.size() ? n : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// What stands between < and >, at its commas.
std::vector<std::string_view> arguments(std::string_view text) {
  std::vector<std::string_view> all;
  for (text = text.substr(text.find('<') + 1, text.size() - text.find('<') - 2);;) {
    const std::size_t end = std::min(text.find(','), text.size());
    all.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return all;
    text.remove_prefix(end + 1);
  }
}

// A type of HLS, and whether its numbers have a sign and are integers.
struct HlsType {
  std::string_view name;
  bool is_signed, is_integer;
};
constexpr HlsType hls_types[] = {
    {"ap_fixed", true, false},   {"ap_ufixed", false, false}, {"ap_int", true, true},
    {"ap_uint", false, true},    {"sc_fixed", true, false},   {"sc_ufixed", false, false},
    {"sc_int", true, true},      {"sc_uint", false, true},    {"sc_bigint", true, true},
    {"sc_biguint", false, true}, {"ac_fixed", true, false},   {"ac_int", true, true},
};

// ac_fixed<8,4,false>: there the sign is an argument behind the widths, and not a type.
bool take_sign(std::vector<std::string_view>& given, std::size_t at, bool is_signed) {
  if (at >= given.size() || (given[at] != "true" && given[at] != "false")) return is_signed;
  const bool is_true = given[at] == "true";
  given.erase(given.begin() + static_cast<std::ptrdiff_t>(at));
  return is_true;
}

// ap_fixed<8,4,AP_RND,AP_SAT>: width, integer bits, rounding and overflow, of which HLS cuts and
// wraps where they are not given.
std::optional<std::string> hls_hint(std::string_view text) {
  const auto type = std::ranges::find(hls_types, text.substr(0, text.find('<')), &HlsType::name);
  if (type == std::end(hls_types) || !text.ends_with('>')) return {};
  std::vector<std::string_view> given = arguments(text);
  const std::size_t widths = type->is_integer ? 1 : 2;
  const bool is_signed = take_sign(given, widths, type->is_signed);
  const bool saturates_bits = given.size() > 4 && number(given[4]) != 0;  // before it wraps
  if (given.size() < widths || saturates_bits) return {};
  const auto width = number(given[0]), whole = number(given[widths - 1]);
  const auto rounding = rounding_hint(given.size() > 2 ? given[2] : "trn");
  const auto overflow = overflow_hint(given.size() > 3 ? given[3] : "wrap");
  if (!width || !whole || !rounding || !overflow) return {};
  const std::string_view u = is_signed ? "" : "u";
  const std::string rule = *overflow == "saturate" ? "" : fmt::format(";overflow={}", *overflow);
  if (type->is_integer) return fmt::format("{}int{}{}", u, *width, rule);
  return fmt::format("{}fixed{}.{}{} with the rounding {}", u, *width, *width - *whole, rule,
                     *rounding);
}

// Q7.8: integer bits without the sign, and fraction bits; Q15 has the latter alone, UQ8.8 no sign.
std::optional<std::string> q_hint(std::string_view text) {
  const bool is_signed = !text.starts_with('u');
  text.remove_prefix(!is_signed);
  if (!text.starts_with('q')) return {};
  const std::size_t point = text.find('.');
  const bool has_point = point != std::string_view::npos;
  const auto whole = has_point ? number(text.substr(1, point - 1)) : 0;
  const auto fraction = number(text.substr(has_point ? point + 1 : 1));
  if (!whole || !fraction) return {};
  return fmt::format("{}fixed{}.{}", is_signed ? "" : "u", *whole + *fraction + is_signed,
                     *fraction);
}

}  // namespace

std::optional<std::string> fixed_hint(std::string_view text) {
  if (auto hint = hls_hint(text)) return hint;
  return q_hint(text);
}

std::optional<std::string_view> why_no_rounding(std::string_view text) {
  return found(not_offered, text);
}

std::optional<std::string_view> rounding_hint(std::string_view text) {
  const auto ours = found(float_roundings, text);
  return ours ? ours : found(roundings, text);
}
std::optional<std::string_view> overflow_hint(std::string_view text) {
  return found(overflows, text);
}

}  // namespace widthwise
