#include <fmt/core.h>

#include "other_names.hpp"
#include "reading.hpp"

namespace widthwise {
namespace {

constexpr int default_random_bits = 32, most_random_bits = 64;

Rounding read_stochastic(Scanner& in) {
  in.skip(2);  // sr
  int k = default_random_bits;
  if (const char c = in.peek(); '0' <= c && c <= '9')
    k = static_cast<int>(in.integer("random bits", 1, most_random_bits));
  const std::size_t colon = in.at();
  if (!in.accept(':')) return {k, StochasticVariant::plain};
  const auto* variant = find_word<StochasticVariant>(in.ahead(value_ends));
  if (!variant || variant->text.empty()) in.fail(colon, "behind sr's ':' stands half or even");
  in.skip(variant->text.size());
  return {k, variant->value};
}

template <class E>
E parse_word(std::string_view what, std::string_view text) {
  Scanner in(what, text);
  const E value = read_word<E>(in, what);
  in.expect_end("the end");
  return value;
}

}  // namespace

Rounding read_rounding(Scanner& in) {
  const std::string_view text = in.ahead(value_ends);
  const auto* found = find_word<RoundingMode>(text);
  if (found && found->value != RoundingMode::sr) {
    in.skip(text.size());
    return found->value;
  }
  if (text == "sr" || (text.starts_with("sr") && '0' <= text[2] && text[2] <= '9'))
    return read_stochastic(in);
  if (text == "rmm") {  // RISC-V's word
    in.skip(text.size());
    return RoundingMode::rna;
  }
  if (const auto ours = rounding_hint(text))
    in.fail(in.at(), fmt::format("no rounding {}; here it is {}", quoted(text), *ours));
  if (const auto why = why_no_rounding(text))
    in.fail(in.at(), fmt::format("no rounding {}: {}", quoted(text), *why));
  in.fail(in.at(), fmt::format("no rounding {}; there are {} (sr8: 8 random bits)", quoted(text),
                               word_list<RoundingMode>()));
}

Rounding parse_rounding(std::string_view text) {
  Scanner in("rounding", text);
  const Rounding r = read_rounding(in);
  in.expect_end("the end");
  return r;
}

bool is_rounding(std::string_view text) { return reads(text, parse_rounding); }

bool names_a_rounding(std::string_view key) {
  for (const std::string_view name : {"rounding", "round", "rnd", "rm", "mode"})
    if (key == name) return true;
  return false;
}

std::string to_string(const Rounding& r) {
  if (!r.stochastic()) return std::string(word(r.mode));
  const std::string_view variant = word(r.variant);
  return fmt::format("sr{}{}{}", r.random_bits, variant.empty() ? "" : ":", variant);
}

std::optional<Fault> fault(const Rounding& r) {
  const int least = r.stochastic() ? 1 : 0, most = r.stochastic() ? most_random_bits : 0;
  if (least <= r.random_bits && r.random_bits <= most) return {};
  return Fault{"rm", fmt::format("{} random bits; {} takes {} to {}", r.random_bits, word(r.mode),
                                 least, most)};
}

void check(const Rounding& r) {
  if (const auto wrong = fault(r)) throw std::invalid_argument("rounding: " + wrong->message);
}

Tininess parse_tininess(std::string_view text) { return parse_word<Tininess>("tininess", text); }
InvalidInteger parse_invalid_integer(std::string_view text) {
  return parse_word<InvalidInteger>("invalid", text);
}
NanResult parse_nan_result(std::string_view text) { return parse_word<NanResult>("nan", text); }
std::string to_string(NanResult n) { return std::string(word(n)); }
std::string to_string(Tininess t) { return std::string(word(t)); }
Overflow parse_overflow(std::string_view text) { return parse_word<Overflow>("overflow", text); }
std::string to_string(Overflow o) { return std::string(word(o)); }

}  // namespace widthwise
