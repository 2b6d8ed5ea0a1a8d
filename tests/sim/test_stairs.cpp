#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

// Conversions by stairs against the definition, one value at a time.
using namespace widthwise;

namespace {

using namespace tests;

constexpr const char* formats[] = {"posit8es0",       "posit8es2",      "posit7es4",  "posit5es1",
                                   "takum6",          "takum5",         "table(nf4)", "table(fp4)",
                                   "table(dynamic8)", "table(0,1,nan)", "table(1,-1)"};
constexpr RoundingMode modes[] = {RoundingMode::rne, RoundingMode::rno, RoundingMode::rnz,
                                  RoundingMode::rtz, RoundingMode::rup, RoundingMode::raz};

// Every upper half with some lower ones, and the words about numbers and the middles between them.
std::vector<std::uint32_t> words_for(const Format& f) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t half = 0; half < 65536; ++half)
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

}  // namespace

TEST_CASE("conversions by stairs are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats) {
    const Format to = parse_format(text);
    const auto words = words_for(to);
    for (const RoundingMode mode : modes) {
      const Env env{mode};
      std::vector<std::uint8_t> want(words.size());
      // Of so few at a time the definition computes.
      constexpr std::size_t few = 1000;
      for (std::size_t i = 0; i < words.size(); i += few)
        elementwise(Operation::convert, to, env, std::vector<CodeArray>{{binary32, &words[i]}},
                    std::min(few, words.size() - i), &want[i], nullptr);
      on_every_target([&] {
        const Elementwise stairs(Operation::convert, to, env, std::vector<Format>{binary32}, false,
                                 words.size());
        const bool turns = mode == RoundingMode::rtz || mode == RoundingMode::raz;
        const bool refused = turns && text == std::string_view("table(1,-1)");
        const char* other = to.is_posit() && mode == RoundingMode::rne ? "tapered lanes" : "stairs";
        REQUIRE(std::string_view(stairs.way()) == (refused ? "integers" : other));
        std::vector<std::uint8_t> got(words.size());
        const void* operand = words.data();
        stairs.run({&operand, 1}, words.size(), got.data(), nullptr);
        for (std::size_t i = 0; i < words.size(); ++i)
          tally.check(got[i] == want[i], [&] {
            return fmt::format("{} of {:#010x}: {:#x} for {:#x}", text, words[i], got[i], want[i]);
          });
        expected += words.size();
      });
    }
  }
  tally.expect(expected);
}

TEST_CASE("stairs are climbed only where they go up, and not too steeply") {
  const auto way = [](const char* to, Operation op, const Format& from, const Env& env, bool flags,
                      std::size_t count) {
    return std::string(
        Elementwise(op, parse_format(to), env, std::vector<Format>{from}, flags, count).way());
  };
  using enum Operation;
  constexpr std::size_t many = 1 << 20;
  CHECK(way("posit8", convert, binary32, {RoundingMode::rna}, false, many) == "stairs");
  CHECK(way("posit8", convert, binary32, {}, false, many) == "tapered lanes");
  CHECK(way("takum8", convert, binary32, {}, false, many) == "tapered lanes");
  CHECK(way("takum8", convert, binary32, {RoundingMode::rup}, false, many) == "integers");
  CHECK(way("table(1,1.001,1.002,2)", convert, binary32, {}, false, many) == "integers");
  for (const char* to : {"fixed8.4", "fixed8.4;overflow=wrap", "int8;overflow=keep_sign"})
    CHECK(way(to, convert, binary32, {}, false, many) == "fixed lanes");
  CHECK(way("posit8", convert, binary32, {}, true, many) == "integers");
  CHECK(way("posit8", convert, binary64, {}, false, many) == "integers");
  const Env random{Rounding(8, StochasticVariant::plain)};
  CHECK(way("posit8", convert, binary32, random, false, many) == "tapered lanes");
  CHECK(way("takum6", convert, binary32, {RoundingMode::rup}, false, 1000) == "integers");
}
