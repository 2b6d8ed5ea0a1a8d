#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "folder_templates.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::string_view name_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

const std::string& text_of(std::string_view file) {
  for (const File& f : folder_templates())
    if (f.name == file) return f.text;
  throw std::logic_error(fmt::format("there is no template {}", file));
}

const std::string& value_of(std::string_view name, const Values& values) {
  const auto found = std::ranges::find(values, name, &Values::value_type::first);
  if (found == values.end()) throw std::logic_error(fmt::format("no value fills @{}@", name));
  return found->second;
}

}  // namespace

std::string filled(std::string_view file, const Values& values) {
  std::string_view rest = text_of(file);
  std::string text;
  for (std::size_t at; (at = rest.find('@')) != rest.npos;) {
    const std::size_t end = rest.find_first_not_of(name_letters, at + 1);
    const bool is_name = end != rest.npos && rest[end] == '@' && end > at + 1;
    text += rest.substr(0, is_name ? at : at + 1);
    if (is_name) text += value_of(rest.substr(at + 1, end - at - 1), values);
    rest = rest.substr(is_name ? end + 1 : at + 1);
  }
  return text += rest;
}

}  // namespace widthwise::hdl
