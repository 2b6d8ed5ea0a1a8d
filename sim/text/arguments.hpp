#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reading.hpp"

namespace widthwise {

// The arguments of a short form, "[format,] {key=value,}" up to the closing bracket. A kind asks
// for what it takes, and each value is read then, as what the kind wants; the rest is refused.
class Arguments {
 public:
  // register_key: what the kind calls its result, "sum" or "out"; a rounding stands there.
  Arguments(Scanner& in, std::string_view kind, std::string_view register_key);

  std::string_view register_key() const { return register_key_; }

  const std::optional<Format>& first() const { return first_; }

  Format format(std::string_view key, const std::optional<Format>& otherwise);
  Round rounded(std::string_view key, const std::optional<Format>& otherwise);  // format[:rounding]
  std::optional<Round> rounded(std::string_view key);
  std::optional<Promote> promote(std::string_view key);  // interval:format[:rounding]
  std::optional<Scale> scale(std::string_view key);      // format:block:term|group
  std::optional<Align> align(std::string_view key);      // fraction bits[:rounding]
  Rounding rounding(std::string_view key, Rounding otherwise);
  std::optional<RegisterOverflow> overflow(std::string_view key);
  Tininess tininess(std::string_view key);
  NanResult nan(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  std::int64_t needed_integer(std::string_view key, std::string_view what);

  void refuse_rest() const;
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

 private:
  struct Argument {
    std::string key;
    std::size_t key_at, value_at;
    bool taken = false;
  };

  void read_argument();
  void end_argument();
  void refuse_missing_comma(std::size_t at);
  void refuse_semicolon(std::size_t at);
  [[noreturn]] void refuse_rounding_in_front();
  std::string value_of(const Argument& a) const;
  std::string register_format() const;
  std::string option_hint(std::string_view key) const;
  std::string second_hint(std::string_view text) const;
  [[noreturn]] void fail_missing(std::string_view key, std::string_view why) const;
  std::string hint_at(const Argument& a) const;
  template <class Read>
  auto take(std::string_view key, Read read) -> std::optional<decltype(read())>;
  Round read_round();

  Scanner& in_;
  std::string kind_;
  std::string_view register_key_;
  std::size_t kind_at_;
  std::optional<Format> first_;
  std::string first_text_;
  std::vector<Argument> arguments_;
  std::vector<std::string_view> asked_;
};

}  // namespace widthwise
