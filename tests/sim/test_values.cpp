#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "turns.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/mpfr_oracle.hpp"
#include "widthwise/sim/operands.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/values.hpp"

// Literals and exact values against MPFR, which reads and writes numbers on its own.
namespace {

using namespace widthwise;

using Limbs = std::vector<std::uint64_t>;

const char* const format_texts[] = {"e5m10",
                                    "e4m3fn",
                                    "e8m7",
                                    "binary64",
                                    "e15m112",
                                    "e20m64",
                                    "e2m1fn",
                                    "e8m0fnu",
                                    "ue5m3",
                                    "binary8p3",
                                    "e9m6",
                                    "e15m500",
                                    "e5m10;ftz",
                                    "e4m3fnuz",
                                    "posit8es2",
                                    "posit64es4",
                                    "takum9",
                                    "fixed8.4",
                                    "int100",
                                    "ufixed12.15",
                                    "fixed16.8;overflow=wrap",
                                    "fixed9.2;overflow=wrap_sm"};
const char* const rounding_texts[] = {"rne", "rna", "rnz", "rno", "rtz",
                                      "rdn", "rup", "raz", "odd"};

struct Draw {
  std::uint64_t index = 0, step = 0;
  std::uint64_t word() { return random_bits(64, {11, index}, Slot::out, step++); }
  int below(int n) { return static_cast<int>(word() % static_cast<std::uint64_t>(n)); }
};

std::string digits(Draw& draw, int n) {
  std::string text(1, static_cast<char>('1' + draw.below(9)));
  while (--n > 0) text += static_cast<char>('0' + draw.below(10));
  return text;
}

// A literal that MPFR reads as we do.
std::string literal(Draw& draw) {
  const std::string sign = draw.below(2) ? "-" : "";
  switch (draw.below(5)) {
    case 0: return sign + digits(draw, 1 + draw.below(30));
    case 1: return sign + digits(draw, 1 + draw.below(9)) + "/" + digits(draw, 1 + draw.below(9));
    case 2:
      return fmt::format("{}{}.{}e{}", sign, digits(draw, 1), digits(draw, 1 + draw.below(40)),
                         draw.below(80) - 40);
    case 3:
      return fmt::format("{}0x{:x}.{:x}p{}", sign, 1 + draw.below(15), draw.word(),
                         draw.below(60) - 30);
    default: return sign + "0." + digits(draw, 1 + draw.below(8));
  }
}

Limbs limbs(const Format& f, const std::vector<std::byte>& code) {
  Limbs x(static_cast<std::size_t>((f.width() + 63) / 64));
  std::memcpy(x.data(), code.data(), code.size());
  return x;
}

TEST_CASE("from_literals: every literal is rounded as MPFR rounds it, in every mode") {
  int checked = 0;
  for (const char* format : format_texts)
    for (const char* rounding : rounding_texts) {
      const Format f = parse_format(format);
      const Env env{parse_rounding(rounding)};
      for (std::uint64_t i = 0; i < 120; ++i, ++checked) {
        Draw draw{i};
        const std::string text = literal(draw);
        std::vector<std::byte> code(static_cast<std::size_t>(item_bytes(f.width())));
        std::uint8_t flags = 0;
        from_literals(f, env, std::span(&text, 1), code.data(), &flags);
        const OracleResult wanted = mpfr_from_text(f, env, text);
        CAPTURE(format);
        CAPTURE(rounding);
        CAPTURE(text);
        REQUIRE(limbs(f, code) == wanted.code);
        REQUIRE(flags == wanted.flags);
      }
    }
  CHECK(checked == 22 * 9 * 120);
}

TEST_CASE("decimal: rounds to so many digits as MPFR does") {
  int checked = 0;
  for (const char* format : {"e5m10", "binary64", "e15m112", "e10m200", "posit16es2", "posit64es4",
                             "takum24", "fixed16.8", "ufixed9.-3", "fixed100.50"}) {
    const Format f = parse_format(format);
    const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
    std::vector<std::byte> codes(600 * bytes);
    void* at = codes.data();
    random_operands(f, 5, 0, 600, std::span(&at, 1));
    for (std::size_t i = 0; i < 600; ++i) {
      const std::vector<std::byte> code(
          codes.begin() + static_cast<std::ptrdiff_t>(i * bytes),
          codes.begin() + static_cast<std::ptrdiff_t>((i + 1) * bytes));
      const Value v = value_of(f, code.data());
      if (v.kind != Kind::finite) continue;
      const int digits = 1 + static_cast<int>(i % 40);
      // Both texts have to be read as the same number, to far more digits than either has.
      const Format wide = parse_format("e20m2000");
      const auto read = [&](const std::string& text) {
        std::vector<std::byte> z(static_cast<std::size_t>(item_bytes(wide.width())));
        from_literals(wide, {}, std::span(&text, 1), z.data(), nullptr);
        return z;
      };
      CAPTURE(format);
      CAPTURE(digits);
      CAPTURE(hexadecimal(v));
      REQUIRE(read(decimal(v, digits)) == read(mpfr_decimal(f, limbs(f, code), digits)));
      ++checked;
    }
  }
  CHECK(checked > 5000);
}

TEST_CASE("hexadecimal and shortest_decimal: what is written is read back as the same code" *
          doctest::test_suite("unsanitized")) {
  const std::size_t count = tests::is_long() ? 500 : 200;
  std::size_t checked = 0;
  for (const char* format : {"e5m10", "e4m3fn", "e8m0fnu", "binary64", "ue11m53;nan=none", "e20m64",
                             "e62m10", "e5m300", "posit8es2", "posit64es4", "takum32", "fixed1.0",
                             "fixed16.8;overflow=wrap", "ufixed9.-3", "fixed100.50"}) {
    const Format f = parse_format(format);
    const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
    std::vector<std::byte> codes(count * bytes), again(bytes);
    void* at = codes.data();
    random_operands(f, 6, 0, count, std::span(&at, 1));
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* code = codes.data() + i * bytes;
      if (value_of(f, code).kind == Kind::nan) continue;
      for (const std::string& text : {hexadecimal(value_of(f, code)), shortest_decimal(f, code)}) {
        from_literals(f, {}, std::span(&text, 1), again.data(), nullptr);
        CAPTURE(format);
        CAPTURE(text);
        REQUIRE(std::memcmp(again.data(), code, bytes) == 0);
        ++checked;
      }
    }
  }
  CHECK(checked > 20 * count);
}

std::string error_of(const std::string& text) {
  std::uint16_t code;
  try {
    from_literals(binary16, {}, std::span(&text, 1), &code, nullptr);
  } catch (const ParseError& e) {
    return e.what();
  }
  return "accepted";
}

TEST_CASE("from_literals: what is no number is refused with the column and the way out") {
  CHECK(error_of("1.2.3") == "x '1.2.3', column 4: found '.'; wanted the end of the number");
  CHECK(error_of("") ==
        "x '', column 1: the text ends; wanted a number, as -1.5e-3, 0x1.8p-7, 3p-40, 1/3, inf or "
        "nan");
  CHECK(error_of("1/0") == "x '1/0', column 3: a division by zero; write inf or nan");
  CHECK(error_of("1e1000001") ==
        "x '1e1000001', column 3: decimal exponent = 1000001: it may be -1000000 to 1000000");
  CHECK(error_of("0x").starts_with("x '0x', column 3: the text ends; wanted a number"));
  CHECK(error_of("1e5") == "accepted");
}

TEST_CASE("find_code: names stand for the codes of the format's own description") {
  const auto code = [](const char* format, NamedCode which) {
    const auto found = find_code(parse_format(format), which);
    return found ? (*found)[0] : ~std::uint64_t{0};
  };
  CHECK(code("e5m10", NamedCode::max_finite) == 0x7bff);
  CHECK(code("e5m10", NamedCode::min_normal) == 0x0400);
  CHECK(code("e5m10", NamedCode::max_subnormal) == 0x03ff);
  CHECK(code("e4m3fn", NamedCode::max_finite) == 0x7e);
  CHECK(code("e4m3fn", NamedCode::infinity) == ~std::uint64_t{0});
  CHECK(code("e8m0fnu", NamedCode::zero) == ~std::uint64_t{0});
  CHECK(code("e8m0fnu", NamedCode::min_normal) == 0);
  CHECK(code("e8m0fnu", NamedCode::one) == 127);
  CHECK(code("e5m10;sub=no", NamedCode::min_normal) == 1);
  CHECK(code("e5m10;sub=no", NamedCode::min_subnormal) == ~std::uint64_t{0});
  CHECK(code("e2m1fn;bias=9", NamedCode::one) == ~std::uint64_t{0});
}

}  // namespace
