#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "conversions.hpp"

namespace test_tapered_lanes {

// Conversions to posits and takums on patterns against the definition, one value at a time.
using namespace widthwise;

namespace {

using namespace tests;

// Codes of one bit more are numbers and the borders between two.
Format longer(const Format& f) {
  const int width = f.width() + 1;
  return f.is_posit() ? posit_format(width, f.exp_bits) : takum_format(width);
}
void put_around(const Format& f, std::uint64_t code, std::vector<std::uint32_t>& words) {
  float x;
  elementwise(Operation::convert, binary32, {}, std::vector<CodeArray>{{f, &code}}, 1, &x, nullptr);
  const auto middle = std::bit_cast<std::uint32_t>(x);
  for (std::uint32_t word = middle - 2; word != middle + 3; ++word) words.push_back(word);
}

// Around many numbers and borders, all exponents, any words.
std::vector<std::uint32_t> words_for(const Format& f) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(f.width() * 5 + f.exp_bits));
  std::vector<std::uint32_t> words{0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xff800001};
  const Format all = longer(f);
  for (int i = 0; i < 300; ++i) {
    std::uint64_t code = draw() >> (64 - all.width());
    if (i < 80)
      code = i < 40 ? static_cast<std::uint64_t>(i) : (std::uint64_t{1} << f.width()) - code % 40;
    put_around(all, code & ((std::uint64_t{1} << all.width()) - 1), words);
  }
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
    for (const std::uint32_t low : {0U, 1U, 0x400000U, 0x7fffffU})
      words.push_back(exponent << 23 | low);
  for (int i = 0; i < 500; ++i) words.push_back(static_cast<std::uint32_t>(draw()));
  return words;
}

void check(const Format& to, const std::vector<std::uint32_t>& words, Tally& tally,
           std::uint64_t& expected) {
  constexpr std::size_t few = 1000;  // more go by stairs
  compare_conversion({binary32, words.data()}, words.size(), to, {}, "tapered lanes", tally,
                     expected, few);
}

}  // namespace

TEST_CASE("conversions to posits and takums on patterns are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  for (int width = min_tapered_width; width <= 32; ++width) {
    for (int es = 0; es <= max_es; ++es) {
      const Format to = posit_format(width, es);
      check(to, words_for(to), tally, expected);
    }
    check(takum_format(width), words_for(takum_format(width)), tally, expected);
  }
  tally.expect(expected);
}

TEST_CASE("conversions to short posits are the definition's about every border") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"posit8es2", "posit16es2", "posit16es0", "posit11es4"}) {
    const Format to = parse_format(text), all = longer(to);
    std::vector<std::uint32_t> words;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << all.width(); ++code)
      put_around(all, code, words);
    check(to, words, tally, expected);
  }
  tally.expect(expected);
}

TEST_CASE("a conversion to posits may overwrite its operand") {
  std::vector<std::uint32_t> words(5000), want(5000);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) / 3);
  for (const int width : {32, 27})  // in patterns of 64 bits, and in words
    on_every_target([&] {
      std::vector<std::uint32_t> codes = words;
      const Elementwise lanes(Operation::convert, posit_format(width, 2), {},
                              std::vector<Format>{binary32}, false, words.size());
      const void *apart = words.data(), *same = codes.data();
      lanes.run({&apart, 1}, words.size(), want.data(), nullptr);
      lanes.run({&same, 1}, codes.size(), codes.data(), nullptr);
      CHECK(codes == want);
    });
}

TEST_CASE("patterns are refused one step outside") {
  const auto way = [](const char* to, const Format& from, const Env& env, bool flags) {
    return std::string(Elementwise(Operation::convert, parse_format(to), env,
                                   std::vector<Format>{from}, flags, 1000)
                           .way());
  };
  CHECK(way("posit32", binary32, {}, false) == "tapered lanes");
  CHECK(way("posit33", binary32, {}, false) == "integers");
  CHECK(way("takum32", binary32, {}, false) == "tapered lanes");
  CHECK(way("takum33", binary32, {}, false) == "integers");
  CHECK(way("posit16", binary64, {}, false) == "integers");
  CHECK(way("posit16", binary32, {}, true) == "integers");
  CHECK(way("posit16", binary32, Env{RoundingMode::rtz}, false) == "integers");
}

}  // namespace test_tapered_lanes
