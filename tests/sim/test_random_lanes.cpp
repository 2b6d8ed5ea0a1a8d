#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/elementwise/draw_bits.hpp"
#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

namespace test_random_lanes {

// Conversions by random bits in lanes against the definition, one value at a time, and the bits
// against lib's.
using namespace widthwise;

namespace {

using namespace tests;
using enum StochasticVariant;

constexpr const char* formats[] = {"e5m2",
                                   "e4m3fn",
                                   "e5m10",
                                   "bfloat16",
                                   "e4m3fnuz",
                                   "e2m1fn",
                                   "e4m3fn;overflow=satfinite",
                                   "binary8p3",
                                   "e6m9",
                                   "e8m14",
                                   "e11m20",
                                   "fixed8.4",
                                   "fixed32.20",
                                   "ufixed12.4",
                                   "fixed12.40",
                                   "fixed16.8;overflow=symmetric",
                                   "int8;overflow=wrap",
                                   "fixed20.10;overflow=wrap_sm",
                                   "posit8es0",
                                   "posit16es2",
                                   "posit32es2",
                                   "takum8",
                                   "takum16",
                                   "takum32"};
constexpr int counts[] = {1, 4, 8, 13, 16, 17, 23, 30};

// Codes of the format and what lies between them: at the borders that k bits tell apart and beside
// them, in every binade; the ends of the range; numbers of all sizes; specials.
std::vector<double> numbers_for(const Format& f, int k) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(f.width() + k));
  std::vector<double> numbers;
  const int digits = f.is_float() ? f.precision() : 8;
  const int first =
      f.is_float() ? static_cast<int>(std::max<std::int64_t>(f.emin() - 3, -140)) : -20;
  const int last = f.is_float() ? static_cast<int>(std::min<std::int64_t>(f.emax() + 1, 126)) : 12;
  for (int e = first; e <= last; e += 1 + (last - first) / 24)
    for (int i = 0; i < 24; ++i) {
      const double whole =
          std::ldexp(1.0, digits - 1) + std::ldexp(double(draw() >> 40), digits - 25);
      const double part =
          std::ldexp(std::floor(std::ldexp(double(draw() >> 11), k + 2 - 53)), -k - 2);
      const double x = std::ldexp(std::floor(whole) + part, e - digits + 1);
      numbers.insert(numbers.end(), {x, -std::nextafter(float(x), 0.0f), std::nextafter(x, 1e300)});
    }
  for (int i = 0; i < 200; ++i)
    numbers.push_back(std::ldexp(double(draw() >> 11), int(draw() % 300) - 200));
  using Limits = std::numeric_limits<double>;
  numbers.insert(numbers.end(), {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), 0.0,
                                 -0.0, 0x1p-149, -0x1p-149, 0x1p-126, 448, 464, 480, -65519, 65520,
                                 3.4e38, -3.4e38, 1e-300, -1e300, 6, 7});
  return numbers;
}

// As codes of the operand's format.
std::vector<std::byte> codes_of(const std::vector<double>& x, const Format& f) {
  std::vector<std::byte> codes(x.size() * static_cast<std::size_t>(item_bytes(f.width())));
  elementwise(Operation::convert, f, {}, std::vector<CodeArray>{{binary64, x.data()}}, x.size(),
              codes.data(), nullptr);
  return codes;
}

struct Trial {
  Format from, to;
  Rounding rounding;
  RandomSource source;
};

void check(const Trial& t, Tally& tally, std::uint64_t& expected) {
  const std::vector<double> numbers = numbers_for(t.to, t.rounding.random_bits);
  const std::size_t n = numbers.size();
  const std::vector<std::byte> operand = codes_of(numbers, t.from);
  const int item = item_bytes(t.to.width());
  std::vector<std::byte> want(n * static_cast<std::size_t>(item)), got(want.size());
  std::vector<std::uint8_t> flags(n);  // those take the definition's way
  const Env env{t.rounding};
  const std::vector<CodeArray> arrays{{t.from, operand.data()}};
  elementwise(Operation::convert, t.to, env, arrays, n, want.data(), flags.data(), t.source);
  on_every_target([&] {
    const Elementwise lanes(Operation::convert, t.to, env, std::vector<Format>{t.from}, false, n);
    const void* data = operand.data();
    lanes.run({&data, 1}, n, got.data(), nullptr, t.source);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i) * item;
      const auto w = load_code<std::uint64_t>(want.data() + at, item),
                 g = load_code<std::uint64_t>(got.data() + at, item);
      tally.check(w == g, [&] {
        return fmt::format("{} of {:a} in {} by {} ({}): {:#x} for {:#x}", to_string(t.to),
                           numbers[i], to_string(t.from), to_string(t.rounding), lanes.way(), g, w);
      });
    }
    expected += n;
  });
}

std::string way(const char* to, const Rounding& rounding, const Format& from = binary32,
                Operation op = Operation::convert, bool flags = false) {
  const std::vector<Format> operands(op == Operation::convert ? 1 : 2, from);
  return Elementwise(op, parse_format(to), Env{rounding}, operands, flags, 1000).way();
}

}  // namespace

TEST_CASE("conversions by random bits are the definition's, whatever the way") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats)
    for (const int k : counts)
      for (const StochasticVariant variant : {plain, half, even}) {
        const Trial t{binary32, parse_format(text), Rounding(k, variant), {5, 0xfffffff0, nullptr}};
        check(t, tally, expected);
      }
  tally.expect(expected);
}

TEST_CASE("conversions by random bits take numbers of every dtype") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& from : {binary64, binary16, bfloat16})
    for (const char* text : {"e4m3fn", "e5m2", "bfloat16", "fixed8.4"})
      for (const StochasticVariant variant : {plain, half, even})
        check({from, parse_format(text), Rounding(9, variant), {7, 0, nullptr}}, tally, expected);
  tally.expect(expected);
}

TEST_CASE("the extremes of the caller's own random bits are the definition's") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats)
    for (const StochasticVariant variant : {plain, half, even}) {
      const Trial drawn{binary32, parse_format(text), Rounding(8, variant), {}};
      const std::size_t n = numbers_for(drawn.to, 8).size();
      std::vector<std::uint64_t> given(n + 3);
      for (std::size_t i = 0; i < given.size(); ++i)
        given[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 255 : i * 37 % 256;
      Trial t = drawn;
      t.source = {0, 3, given.data()};
      check(t, tally, expected);
    }
  tally.expect(expected);
}

TEST_CASE("random bits of elements are lib's, on both sides of 2^32") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const int k : {1, 13, 16, 17, 31, 32, 33, 48, 64})
    on_every_target([&] {
      constexpr std::size_t n = 301;
      const std::uint64_t seed = 0x123456789abcdef, first = 0xffffffff - 100;
      std::uint64_t bits[n];
      elements::draw_bits(k, seed, first, n, bits);
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t want = random_bits(k, {seed, first + i}, Slot::out, 0);
        tally.check(bits[i] == want, [&] {
          return fmt::format("{} bits of {}: {:#x} for {:#x}", k, i, bits[i], want);
        });
      }
      expected += n;
    });
  tally.expect(expected);
}

TEST_CASE("lanes are left where their digits end") {
  using enum Operation;
  CHECK(way("e5m2", Rounding(21, plain)) == "float lanes");  // 24 digits less 3
  CHECK(way("e5m2", Rounding(22, plain)) == "double lanes");
  CHECK(way("e5m2", Rounding(19, even)) == "float lanes");
  CHECK(way("e5m2", Rounding(20, half)) == "double lanes");
  CHECK(way("e5m2", Rounding(50, plain)) == "double lanes");
  CHECK(way("e5m2", Rounding(51, plain)) == "integers");
  CHECK(way("e5m2", Rounding(8, plain), binary32, convert, true) == "integers");
  CHECK(way("e5m2", Rounding(8, plain), binary16, add) == "integers");
  for (const char* to : {"e5m2;ftz", "e3m0;nan=none"})
    CHECK(way(to, Rounding(8, plain)) == "integers");
  CHECK(way("fixed16.8", Rounding(52, even)) == "fixed lanes");
  CHECK(way("fixed16.8", Rounding(53, plain)) == "integers");
  CHECK(way("posit16es1", Rounding(46, even)) == "tapered lanes");
  CHECK(way("posit16es1", Rounding(47, plain)) == "integers");
  CHECK(way("takum16", Rounding(46, half)) == "tapered lanes");
}

}  // namespace test_random_lanes
