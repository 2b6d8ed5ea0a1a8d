#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rational.hpp"

namespace widthwise {
namespace {

std::string special(const Value& v) {
  if (v.kind == Kind::nan) return "nan";
  return std::string(v.negative ? "-" : "") + (v.kind == Kind::zero ? "0" : "inf");
}

// numerator / denominator to the nearest integer, ties to even.
Big nearest(const Big& numerator, const Big& denominator) {
  Big quotient, rest;
  divide_qr(numerator, denominator, quotient, rest);
  const int side = Big(rest * 2).compare(denominator);
  return side > 0 || (side == 0 && bit_test(quotient, 0)) ? Big(quotient + 1) : quotient;
}

// v * 10^tens, rounded to an integer.
Big scaled(const Value& v, std::int64_t tens) {
  Big numerator = big(v.significand), denominator = 1;
  const Big fives = power_of_five(static_cast<std::uint64_t>(tens < 0 ? -tens : tens));
  (tens < 0 ? denominator : numerator) *= fives;
  const std::int64_t twos = v.exponent + tens;
  (twos < 0 ? denominator : numerator) <<= static_cast<std::size_t>(twos < 0 ? -twos : twos);
  return nearest(numerator, denominator);
}

// Decimal digits and the power of ten of the first, trailing zeros left out.
struct Decimal {
  std::string digits;
  std::int64_t exponent;
};

Decimal rounded(const Value& v, int digits) {
  const auto top = static_cast<double>(v.exponent + length(big(v.significand)) - 1);
  auto exponent = static_cast<std::int64_t>(std::floor(top * std::log10(2.0)));  // or one more
  std::string text = scaled(v, digits - 1 - exponent).str();
  if (static_cast<int>(text.size()) > digits) text = scaled(v, digits - 1 - ++exponent).str();
  if (static_cast<int>(text.size()) > digits) text.pop_back(), ++exponent;  // 9.99 became 10.0
  text.erase(text.find_last_not_of('0') + 1);
  return {text, exponent};
}

constexpr int most_zeros = 15;  // of an exponent that stands in them

std::string with_power(const Decimal& d) {
  const std::string rest = d.digits.size() > 1 ? "." + d.digits.substr(1) : "";
  return fmt::format("{}{}e{}{:02}", d.digits[0], rest, d.exponent < 0 ? '-' : '+',
                     d.exponent < 0 ? -d.exponent : d.exponent);
}

// As Python writes floats: exponents from -5 to 15 stand in the zeros.
std::string written(const Decimal& d) {
  const auto length = static_cast<std::int64_t>(d.digits.size());
  if (d.exponent < -5 || d.exponent > most_zeros) return with_power(d);
  if (d.exponent < 0)
    return "0." + std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
  if (d.exponent >= length - 1)
    return d.digits + std::string(static_cast<std::size_t>(d.exponent - length + 1), '0');
  const auto point = static_cast<std::size_t>(d.exponent + 1);
  return d.digits.substr(0, point) + "." + d.digits.substr(point);
}

bool is_integer(const Value& v) {
  return v.exponent >= 0 || lsb(big(v.significand)) >= static_cast<std::size_t>(-v.exponent);
}

// A number of v's shortest digits d. A zero in place of an integer's digit would be read as the
// digit: all of them stand there, or, past those that formats of `most` digits tell apart, a power.
std::string without_false_zeros(const Value& v, const Decimal& d, int most) {
  if (d.exponent > most_zeros || !is_integer(v)) return written(d);
  const Decimal all = rounded(v, most_zeros + 2);
  if (all.digits == d.digits || all.exponent < std::max(most, 7)) return written(all);
  return with_power(d);
}

// The format whose numbers the decimal digits tell apart: its own, but the float of a table's
// digits, for the few values of a table are not what lies between them.
Format told_apart_in(const Format& f) {
  if (f.is_table()) return ieee_format(15, f.digits() - 1);
  Format plain = f;
  plain.daz = plain.ftz = false;
  return plain;
}

bool within_reach(const Value& v) {
  return -decimal_reach < v.exponent && v.exponent < decimal_reach;
}

}  // namespace

std::string decimal(const Value& v, int digits) {
  if (v.kind != Kind::finite) return special(v);
  if (!within_reach(v)) return hexadecimal(v);
  return (v.negative ? "-" : "") + written(rounded(v, digits));
}

std::string hexadecimal(const Value& v) {
  if (v.kind != Kind::finite) return special(v);
  const Big sig = big(v.significand);
  const std::int64_t behind = length(sig) - 1;
  const std::int64_t pad = (4 - behind % 4) % 4;  // the leading one before the point, alone
  std::string text = Big(sig << static_cast<std::size_t>(pad)).str(0, std::ios::hex);
  if (text.size() > 1) text.insert(1, ".");
  return fmt::format("{}0x{}p{:+}", v.negative ? "-" : "", text, v.exponent + behind);
}

std::string shortest_decimal(const Format& f, const void* code) {
  const Value v = value_of(f, code);
  if (v.kind != Kind::finite || !within_reach(v)) return decimal(v, 1);
  const Format plain = told_apart_in(f);
  const RationalRounder rounder(plain, {});
  const auto bytes = static_cast<std::size_t>(item_bytes(plain.width()));
  std::vector<std::byte> own(bytes), again(bytes);
  rounder.round(parse_literal("x", hexadecimal(v)), 0, own.data());
  const auto reads_back = [&](int digits) {
    rounder.round(parse_literal("x", decimal(v, digits)), 0, again.data());
    return again == own;
  };
  const int most = static_cast<int>(f.precision() * std::log10(2.0)) + 2;  // Matula, 1968
  int fewest = 1, enough = most;
  while (fewest < enough) {
    const int digits = (fewest + enough) / 2;
    if (reads_back(digits))
      enough = digits;
    else
      fewest = digits + 1;
  }
  return (v.negative ? "-" : "") + without_false_zeros(v, rounded(v, enough), most);
}

}  // namespace widthwise
