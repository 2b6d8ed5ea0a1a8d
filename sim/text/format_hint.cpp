#include "format_hint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format_names.hpp"
#include "other_names.hpp"
#include "reading.hpp"
#include "scanner.hpp"

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

// A text's words and numbers, where all else that stands there only holds them apart.
std::vector<std::string_view> words_of(std::string_view text) {
  enum class Sort { letter, digit, apart, other };
  const auto sort_of = [](char c) {
    if (is_digit(c)) return Sort::digit;
    if ('a' <= c && c <= 'z') return Sort::letter;
    return std::string_view(" _-.,:=()<>[]").find(c) == std::string_view::npos ? Sort::other
                                                                               : Sort::apart;
  };
  std::vector<std::string_view> found;
  Sort before = Sort::apart;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Sort here = sort_of(text[i]);
    if (here == Sort::other) return {};
    if (here != Sort::apart) {
      if (here != before) found.push_back(text.substr(i, 0));
      found.back() = {found.back().data(), found.back().size() + 1};
    }
    before = here;
  }
  return found;
}

// A kind of formats, its text with both numbers, and with the first alone; or none.
struct Spelled {
  std::string_view kind, both, alone;
};
constexpr Spelled spelled[] = {
    {"posit", "posit{}es{}", "posit{}"},
    {"fixed", "fixed{}.{}", "fixed{}.0"},
    {"sfixed", "fixed{}.{}", "fixed{}.0"},
    {"fixedpoint", "fixed{}.{}", "fixed{}.0"},
    {"ufixed", "ufixed{}.{}", "ufixed{}.0"},
    {"takum", "", "takum{}"},
    {"int", "", "int{}"},
    {"sint", "", "int{}"},
    {"i", "", "int{}"},
    {"s", "", "int{}"},
    {"uint", "", "uint{}"},
    {"ui", "", "uint{}"},
    {"u", "", "uint{}"},
    {"e", "e{}m{}", ""},
    {"float", "e{}m{}", ""},
    {"minifloat", "e{}m{}", ""},
};

// Which of both numbers a word names.
std::optional<std::size_t> place_named(std::string_view word) {
  for (const std::string_view first : {"n", "bits", "nbits", "nsize", "width", "wl", "exp", "e"})
    if (word == first) return 0;
  for (const std::string_view second : {"es", "f", "frac", "fl", "m", "man", "mantissa"})
    if (word == second) return 1;
  return {};
}

std::optional<std::string> text_of(std::string_view kind, std::optional<std::int64_t> first,
                                   std::optional<std::int64_t> second) {
  const auto* found = std::ranges::find(spelled, kind, &Spelled::kind);
  if (found == std::end(spelled) || !first) return {};
  const std::string_view form = second ? found->both : found->alone;
  if (form.empty()) return {};
  return fmt::format(fmt::runtime(form), *first, second.value_or(0));
}

struct KindAndNumbers {
  std::string_view kind;
  std::optional<std::int64_t> numbers[2];
};

// Numbers go to the next place, or to that which the word in front names; nothing goes twice.
std::optional<KindAndNumbers> kind_and_numbers(std::span<const std::string_view> words) {
  KindAndNumbers found;
  std::size_t place = 0;
  bool is_named = false;
  for (const std::string_view word : words) {
    std::size_t at = 0;
    if (is_digit(word[0])) {
      if (place == std::size(found.numbers) || found.numbers[place]) return {};
      found.numbers[place++] = number_at(word, at);
      is_named = false;
    } else if (found.kind.empty()) {
      found.kind = word;
    } else {
      const auto named = place_named(word);
      if (is_named || !named) return {};
      place = *named, is_named = true;
    }
  }
  if (is_named) return {};
  return found;
}

// A name whose words other signs hold apart: float_16, binary-32.
std::optional<std::string> joined_hint(std::span<const std::string_view> words) {
  std::string joined;
  for (const std::string_view word : words) joined += word;
  if (find_format(joined)) return joined;
  return {};
}

}  // namespace

// posit(16, es=2), posit16,2, fixed 8 4, float<5,10>, 1-5-10: a kind, and its numbers in order or
// by name; sign, exponent and fraction bits.
std::optional<std::string> spelled_hint(std::string_view text) {
  if (std::ranges::count(text, '<') != std::ranges::count(text, '>')) return {};
  const std::string_view given = text;
  if (text.ends_with("_t")) text.remove_suffix(2);  // C's int8_t
  std::vector<std::string_view> words = words_of(text);
  if (auto name = joined_hint(words); name && *name != given) return name;
  if (words.size() == 3 && words[0] == "1") words[0] = "float";
  const auto found = kind_and_numbers(words);
  if (!found) return {};
  auto ours = text_of(found->kind, found->numbers[0], found->numbers[1]);
  return ours && *ours != given && is_format(*ours) ? ours : std::nullopt;
}

namespace {

// NumPy's f4, <f8, <i2, |u1. Of i4 and u8, LLVM's and Rust's too, the number may be bits.
std::optional<std::string> typestr_hint(std::string_view text) {
  const bool of_numpy = !text.empty() && std::string_view("<>=|").find(text[0]) != text.npos;
  text.remove_prefix(of_numpy);
  if (text.size() != 2 || std::string_view("1248").find(text[1]) == text.npos) return {};
  const int size = text[1] - '0';
  if (text[0] == 'f' && size > 1) return fmt::format("binary{}", 8 * size);
  if (text[0] != 'i' && text[0] != 'u') return {};
  const std::string_view kind = text[0] == 'u' ? "uint" : "int";
  if (of_numpy) return fmt::format("{}{}", kind, 8 * size);
  return fmt::format("{0}{1}, or {0}{2} by NumPy's bytes", kind, size, 8 * size);
}

// torch.float16, np.float32, FP8_E4M3, nf4: a name behind another one, or a table's.
std::optional<std::string> name_hint(std::string_view text) {
  for (const std::string_view ocp : {"fp8_e4m3", "fp8e4m3", "fp8-e4m3", "hf8"})
    if (text == ocp) return "e4m3fn";  // where float8_e4m3 is ml_dtypes' e4m3
  if (text == "bf8") return "e5m2";
  for (const std::string_view table : {"nf4", "af4", "apot4", "dynamic8"})
    if (text == table) return fmt::format("table({})", table);
  const std::size_t end = text.find_last_of('.');
  const std::string_view last = end == text.npos ? text : text.substr(end + 1);
  for (const std::string_view before : {"fp8_", "fp6_", "fp4_", "fp8", "f8_", "f8", "f6", "f4", ""})
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
  for (const auto hint : {fixed_hint, fix_hint, typestr_hint, name_hint, spelled_hint})
    if (const auto found = hint(text)) return fmt::format("; here it is {}", *found);
  for (const Several& s : several)
    if (s.text == text) return fmt::format("; here it is {}", s.ways);
  return nearest_format(text);
}

}  // namespace widthwise
