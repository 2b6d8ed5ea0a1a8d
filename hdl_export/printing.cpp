#include "printing.hpp"

#include <algorithm>

namespace widthwise::hdl {
namespace {

bool bit(const Pattern& p, int at) {
  return p.limbs[static_cast<std::size_t>(at) / 64] >> at % 64 & 1;
}

}  // namespace

std::string hex_digits(const Pattern& p) {
  std::string digits;
  for (int low = (p.width - 1) / 4 * 4; low >= 0; low -= 4)
    digits += "0123456789abcdef"[p.limbs[static_cast<std::size_t>(low) / 64] >> low % 64 & 15];
  return digits;
}

std::string binary_digits(const Pattern& p) {
  std::string digits;
  for (int at = p.width; at-- > 0;) digits += bit(p, at) ? '1' : '0';
  return digits;
}

std::string upper(std::string_view text) {
  std::string all(text);
  for (char& c : all)
    if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return all;
}

bool has(const ConstantTable& table, std::string_view name) {
  return std::ranges::find(table, name, &Constant::name) != table.end();
}

std::string commented(std::string declaration, std::string_view mark, std::string_view note,
                      std::string_view comment) {
  if (!note.empty() || !comment.empty())
    declaration += fmt::format("  {} {}{}{}", mark, note,
                               note.empty() || comment.empty() ? "" : "; ", comment);
  return declaration + "\n";
}

std::string quoted_text(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

std::string vhdl_text(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) literal += c == '"' ? "\"\"" : std::string(1, c);
  return literal + '"';
}

}  // namespace widthwise::hdl
