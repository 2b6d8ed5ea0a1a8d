#include "number_systems.hpp"

#include <fmt/format.h>

#include "other_names.hpp"
#include "widthwise/sim/tables.hpp"

namespace widthwise {
namespace {

constexpr std::int64_t max_fraction = std::int64_t{1} << 20;

// A word, and a number right behind it.
bool spells(std::string_view head, std::string_view word) {
  return head.starts_with(word) && head.size() > word.size() && is_digit(head[word.size()]);
}

int read_count(Scanner& in, std::string_view what, std::int64_t least, std::int64_t most) {
  return static_cast<int>(in.integer(what, least, most));
}

void expect_end_of(Scanner& in, std::size_t end, std::string_view form) {
  if (in.at() != end) in.fail_here(fmt::format("';' and an option, or the end, as in {}", form));
}

Format read_fixed(Scanner& in, bool is_signed) {
  const int width = read_count(in, "width", 1, max_precision);
  in.expect('.', " and the fraction bits, as in fixed8.4");
  return fixed_format(width, in.integer("fraction bits", -max_fraction, max_fraction), is_signed);
}

Format read_integer(Scanner& in, bool is_signed) {
  return fixed_format(read_count(in, "width", 1, max_precision), 0, is_signed);
}

Format read_posit(Scanner& in) {
  const int width = read_count(in, "width", min_tapered_width, max_tapered_width);
  if (!in.accept('e')) return posit_format(width, 2);
  in.expect('s', " and the exponent bits, as in posit16es2");
  return posit_format(width, read_count(in, "es", 0, max_es));
}

Format read_takum(Scanner& in) {
  return takum_format(read_count(in, "width", min_tapered_width, max_tapered_width));
}

// table(nf4), table(-1, 0, 1), table(./values.txt)
Format read_table(Scanner& in) {
  in.expect('(', " and a table's name, as in table(nf4)");
  const std::size_t at = in.at();
  const std::string name(in.as_given(in.ahead(")").size()));
  in.skip(name.size());
  in.expect(')', " behind the table's name or values");
  try {
    return find_table(name);
  } catch (const std::invalid_argument& wrong) {
    in.fail(at, wrong.what());
  }
}

// What a format's text begins with, and how the rest is read.
struct Form {
  std::string_view word, example;
  Format (*read)(Scanner& in);
};
constexpr Form forms[] = {
    {"fixed", "fixed8.4", [](Scanner& in) { return read_fixed(in, true); }},
    {"ufixed", "ufixed8.4", [](Scanner& in) { return read_fixed(in, false); }},
    {"int", "int8", [](Scanner& in) { return read_integer(in, true); }},
    {"uint", "uint8", [](Scanner& in) { return read_integer(in, false); }},
    {"posit", "posit16es2", &read_posit},
    {"takum", "takum16", &read_takum},
};

constexpr Word<Overflow> fixed_rules[] = {
    {"saturate", Overflow::ieee},   {"symmetric", Overflow::symmetric},
    {"zero", Overflow::zero},       {"wrap", Overflow::wrap},
    {"wrap_sm", Overflow::wrap_sm}, {"keep_sign", Overflow::keep_sign},
};

std::string_view fixed_rule(Overflow how) {
  const auto found = std::ranges::find(fixed_rules, how, &Word<Overflow>::value);
  return found == std::end(fixed_rules) ? std::string_view{} : found->text;
}

std::string fixed_text(const Format& f) {
  const std::int64_t fraction = -f.least_digit();
  const std::string_view u = f.is_signed() ? "" : "u";
  const std::string text = fraction == 0 ? fmt::format("{}int{}", u, f.width())
                                         : fmt::format("{}fixed{}.{}", u, f.width(), fraction);
  const std::string_view rule = fixed_rule(f.overflow);
  const bool usual = f.overflow == Overflow::ieee || rule.empty();
  return usual ? text : fmt::format("{};overflow={}", text, rule);
}

}  // namespace

std::optional<Format> read_number_system(Scanner& in, std::string_view head) {
  if (head.starts_with("table(")) {
    in.skip(5);
    return read_table(in);
  }
  const std::size_t end = in.at() + head.size();
  for (const Form& form : forms)
    if (spells(head, form.word)) {
      in.skip(form.word.size());
      const Format f = form.read(in);
      expect_end_of(in, end, form.example);
      return f;
    }
  return {};
}

Overflow read_fixed_overflow(Scanner& in) {
  in.expect('=', " and the value of overflow");
  const std::string_view text = in.ahead(value_ends);
  for (const Word<Overflow>& rule : fixed_rules)
    if (rule.text == text) {
      in.skip(text.size());
      return rule.value;
    }
  if (const auto ours = overflow_hint(text))
    in.fail(in.at(), fmt::format("overflow = {}: here it is {}", quoted(text), *ours));
  in.fail(in.at(), fmt::format("overflow = {}: of fixed point it may be saturate, symmetric, zero, "
                               "wrap, wrap_sm or keep_sign",
                               quoted(text)));
}

std::string overflow_text(const Format& f) {
  return f.is_float() ? to_string(f.overflow) : std::string(fixed_rule(f.overflow));
}

std::string number_system_text(const Format& f) {
  if (f.is_fixed()) return fixed_text(f);
  if (f.is_table()) return fmt::format("table({})", table_name(f));
  if (f.is_posit()) return fmt::format("posit{}es{}", f.width(), f.exp_bits);
  return fmt::format("takum{}", f.width());
}

std::optional<Fault> number_system_fault(const Format& f) {
  if (f.is_fixed()) {
    if (f.width() < 1 || f.width() > max_precision)
      return Fault{"width", fmt::format("{} bits: there may be 1 to {}", f.width(), max_precision)};
    if (f.overflow == Overflow::wrap_sm && !f.is_signed())
      return Fault{"overflow",
                   "overflow=wrap_sm makes a deleted bit the sign, which an unsigned format lacks; "
                   "take overflow=wrap"};
    return {};
  }
  if (f.is_table()) return {};
  if (f.width() < min_tapered_width || f.width() > max_tapered_width)
    return Fault{"width", fmt::format("{} bits: a posit or a takum has {} to {}", f.width(),
                                      min_tapered_width, max_tapered_width)};
  if (f.exp_bits < 0 || f.exp_bits > max_es)
    return Fault{"es", fmt::format("es = {}: there may be 0 to {}", f.exp_bits, max_es)};
  return {};
}

}  // namespace widthwise
