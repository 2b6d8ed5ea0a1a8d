#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

namespace test_posit_lanes {

// Conversions to posits on patterns in 64 bits against the definition, one value at a time.
using namespace widthwise;

namespace {

using namespace tests;

// Around each of many posits and the patterns between two of them, all exponents, any words.
std::vector<std::uint32_t> words_for(const Format& f) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(f.width() * 5 + f.exp_bits));
  std::vector<std::uint32_t> words{0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xff800001};
  const Format longer = posit_format(f.width() + 1, f.exp_bits);
  for (int i = 0; i < 300; ++i) {
    std::uint64_t code = draw() >> (64 - longer.width());
    if (i < 80)
      code = i < 40 ? static_cast<std::uint64_t>(i) : (std::uint64_t{1} << f.width()) - code % 40;
    code &= (std::uint64_t{1} << longer.width()) - 1;
    float x;
    elementwise(Operation::convert, binary32, {}, std::vector<CodeArray>{{longer, &code}}, 1, &x,
                nullptr);
    const auto middle = std::bit_cast<std::uint32_t>(x);
    for (std::uint32_t word = middle - 2; word != middle + 3; ++word) words.push_back(word);
  }
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
    for (const std::uint32_t low : {0U, 1U, 0x400000U, 0x7fffffU})
      words.push_back(exponent << 23 | low);
  for (int i = 0; i < 500; ++i) words.push_back(static_cast<std::uint32_t>(draw()));
  return words;
}

}  // namespace

TEST_CASE("conversions to posits on patterns are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  for (int width = min_tapered_width; width <= 32; ++width)
    for (int es = 0; es <= max_es; ++es) {
      const Format to = posit_format(width, es);
      const std::vector<std::uint32_t> words = words_for(to);
      const int item = item_bytes(width);
      const auto bytes = words.size() * static_cast<std::size_t>(item);
      std::vector<std::byte> want(bytes), got(bytes);
      std::vector<std::uint8_t> flags(words.size());  // those take the definition's way
      const std::vector<CodeArray> operands{{binary32, words.data()}};
      elementwise(Operation::convert, to, {}, operands, words.size(), want.data(), flags.data());
      on_every_target([&] {
        const Elementwise lanes(Operation::convert, to, {}, std::vector<Format>{binary32}, false,
                                words.size());
        REQUIRE(std::string_view(lanes.way()) == "posit lanes");
        const void* operand = words.data();
        lanes.run({&operand, 1}, words.size(), got.data(), nullptr);
        for (std::size_t i = 0; i < words.size(); ++i) {
          const auto at = static_cast<std::ptrdiff_t>(i) * item;
          const auto w = load_code<std::uint64_t>(want.data() + at, item),
                     g = load_code<std::uint64_t>(got.data() + at, item);
          tally.check(w == g, [&] {
            return fmt::format("{} of {:#010x}: {:#x} for {:#x}", to_string(to), words[i], g, w);
          });
        }
        expected += words.size();
      });
    }
  tally.expect(expected);
}

TEST_CASE("a conversion to posits may overwrite its operand") {
  std::vector<std::uint32_t> words(5000), want(5000);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) / 3);
  on_every_target([&] {
    std::vector<std::uint32_t> codes = words;
    const Elementwise lanes(Operation::convert, posit_format(32, 2), {},
                            std::vector<Format>{binary32}, false, words.size());
    const void *apart = words.data(), *same = codes.data();
    lanes.run({&apart, 1}, words.size(), want.data(), nullptr);
    lanes.run({&same, 1}, codes.size(), codes.data(), nullptr);
    CHECK(codes == want);
  });
}

TEST_CASE("posits on patterns are refused one step outside") {
  const auto way = [](const char* to, const Format& from, const Env& env, bool flags) {
    return std::string(Elementwise(Operation::convert, parse_format(to), env,
                                   std::vector<Format>{from}, flags, 1000)
                           .way());
  };
  CHECK(way("posit32", binary32, {}, false) == "posit lanes");
  CHECK(way("posit33", binary32, {}, false) == "integers");
  CHECK(way("takum16", binary32, {}, false) == "integers");
  CHECK(way("posit16", binary64, {}, false) == "integers");
  CHECK(way("posit16", binary32, {}, true) == "integers");
  CHECK(way("posit16", binary32, Env{RoundingMode::rtz}, false) == "integers");
}

}  // namespace test_posit_lanes
