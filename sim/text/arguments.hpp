#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reading.hpp"

namespace widthwise {

// What a kind may take, each by its key. Every kind takes some.
enum class Parameter {
  a,
  b,
  c,
  sum,
  out,
  product,
  node,
  final,
  promote,
  scale,
  tininess,
  nan,
  fan,
  lanes,
  align,
  floor,
  width,
  frac,
  overflow,
};
template <>
inline constexpr Word<Parameter> words<Parameter>[] = {
    {"a", Parameter::a},
    {"b", Parameter::b},
    {"c", Parameter::c},
    {"sum", Parameter::sum},
    {"out", Parameter::out},
    {"product", Parameter::product},
    {"node", Parameter::node},
    {"final", Parameter::final},
    {"promote", Parameter::promote},
    {"scale", Parameter::scale},
    {"tininess", Parameter::tininess},
    {"nan", Parameter::nan},
    {"fan", Parameter::fan},
    {"lanes", Parameter::lanes},
    {"align", Parameter::align},
    {"floor", Parameter::floor},
    {"width", Parameter::width},
    {"frac", Parameter::frac},
    {"overflow", Parameter::overflow},
};

// The arguments of a short form, "[format,] {key=value,}" up to the closing bracket. A kind asks
// for what it takes, and each value is read then, as what the kind wants; the rest is refused.
class Arguments {
 public:
  // register_key: what the kind calls its result, sum or out; a rounding stands there.
  Arguments(Scanner& in, std::string_view kind, Parameter register_key);

  Parameter register_key() const { return register_key_; }

  const std::optional<Format>& first() const { return first_; }

  Format format(Parameter key, const std::optional<Format>& otherwise);
  Round rounded(Parameter key, const std::optional<Format>& otherwise);  // format[:rounding]
  std::optional<Round> rounded(Parameter key);
  std::optional<Promote> promote(Parameter key);  // interval:format[:rounding]
  std::optional<Scale> scale(Parameter key);      // format:block:term|group
  std::optional<Align> align(Parameter key);      // fraction bits[:rounding]
  Rounding rounding(Parameter key, Rounding otherwise);
  std::optional<RegisterOverflow> overflow(Parameter key);
  Tininess tininess(Parameter key);
  NanResult nan(Parameter key);
  std::optional<std::int64_t> integer(Parameter key);
  std::int64_t needed_integer(Parameter key, std::string_view what);

  void refuse_rest() const;
  [[noreturn]] void fail(Parameter key, std::string_view message) const {
    fail(word(key), message);
  }
  [[noreturn]] void fail(std::string_view field, std::string_view message) const;

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
  std::string_view register_word() const { return word(register_key_); }
  std::string option_hint(std::string_view key) const;
  std::string second_hint(std::string_view text) const;
  [[noreturn]] void fail_missing(Parameter key, std::string_view why) const;
  std::string hint_at(const Argument& a) const;
  template <class Read>
  auto take(Parameter key, Read read) -> std::optional<decltype(read())>;
  Round read_round();

  Scanner& in_;
  std::string kind_;
  Parameter register_key_;
  std::size_t kind_at_;
  std::optional<Format> first_;
  std::string first_text_;
  std::vector<Argument> arguments_;
  std::vector<std::string_view> asked_;
};

}  // namespace widthwise
