#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"

// The one canonical text of formats and modes, which Python, the command line, files and exported
// headers share. Parsing takes any case; parsing what was printed gives the same value back.
namespace widthwise {

// Text that could not be read. what() names the text, the place, what stands there and the way out.
class ParseError : public std::invalid_argument {
 public:
  ParseError(const std::string& message, std::size_t line, std::size_t column)
      : std::invalid_argument(message), line_(line), column_(column) {}
  std::size_t line() const { return line_; }  // both count from 1
  std::size_t column() const { return column_; }

 private:
  std::size_t line_, column_;
};

// A name (bfloat16, half, e4m3fn, binary8p3sf) or the form [u]e<exp bits>m<fraction bits>; then
// options, each behind a semicolon: bias= inf= nan= sub= zero=, and the policies daz ftz overflow=.
Format parse_format(std::string_view text);

// ml_dtypes' spelling where it has one, else the [u]eXmY form, then what differs from it:
// "e4m3fn", "e5m10", "e5m10;bias=20;sub=no", "e4m3fn;overflow=max" (docs/semantics.md, T1).
std::string to_string(const Format& f);

// Refuses a format past the limits, or one that contradicts itself (docs/semantics.md, F5).
void check(const Format& f);

// rne rna rnz rnp rnm rno rtz rdn rup raz odd; sr (32 random bits), sr1 to sr64, sr8:half,
// sr8:even.
Rounding parse_rounding(std::string_view text);
std::string to_string(const Rounding& r);
void check(const Rounding& r);

Tininess parse_tininess(std::string_view text);               // before, after, delivered
InvalidInteger parse_invalid_integer(std::string_view text);  // riscv, x86, arm
NanResult parse_nan_result(std::string_view text);            // canonical, negative, propagate, x86
std::string to_string(NanResult n);
std::string to_string(Tininess t);

Overflow parse_overflow(std::string_view text);  // ieee, inf, max, nan
std::string to_string(Overflow o);
std::string overflow_text(const Format& f);  // in the words of its number system

// The formats that have a name of their own, in the order in which a table shows them.
struct NamedFormat {
  std::string_view name;
  Format format;
  std::string_view source;
};
std::span<const NamedFormat> named_formats();

}  // namespace widthwise
