#include "arguments.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace widthwise {
namespace {

constexpr std::int64_t any_least = INT64_MIN + 1, any_most = INT64_MAX;  // check() knows the limits
constexpr std::string_view key_ends = "=,);:";

}  // namespace

Arguments::Arguments(Scanner& in, std::string_view kind)
    : in_(in), kind_(kind), kind_at_(in.at() - kind.size()) {
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
  const std::string key(in_.ahead(key_ends));
  in_.skip(key.size());
  if (!in_.accept('=')) {
    if (first_ || !arguments_.empty())
      in_.fail(at, "wanted key=value: only the first argument is a format by itself");
    in_.go_to(at);
    first_ = read_format(in_);
    return;
  }
  if (std::ranges::find(arguments_, key, &Argument::key) != arguments_.end())
    in_.fail(at, fmt::format("{} is given twice", key));
  arguments_.push_back({key, at, in_.at()});
  in_.skip(in_.ahead(",)").size());
}

template <class Read>
auto Arguments::take(std::string_view key, Read read) -> std::optional<decltype(read())> {
  asked_.push_back(key);
  const auto found = std::ranges::find(arguments_, key, &Argument::key);
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

Format Arguments::format(std::string_view key, const std::optional<Format>& otherwise) {
  const auto given = take(key, [&] { return read_format(in_); });
  if (!given && !otherwise) fail(key, "is missing, and no first format stands for it");
  return given ? *given : *otherwise;
}

Round Arguments::rounded(std::string_view key, const std::optional<Format>& otherwise) {
  const auto given = rounded(key);
  if (!given && !otherwise) fail(key, "is missing, and no first format stands for it");
  return given ? *given : Round{.fmt = *otherwise};
}

std::optional<Round> Arguments::rounded(std::string_view key) {
  return take(key, [&] { return read_round(); });
}

std::optional<Promote> Arguments::promote(std::string_view key) {
  return take(key, [&] {
    const std::int64_t interval = in_.integer("the interval", any_least, any_most);
    in_.expect(':', " and the format, as in promote=128:binary32");
    return Promote{interval, read_round()};
  });
}

std::optional<Scale> Arguments::scale(std::string_view key) {
  return take(key, [&] {
    constexpr std::string_view hint = ", as in scale=e8m0fnu:32:term";
    const Format f = read_format(in_);
    in_.expect(':', hint);
    const std::int64_t block = in_.integer("the scale's block", any_least, any_most);
    in_.expect(':', hint);
    return Scale{f, block, read_word<ScaleApply>(in_, "what is scaled")};
  });
}

std::optional<Align> Arguments::align(std::string_view key) {
  return take(key, [&] {
    const std::int64_t bits = in_.integer("align", any_least, any_most);
    const Rounding rm = in_.accept(':') ? read_rounding(in_) : Rounding{};
    return Align{.reference = Reference::max_exponent, .frac_bits = bits, .rm = rm};
  });
}

Rounding Arguments::rounding(std::string_view key, Rounding otherwise) {
  return take(key, [&] { return read_rounding(in_); }).value_or(otherwise);
}

RegisterOverflow Arguments::overflow(std::string_view key) {
  return take(key, [&] { return read_word<RegisterOverflow>(in_, key); })
      .value_or(RegisterOverflow::wrap);
}

Tininess Arguments::tininess(std::string_view key) {
  return take(key, [&] { return read_word<Tininess>(in_, key); })
      .value_or(Tininess::after_rounding);
}

std::optional<std::int64_t> Arguments::integer(std::string_view key) {
  return take(key, [&] { return in_.integer(key, any_least, any_most); });
}

std::int64_t Arguments::needed_integer(std::string_view key) {
  const auto given = integer(key);
  if (!given) fail(key, "is missing");
  return *given;
}

void Arguments::refuse_rest() const {
  for (const Argument& a : arguments_)
    if (!a.taken)
      in_.fail(a.key_at, fmt::format("{} has no {}{}; its keys are {}", kind_, quoted(a.key),
                                     nearest(a.key, asked_), fmt::join(asked_, ", ")));
}

void Arguments::fail(std::string_view key, std::string_view message) const {
  const auto found = std::ranges::find(arguments_, key, &Argument::key);
  const std::size_t at = found == arguments_.end() ? kind_at_ : found->key_at;
  in_.fail(at, fmt::format("{}: {}= {}", kind_, key, message));
}

}  // namespace widthwise
