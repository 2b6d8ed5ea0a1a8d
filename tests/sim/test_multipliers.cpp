#include <doctest/doctest.h>

#include <cmath>

#include "dot_text.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_multipliers {

// Approximate multipliers against their published definitions, and in a unit.
namespace {

using namespace tests;

constexpr std::uint64_t operands = 256;

// Every pair of 8-bit operands.
void check_all_pairs(const Multiplier& multiply, const auto& definition) {
  Tally tally;
  for (std::uint64_t a = 0; a < operands; ++a)
    for (std::uint64_t b = 0; b < operands; ++b) {
      const auto got = static_cast<std::uint64_t>(multiply(a, b)),
                 want = static_cast<std::uint64_t>(definition(a, b));
      tally.check(got == want, [&] {
        return std::to_string(a) + " * " + std::to_string(b) + ": got " + std::to_string(got) +
               ", want " + std::to_string(want);
      });
    }
  tally.expect(operands * operands);
}

Unit mac(const Format& f) {
  Unit u = fused(f, 1);
  u.product.round = Round{f};
  u.c_level = CLevel::late;
  return u;
}

// a * b + c of numbers with a multiplier of the user's.
std::string multiplied(const Unit& u, const Multiplier& multiply, const std::vector<double>& a,
                       const std::vector<double>& b, double c = 0) {
  const Dot dot(u, {codes(u.a.fmt, a), codes(u.b.fmt, b), codes(u.c.fmt, {c})});
  return dot.run(*make_reference(u, dot.k(), multiply));
}

}  // namespace

TEST_CASE("a truncated array adds the partial-product bits of its columns and no others") {
  for (int columns : {0, 1, 5, 8, 11, 16})
    check_all_pairs(truncated_array(columns), [&](std::uint64_t a, std::uint64_t b) {
      std::uint64_t sum = 0;
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
          if (i + j >= columns) sum += (a >> i & 1) * (b >> j & 1) << (i + j);
      return sum;
    });
  CHECK(truncated_array(127)(~std::uint64_t{0}, ~std::uint64_t{0}) == 0);
}

TEST_CASE(
    "Mitchell's product is the antilogarithm of the sum of the logarithms, both taken as straight "
    "lines") {
  check_all_pairs(mitchell(), [](std::uint64_t a, std::uint64_t b) {
    if (a == 0 || b == 0) return 0.0;
    const auto log = [](std::uint64_t x) {
      const int k = std::ilogb(static_cast<double>(x));
      return k + (std::ldexp(static_cast<double>(x), -k) - 1);
    };
    const double sum = log(a) + log(b), whole = std::floor(sum);
    return std::ldexp(1 + (sum - whole), static_cast<int>(whole));
  });
  CHECK(mitchell()(3, 3) == 8);  // the largest error, one ninth
}

TEST_CASE("DRUM multiplies the leading digits, the last of them set to one") {
  for (int width : {2, 3, 6, 8})
    check_all_pairs(drum(width), [&](std::uint64_t a, std::uint64_t b) {
      const auto approximate = [&](std::uint64_t x) {
        int digits = 0;
        for (std::uint64_t rest = x; rest; rest /= 2) ++digits;
        if (digits <= width) return x;
        const auto place = static_cast<std::uint64_t>(std::ldexp(1, digits - width));
        return (x / place / 2 * 2 + 1) * place;
      };
      return approximate(a) * approximate(b);
    });
}

TEST_CASE("truncated operands lose their low digits before an exact product") {
  for (int bits : {0, 3, 8})
    check_all_pairs(truncated_operands(bits), [&](std::uint64_t a, std::uint64_t b) {
      const auto place = static_cast<std::uint64_t>(std::ldexp(1, bits));
      return a / place * place * (b / place * place);
    });
}

TEST_CASE(
    "a multiplier gets significands with their hidden ones, and its product is rounded like any "
    "other") {
  CHECK(multiplied(mac(binary16), mitchell(), {1.5}, {1.5}) == codes(binary16, {2}));
  CHECK(multiplied(mac(binary16), mitchell(), {1.5}, {-1}) == codes(binary16, {-1.5}));
  CHECK(multiplied(mac(binary16), drum(2), {1.25}, {1}, 1) ==
        codes(binary16, {3.25}));  // 1.5 * 1.5 + 1
  CHECK(multiplied(mac(binary16), truncated_operands(10), {1.75}, {-1.5}) == codes(binary16, {-1}));
  CHECK(multiplied(mac(binary16), truncated_array(0), {1.25, 3}, {1.25, 0.5}) ==
        dot(mac(binary16), {1.25, 3}, {1.25, 0.5}));
}

TEST_CASE(
    "specials and exact zeros never reach a multiplier, and a product of 0 is an exact zero") {
  const Multiplier nothing = [](std::uint64_t a, std::uint64_t b) {
    CHECK(a * b != 0);
    return uint128{0};
  };
  CHECK(multiplied(mac(binary16), nothing, {infinity}, {2}) == codes(binary16, {infinity}));
  CHECK(multiplied(mac(binary16), nothing, {0}, {2}) == codes(binary16, {0}));
  CHECK(multiplied(mac(binary16), nothing, {infinity}, {0}) == codes(binary16, {not_a_number}));
  Unit window = fused(binary16, 2);
  window.group_sum.align = {
      .reference = Reference::max_exponent, .frac_bits = 2, .rm = RoundingMode::rtz};
  CHECK(multiplied(window, nothing, {1024, 1024}, {1, 1}, 1.25) ==
        codes(binary16, {1.25}));  // no vote
}

TEST_CASE("a product of more digits than both significands have is refused") {
  const Multiplier wild = [](std::uint64_t a, std::uint64_t b) { return uint128{a} * b << 9; };
  CHECK_THROWS_WITH_AS(multiplied(mac(e5m2), wild, {1.5}, {1.5}),
                       "multiplier: 0x6 * 0x6 gave a product of 15 bits; that of significands of 3 "
                       "and 3 digits has at most 6",
                       std::invalid_argument);
}

TEST_CASE("a NaN before it hides no product that is refused, flags asked for or not") {
  const Multiplier wild = [](std::uint64_t a, std::uint64_t b) { return uint128{a} * b << 9; };
  const std::uint8_t a[] = {0x7f, 0x3e}, b[] = {0x3e, 0x3e};  // NaN and 1.5
  std::uint8_t result = 0, flags = 0;
  MatrixProduct p;
  p.m = p.n = 1, p.k = 2;
  p.a = {a, 2, 1}, p.b = {b, 1, 1};
  p.result = &result;
  for (std::uint8_t* asked : {&flags, static_cast<std::uint8_t*>(nullptr)}) {
    p.flags = asked;
    CHECK_THROWS_AS(make_reference(mac(e5m2), 2, wild)->run(p, 0, 1), std::invalid_argument);
  }
}

TEST_CASE("the sums hold a product that has digits which its operands dropped") {
  Unit u = parse_unit("kulisch(e8m54)");
  u.a.keep_frac = u.b.keep_frac = 1;
  const Multiplier full = [](auto, auto) { return uint128{1} << 109; };
  CHECK(multiplied(u, full, {0x1p127}, {0x1p127}) == codes(u.out.fmt, {infinity}));
}

TEST_CASE("operands of more than 64 digits have no supplied multiplier") {
  CHECK_THROWS_WITH_AS(
      make_reference(fused(ieee_format(15, 64), 1), 1, mitchell()),
      "multiplier: e15m64 has 65 significand digits, a supplied multiplier takes at most 64",
      std::invalid_argument);
  CHECK_NOTHROW(make_reference(fused(ieee_format(15, 63), 1), 1, mitchell()));
}

TEST_CASE("multipliers by name") {
  CHECK_FALSE(parse_multiplier("exact"));
  CHECK(parse_multiplier("mitchell")(3, 3) == 8);
  CHECK(parse_multiplier("drum2")(5, 1) == 6);
  CHECK(parse_multiplier("truncated_array2")(3, 3) == 4);
  CHECK(parse_multiplier("truncated_operands1")(3, 3) == 4);
  CHECK_THROWS_WITH_AS(parse_multiplier("drum1"),
                       "multiplier 'drum1': after drum comes a number from 2 to 64, as in 'drum2'",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse_multiplier("booth"),
                       "multiplier 'booth' is not known; there are exact, mitchell, drum<width>, "
                       "truncated_array<columns>, truncated_operands<bits>",
                       std::invalid_argument);
}

TEST_CASE("engines find a shipped multiplier and a text in what they are given, and no function") {
  CHECK(parse_multiplier("drum6").target<NamedMultiplier>()->name == NamedMultiplier::Name::drum);
  CHECK(parse_multiplier("drum6").target<NamedMultiplier>()->parameter == 6);
  const Multiplier own = [](std::uint64_t a, std::uint64_t b) { return uint128{a} * b; };
  CHECK_FALSE(own.target<NamedMultiplier>());
  CHECK_FALSE(own.target<TextProduct>());
  static_assert(NamedMultiplier{NamedMultiplier::Name::mitchell}(3, 3) == 8);
}

TEST_CASE("a multiplier with its operands exchanged, and back, is of the same sort") {
  const TextProduct first{"", [](std::uint64_t a, std::uint64_t, uint128* mp) { *mp = a; }};
  CHECK(first(3, 5) == 3);
  const Multiplier once = exchanged(first), twice = exchanged(once);
  CHECK(once(3, 5) == 5);
  CHECK(once.target<TextProduct>());
  CHECK(twice(3, 5) == 3);
  CHECK(exchanged(Multiplier([](auto a, auto) { return uint128{a}; }))(3, 5) == 5);
  CHECK(exchanged(mitchell()).target<NamedMultiplier>());
  CHECK_FALSE(exchanged(Multiplier{}));
  for (const char* name : {"mitchell", "drum3", "truncated_array5", "truncated_operands2"})
    check_all_pairs(parse_multiplier(name),
                    [&](std::uint64_t a, std::uint64_t b) { return parse_multiplier(name)(b, a); });
}

TEST_CASE("a text becomes one function, whose lines are the text's") {
  const std::string source = product_source("mp = uint128(ma) {+} mb;");
  CHECK(source.find("#line 1 \"product\"\nmp = uint128(ma) {+} mb;\n") != std::string::npos);
  CHECK(source.find("extern \"C\"") != std::string::npos);
}

}  // namespace test_multipliers
