#include "arguments.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "format_hint.hpp"

namespace widthwise {
namespace {

constexpr std::int64_t any_least = INT64_MIN + 1, any_most = INT64_MAX;  // check() knows the limits
constexpr std::string_view key_ends = "=,);:";
constexpr std::size_t most = 32;  // arguments of one text

// What others call an argument. A kind's register has two names here: sum, and out.
constexpr std::optional<Parameter> its_register{};
struct OtherName {
  std::string_view text;
  std::optional<Parameter> key;
};
constexpr OtherName other_names[] = {
    {"acc", its_register},
    {"accum", its_register},
    {"accumulator", its_register},
    {"accumulate", its_register},
    {"add", its_register},
    {"adder", its_register},
    {"sum", its_register},
    {"out", its_register},
    {"output", its_register},
    {"result", its_register},
    {"register", its_register},
    {"dst", its_register},
    {"prod", Parameter::product},
    {"mul", Parameter::product},
    {"multiply", Parameter::product},
    {"lanes", Parameter::fan},
    {"terms", Parameter::fan},
    {"fanin", Parameter::fan},
    {"fan", Parameter::lanes},
    {"k", Parameter::lanes},
    {"k", Parameter::fan},
    {"block", Parameter::lanes},
    {"bits", Parameter::width},
    {"fraction", Parameter::frac},
    {"frac_bits", Parameter::frac},
    {"interval", Parameter::promote},
    {"format", Parameter::a},
    {"fmt", Parameter::a},
};

// Behind a semicolon that was meant for a comma.
bool is_key(std::string_view word) {
  return (find_word<Parameter>(word) && !is_format_option(word)) ||
         std::ranges::find(other_names, word, &OtherName::text) != std::end(other_names);
}

constexpr bool letter(char c) { return ('a' <= c && c <= 'z') || c == '_'; }
constexpr bool word_end(char c) { return letter(c) || ('0' <= c && c <= '9'); }

}  // namespace

Arguments::Arguments(Scanner& in, std::string_view kind, Parameter register_key)
    : in_(in), kind_(kind), register_key_(register_key), kind_at_(in.at() - kind.size()) {
  in_.expect('(', " and a format, as in mac(e5m10)");
  while (!in_.accept(')')) {
    read_argument();
    end_argument();
  }
  in_.expect_end("the end");
}

// One of "key=value" and, in front of all, "format".
void Arguments::read_argument() {
  const std::size_t at = in_.at();
  refuse_missing_comma(at);
  refuse_semicolon(at);
  const std::string key(in_.ahead(key_ends));
  in_.skip(key.size());
  if (!in_.accept('=')) {
    if (is_format_option(key)) in_.fail(at, option_hint(key));
    if (first_ || !arguments_.empty())
      in_.fail(
          at, "wanted key=value: only the first argument is a format by itself" + second_hint(key));
    in_.go_to(at);
    first_text_ = in_.ahead(",):");
    first_ = read_format(in_);
    if (in_.peek() == ':') refuse_rounding_in_front();
    return;
  }
  if (std::ranges::find(arguments_, key, &Argument::key) != arguments_.end())
    in_.fail(at, fmt::format("{} is given twice", key));
  if (arguments_.size() == most) in_.fail(at, "no kind has so many arguments");
  arguments_.push_back({key, at, in_.at()});
  in_.skip(in_.ahead(",)").size());
}

// mac(posit16,2), mac(e4m3fn, e5m10): what somebody may have meant by one more without a key.
std::string Arguments::second_hint(std::string_view text) const {
  if (const auto whole = spelled_hint(fmt::format("{},{}", first_text_, text)))
    return fmt::format("; here it is {}({})", kind_, *whole);
  if (is_rounding(text))
    return fmt::format("; a rounding stands behind its format, as {}={}:{}", register_word(),
                       register_format(), text);
  return is_format(text) ? fmt::format("; as {}={}", register_word(), text) : "";
}

// mac(e4m3fn sum=e5m10): in no argument do two words stand side by side.
void Arguments::refuse_missing_comma(std::size_t at) {
  const std::string_view text = in_.ahead(",)");
  for (std::size_t gap = 0; (gap = text.find_first_of(" \t\r\n", gap)) != text.npos;) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", gap);
    if (gap > 0 && word_end(text[gap - 1]) && letter(text[next])) {
      const std::string word(text.substr(next, text.find_first_of("=;: \t\r\n", next) - next));
      in_.fail(at + next, fmt::format("{} is missing in front of {}",
                                      is_format_option(word) ? "';' or ','" : "','", quoted(word)));
    }
    gap = next;
  }
}

// mac(e4m3fn; sum=e5m10): semicolons stand between a format's options.
void Arguments::refuse_semicolon(std::size_t at) {
  const std::string_view text = in_.ahead(",)");
  for (std::size_t mark = 0; (mark = text.find(';', mark)) != text.npos; ++mark) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", mark + 1);
    if (next == text.npos) return;
    const std::string_view word = text.substr(next, text.find_first_of("=;: \t\r\n", next) - next);
    if (is_key(word) && text.substr(next + word.size()).starts_with('='))
      in_.fail(at + mark, fmt::format("found ';'; wanted ',' in front of {}", quoted(word)));
  }
}

// mac(e9m14:rtz): a rounding is of what is rounded to it, and the format in front is of everything.
void Arguments::refuse_rounding_in_front() {
  const std::size_t at = in_.at();
  in_.accept(':');
  const std::string_view rm = in_.ahead(",)");
  in_.fail(at,
           fmt::format("the format in front has no rounding; write {}({}, {}={}:{})", kind_,
                       first_text_, register_word(), first_text_, is_rounding(rm) ? rm : "rtz"));
}

template <class Read>
auto Arguments::take(Parameter key, Read read) -> std::optional<decltype(read())> {
  asked_.push_back(word(key));
  const auto found = std::ranges::find(arguments_, word(key), &Argument::key);
  if (found == arguments_.end()) return {};
  found->taken = true;
  in_.go_to(found->value_at);
  const auto value = read();
  end_argument();
  return value;
}

void Arguments::end_argument() {
  if (!in_.accept(',') && in_.peek() != ')') in_.fail_here("',' or ')'");
}

Round Arguments::read_round() {
  Round r{.fmt = read_format(in_)};
  if (in_.accept(':')) r.rm = read_rounding(in_);
  return r;
}

Format Arguments::format(Parameter key, const std::optional<Format>& otherwise) {
  const auto given = take(key, [&] { return read_format(in_); });
  if (!given && !otherwise) fail_missing(key, ", and no first format stands for it");
  return given ? *given : *otherwise;
}

Round Arguments::rounded(Parameter key, const std::optional<Format>& otherwise) {
  const auto given = rounded(key);
  if (!given && !otherwise) fail_missing(key, ", and no first format stands for it");
  return given ? *given : Round{.fmt = *otherwise};
}

std::optional<Round> Arguments::rounded(Parameter key) {
  return take(key, [&] { return read_round(); });
}

std::optional<Promote> Arguments::promote(Parameter key) {
  return take(key, [&] {
    const std::int64_t interval = in_.integer("the interval", any_least, any_most);
    in_.expect(':', " and the format, as in promote=128:binary32");
    return Promote{interval, read_round()};
  });
}

std::optional<Scale> Arguments::scale(Parameter key) {
  return take(key, [&] {
    constexpr std::string_view hint = ", as in scale=e8m0fnu:32:term";
    const Format f = read_format(in_);
    in_.expect(':', hint);
    const std::int64_t block = in_.integer("the scale's block", any_least, any_most);
    in_.expect(':', hint);
    return Scale{f, block, read_word<ScaleApply>(in_, "what is scaled")};
  });
}

std::optional<Align> Arguments::align(Parameter key) {
  return take(key, [&] {
    const std::int64_t bits = in_.integer("align", any_least, any_most);
    const Rounding rm = in_.accept(':') ? read_rounding(in_) : Rounding{};
    return Align{.reference = Reference::max_exponent, .frac_bits = bits, .rm = rm};
  });
}

Rounding Arguments::rounding(Parameter key, Rounding otherwise) {
  return take(key, [&] { return read_rounding(in_); }).value_or(otherwise);
}

std::optional<RegisterOverflow> Arguments::overflow(Parameter key) {
  return take(key, [&] { return read_word<RegisterOverflow>(in_, word(key)); });
}

Tininess Arguments::tininess(Parameter key) {
  return take(key, [&] { return read_word<Tininess>(in_, word(key)); })
      .value_or(Tininess::after_rounding);
}

NanResult Arguments::nan(Parameter key) {
  return take(key, [&] { return read_word<NanResult>(in_, word(key)); })
      .value_or(NanResult::canonical);
}

std::optional<std::int64_t> Arguments::integer(Parameter key) {
  return take(key, [&] { return in_.integer(word(key), any_least, any_most); });
}

std::int64_t Arguments::needed_integer(Parameter key, std::string_view what) {
  const auto given = integer(key);
  if (!given) fail_missing(key, fmt::format(": {}", what));
  return *given;
}

void Arguments::refuse_rest() const {
  for (const Argument& a : arguments_)
    if (!a.taken)
      in_.fail(a.key_at, fmt::format("{} has no {}{}; its keys are {}", kind_, quoted(a.key),
                                     hint_at(a), fmt::join(asked_, ", ")));
}

// The text of an argument's value.
std::string Arguments::value_of(const Argument& a) const {
  in_.go_to(a.value_at);
  return std::string(in_.ahead(",)"));
}

// The format that the register has, as it was written.
std::string Arguments::register_format() const {
  const auto given = std::ranges::find(arguments_, register_word(), &Argument::key);
  if (given == arguments_.end()) return first_text_.empty() ? "e5m10" : first_text_;
  const std::string text = value_of(*given);
  return text.substr(0, text.find(':'));
}

std::string Arguments::option_hint(std::string_view key) const {
  const bool is_switch = key == "daz" || key == "ftz";
  return fmt::format("{} is an option of a format, behind which it stands, as e5m10;{}{}",
                     quoted(key), key, is_switch ? "" : "=...");
}

// "; ...": what somebody who wrote that key may have meant.
std::string Arguments::hint_at(const Argument& a) const {
  const std::string value = value_of(a);
  if (names_a_rounding(a.key))
    return fmt::format(": a rounding stands behind its format, as {}={}:{}", register_word(),
                       register_format(), is_rounding(value) ? value : "rtz");
  for (const OtherName& other : other_names) {
    const std::string_view key = word(other.key.value_or(register_key_));
    if (other.text == a.key && std::ranges::find(asked_, key) != asked_.end())
      return fmt::format(": it is {}= here, as {}={}", key, key, value);
  }
  if (a.key == "nan" && find_word<NanResult>(value))
    return ": operations have one; a unit's NaN is nan_bits in its TOML";
  if (is_format_option(a.key)) return ": " + option_hint(a.key);
  return nearest(a.key, asked_);
}

// Unless another of its names is there.
void Arguments::fail_missing(Parameter key, std::string_view why) const {
  const std::string_view name = word(key);
  const auto means = [&](const OtherName& other, const Argument& a) {
    return other.text == a.key && other.key.value_or(register_key_) == key;
  };
  for (const Argument& a : arguments_)
    if (std::ranges::any_of(other_names, [&](const OtherName& other) { return means(other, a); }) ||
        (!a.taken && !nearest(a.key, {&name, 1}).empty()))
      in_.fail(a.key_at, fmt::format("{} has no {}: it is {}= here, as {}={}", kind_, quoted(a.key),
                                     name, name, value_of(a)));
  fail(key, fmt::format("is missing{}", why));
}

void Arguments::fail(std::string_view field, std::string_view message) const {
  const auto found = std::ranges::find(arguments_, field, &Argument::key);
  const std::size_t at = found == arguments_.end() ? kind_at_ : found->key_at;
  in_.fail(at, fmt::format("{}: {}= {}", kind_, field, message));
}

}  // namespace widthwise
