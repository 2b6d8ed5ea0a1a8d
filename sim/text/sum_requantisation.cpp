#include "widthwise/sim/sum_requantisation.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "scanner.hpp"

namespace widthwise {
namespace {

constexpr std::string_view kind = "requantize";
constexpr std::string_view variants[] = {"exact", "gemmlowp", "ruy", "single",
                                         "q31",   "rndnu",    "fp32"};

bool takes_binary32(std::string_view v) {
  return v == "exact" || v == "q31" || v == "rndnu" || v == "fp32";
}

void read_multiplier(Scanner& in, std::string_view key, SumRequantisation& s) {
  s.multiplier_port = in.accept_port(key);
  if (!s.multiplier_port) s.multiplier = in.number(key);
}

void read_zero_point(Scanner& in, std::string_view key, std::int64_t most, SumRequantisation& s) {
  s.zero_point_port = in.accept_port(key);
  if (!s.zero_point_port) s.zero_point = in.integer(key, -most, most);
}

void read_argument(Scanner& in, SumRequantisation& s) {
  constexpr std::int64_t most = std::int64_t{1} << 16;
  const std::size_t at = in.at();
  const std::string key(in.ahead("=,)"));
  in.skip(key.size());
  in.expect('=', fmt::format(" and the value of {}", quoted(key)));
  if (key == "multiplier")
    read_multiplier(in, key, s);
  else if (key == "zero_point")
    read_zero_point(in, key, most, s);
  else if (key == "qmin")
    s.qmin = in.integer(key, -most, most);
  else if (key == "qmax")
    s.qmax = in.integer(key, -most, most);
  else
    in.fail(at, fmt::format("no argument {}; there are multiplier=, zero_point=, qmin= and qmax=",
                            quoted(key)));
}

// TFLite's QuantizeMultiplier: 31 digits, ties away; 0 for what is too small.
SumScale quantised(double m) {
  int shift = 0;
  auto q = std::llround(std::ldexp(std::frexp(m, &shift), 31));
  if (q == std::int64_t{1} << 31) q /= 2, ++shift;
  if (shift < -31) return {.significand = 0, .exponent = -31};
  return {.significand = static_cast<std::uint64_t>(q), .exponent = shift - 31};
}

// The digits of a binary32 number, as many as are asked for.
SumScale of_binary32(double m, int digits) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(static_cast<float>(m)), &exponent);
  return {.significand = static_cast<std::uint64_t>(std::ldexp(fraction, digits)),
          .exponent = exponent - digits,
          .real = static_cast<float>(m)};
}

// Of the digits that follow the sign, as if no exponent were set aside: a product by what binary32
// has no number for is past all codes, or 0, as one by its largest is.
SumScale of_port(std::uint64_t code) {
  const auto field = static_cast<int>(code >> 23);
  const std::uint64_t significand = (code & 0x7fffff) | std::uint64_t{field > 0} << 23;
  const int exponent = std::max(field, 1) - 150;
  const double most = std::numeric_limits<float>::max();
  const double real = std::min(std::ldexp(static_cast<double>(significand), exponent), most);
  return {.significand = significand, .exponent = exponent, .real = static_cast<float>(real)};
}

std::string multiplier_fault(const SumRequantisation& s) {
  if (s.multiplier_port) return {};
  const double m = s.multiplier, single = static_cast<double>(static_cast<float>(m));
  if (!(m > 0) || std::isinf(m)) return "a multiplier of scales is finite and above zero";
  if (takes_binary32(s.variant) && (std::isinf(single) || single == 0))
    return fmt::format("{} takes it in binary32, where it is {}", s.variant, single);
  if (s.variant == "exact" && single != m)
    return fmt::format("exact is built for multipliers of binary32, as {}", single);
  if (s.variant == "q31" && !(single >= 0x1p-32 && single < 1))
    return "q31 takes multipliers of 2^-32 and more, below 1";
  if (s.variant == "single" && quantised(m).exponent + 31 > 30)
    return "single rounding takes multipliers below 2^30";
  return {};
}

std::string range_fault(const SumRequantisation& s) {
  if (s.zero_point_port && s.qmin > s.qmax)
    return fmt::format("qmin = {}, qmax = {}: they are in this order", s.qmin, s.qmax);
  if (!s.zero_point_port && (s.zero_point < s.qmin || s.zero_point > s.qmax))
    return fmt::format("qmin = {}, zero_point = {}, qmax = {}: they are in this order", s.qmin,
                       s.zero_point, s.qmax);
  const std::int64_t least = s.qmin < 0 ? -32768 : 0, most = s.qmin < 0 ? 32767 : 65535;
  if (s.qmin >= least && s.qmax <= most) return {};
  return fmt::format("qmin = {}, qmax = {}: codes have up to 16 bits", s.qmin, s.qmax);
}

}  // namespace

RequantiseRule SumRequantisation::rule() const {
  const auto how = variant == "gemmlowp" ? Requantisation::gemmlowp
                   : variant == "ruy"    ? Requantisation::ruy
                   : variant == "q31"    ? Requantisation::q31
                   : variant == "fp32"   ? Requantisation::fp32
                                         : Requantisation::rational;
  return {.how = how, .ties_up = variant != "exact", .qmin = qmin, .qmax = qmax};
}

Rounding SumRequantisation::last_rounding() const {
  if (variant == "exact" || variant == "fp32") return RoundingMode::rne;
  return variant == "gemmlowp" || variant == "q31" ? RoundingMode::rna : RoundingMode::rnp;
}

SumScale SumRequantisation::scale() const {
  if (variant == "gemmlowp" || variant == "ruy" || variant == "single")
    return quantised(multiplier);
  return of_binary32(multiplier, variant == "q31" ? 31 : 24);
}

bool SumRequantisation::takes_shift() const {
  return variant == "gemmlowp" || variant == "ruy" || variant == "single" || variant == "q31";
}

Format SumRequantisation::multiplier_format() const {
  if (takes_shift()) return fixed_format(32 + 6, 0, false);
  return {.exp_bits = 8,
          .frac_bits = 23,
          .bias = 127,
          .sign = Sign::none,
          .nan = NanCodes::none,
          .inf = InfCodes::none};
}

SumScale SumRequantisation::scale_of(std::uint64_t code) const {
  if (!takes_shift()) return of_port(code);
  const int h = static_cast<int>(code >> 32 ^ 32) - 32;
  return {.significand = code & 0xffffffff, .exponent = h - 31};
}

Format SumRequantisation::code() const {
  const bool is_signed = qmin < 0;
  const bool narrow = is_signed ? qmin >= -128 && qmax <= 127 : qmax <= 255;
  return fixed_format(narrow ? 8 : 16, 0, is_signed);
}

SumRequantisation parse_sum_requantisation(std::string_view text) {
  Scanner in("requantisation", text);
  if (in.ahead("(") != kind) in.fail(in.at(), "wanted requantize(variant, multiplier=...)");
  in.skip(kind.size());
  in.expect('(', " and a variant, as in requantize(exact, multiplier=0.5)");
  SumRequantisation s;
  const std::size_t at = in.at();
  s.variant = in.ahead(",)");
  if (std::ranges::find(variants, s.variant) == std::end(variants))
    in.fail(at, fmt::format("no variant {}; there are {}", quoted(s.variant),
                            fmt::join(variants, ", ")));
  in.skip(s.variant.size());
  while (in.accept(',')) read_argument(in, s);
  in.expect(')', " or a comma and an argument");
  in.expect_end("the end");
  check(s);
  return s;
}

std::string to_string(const SumRequantisation& s) {
  const std::string multiplier = s.multiplier_port ? "port" : fmt::format("{}", s.multiplier),
                    zero_point = s.zero_point_port ? "port" : fmt::format("{}", s.zero_point);
  return fmt::format("{}({}, multiplier={}, zero_point={}, qmin={}, qmax={})", kind, s.variant,
                     multiplier, zero_point, s.qmin, s.qmax);
}

void check(const SumRequantisation& s) {
  for (const auto rule : {multiplier_fault, range_fault})
    if (const std::string wrong = rule(s); !wrong.empty())
      throw std::invalid_argument(fmt::format("{}: {}", to_string(s), wrong));
}

}  // namespace widthwise
