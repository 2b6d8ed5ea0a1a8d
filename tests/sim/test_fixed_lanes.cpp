#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "conversions.hpp"

namespace test_fixed_lanes {

// Conversions to fixed point on doubles against the definition, one value at a time.
using namespace widthwise;

namespace {

using namespace tests;

constexpr const char* formats[] = {"fixed16.8",
                                   "ufixed12.4",
                                   "fixed32.20",
                                   "uint32",
                                   "int9",
                                   "fixed10.-3",
                                   "fixed12.40",
                                   "fixed24.140",
                                   "ufixed1.0",
                                   "int1",
                                   "fixed8.4",
                                   "ufixed8.-2",
                                   "fixed8.12;overflow=symmetric",
                                   "fixed22.11",
                                   "fixed23.11",
                                   "fixed16.100",
                                   "fixed16.-101",
                                   "fixed20.900",
                                   "fixed16.8;overflow=symmetric",
                                   "int32;overflow=symmetric",
                                   "fixed8.4;overflow=wrap",
                                   "ufixed9.-2;overflow=wrap",
                                   "int32;overflow=wrap",
                                   "uint32;overflow=zero",
                                   "fixed12.4;overflow=zero",
                                   "fixed8.1;overflow=wrap_sm",
                                   "fixed32.20;overflow=wrap_sm",
                                   "int1;overflow=wrap_sm",
                                   "fixed16.8;overflow=wrap",
                                   "fixed20.900;overflow=wrap",
                                   "fixed8.-4;overflow=keep_sign",
                                   "int32;overflow=keep_sign",
                                   "uint7;overflow=keep_sign"};
constexpr RoundingMode modes[] = {RoundingMode::rne, RoundingMode::rna, RoundingMode::rnz,
                                  RoundingMode::rnp, RoundingMode::rnm, RoundingMode::rno,
                                  RoundingMode::rtz, RoundingMode::rdn, RoundingMode::rup,
                                  RoundingMode::raz, RoundingMode::odd};

// Halves of units and their neighbours, the ends of the range, numbers of all sizes, specials.
template <class T>
std::vector<T> numbers_for(const Format& f) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(f.frac_bits));
  const int last = static_cast<int>(f.least_digit());
  std::vector<T> numbers;
  const auto around = [&](double units) {
    const T x = static_cast<T>(std::ldexp(units, last));
    for (const T y : {x, std::nextafter(x, T{0}), std::nextafter(x, std::numeric_limits<T>::max())})
      numbers.insert(numbers.end(), {y, -y});
  };
  for (int i = 0; i < 40; ++i) around(i / 2.0);
  for (int i = 0; i < 60; ++i) around(static_cast<double>(draw() >> (64 - f.width() - 1)) / 2);
  for (int i = -4; i < 5; ++i) around(std::ldexp(1.0, f.frac_bits) + i / 2.0);
  for (const double units : {0x1p51, 0x1p52, 0x1.8p53, 0x1p60}) around(units);
  for (int i = 0; i < 300; ++i)
    numbers.push_back(static_cast<T>(
        std::ldexp(static_cast<double>(draw() >> 11), static_cast<int>(draw() % 300) - 200)));
  if (f.width() == 8)
    for (std::uint32_t half = 0; half < 65536; half += sanitized ? 16 : 1)
      for (const std::uint32_t low : {0U, 1U})
        numbers.push_back(static_cast<T>(std::bit_cast<float>(half << 16 | low)));
  using Limits = std::numeric_limits<T>;
  numbers.insert(numbers.end(),
                 {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), T{0}, -T{0},
                  Limits::denorm_min(), -Limits::denorm_min(), Limits::max(), -Limits::max()});
  return numbers;
}

template <class T>
void check(const Format& from, const char* text, Tally& tally, std::uint64_t& expected) {
  const Format to = parse_format(text);
  const std::vector<T> numbers = numbers_for<T>(to);
  for (const RoundingMode mode : modes)
    compare_conversion({from, numbers.data()}, numbers.size(), to, {mode}, "fixed lanes", tally,
                       expected);
}

}  // namespace

TEST_CASE("conversions to fixed point on floats and doubles are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats) {
    check<float>(binary32, text, tally, expected);
    check<double>(binary64, text, tally, expected);
  }
  tally.expect(expected);
}

TEST_CASE("a conversion to fixed point may overwrite its operand") {
  std::vector<std::uint32_t> words(5000);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) / 4);
  const Elementwise lanes(Operation::convert, parse_format("fixed32.8"), {},
                          std::vector<Format>{binary32}, false, words.size());
  const void* operand = words.data();
  lanes.run({&operand, 1}, words.size(), words.data(), nullptr);
  for (std::size_t i = 0; i < words.size(); ++i) REQUIRE(words[i] == 64 * i);
}

TEST_CASE("fixed point on doubles is refused one step outside") {
  const auto way = [](const char* to, Operation op, const Format& from, const Env& env,
                      bool flags) {
    return std::string(
        Elementwise(op, parse_format(to), env, std::vector<Format>{from}, flags, 1000).way());
  };
  using enum Operation;
  CHECK(way("fixed32.8", convert, binary32, {}, false) == "fixed lanes");
  CHECK(way("fixed16.896;overflow=keep_sign", convert, binary32, {}, false) == "fixed lanes");
  CHECK(way("int16;overflow=keep_sign", convert, binary64, {}, false) == "fixed lanes");
  CHECK(way("fixed16.1;overflow=keep_sign", convert, binary64, {}, false) == "integers");
  for (const char* to :
       {"fixed33.8", "fixed16.897;overflow=keep_sign", "fixed16.901", "fixed16.-901", "takum33"})
    CHECK(way(to, convert, binary32, {}, false) == "integers");
  CHECK(way("fixed16.8", convert, binary32, {}, true) == "integers");
  CHECK(way("fixed16.8", convert, binary128, {}, false) == "integers");
  CHECK(way("fixed16.8", round_to_integral, binary32, {}, false) == "integers");
}

}  // namespace test_fixed_lanes
