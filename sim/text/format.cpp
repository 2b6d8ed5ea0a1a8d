#include <fmt/core.h>

#include <vector>

#include "format_hint.hpp"
#include "format_names.hpp"
#include "number_systems.hpp"
#include "reading.hpp"
#include "widthwise/sim/said.hpp"

namespace widthwise {
namespace {

constexpr bool exp_bits_fit(const Format& f) {
  return 1 <= f.exp_bits && f.exp_bits <= max_exp_bits;
}

// --- Reading -----------------------------------------------------------------------------------

// u, e and a digit: the [u]eXmY form, whatever comes behind.
bool is_shape(std::string_view head) {
  const std::size_t e = head.starts_with('u');
  return head.size() > e + 1 && head[e] == 'e' && is_digit(head[e + 1]);
}

bool is_p3109(std::string_view head) {
  const std::size_t p = head.find('p');
  return head.starts_with("binary") && p != head.npos && p > 6 && is_digit(head[6]);
}

Format read_shape(Scanner& in, std::string_view head) {
  const std::size_t end = in.at() + head.size();
  const bool is_signed = !in.accept('u');
  in.skip(1);  // e
  const auto exp_bits = static_cast<int>(in.integer("exponent bits", 1, max_exp_bits));
  in.expect('m', " and the fraction bits, as in e5m10");
  const auto frac_bits = static_cast<int>(in.integer("fraction bits", 0, max_precision - 1));
  if (in.at() != end) {
    in.skip_blanks();
    in.fail_here("';' and an option, or the end" + nearest_format(head));
  }
  Format f = ieee_format(exp_bits, frac_bits);
  f.sign = is_signed ? Sign::magnitude : Sign::none;
  return f;
}

// binary<width>p<precision>[se|sf|ue|uf]: signed or unsigned, extended or finite.
Format read_p3109(Scanner& in) {
  constexpr int least_width = 3, most_width = 16;
  in.skip(6);  // binary
  const auto width = static_cast<int>(in.integer("width", least_width, most_width));
  in.skip(1);  // p
  const std::size_t at = in.at();
  const auto precision = static_cast<int>(in.integer("precision", 1, width));
  const std::string_view suffix = in.ahead(value_ends);
  if (!suffix.empty() && suffix != "se" && suffix != "sf" && suffix != "ue" && suffix != "uf")
    in.fail(in.at(), fmt::format("{}: it may be se, sf, ue or uf", quoted(suffix)));
  in.skip(suffix.size());
  const bool is_signed = !suffix.starts_with('u'), extended = !suffix.ends_with('f');
  if (is_signed && precision == width)
    in.fail(at, fmt::format("precision = {}: a signed format of {} bits has 1 to {}", precision,
                            width, width - 1));
  return p3109_format(width, precision, is_signed, extended);
}

// What stands there up to the end of brackets that others write, as in ap_fixed<8,4>.
std::string_view with_angles(const Scanner& in, std::string_view head) {
  const std::string_view longer = in.ahead(";:)");
  const std::size_t end = longer.find('>');
  return head.find('<') == head.npos || end == longer.npos ? head : longer.substr(0, end + 1);
}

[[noreturn]] void refuse_name(const Scanner& in, std::string_view head) {
  if (const std::string_view kind = later_kind(head); !kind.empty())
    in.fail(in.at(), fmt::format("{} is {}; this version knows floats as e5m10, fixed point as "
                                 "fixed8.4, posits as posit16es2, takums as takum16 and tables "
                                 "as table(nf4){}",
                                 quoted(head), kind,
                                 kind == "a block format" ? "; units as blackwell.mxfp4 take "
                                                            "blocks, which ww.blocks makes"
                                                          : ""));
  if (head.starts_with("affine("))
    in.fail(in.at(), fmt::format("{} are integers with a scale, no format of single numbers; in "
                                 "Python ww.affine(x, {}) makes them",
                                 quoted(in.ahead(";")), quoted(in.ahead(";"))));
  const std::string_view text = with_angles(in, head);
  const std::string hint = format_hint(text);
  const std::string_view forms =
      "; write a name as binary16 or e4m3fn, or a form: e5m10 has 5 exponent and 10 fraction bits, "
      "fixed8.4 4 of 8 bits behind the point, and posit16es2, takum16, table(nf4)";
  in.fail(in.at(), fmt::format("no format {}{}{}", quoted(text), hint,
                               hint.starts_with("; here") ? "" : forms));
}

Format read_encoding(Scanner& in) {
  const std::string_view head = in.ahead(value_ends);
  if (const auto named = find_format(head)) {
    in.skip(head.size());
    return *named;
  }
  if (is_p3109(head)) return read_p3109(in);
  if (is_shape(head)) return read_shape(in, head);
  if (const auto f = read_number_system(in, head)) return *f;
  refuse_name(in, head);
}

// The options that a text named, and where.
struct Given {
  struct Option {
    std::string key;
    std::size_t at;
  };
  std::vector<Option> options;
  std::int64_t emin = 0;  // where it is given

  const Option* find(std::string_view key) const {
    const auto found = std::ranges::find(options, key, &Option::key);
    return found == options.end() ? nullptr : &*found;
  }
};

template <class E>
E read_assigned(Scanner& in, std::string_view key) {
  in.expect('=', fmt::format(" and the value of {}", key));
  return read_word<E>(in, key);
}

std::int64_t read_exponent(Scanner& in, std::string_view key) {
  in.expect('=', fmt::format(" and the {}", key));
  return in.integer(key, -max_exponent_magnitude, max_exponent_magnitude);
}

constexpr std::string_view options[] = {"bias", "emin", "inf", "nan",     "sub",
                                        "zero", "daz",  "ftz", "overflow"};
constexpr std::string_view beside_a_format = "; a rounding stands beside a format";

bool read_switch(Scanner& in, std::string_view key) {
  return in.accept('=') ? read_word<bool>(in, key) : true;
}

void read_option(Scanner& in, std::string_view key, std::size_t at, Format& f) {
  if (!f.is_float() && !(f.is_fixed() && key == "overflow"))
    in.fail(at, fmt::format("{} takes no option {}{}", number_system_text(f), quoted(key),
                            f.is_fixed() ? "; there is overflow=" : ""));
  if (f.is_fixed())
    f.overflow = read_fixed_overflow(in);
  else if (key == "bias")
    f.bias = read_exponent(in, key);
  else if (key == "inf")
    f.inf = read_assigned<InfCodes>(in, key);
  else if (key == "nan")
    f.nan = read_assigned<NanCodes>(in, key);
  else if (key == "sub")
    f.subnormals = read_assigned<bool>(in, key);
  else if (key == "zero")
    f.zero = read_assigned<bool>(in, key);
  else if (key == "daz")
    f.daz = read_switch(in, key);
  else if (key == "ftz")
    f.ftz = read_switch(in, key);
  else if (key == "overflow")
    f.overflow = read_assigned<Overflow>(in, key);
  else
    in.fail(at, fmt::format("no option {}{}; there are bias=, emin=, inf=, nan=, sub=, zero=, daz, "
                            "ftz and overflow=",
                            quoted(key),
                            names_a_rounding(key) || is_rounding(key) ? beside_a_format
                                                                      : nearest(key, options)));
}

// The exponent of the least normal number in place of a bias, once it is known whether field 0 is
// set aside.
void set_emin(const Scanner& in, const Given& given, Format& f) {
  const Given::Option* option = given.find("emin");
  if (!option) return;
  if (given.find("bias"))
    in.fail(option->at, "emin and bias are given: each follows from the other");
  f.bias = (f.all_normal() ? 0 : 1) - given.emin;
}

Given read_options(Scanner& in, Format& f) {
  Given given;
  while (in.accept(';')) {
    const std::size_t at = in.at();
    const std::string key(in.ahead("=;:,)"));
    in.skip(key.size());
    if (given.find(key)) in.fail(at, fmt::format("{} is given twice", key));
    if (key == "emin")
      given.emin = read_exponent(in, key);
    else
      read_option(in, key, at, f);
    given.options.push_back({key, at});
  }
  set_emin(in, given, f);
  return given;
}

// --- What a format may be ----------------------------------------------------------------------

std::optional<Fault> size_fault(const Format& f) {
  if (!f.is_float()) return number_system_fault(f);
  if (!exp_bits_fit(f))
    return Fault{"exp_bits",
                 fmt::format("{} exponent bits: there may be 1 to {}", f.exp_bits, max_exp_bits)};
  if (f.frac_bits < 0 || f.frac_bits >= max_precision)
    return Fault{"frac_bits", fmt::format("{} fraction bits: there may be 0 to {}", f.frac_bits,
                                          max_precision - 1)};
  return {};
}

// Exponents of products, too, stay within the limit.
std::optional<Fault> range_fault(const Format& f) {
  constexpr std::int64_t most = max_exponent_magnitude;
  if (-most <= f.bias && f.bias <= most && f.emin() >= -(most / 2) && f.emax() <= most / 2)
    return {};
  return Fault{"bias", fmt::format("with {} exponent bits and bias = {} the exponents of products "
                                   "pass +-(2^62 - 1); take fewer bits, or the bias in the middle, "
                                   "{}",
                                   f.exp_bits, f.bias, ieee_bias(f.exp_bits))};
}

std::optional<Fault> special_fault(const Format& f) {
  if (!f.is_float()) return {};
  if (f.overflow > Overflow::satfinite)
    return Fault{"overflow",
                 "this overflow rule is fixed point's; floats have ieee, inf, max, nan "
                 "and satfinite"};
  if (f.inf == InfCodes::ieee && f.nan != NanCodes::ieee)
    return Fault{"inf", fmt::format("inf=ieee needs nan=ieee, not nan={}: an infinity would stand "
                                    "between finite codes; take inf=top",
                                    word(f.nan))};
  if (f.nan == NanCodes::sign_alone && !f.is_signed())
    return Fault{"nan", "nan=negative_zero needs a sign bit; take nan=all_ones"};
  if (f.nan == NanCodes::sign_alone && !f.zero)
    return Fault{"zero",
                 "nan=negative_zero takes the code of -0, and with zero=no that is a number; "
                 "take nan=all_ones or keep the zero"};
  return {};
}

// Two magnitudes are zero and one; special codes need more.
std::optional<Fault> emptiness_fault(const Format& f) {
  if (!f.is_float()) return {};
  const bool no_specials = f.nan != NanCodes::ieee && f.nan != NanCodes::all_ones && !f.has_inf();
  if (f.magnitude_bits() > 1 || no_specials) return {};
  return Fault{"nan",
               "the special codes leave no finite number but zero; take nan=none or more bits"};
}

// --- Printing ----------------------------------------------------------------------------------

std::string encoding_text(const Format& f) {
  if (const auto name = printed_name(f)) return std::string(*name);
  std::string text = fmt::format("{}e{}m{}", f.is_signed() ? "" : "u", f.exp_bits, f.frac_bits);
  if (!exp_bits_fit(f) || f.bias != ieee_bias(f.exp_bits)) text += fmt::format(";bias={}", f.bias);
  if (f.inf != default_inf(f.nan)) text += fmt::format(";inf={}", word(f.inf));
  if (f.nan != NanCodes::ieee || f.frac_bits == 0) text += fmt::format(";nan={}", word(f.nan));
  if (!f.subnormals) text += ";sub=no";
  if (!f.zero) text += ";zero=no";
  return text;
}

}  // namespace

Format read_format(Scanner& in) {
  const std::size_t start = in.at();
  const bool shape = is_shape(in.ahead(value_ends)) && !find_format(in.ahead(value_ends));
  Format f = read_encoding(in);
  const Given given = read_options(in, f);
  if (given.find("nan") && !given.find("inf")) f.inf = default_inf(f.nan);
  if (shape && f.frac_bits == 0 && !given.find("nan"))
    in.fail(start,
            "without fraction bits the NaN must be named: add ;nan=none, nan=all_ones, "
            "nan=negative_zero or nan=ieee");
  if (const auto wrong = fault(f)) {
    const Given::Option* option = given.find(wrong->field);
    in.fail(option ? option->at : start, wrong->message);
  }
  return f;
}

bool is_format_option(std::string_view word) {
  return std::ranges::find(options, word) != std::end(options);
}

namespace {

Format read_whole(Scanner& in) {
  const Format f = read_format(in);
  const std::string_view beside = in.peek() == ':' ? beside_a_format : "";
  in.expect_end(fmt::format("';' and an option, or the end{}", beside));
  return f;
}

}  // namespace

Format parse_format(std::string_view text) {
  Scanner in("format", text);
  const auto hint = [whole = in.ahead("")] { return spelled_hint(whole); };
  try {
    return read_whole(in);
  } catch (const ParseError& why) {
    const std::string message = why.what();
    const auto found = message.find("; here it is ") == message.npos ? hint() : std::nullopt;
    if (!found) throw;
    throw ParseError(message + "; here it is " + *found, why.line(), why.column());
  }
}

bool is_format(std::string_view text) { return reads(text, parse_format); }

std::string to_string(const Format& f) {
  if (!f.is_float()) return number_system_text(f);
  Format encoding = f;
  encoding.daz = encoding.ftz = false;
  encoding.overflow = Overflow::ieee;
  std::string text = encoding_text(encoding);
  if (f.daz) text += ";daz";
  if (f.ftz) text += ";ftz";
  if (f.overflow != Overflow::ieee) text += fmt::format(";overflow={}", word(f.overflow));
  return text;
}

std::optional<Fault> fault(const Format& f) {
  for (const auto rule : {size_fault, range_fault, special_fault, emptiness_fault})
    if (auto wrong = rule(f)) return wrong;
  return {};
}

void check(const Format& f) {
  if (const auto wrong = fault(f))
    throw std::invalid_argument(fmt::format("format {}: {}", said(f), wrong->message));
}

}  // namespace widthwise
