#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/text.hpp"

// Blocks on every instruction set: each element against the definition's product or quotient by its
// block's scale, rounded once, and what is read back against the exact product. Which scale a block
// has is shown in tests/python/test_blocks.py, against exact fractions.
using namespace widthwise;

namespace {

using namespace tests;

constexpr BlockGrid grids[] = {{2, 5, 96, 1, 32},  {1, 3, 70, 1, 32}, {1, 1, 4200, 1, 4100},
                               {2, 37, 21, 16, 1}, {1, 1, 33, 1, 1},  {3, 20, 45, 8, 7},
                               {1, 1, 500, 1, 3}};

// Numbers of many sizes, ties of few digits among them.
template <class T>
std::vector<T> numbers(std::size_t n, int spread) {
  std::mt19937_64 draw(n);
  std::vector<T> x(n);
  for (T& v : x) {
    const auto digits = draw() % 3 ? static_cast<double>(draw() >> 11) : double(draw() % 64);
    const double size =
        std::ldexp(digits, static_cast<int>(draw() % (2 * spread + 1)) - spread - 53);
    v = static_cast<T>(draw() & 1 ? -size : size);
  }
  std::fill(x.begin(), x.begin() + 32, T{0});  // a block of them in some grids
  return x;
}

std::size_t block_of(const BlockGrid& g, std::size_t i) {
  const std::size_t column = i % g.columns, row = i / g.columns % g.rows,
                    outer = i / g.columns / g.rows;
  return (outer * g.row_blocks() + row / g.block_rows) * g.column_blocks() +
         column / g.block_columns;
}

// What a scale is, exactly, of the formats below.
double scale_value(const BlockFormat& f, const std::vector<std::uint32_t>& codes, std::size_t at,
                   float tensor_scale) {
  std::uint64_t wide = 0;
  elementwise(Operation::convert, binary64, {}, std::vector<CodeArray>{{f.scale, &codes[at]}}, 1,
              &wide, nullptr);
  return std::bit_cast<double>(wide) *
         static_cast<double>(f.takes_tensor_scale() ? tensor_scale : 1);
}

Format saturating(const BlockFormat& f) {
  Format to = f.element;
  if (to.is_fixed()) to.overflow = Overflow::symmetric;
  if (to.is_float()) to.overflow = Overflow::max;
  return to;
}

// x / s rounded once to the element, by the definition. Scales in binary32 divide in binary32
// first.
template <class T>
std::uint64_t element_of(const BlockFormat& f, const Env& env, T x, double s) {
  std::uint64_t code = 0;
  if (f.scale == binary32) {
    const float q = static_cast<float>(x) / static_cast<float>(s);
    elementwise(Operation::convert, saturating(f), env, std::vector<CodeArray>{{binary32, &q}}, 1,
                &code, nullptr);
    return code;
  }
  const auto wide = static_cast<double>(x);
  elementwise(Operation::divide, saturating(f), env,
              std::vector<CodeArray>{{binary64, &wide}, {binary64, &s}}, 1, &code, nullptr);
  return code;
}

struct Coded {
  std::vector<std::byte> elements;
  std::vector<std::uint32_t> scales;
};

template <class T>
Coded quantised(const BlockFormat& f, const BlockGrid& g, const BlockHow& how,
                const std::vector<T>& x) {
  const auto item = static_cast<std::size_t>(item_bytes(f.element.width()));
  const auto scale = static_cast<std::size_t>(item_bytes(f.scale.width()));
  std::vector<std::byte> scales(g.scales() * scale);
  Coded coded{std::vector<std::byte>(x.size() * item), {}};
  const auto quantiser = BlockQuantiser::of<T>(f, g, how);
  BlockTally tally;
  for (std::size_t i = quantiser.panels(); i-- > 0;)  // in any order
    quantiser.run(i, x.data(), coded.elements.data(), scales.data(), tally);
  CHECK(!tally.refused);
  for (std::size_t i = 0; i < g.scales(); ++i)
    coded.scales.push_back(
        load_code<std::uint32_t>(scales.data() + i * scale, static_cast<int>(scale)));
  return coded;
}

template <class T>
std::vector<T> read_back(const BlockFormat& f, const BlockGrid& g, float tensor_scale,
                         const Coded& coded, std::size_t n) {
  const int scale = item_bytes(f.scale.width());
  std::vector<std::byte> scales(coded.scales.size() * static_cast<std::size_t>(scale));
  for (std::size_t i = 0; i < coded.scales.size(); ++i)
    store_code(scales.data() + i * static_cast<std::size_t>(scale), scale, coded.scales[i]);
  std::vector<T> x(n);
  const auto reader = BlockReader::of<T>(f, g, tensor_scale);
  for (std::size_t i = 0; i < reader.panels(); ++i)
    reader.run(i, coded.elements.data(), scales.data(), x.data());
  return x;
}

double element_value(const Format& f, std::uint64_t code) {
  std::uint64_t wide = 0;
  elementwise(Operation::convert, binary64, {}, std::vector<CodeArray>{{f, &code}}, 1, &wide,
              nullptr);
  return std::bit_cast<double>(wide);
}

template <class T>
void check(const char* text, const Rounding& rounding, int spread, Tally& tally,
           std::uint64_t& expected) {
  const BlockFormat f = parse_block_format(text);
  const int item = item_bytes(f.element.width());
  BlockHow how{rounding};
  how.tensor_scale = f.takes_tensor_scale() ? 0x1.8d2p-7F : 1;
  for (const BlockGrid& g : grids) {
    const std::size_t n = g.outer * g.rows * g.columns;
    const std::vector<T> x = numbers<T>(n, spread);
    std::vector<std::uint64_t> wanted;
    std::vector<double> scales;
    on_every_target([&] {
      const Coded coded = quantised(f, g, how, x);
      const auto doubles = read_back<double>(f, g, how.tensor_scale, coded, n);
      const auto floats = read_back<float>(f, g, how.tensor_scale, coded, n);
      for (std::size_t i = 0; i < n; ++i) {
        if (wanted.size() == i) {
          scales.push_back(scale_value(f, coded.scales, block_of(g, i), how.tensor_scale));
          wanted.push_back(element_of(f, Env{rounding}, x[i], scales[i]));
        }
        const auto got = load_code<std::uint64_t>(
            coded.elements.data() + i * static_cast<std::size_t>(item), item);
        const double product = element_value(f.element, wanted[i]) * scales[i];
        tally.check(
            got == wanted[i] && doubles[i] == product && floats[i] == static_cast<float>(product),
            [&] {
              return fmt::format("{} of {:a} / {:a}: {:#x} for {:#x}, read as {:a}, {:a}", text,
                                 x[i], scales[i], got, wanted[i], doubles[i], floats[i]);
            });
      }
      expected += n;
    });
  }
}

}  // namespace

TEST_CASE("every element is its number over its block's scale, rounded once") {
  Tally tally;
  std::uint64_t expected = 0;
  constexpr const char* formats[] = {"mxfp8_e4m3",
                                     "mxfp8_e5m2;scale=rceil",
                                     "mxfp6_e2m3;scale=even",
                                     "mxfp4",
                                     "mxint8",
                                     "block(e5m10,32,e5m0fnu)",
                                     "nvfp4",
                                     "block(e4m3fn,128,binary32)",
                                     "block(int4,16,ue4m3fn)",
                                     "bfp(12,9,e8)",
                                     "block(posit8es2,4,e8m0fnu)",
                                     "block(table(nf4),64,binary32)",
                                     "block(e8m23,3,e8m0fnu);scale=nearest"};
  for (const char* text : formats)
    for (const Rounding r : {Rounding(RoundingMode::rne), Rounding(RoundingMode::rup)}) {
      check<float>(text, r, 12, tally, expected);
      check<float>(text, r, 110, tally, expected);
      if (parse_block_format(text).scale == binary32) continue;
      check<double>(text, r, 12, tally, expected);
      if (r.mode == RoundingMode::rne) check<double>(text, r, 320, tally, expected);
    }
  check<double>("mxfp8_e4m3", Rounding(RoundingMode::odd), 320, tally, expected);
  check<float>("nvfp4", Rounding(RoundingMode::odd), 12, tally, expected);
  tally.expect(expected);
}

TEST_CASE("the largest magnitude is found wherever it lies, infinity and NaN above it") {
  on_every_target([] {
    for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{33}, std::size_t{100}})
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<float> x(n, -1.5F);
        x[at] = -2;
        CHECK(largest_magnitude(x.data(), n) == 2);
        x[at] = -std::numeric_limits<float>::infinity();
        CHECK(std::isinf(largest_magnitude(x.data(), n)));
        x[at] = std::numeric_limits<float>::quiet_NaN();
        CHECK(std::isnan(largest_magnitude(x.data(), n)));
      }
  });
}
