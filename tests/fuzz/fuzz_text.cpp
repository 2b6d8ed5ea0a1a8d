#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "widthwise/sim/single_operation.hpp"
#include "widthwise/sim/unit_text.hpp"

// Formats, roundings, operations, units in every form: any bytes give a value or a ParseError, and
// a value is printed as a text that gives it back.
namespace {

using namespace widthwise;

[[noreturn]] void lost(const std::string& printed) {
  std::fprintf(stderr, "printed and parsed, another value: %s\n", printed.c_str());
  std::abort();
}

template <class T>
void round_trip(T (*parse)(std::string_view), std::string_view text) {
  try {
    const T value = parse(text);
    check(value);
    const std::string printed = to_string(value);
    if (parse(printed) != value || to_string(parse(printed)) != printed) lost(printed);
  } catch (const ParseError& e) {
    if (e.line() == 0 || e.column() == 0 || e.what()[0] == '\0') lost(e.what());
  }
}

void long_form(std::string_view text) {
  try {
    std::string again;
    const auto units = units_from_toml(text);
    for (const NamedUnit& n : units) again += to_toml(n.unit, n.name);
    const auto reread = units_from_toml(again);
    if (reread.size() != units.size()) lost(again);
    for (std::size_t i = 0; i < units.size(); ++i)
      if (reread[i].name != units[i].name || reread[i].unit != units[i].unit) lost(again);
  } catch (const ParseError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: round_trip(parse_format, text); break;
    case 1: round_trip(parse_rounding, text); break;
    case 2: round_trip(parse_unit, text); break;
    case 3: long_form(text); break;
    case 4: round_trip(parse_single_operation, text); break;
  }
  return 0;
}
