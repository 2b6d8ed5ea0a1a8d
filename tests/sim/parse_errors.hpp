#pragma once
#include <string>

#include "widthwise/sim/unit_text.hpp"

// What a text that is no unit is told.
namespace tests {

std::string error_of(auto parse, const std::string& text) {
  try {
    parse(text);
  } catch (const widthwise::ParseError& e) {
    return e.what();
  }
  return "accepted";
}

inline std::string unit_error(const std::string& text) {
  return error_of(widthwise::parse_unit, text);
}

}  // namespace tests
