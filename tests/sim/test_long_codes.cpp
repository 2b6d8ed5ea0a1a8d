#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "conversions.hpp"

namespace test_long_codes {

// Codes of 17 to 32 bits as floats and doubles against the definition, one value at a time.
using namespace widthwise;

namespace {

using namespace tests;

// The ends, NaR and zero, each with its neighbours; a run of each length before any bits; any
// codes.
std::vector<std::uint32_t> codes_for(int width) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(width));
  const std::uint64_t top = std::uint64_t{1} << width;
  std::vector<std::uint32_t> codes;
  const auto around = [&](std::uint64_t code) {
    for (std::uint64_t i = 0; i < 5; ++i)
      codes.push_back(static_cast<std::uint32_t>((code + top + i - 2) % top));
  };
  for (int bit = 0; bit <= width; ++bit)
    for (const std::uint64_t below : {std::uint64_t{0}, draw(), draw(), ~std::uint64_t{0}}) {
      const std::uint64_t power = std::uint64_t{1} << bit;
      around(power + below % power), around(top - power + below % power), around(top / 2 - power);
    }
  for (int i = 0; i < 3000; ++i) codes.push_back(static_cast<std::uint32_t>(draw() % top));
  return codes;
}

}  // namespace

TEST_CASE("codes of 17 to 32 bits as floats and doubles are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  std::vector<std::string> formats{"fixed32.16",    "ufixed32.0",   "fixed17.-3",
                                   "fixed32.160",   "fixed25.-120", "fixed32.900",
                                   "ufixed20.-900", "posit32es2",   "fixed31.3;overflow=wrap"};
  for (int width = 17; width <= 32; ++width) {
    formats.push_back(fmt::format("takum{}", width));
    for (int es = 0; es <= max_es; ++es) formats.push_back(fmt::format("posit{}es{}", width, es));
  }
  for (const std::string& text : formats)
    for (const Format& to : {binary32, binary64}) {
      const Format from = parse_format(text);
      const std::vector<std::uint32_t> codes = codes_for(from.width());
      compare_conversion({from, codes.data()}, codes.size(), to, {}, "long codes", tally, expected);
    }
  tally.expect(expected);
}

TEST_CASE("long codes are left to others one step outside") {
  const auto way = [](const char* from, const Format& to, const Env& env, bool flags) {
    return std::string(Elementwise(Operation::convert, to, env,
                                   std::vector<Format>{parse_format(from)}, flags, 1000)
                           .way());
  };
  CHECK(way("posit17", binary32, {}, false) == "long codes");
  CHECK(way("fixed32.-900", binary64, {}, false) == "long codes");
  for (const char* from : {"posit16", "takum33", "fixed33.0", "fixed32.901", "e8m20"})
    CHECK_MESSAGE(way(from, binary32, {}, false) != "long codes", from);
  CHECK(way("posit32", binary16, {}, false) == "integers");
  CHECK(way("posit32", binary32, {}, true) == "integers");
  CHECK(way("posit32", binary32, {RoundingMode::rtz}, false) == "integers");
  CHECK(way("posit32", binary32, {.nan = NanResult::propagate}, false) == "integers");
}

}  // namespace test_long_codes
