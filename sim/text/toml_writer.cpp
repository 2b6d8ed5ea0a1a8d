#include "toml_writer.hpp"

#include <fmt/core.h>

#include <vector>

#include "unit_keys.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "words.hpp"

namespace widthwise {
namespace {

std::string value_text(const Format& f) { return fmt::format("\"{}\"", to_string(f)); }
std::string value_text(const Rounding& r) { return fmt::format("\"{}\"", to_string(r)); }
std::string value_text(std::int64_t i) { return std::to_string(i); }
std::string value_text(int i) { return std::to_string(i); }
std::string value_text(std::uint64_t bits) {  // TOML's integers end at 2^63 - 1
  return bits >> 63 ? fmt::format("\"{:#x}\"", bits) : fmt::format("{:#x}", bits);
}
template <class E>
requires std::is_enum_v<E> std::string value_text(E value) {
  return fmt::format("\"{}\"", word(value));
}

struct Writer {
  std::vector<std::string> lines;

  template <class T>
  void write(const std::string& at, const T& value) {
    lines.push_back(at + " = " + value_text(value));
  }
  template <class T>
  void write(const std::string& at, const std::optional<T>& value) {
    if (value) write(at, *value);
  }
  template <HasKeys S>
  void write(const std::string& at, const S& value) {
    const S defaults{};
    for_each_key<S>([&](const auto& key) {
      if (key.need == Need::optional && value.*key.member == defaults.*key.member) return;
      write(at.empty() ? std::string(key.name) : fmt::format("{}.{}", at, key.name),
            value.*key.member);
    });
  }
};

// TOML's basic string.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\')
      text += {'\\', c};
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string to_toml(const Unit& u, std::string_view name) {
  Writer writer;
  writer.write("", u);
  std::string text = name.empty() ? "" : fmt::format("[\"{}\"]\n", escaped(name));
  for (const std::string& line : writer.lines) text += line + "\n";
  return text;
}

std::string to_inline_toml(const Unit& u) {
  std::string text = to_toml(u);
  for (std::size_t end; (end = text.find('\n')) != text.npos;)
    text.replace(end, 1, end + 1 == text.size() ? "}" : ", ");
  return "{" + text;
}

}  // namespace widthwise
