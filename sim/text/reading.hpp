#pragma once
#include <optional>
#include <string>

#include "scanner.hpp"
#include "words.hpp"

// The parsers of parts of a longer text: each reads its part and leaves the scanner behind it.
namespace widthwise {

inline constexpr std::string_view value_ends = ";:,)";

Format read_format(Scanner& in);
Rounding read_rounding(Scanner& in);
bool is_format_option(std::string_view word);  // bias, daz, ...
bool is_format(std::string_view text);
bool is_rounding(std::string_view text);
bool names_a_rounding(std::string_view key);  // rounding, rm, ...: where none stands as a key

// Whether `parse` takes the text.
template <class Parse>
bool reads(std::string_view text, const Parse& parse) {
  try {
    parse(text);
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

// A word of the enumeration E, standing for `name`.
template <class E>
E read_word(Scanner& in, std::string_view name) {
  const std::string_view text = in.ahead(value_ends);
  const Word<E>* found = find_word<E>(text);
  if (!found)
    in.fail(in.at(), std::string(name) + " = " + quoted(text) + ": it may be " + word_list<E>());
  in.skip(text.size());
  return found->value;
}

constexpr InfCodes default_inf(NanCodes nan) {
  return nan == NanCodes::ieee ? InfCodes::ieee : InfCodes::none;
}

// What is wrong with a value, and which option or field says so.
struct Fault {
  std::string field;
  std::string message;
};
std::optional<Fault> fault(const Format& f);
std::optional<Fault> fault(const Rounding& r);
std::optional<Fault> fault(const Unit& u);

}  // namespace widthwise
