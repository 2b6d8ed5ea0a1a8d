#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "conversions.hpp"
#include "sim/elementwise/stairs.hpp"

namespace test_stairs {

// Conversions by stairs against the definition, one value at a time.
using namespace widthwise;

namespace {

using namespace tests;

constexpr const char* formats[] = {"posit8es0",
                                   "posit8es2",
                                   "posit7es4",
                                   "posit5es1",
                                   "takum6",
                                   "takum5",
                                   "table(nf4)",
                                   "table(fp4)",
                                   "table(dynamic8)",
                                   "table(0,1,nan)",
                                   "table(1,-1)",
                                   "table(-1,2)",
                                   "table(-3,-1,nan)",
                                   "table(2,-1,1e-44,nan)",
                                   "posit8es3",
                                   "table(-1,0,1.5e-10,1,1.5)",
                                   "table(-3,-0.7,0,1,1.9,6)",
                                   "table(0,0.5,1,3)",
                                   "table(-1.001,0,1)",
                                   "table(1,1.001,1.002,2)",
                                   "table(-1.003,-1.002,-1.001,-1,0,1,1.001,1.002,1.003,2)",
                                   "takum8",
                                   "takum7"};
constexpr RoundingMode modes[] = {RoundingMode::rne, RoundingMode::rno, RoundingMode::rnz,
                                  RoundingMode::rtz, RoundingMode::rup, RoundingMode::raz};

// Every upper half with some lower ones, and the words about numbers and the middles between them.
std::vector<std::uint32_t> words_for(const Format& f) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t half = 0; half < 65536; half += sanitized ? 16 : 1)
    for (const std::uint32_t low : {0U, 1U, 0x8000U, 0xffffU}) words.push_back(half << 16 | low);
  std::vector<double> values;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << f.width(); ++code) {
    std::uint64_t wide;
    elementwise(Operation::convert, binary64, {}, std::vector<CodeArray>{{f, &code}}, 1, &wide,
                nullptr);
    const double x = std::bit_cast<double>(wide);
    if (x == x) values.push_back(x);
  }
  std::ranges::sort(values);
  const auto around = [&](double x) {
    const auto middle = std::bit_cast<std::uint32_t>(static_cast<float>(x));
    for (std::uint32_t word = middle - 2; word != middle + 3; ++word) words.push_back(word);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    around(values[i]);
    if (i == 0) continue;
    around((values[i - 1] + values[i]) / 2);
    if (values[i - 1] > 0) around(std::sqrt(values[i - 1] * values[i]));  // of posits with cut bits
    if (values[i] < 0) around(-std::sqrt(values[i - 1] * values[i]));
  }
  return words;
}

void check(const Format& to, RoundingMode mode, std::string_view way,
           const std::vector<std::uint32_t>& words, Tally& tally, std::uint64_t& expected) {
  compare_conversion({binary32, words.data()}, words.size(), to, {mode}, way, tally, expected);
}

}  // namespace

TEST_CASE("conversions by stairs are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats) {
    const Format to = parse_format(text);
    const auto words = words_for(to);
    for (const RoundingMode mode : modes) {
      const char* other = to.is_posit() && mode == RoundingMode::rne ? "tapered lanes" : "stairs";
      check(to, mode, other, words, tally, expected);
    }
  }
  tally.expect(expected);
}

TEST_CASE("conversions by stairs are the definition's, of drawn tables") {
  std::mt19937_64 draw(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const std::size_t count : {3, 17, 33, 62, 65, 130, 200, 254, 255}) {
    std::set<double> values{-1, 1};
    while (values.size() < count)
      values.insert(std::ldexp(double(draw() % 255) / 128 - 1, -int(draw() % 12)));
    const Format to = parse_format(fmt::format("table({})", fmt::join(values, ",")));
    check(to, RoundingMode::rne, "stairs", words_for(to), tally, expected);
  }
  tally.expect(expected);
}

// Values that follow a normal distribution, as learned ones do, and such as crowd together.
TEST_CASE("conversions by stairs are the definition's, of dense tables") {
  std::mt19937_64 draw(2);
  std::normal_distribution<float> normal;
  Tally tally;
  std::uint64_t expected = 0;
  const auto compare = [&](std::size_t count, const auto& value) {
    std::set<float> values;
    while (values.size() < count) values.insert(value());
    const Format to = parse_format(fmt::format("table({})", fmt::join(values, ",")));
    const auto words = words_for(to);
    for (const RoundingMode mode : {RoundingMode::rne, RoundingMode::rup})
      check(to, mode, "stairs", words, tally, expected);
  };
  for (const std::size_t count : {20, 63, 100, 180, 256}) {
    compare(count, [&] { return normal(draw); });
    compare(count, [&] { return std::abs(normal(draw)); });
    for (const float apart : {0x1p-6F, 0x1p-10F, 0x1p-14F})
      compare(count,
              [&] { return std::copysign(1 + std::abs(normal(draw)) * apart, normal(draw)); });
  }
  tally.expect(expected);
}

TEST_CASE("stairs: two steps in one upper half, of which the first begins it") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"table(-1,0,1,1.001,2)", "table(-2,0,1,1.0000001,2,2.001,4)"})
    for (const RoundingMode mode : {RoundingMode::rtz, RoundingMode::rdn}) {
      const Format to = parse_format(text);
      check(to, mode, "stairs", words_for(to), tally, expected);
    }
  tally.expect(expected);
}

TEST_CASE("stairs: which conversions are such") {
  const auto way = [](const char* to, Operation op, const Format& from, const Env& env, bool flags,
                      std::size_t count) {
    return std::string(
        Elementwise(op, parse_format(to), env, std::vector<Format>{from}, flags, count).way());
  };
  using enum Operation;
  constexpr std::size_t many = 1 << 20;
  CHECK(way("posit8", convert, binary32, {RoundingMode::rna}, false, many) == "stairs");
  CHECK(way("posit8", convert, binary32, {}, false, many) == "tapered lanes");
  CHECK(way("takum8", convert, binary32, {}, false, many) == "stairs");
  for (const char* to : {"fixed8.4", "fixed8.4;overflow=wrap", "int8;overflow=keep_sign"})
    CHECK(way(to, convert, binary32, {}, false, many) == "fixed lanes");
  CHECK(way("posit8", convert, binary32, {}, true, many) == "integers");
  CHECK(way("posit8", convert, binary64, {}, false, many) == "integers");
  const Env random{Rounding(8, StochasticVariant::plain)};
  CHECK(way("posit8", convert, binary32, random, false, many) == "tapered lanes");
  CHECK(way("takum6", convert, binary32, {RoundingMode::rup}, false, 1000) == "integers");
}

TEST_CASE(
    "stairs are held in vectors: in few pages, and once for both sides of zero, if they can be") {
  const auto held = [](const char* to, RoundingMode mode = RoundingMode::rne) -> std::string {
    const std::vector<Format> from{binary32};
    const auto stairs = elements::stairs_of(
        {Operation::convert, parse_format(to), Env{mode}, from, false, 1 << 20});
    const elements::HeldSteps& s = stairs->held;
    if (s.pages == 0) return "not";
    return fmt::format("{} {}{}", s.pages, s.shared ? "shared" : "apart",
                       s.in_a_bin == 1 ? "" : fmt::format(" {}", s.in_a_bin));
  };
  for (const char* to : {"table(nf4)", "table(fp4)", "table(-1,-0.9,0,2,2.2)", "table(0,1,nan)"})
    CHECK_MESSAGE(held(to) == "1 shared", to);
  CHECK(held("table(dynamic8)") == "2 shared");
  CHECK(held("table(dynamic8)", RoundingMode::rtz) == "2 shared");
  CHECK(held("table(dynamic8)", RoundingMode::rup) == "2 apart");  // below 0 a word further each
  CHECK(held("table(-1.001,0,1)") == "2 apart");                   // both in one upper half
  CHECK(held("table(1,1.001,1.002,2)") == "1 shared 2");
  CHECK(held("table(-1.001,0,1,1.001,1.0015,1.002,1.003,2)") == "1 shared 4");
  CHECK(held("table(1,1.0001,1.0002,1.0003,1.0004,1.0005,1.0006,1.0007,1.0008)") == "1 shared 8");
  CHECK(held("table(1,1.0001,1.0002,1.0003,1.0004,1.0005,1.0006,1.0007,1.0008,1.0009)") == "not");
  CHECK(held("table(dynamic8)", RoundingMode::raz) == "2 shared");  // which leaves 0 at once
  CHECK(held("posit8es0", RoundingMode::rna) == "2 shared");        // and so does this
  CHECK(held("table(-1,0,1.5e-10,1.5)") == "2 shared");             // 34 exponents
  CHECK(held("table(-1,0,5e-20,1.5)") == "not");
}

// What is beside a code in its byte is not looked at.
TEST_CASE("codes of up to 8 bits are looked up as binary32") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"fixed8.4", "uint1", "posit8es2", "posit6es1", "takum7", "int5",
                           "table(nf4)", "table(dynamic8)", "table(0,1,nan)"}) {
    const Format from = parse_format(text);
    const std::vector<Format> operands{from};
    for (const std::size_t n : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{601}})
      on_every_target([&] {
        std::vector<std::uint8_t> codes(n);
        for (std::size_t i = 0; i < n; ++i) codes[i] = static_cast<std::uint8_t>(i * 37);
        std::vector<std::uint32_t> got(n);
        const Elementwise table(Operation::convert, binary32, {}, operands, false, 1 << 12);
        REQUIRE(table.way() == std::string_view("table"));
        const void* operand = codes.data();
        table.run({&operand, 1}, n, got.data(), nullptr);
        for (std::size_t i = 0; i < n; ++i) {
          const auto code = static_cast<std::uint8_t>(codes[i] & ((1U << from.width()) - 1));
          std::uint32_t want;
          std::uint8_t flags;  // those take the definition's way
          elementwise(Operation::convert, binary32, {}, std::vector<CodeArray>{{from, &code}}, 1,
                      &want, &flags);
          tally.check(got[i] == want, [&] {
            return fmt::format("{:#x} of {}: {:#x} for {:#x}", code, text, got[i], want);
          });
        }
        expected += n;
      });
  }
  tally.expect(expected);
}

}  // namespace test_stairs
