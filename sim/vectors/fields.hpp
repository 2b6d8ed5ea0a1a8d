#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "hexadecimal.hpp"
#include "widthwise/format.hpp"

// What a line of vectors says, in any of the ways that tools write one.
namespace widthwise {

inline constexpr std::size_t most_fields = 16;

// The fields of a line, with blanks or commas between. A # and what follows is a comment; so is
// what TestFloat says of the result that it expected, and its arrow is passed over.
struct Fields {
  std::array<std::string_view, most_fields> field;
  std::size_t count = 0;     // may pass most_fields
  bool arrow_first = false;  // the line goes on where the one before it ended

  explicit Fields(std::string_view line);
};

// A number's digits without 0x.
std::string_view without_prefix(std::string_view field);

// "-7F.400000", a code as TestFloat prints it: sign, exponent's field, fraction.
bool is_printed(std::string_view field);
HexFault read_printed(std::string_view field, const Format& f, std::byte* code, int bytes);

// "v..ux", flags as TestFloat prints them.
std::optional<std::uint8_t> printed_flags(std::string_view field);

}  // namespace widthwise
