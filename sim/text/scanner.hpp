#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/sim/text.hpp"

namespace widthwise {

constexpr bool is_digit(char c) { return '0' <= c && c <= '9'; }
// An integer of up to nine digits from `at` on, which moves behind it; nothing if there is none.
std::optional<std::int64_t> number_at(std::string_view text, std::size_t& at);

// A text being read, and how far. Its errors name the text, the column, and what stands there.
class Scanner {
 public:
  // what: "format", "unit": the kind of text, named in errors.
  Scanner(std::string_view what, std::string_view text);

  std::size_t at() const { return at_; }
  bool done() const { return at_ == text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }

  bool accept(char c);  // skips blanks before and after
  void expect(char c, std::string_view hint);
  void expect_end(std::string_view hint);

  // What stands before the next of `stops` that is in no parentheses of its own, in lower case,
  // blanks behind it left out.
  std::string_view ahead(std::string_view stops) const;
  // The next n characters as they were given, in their case.
  std::string_view as_given(std::size_t n) const {
    return std::string_view(original_).substr(at_, n);
  }
  void skip(std::size_t n) { at_ += n; }
  void go_to(std::size_t at) { at_ = at; }
  void skip_blanks();

  // [-+]digits; anything past `most` in magnitude is an error.
  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most);
  // What stands before the next comma or bracket, as a double.
  double number(std::string_view name);

  // Whether there is the word `port` instead of a number; another word is neither.
  bool accept_port(std::string_view name);

  [[noreturn]] void fail(std::size_t at, std::string_view message) const;
  [[noreturn]] void fail_here(std::string_view wanted) const;  // found 'x', wanted …

 private:
  std::string what_, original_, text_;  // text_ is original_ in lower case
  std::size_t at_ = 0;
};

// Text for an error message: in quotes, cut when long, what cannot be printed escaped.
std::string quoted(std::string_view text);
// Where the library's own is known, it would be found for strings.
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }

// The name closest to `text`, in quotes behind "; nearest name: ", or nothing if none is close.
std::string nearest(std::string_view text, std::span<const std::string_view> names);

}  // namespace widthwise
