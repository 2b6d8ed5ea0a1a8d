#include "widthwise/sim/said.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

namespace widthwise {
namespace {

// What stands between a table's brackets; nothing where no bracket closes it.
std::string_view values_ahead(std::string_view text) {
  const std::size_t end = text.find_first_of("()");
  return text.substr(0, end != text.npos && text[end] == ')' ? end : 0);
}

// Of all values, for tables that begin alike (FNV-1a).
std::uint32_t mark_of(std::string_view values) {
  std::uint32_t mark = 2166136261U;
  for (const char c : values) mark = (mark ^ static_cast<unsigned char>(c)) * 16777619U;
  return mark;
}

std::string beginning_of(std::string_view values, std::size_t count) {
  constexpr int shown = 4;
  std::size_t end = 0;
  for (int i = 0; i < shown; ++i) end = values.find(',', end) + 1;
  return fmt::format("{}… of {} values, #{:08x}", values.substr(0, end), count, mark_of(values));
}

}  // namespace

std::string said(std::string_view text) {
  constexpr std::string_view opening = "table(";
  constexpr std::size_t most = 8;  // values that are told whole
  std::string all;
  for (std::size_t at; (at = text.find(opening)) != text.npos;) {
    all += text.substr(0, at += opening.size());
    text.remove_prefix(at);
    const std::string_view values = values_ahead(text);
    const auto count = static_cast<std::size_t>(std::ranges::count(values, ',')) + 1;
    if (count <= most) continue;
    all += beginning_of(values, count);
    text.remove_prefix(values.size());
  }
  return all.append(text);
}

}  // namespace widthwise
