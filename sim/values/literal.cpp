#include <fmt/format.h>

#include <array>

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

// Digits enter many at a time: one by one, a long text would cost its square.
class DigitReader {
 public:
  explicit DigitReader(int base) : base_(base) {}
  void take(int digit) {
    part_ = part_ * base_ + static_cast<std::uint64_t>(digit);
    scale_ *= base_;
    if (scale_ > (std::uint64_t{1} << 56)) flush();
  }
  Big value() {
    flush();
    return value_;
  }

 private:
  void flush() {
    value_ = value_ * scale_ + part_;
    part_ = 0, scale_ = 1;
  }
  unsigned base_;
  std::uint64_t part_ = 0, scale_ = 1;
  Big value_;
};

Digits read_digits(Scanner& in, int base) {
  DigitReader digits(base);
  std::int64_t behind = 0;
  bool point = false, any = false;
  for (;; in.skip(1)) {
    if (in.peek() == '.' && !point) {
      point = true;
      continue;
    }
    const int d = digit_value(in.peek(), base);
    if (d < 0) break;
    digits.take(d);
    behind += point;
    any = true;
  }
  if (!any) in.fail_here("a number, as -1.5e-3, 0x1.8p-7, 3p-40, 1/3, inf or nan");
  return {digits.value(), behind};
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
