#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../text/scanner.hpp"
#include "rational.hpp"

namespace widthwise {
namespace {

constexpr std::int64_t most_tens = 1'000'000;  // 10^n is worked out exactly

int digit_value(char c, int base) {
  const int d = '0' <= c && c <= '9' ? c - '0' : 'a' <= c && c <= 'f' ? c - 'a' + 10 : 16;
  return d < base ? d : -1;
}

// Digits with at most one point among them: their integer, and how many stand behind the point.
struct Digits {
  Big value;
  std::int64_t behind_point;
};

// Sixteen to a limb of 64 bits.
Big from_hexadecimal(std::string_view digits) {
  constexpr std::size_t held = 16;
  std::vector<std::uint64_t> limbs;
  for (std::size_t end = digits.size(); end > 0; end -= std::min(end, held)) {
    std::uint64_t limb = 0;
    for (const char c : digits.substr(end - std::min(end, held), std::min(end, held)))
      limb = limb << 4 | static_cast<std::uint64_t>(digit_value(c, 16));
    limbs.push_back(limb);
  }
  return big(limbs);
}

// Digits enter many at a time, and long texts by halves, whose powers of ten are squares of one
// another: one by one, a text would cost the square of its length.
class DecimalReader {
 public:
  Big read(std::string_view digits) {
    if (digits.size() <= at_once) return few(digits);
    std::size_t level = 0, low = at_once;
    for (; 2 * low < digits.size(); ++level) low *= 2;
    const std::size_t high = digits.size() - low;
    return read(digits.substr(0, high)) * power(level) + read(digits.substr(high));
  }

 private:
  static constexpr std::size_t at_once = 288;

  static Big few(std::string_view digits) {
    constexpr std::size_t held = 18;  // by a word
    Big value;
    for (std::size_t at = 0; at < digits.size(); at += held) {
      std::uint64_t part = 0, scale = 1;
      for (const char c : digits.substr(at, held))
        part = 10 * part + static_cast<std::uint64_t>(digit_value(c, 10)), scale *= 10;
      value = value * scale + part;
    }
    return value;
  }
  // 10^(at_once * 2^level)
  const Big& power(std::size_t level) {
    if (powers_.empty()) powers_.push_back(pow(Big(10), at_once));
    while (powers_.size() <= level) powers_.push_back(powers_.back() * powers_.back());
    return powers_[level];
  }

  std::vector<Big> powers_;
};

Digits read_digits(Scanner& in, int base) {
  std::string digits;
  std::int64_t behind = 0;
  bool point = false;
  for (;; in.skip(1)) {
    if (in.peek() == '.' && !point) {
      point = true;
      continue;
    }
    if (digit_value(in.peek(), base) < 0) break;
    digits += in.peek();
    behind += point;
  }
  if (digits.empty()) in.fail_here("a number, as -1.5e-3, 0x1.8p-7, 3p-40, 1/3, inf or nan");
  return {base == 16 ? from_hexadecimal(digits) : DecimalReader().read(digits), behind};
}

// A number without sign: 12.5e3, 0x1.8p-7, 3p-40.
Rational read_real(Scanner& in) {
  const bool hex = in.ahead("").starts_with("0x");
  if (hex) in.skip(2);
  const Digits read = read_digits(in, hex ? 16 : 10);
  std::int64_t tens = hex ? 0 : -read.behind_point, twos = hex ? -4 * read.behind_point : 0;
  if (!hex && in.accept('e')) tens += in.integer("decimal exponent", -most_tens, most_tens);
  if (in.accept('p')) {
    twos += in.integer("binary exponent", -max_exponent_magnitude, max_exponent_magnitude);
  }
  if (tens < -most_tens) in.fail(0, fmt::format("more than {} digits behind the point", most_tens));

  Rational x{Kind::finite, false, read.value, 1, twos + tens};  // 10^n = 5^n * 2^n
  if (x.numerator == 0) x.kind = Kind::zero;
  const Big fives = power_of_five(static_cast<std::uint64_t>(tens < 0 ? -tens : tens));
  (tens < 0 ? x.denominator : x.numerator) *= fives;
  return x;
}

Rational read_magnitude(Scanner& in) {
  const std::string_view word = in.ahead("/");
  if (word == "inf" || word == "infinity") return in.skip(word.size()), Rational{Kind::infinite};
  if (word == "nan") return in.skip(word.size()), Rational{Kind::nan};
  Rational x = read_real(in);
  if (!in.accept('/')) return x;
  const std::size_t at = in.at();
  const Rational y = read_real(in);
  if (y.kind == Kind::zero) in.fail(at, "a division by zero; write inf or nan");
  x.numerator *= y.denominator;
  x.denominator *= y.numerator;
  x.exponent -= y.exponent;
  return x;
}

}  // namespace

Rational parse_literal(std::string_view where, std::string_view text) {
  Scanner in(where, text);
  const bool negative = in.accept('-');
  if (!negative) in.accept('+');
  Rational x = read_magnitude(in);
  x.negative = negative;
  in.expect_end("the end of the number");
  return x;
}

}  // namespace widthwise
