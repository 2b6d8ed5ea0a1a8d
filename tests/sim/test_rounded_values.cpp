#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/rounded_values.hpp"
#include "widthwise/sim/text.hpp"

namespace test_rounded_values {

// Numbers rounded to a format and back in one pass, against the definition's two conversions.
using namespace widthwise;

namespace {

using namespace tests;

constexpr const char* formats[] = {"fixed8.4",
                                   "fixed24.12",
                                   "ufixed12.4",
                                   "int9",
                                   "fixed10.-3",
                                   "fixed12.40",
                                   "fixed8.119",
                                   "fixed16.8;overflow=symmetric",
                                   "ufixed1.0",
                                   "int1",
                                   "fixed25.3",
                                   "fixed8.4;overflow=wrap",
                                   "e4m3fn",
                                   "e5m10",
                                   "posit16es1",
                                   "posit16es2",
                                   "posit8es2",
                                   "posit5es4",
                                   "posit27es2",
                                   "takum16",
                                   "e8m7",
                                   "e4m3fnuz",
                                   "binary8p3",
                                   "e4m3fn;overflow=satfinite",
                                   "e6m9",
                                   "e5m2",
                                   "e5m2;bias=-90",
                                   "e3m2;ftz",
                                   "e4m3fn;daz",
                                   "e5m10;daz",
                                   "e8m3;daz",
                                   "e8m2",
                                   "e8m15",
                                   "e8m7;overflow=satfinite",
                                   "e8m11;overflow=max"};
constexpr const char* roundings[] = {
    "rne", "rna", "rnz",  "rnp",  "rnm",  "rno",      "rtz",       "rdn",      "rup",      "raz",
    "odd", "sr1", "sr13", "sr22", "sr23", "sr8:half", "sr22:half", "sr8:even", "sr22:even"};

// Halves and quarters of units and what lies beside them, ends, all sizes, infinities where the
// format takes them.
std::vector<float> numbers_for(const Format& f) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(f.width()));
  const int last = f.is_float() ? 0 : static_cast<int>(f.least_digit());
  std::vector<float> numbers;
  const auto around = [&](double units) {
    const auto x = static_cast<float>(std::ldexp(units, last));
    for (const float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, 3e38f)})
      numbers.insert(numbers.end(), {y, -y});
  };
  for (int i = 0; i < 60; ++i) around(i / 4.0);
  for (int i = 0; i < 100; ++i) around(static_cast<double>(draw() >> 44) / 16);
  for (int i = -6; i < 7; ++i) around(std::ldexp(1.0, f.width() - 1) + i / 4.0);
  const std::uint32_t step = f.is_tapered() ? 0x9ff01 : 0x7ff00001;
  for (std::uint32_t word = 0x7f; word < 0x7f800000; word += step)  // in each binade
    for (const std::uint32_t w : {word, word & ~0x3ffffU})
      around(std::ldexp(std::bit_cast<float>(w), -last));
  for (int i = 0; i < 300; ++i)
    numbers.push_back(
        std::ldexp(static_cast<float>(draw() >> 40), static_cast<int>(draw() % 250) - 160));
  numbers.insert(numbers.end(), {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 3e38f, -3e38f});
  float most = std::numeric_limits<float>::max();
  for (int i = 0; i < 40; ++i, most = std::nextafter(most, 0.0f))
    numbers.insert(numbers.end(), {most, -most});
  const float infinity = std::numeric_limits<float>::infinity();
  if (!f.wraps()) numbers.insert(numbers.end(), {infinity, -infinity});
  return numbers;
}

// By the definition, which flags ask for.
std::vector<float> twice(const std::vector<float>& x, const Format& to, const Env& env,
                         const RandomSource& random) {
  std::vector<std::uint64_t> codes(x.size());
  std::vector<std::uint8_t> flags(x.size());
  std::vector<float> y(x.size());
  elementwise(Operation::convert, to, env, std::vector<CodeArray>{{binary32, x.data()}}, x.size(),
              codes.data(), flags.data(), random);
  elementwise(Operation::convert, binary32, {}, std::vector<CodeArray>{{to, codes.data()}},
              x.size(), y.data(), flags.data());
  return y;
}

}  // namespace

TEST_CASE("values rounded in one pass are those of two conversions") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats)
    for (const char* rounding : roundings) {
      const Format to = parse_format(text);
      const Env env{parse_rounding(rounding)};
      const std::vector<float> x = numbers_for(to);
      const RandomSource random{9, 0xfffffffe, nullptr};
      const std::vector<float> want = twice(x, to, env, random);
      on_every_target([&] {
        std::vector<float> y = x;  // in place
        RoundedValues(binary32, to, env, 100).run(y.data(), y.size(), y.data(), random);
        for (std::size_t i = 0; i < x.size(); ++i)
          tally.check(std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(want[i]),
                      [&] {
                        return fmt::format("{} of {:a} by {}: {:a} for {:a}", text, x[i], rounding,
                                           y[i], want[i]);
                      });
        expected += x.size();
      });
    }
  tally.expect(expected);
}

TEST_CASE("the largest floats by every draw") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"e8m7", "e8m2", "e8m15", "e8m7;overflow=satfinite", "e5m10", "e4m3fn",
                           "fixed8.-113", "fixed12.-116", "e8m7;overflow=max"})
    for (const StochasticVariant variant :
         {StochasticVariant::plain, StochasticVariant::half, StochasticVariant::even})
      for (const int k : {1, 2, 5, 8}) {
        const Format to = parse_format(text);
        const Env env{Rounding(k, variant)};
        const std::size_t draws = std::size_t{1} << k;
        for (const float size : {0x1.fffffep127f, 0x1.fffffcp127f, 0x1.ff8p127f, 0x1.fep127f})
          for (const float v : {size, -size}) {
            const std::vector<float> x(draws, v);
            std::vector<std::uint64_t> bits(draws);
            std::iota(bits.begin(), bits.end(), std::uint64_t{0});
            const RandomSource given{0, 0, bits.data()};
            const std::vector<float> want = twice(x, to, env, given);
            on_every_target([&] {
              std::vector<float> y = x;
              RoundedValues(binary32, to, env, 100).run(y.data(), draws, y.data(), given);
              for (std::size_t i = 0; i < draws; ++i)
                tally.check(
                    std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(want[i]),
                    [&] {
                      return fmt::format("{} of {:a} by {}, draw {}: {:a} for {:a}", text, v,
                                         to_string(env.rounding), i, y[i], want[i]);
                    });
              expected += draws;
            });
          }
      }
  tally.expect(expected);
}

TEST_CASE("formats and roundings that values are not rounded by are refused") {
  const auto wrong = [](const Format& own, const char* to, const Rounding& rounding) {
    try {
      RoundedValues(own, parse_format(to), {rounding}, std::size_t{1} << 20);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(wrong(binary32, "e15m112", RoundingMode::rne) ==
        "format = e15m112 has 128 bits; values are rounded to formats of at most 64");
  CHECK(wrong(e4m3fn, "e2m1fn", RoundingMode::rne) ==
        "values are floats of 16, 32 or 64 bits, and e4m3fn has 8");
  for (const int k : {-1, 0, 65})
    for (const char* to : {"fixed8.4", "e8m7", "posit8es2"})
      CHECK(wrong(binary32, to, Rounding(k, StochasticVariant::plain)) ==
            fmt::format("rounding = sr{}: 1 to 64 random bits are wanted", k));
  CHECK(wrong(binary32, "fixed8.4", Rounding(64, StochasticVariant::plain)).empty());
}

TEST_CASE("what a format has not is seen wherever it lies") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t n : {1, 7, 64, 1000})
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> x(n, -3e38f);
      const auto found = [&](const char* to, float special) {
        x[at] = special;
        return unheld(binary32, parse_format(to), x.data(), n);
      };
      CHECK(found("fixed8.4", -nan) == Unheld::nan);
      CHECK(found("e2m1fn", nan) == Unheld::nan);
      CHECK(found("e4m3fn", nan) == Unheld::nothing);
      CHECK(found("fixed8.4", -INFINITY) == Unheld::nothing);
      CHECK(found("fixed8.4;overflow=wrap", -INFINITY) == Unheld::infinity);
      CHECK(found("fixed8.4;overflow=wrap", 3e38f) == Unheld::nothing);
    }
}

TEST_CASE("what lies outside of two numbers passes as zero") {
  const auto code = [](float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)}; };
  const float inf = INFINITY;
  const float x[] = {-448, -448.5f, 448, 449, 0, -0.0f, inf, -inf, NAN, -NAN, 1e-40f, -1e-40f};
  const float inside[] = {1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1};
  const float positive[] = {0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0};
  std::vector<float> g(std::size(x), -1.5f), y(std::size(x));
  for (const auto& [low, want] : {std::pair{-448.0f, inside}, std::pair{-0.0f, positive}}) {
    pass_inside(binary32, g.data(), x, code(low), code(448), std::size(x), y.data());
    for (std::size_t i = 0; i < std::size(x); ++i)
      CHECK(std::bit_cast<std::uint32_t>(y[i]) ==
            std::bit_cast<std::uint32_t>(want[i] == 0 ? 0.0f : -1.5f));
  }
}

}  // namespace test_rounded_values
