#include "fields.hpp"

#include <algorithm>

namespace widthwise {
namespace {

bool separates(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';'; }

// Without the mark that some programs begin a file with, and a comment.
std::string_view content(std::string_view line) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (line.starts_with(mark)) line.remove_prefix(mark.size());
  return line.substr(0, std::min(line.find('#'), line.find("//")));
}

}  // namespace

Fields::Fields(std::string_view line) {
  line = content(line);
  const char *at = line.data(), *end = at + line.size();
  while (true) {
    while (at != end && separates(*at)) ++at;
    if (at == end) return;
    const char* begin = at;
    while (at != end && !separates(*at)) ++at;
    const std::string_view text(begin, static_cast<std::size_t>(at - begin));
    if (text == "expected") return;
    if (text == "=>") {
      arrow_first |= count == 0;
      continue;
    }
    if (count < most_fields) field[count] = text;
    ++count;
  }
}

// Of 0x3c00, and of Verilog's 16'h3c00.
std::string_view without_prefix(std::string_view field) {
  const std::size_t digits = std::min(field.find_first_not_of("0123456789"), field.size());
  const std::string_view base = field.substr(digits);
  if (base.size() > 2 && base[0] == '\'' && (base[1] | 32) == 'h') return base.substr(2);
  const bool prefixed = field.size() > 2 && field[0] == '0' && (field[1] | 32) == 'x';
  return prefixed ? field.substr(2) : field;
}

bool is_printed(std::string_view field) {
  return !field.empty() && (field[0] == '+' || field[0] == '-') &&
         field.find('.') != std::string_view::npos;
}

HexFault read_printed(std::string_view field, const Format& f, std::byte* code, int bytes) {
  const std::size_t point = field.find('.');
  std::array<std::byte, 8> exponent{};
  const HexFault low =
      f.frac_bits ? read_hex(field.substr(point + 1), f.frac_bits, code, bytes) : HexFault::none;
  if (!f.frac_bits) std::fill_n(code, bytes, std::byte{});
  const HexFault high =
      read_hex(field.substr(1, point - 1), f.exp_bits, exponent.data(), int(exponent.size()));
  if (low != HexFault::none || high != HexFault::none) return std::max(low, high);
  if (field[0] == '-' && !f.is_signed()) return HexFault::too_wide;
  const auto set = [&](int bit) { code[bit / 8] |= std::byte{1} << bit % 8; };
  for (int i = 0; i < f.exp_bits; ++i)
    if ((exponent[static_cast<std::size_t>(i) / 8] >> i % 8 & std::byte{1}) != std::byte{})
      set(f.frac_bits + i);
  if (field[0] == '-') set(f.magnitude_bits());
  return HexFault::none;
}

std::optional<std::uint8_t> printed_flags(std::string_view field) {
  constexpr std::string_view letters = "vioux";
  if (field.size() != letters.size()) return std::nullopt;
  unsigned flags = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (field[i] != '.' && field[i] != letters[i]) return std::nullopt;
    flags = 2 * flags + (field[i] != '.');
  }
  return static_cast<std::uint8_t>(flags);
}

}  // namespace widthwise
