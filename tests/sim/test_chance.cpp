#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

namespace test_chance {

// Conversions to tables by random bits, between stairs, against the definition.
using namespace widthwise;

namespace {

using namespace tests;
using enum StochasticVariant;

constexpr std::size_t count = 1 << 14;

double value(const TableValue& v) {
  return std::ldexp(v.negative ? -double(v.sig) : double(v.sig), static_cast<int>(v.exp));
}

// Where chances turn, between every two values, in their middle and beside them; numbers of all
// sizes; specials.
std::vector<float> numbers_for(const Table& t, int k) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(t.count + k));
  std::vector<float> all{NAN, INFINITY, -INFINITY, 0, -0.0F, 0x1p-149F, -0x1p-149F, 3e38F, -3e38F};
  while (all.size() < count / 4 * 3) {
    const std::size_t i = draw() % static_cast<std::size_t>(t.count - 1);
    const double anywhere = std::floor(std::ldexp(double(draw() >> 11), k + 1 - 53));
    const double middle = std::ldexp(1.0, k) + double(draw() % 16) - 8;
    const double part = std::ldexp(draw() % 4 == 0 ? middle : anywhere, -k - 1);
    const double below = value(t.values[i]), above = value(t.values[i + 1]);
    const auto x = static_cast<float>(below + (above - below) * part);
    all.insert(all.end(), {x, std::nextafter(x, 0.0F), std::nextafter(x, 2 * x)});
  }
  while (all.size() < count) all.push_back(std::bit_cast<float>(std::uint32_t(draw())));
  return all;
}

// Random bits by which a number between two values goes to the nearer one to zero, or just not.
std::vector<std::uint64_t> bits_for(const Table& t, const std::vector<float>& numbers, int k) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(k));
  std::vector<std::uint64_t> all;
  for (const float x : numbers) {
    int i = 1;
    while (i < t.count - 1 && value(t.values[i]) <= x) ++i;
    const long double below = value(t.values[i - 1]), above = value(t.values[i]);
    const long double part = std::abs(x - (x > 0 ? below : above)) / (above - below);
    const bool between = below <= x && x <= above;
    const auto behind = between ? std::uint64_t(std::llroundl(std::ldexp(part, k))) : 0;
    all.push_back(((draw() % 3 - 1) - behind) & ((std::uint64_t{1} << k) - 1));
  }
  return all;
}

std::string way(const char* to, const Rounding& r, bool flags = false, std::size_t n = count) {
  return Elementwise(Operation::convert, parse_format(to), Env{r}, std::vector<Format>{binary32},
                     flags, n)
      .way();
}

void check(const char* text, const Rounding& r, Tally& tally, std::uint64_t& expected) {
  const Format to = parse_format(text);
  const std::vector<float> numbers = numbers_for(*to.table, r.random_bits);
  const std::size_t n = numbers.size();
  const auto bits = bits_for(*to.table, numbers, r.random_bits);
  std::vector<std::uint8_t> want(n), got(n), flags(n);  // those take the definition's way
  const std::vector<CodeArray> operands{{binary32, numbers.data()}};
  for (const RandomSource& source : {RandomSource{9, 0xffffff00, nullptr}, {0, 0, bits.data()}}) {
    elementwise(Operation::convert, to, Env{r}, operands, n, want.data(), flags.data(), source);
    on_every_target([&] {
      const Elementwise lanes(Operation::convert, to, Env{r}, std::vector<Format>{binary32}, false,
                              n);
      REQUIRE(std::string(lanes.way()) == "stairs by chance");
      const void* operand = numbers.data();
      lanes.run({&operand, 1}, n, got.data(), nullptr, source);
      for (std::size_t i = 0; i < n; ++i)
        tally.check(want[i] == got[i], [&] {
          return fmt::format("{} of {:a} by {}: {:#x} for {:#x}", text, numbers[i], to_string(r),
                             got[i], want[i]);
        });
      expected += n;
    });
  }
}

}  // namespace

TEST_CASE("tables by random bits are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  std::size_t cases = 0;
  for (const char* text :
       {"table(nf4)", "table(fp4)", "table(apot4)", "table(dynamic8)", "table(-1,0,1)",
        "table(-0,0,0.75,nan,-3)", "table(0,9.5367431640625e-07,1.00000095367431640625)",
        "table(0,1,1.0009765625,1.001953125,2,-1,-1.0009765625)", "table(1,3)", "table(-3,-1,nan)",
        "table(-1,1)", "table(-1,2)", "table(0.75,-1,3)",
        "table(-1.00000095367431640625,1,1.0009765625,nan)"})
    for (const int k : {1, 8, 13, 22, 40})
      for (const StochasticVariant variant : {plain, half}) {
        const Rounding r(k, variant);
        if (way(text, r) == "stairs by chance") ++cases, check(text, r, tally, expected);
      }
  CHECK(cases == 132);
  tally.expect(expected);
}

TEST_CASE("chances are left to the definition where digits would be lost") {
  CHECK(way("table(nf4)", Rounding(13, plain)) == "stairs by chance");
  CHECK(way("table(-1,0,1)", Rounding(51, plain)) == "stairs by chance");  // a digit each of both
  CHECK(way("table(-1,0,1)", Rounding(52, plain)) == "integers");
  CHECK(way("table(-1,0,1)", Rounding(50, half)) == "stairs by chance");
  CHECK(way("table(-1,0,1)", Rounding(51, half)) == "integers");
  CHECK(way("table(nf4)", Rounding(13, even)) == "integers");
  CHECK(way("table(nf4)", Rounding(13, plain), true) == "integers");
  CHECK(way("table(nf4)", Rounding(13, plain), false, count - 1) == "integers");
  CHECK(way("table(-1,1)", Rounding(50, plain)) == "stairs by chance");
  CHECK(way("table(-1,1)", Rounding(51, plain)) == "integers");
  CHECK(way("table(-1.5,0.5)", Rounding(49, plain)) == "stairs by chance");
  CHECK(way("table(-1.5,0.5)", Rounding(50, plain)) == "integers");
  CHECK(way("table(0,0.1)", Rounding(13, plain)) == "integers");
  CHECK(way("table(0.1,0.3,0.7,0)", Rounding(1, plain)) == "integers");
  CHECK(way("table(0,1e-30,0.25,1048576)", Rounding(1, plain)) == "integers");
  CHECK(way("table(0,1e-300)", Rounding(8, plain)) == "integers");
}

}  // namespace test_chance
