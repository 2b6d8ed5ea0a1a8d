#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
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
#include "widthwise/sim/values.hpp"

namespace test_block_numbers {

// Blocks on every instruction set: each element against the definition's product or quotient by its
// block's scale, rounded once, and what is read back against the exact product. Which scale a block
// has is shown in tests/python/test_blocks.py, against exact fractions.
using namespace widthwise;

namespace {

using namespace tests;

constexpr BlockGrid grids[] = {{2, 5, 96, 1, 32},
                               {1, 3, 70, 1, 32},
                               {1, 1, 4200, 1, 4100},
                               {2, 37, 21, 16, 1},
                               {1, 1, 33, 1, 1},
                               {3, 20, 45, 8, 7},
                               {1, 1, 500, 1, 3},
                               // Whole vectors.
                               {1, 7, 208, 1, 16},
                               {2, 3, 384, 1, 128},
                               {1, 10, 256, 4, 128}};

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
  if (to.is_float()) to.overflow = f.power_of_two() ? Overflow::max : Overflow::satfinite;
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
  if (s == 0) s = 1;  // a block of zeros
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
                const std::vector<T>& x, std::uint64_t* clamped = nullptr) {
  const auto item = static_cast<std::size_t>(item_bytes(f.element.width()));
  const auto scale = static_cast<std::size_t>(item_bytes(f.scale.width()));
  std::vector<std::byte> scales(g.scales() * scale);
  Coded coded{std::vector<std::byte>(x.size() * item), {}};
  const auto quantiser = BlockQuantiser::of<T>(f, g, how);
  BlockTally tally;
  for (std::size_t i = quantiser.panels(); i-- > 0;)  // in any order
    quantiser.run(i, x.data(), coded.elements.data(), scales.data(), tally);
  CHECK(!tally.refused);
  if (clamped) *clamped = tally.clamped;
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
                                     "block(e7m1;bias=10,16,ue4m3fn)",
                                     "block(fixed8.100,16,ue4m3fn)",
                                     "bfp(12,9,e8)",
                                     "block(posit8es2,4,e8m0fnu)",
                                     "block(table(nf4),64,binary32)",
                                     "block(e8m23,3,e8m0fnu);scale=nearest"};
  for (const char* text : formats)
    for (const Rounding r : {Rounding(RoundingMode::rne), Rounding(RoundingMode::rup)}) {
      check<float>(text, r, 110, tally, expected);
      if (sanitized && r.mode != RoundingMode::rne) continue;
      check<float>(text, r, 12, tally, expected);
      if (parse_block_format(text).scale == binary32) continue;
      check<double>(text, r, 12, tally, expected);
      if (r.mode == RoundingMode::rne) check<double>(text, r, 320, tally, expected);
    }
  check<double>("mxfp8_e4m3", Rounding(RoundingMode::odd), 320, tally, expected);
  check<float>("nvfp4", Rounding(RoundingMode::odd), 12, tally, expected);
  tally.expect(expected);
}

double largest_of(const Format& f) {
  return element_value(f, find_code(f, NamedCode::max_finite)->front());
}

// f32(amax / max), or the power of two from there on up; 1 where that is 0.
double wide_scale(const BlockFormat& f, float amax) {
  const double largest = largest_of(f.element), most = amax;
  float s = 0;
  elementwise(Operation::divide, binary32, {},
              std::vector<CodeArray>{{binary64, &most}, {binary64, &largest}}, 1, &s, nullptr);
  if (s == 0) return 1;
  int exponent;
  if (f.rule != ScaleRule::pow2 || std::frexp(s, &exponent) == 0.5F) return s;
  return std::ldexp(1.0, exponent);
}

// By the definition, which flags ask for; infinite quotients saturate in posits and takums, too.
std::vector<std::byte> converted(const BlockFormat& f, const BlockHow& how,
                                 const std::vector<float>& x) {
  const int item = item_bytes(f.element.width());
  std::vector<std::byte> codes(x.size() * static_cast<std::size_t>(item));
  std::vector<std::uint8_t> flags(x.size());
  elementwise(Operation::convert, saturating(f), Env{how.rounding},
              std::vector<CodeArray>{{binary32, x.data()}}, x.size(), codes.data(), flags.data(),
              how.random);
  const std::uint64_t nar = std::uint64_t{1} << (f.element.width() - 1);
  for (std::size_t i = 0; i < x.size() && f.element.is_tapered(); ++i)
    if (std::isinf(x[i]))
      store_code(codes.data() + i * static_cast<std::size_t>(item), item,
                 x[i] > 0 ? nar - 1 : nar + 1);
  return codes;
}

std::uint64_t code_at(const std::vector<std::byte>& codes, std::size_t i, int item) {
  return load_code<std::uint64_t>(codes.data() + i * static_cast<std::size_t>(item), item);
}

// Scales, elements and the count of those past the largest.
void check_wide(const char* text, const Rounding& rounding, int spread, Tally& tally,
                std::uint64_t& expected) {
  const BlockFormat f = parse_block_format(text);
  const double largest = largest_of(f.element);
  const int item = item_bytes(f.element.width());
  for (const BlockGrid& g :
       {BlockGrid{1, 3, 208, 1, 16}, BlockGrid{1, 3, 384, 1, 128}, BlockGrid{1, 3, 70, 1, 32}}) {
    const std::size_t n = g.outer * g.rows * g.columns;
    const std::vector<float> x = numbers<float>(n, spread);
    std::vector<float> amax(g.scales());
    for (std::size_t i = 0; i < n; ++i)
      amax[block_of(g, i)] = std::max(amax[block_of(g, i)], std::abs(x[i]));
    std::vector<float> q(n);
    std::uint64_t clamped = 0;
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = x[i] / static_cast<float>(wide_scale(f, amax[block_of(g, i)]));
      clamped += std::abs(static_cast<double>(q[i])) > largest;
    }
    const auto wanted = converted(f, {.rounding = rounding, .random = {5}}, q);
    on_every_target([&] {
      std::uint64_t above = 0;
      const Coded coded = quantised(f, g, {.rounding = rounding, .random = {5}}, x, &above);
      for (std::size_t i = 0; i < g.scales(); ++i)
        tally.check(std::bit_cast<float>(coded.scales[i]) == wide_scale(f, amax[i]), [&] {
          return fmt::format("{}: {:#x} for {:a}", text, coded.scales[i], wide_scale(f, amax[i]));
        });
      for (std::size_t i = 0; i < n; ++i) {
        const auto got = code_at(coded.elements, i, item), want = code_at(wanted, i, item);
        tally.check(got == want, [&] {
          return fmt::format("{} of {:a} in {:a}: {:#x} for {:#x}", text, x[i],
                             amax[block_of(g, i)], got, want);
        });
      }
      tally.check(above == clamped,
                  [&] { return fmt::format("{}: {} clamped for {}", text, above, clamped); });
      expected += g.scales() + n + 1;
    });
  }
}

TEST_CASE("scales in binary32 under elements of any range and length" *
          doctest::test_suite("unsanitized")) {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* element :
       {"fixed8.-140",   "fixed8.-110",   "fixed8.118",    "fixed8.140",       "fixed8.150",
        "e9m4",          "e8m3",          "e8m7",          "e5m2;bias=-200",   "e5m2;bias=-90",
        "e8m3;bias=200", "e8m3;bias=110", "e5m2;bias=135", "e2m1fn;bias=-125", "e5m10;bias=140",
        "int24",         "int25",         "int31",         "fixed32.100",      "posit16es2",
        "posit8es4",     "takum8",        "posit32es3",    "takum16",          "table(nf4)",
        "e8m23",         "e9m30"})
    for (const char* rule : {"", ";scale=pow2"})
      for (const char* rounding : {"rne", "rup", "sr8", "sr16"})
        for (const int spread : {12, 90})
          check_wide(fmt::format("block({},32,binary32){}", element, rule).c_str(),
                     parse_rounding(rounding), spread, tally, expected);
  tally.expect(expected);
}

// f32(x f32(f32(1 / S) / b)), rounded to the element.
TEST_CASE("single steps under elements of any range and length" *
          doctest::test_suite("unsanitized")) {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* element :
       {"e2m1fn", "int4", "fixed8.100", "fixed8.135", "fixed8.-110", "e8m3;bias=200",
        "e8m3;bias=127", "e8m7", "e5m2;bias=-120", "int25", "int29"})
    for (const char* rounding : {"rne", "rup", "sr8"})
      for (const float tensor_scale : {0x1.8d2p-7F, 0x1.1p20F}) {
        const BlockFormat f = parse_block_format(fmt::format("block({},16,ue4m3fn)", element));
        const double largest = largest_of(f.element);
        const int item = item_bytes(f.element.width());
        BlockHow how{parse_rounding(rounding)};
        how.tensor_scale = tensor_scale, how.steps = BlockSteps::single;
        for (const int spread : {12, 100}) {
          const std::vector<float> x = numbers<float>(640, spread);
          on_every_target([&] {
            std::uint64_t above = 0, clamped = 0;
            const Coded coded = quantised(f, {1, 1, x.size(), 1, 16}, how, x, &above);
            std::vector<float> v = x;
            for (std::size_t i = 0; i < x.size(); ++i) {
              const auto b = static_cast<float>(element_value(ue4m3fn, coded.scales[i / 16]));
              v[i] *= 1 / tensor_scale / b;
              clamped += std::isfinite(v[i]) && std::abs(static_cast<double>(v[i])) > largest;
            }
            const auto wanted = converted(f, how, v);
            for (std::size_t i = 0; i < x.size(); ++i) {
              const auto got = code_at(coded.elements, i, item), want = code_at(wanted, i, item);
              tally.check(got == want, [&] {
                return fmt::format("{} of {:a}: {:#x} for {:#x}", element, v[i], got, want);
              });
            }
            tally.check(above == clamped, [&] {
              return fmt::format("{}: {} clamped for {}", element, above, clamped);
            });
            expected += x.size() + 1;
          });
        }
      }
  tally.expect(expected);
}

// What an element's roundings turn at: its numbers above zero, and the middles between two.
std::vector<double> borders_of(const Format& f) {
  std::vector<double> values;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << (f.width() - 1); ++code)
    if (const double v = element_value(f, code); std::isfinite(v)) values.push_back(v);
  std::ranges::sort(values);
  std::vector<double> borders;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) borders.push_back((values[i - 1] + values[i]) / 2);
    borders.push_back(values[i]);
  }
  borders.push_back(1.125 * values.back());
  return borders;
}

// Floats at each border times a scale and beside it, none above amax, in blocks that begin with it.
std::vector<float> beside_borders(const std::vector<double>& borders, double s, float amax,
                                  std::size_t block) {
  std::vector<float> x;
  const auto add = [&](float v) {
    if (x.size() % block == 0) x.push_back(amax);
    x.push_back(x.size() % 2 ? -v : v);
  };
  for (const double border : borders)
    for (int step = -7; step <= 7; ++step) {
      auto v = static_cast<float>(border * s);
      for (int i = 0; i < std::abs(step); ++i) v = std::nextafterf(v, step < 0 ? 0 : amax);
      if (v <= amax) add(v);
    }
  while (x.size() % (4 * block) != 0) add(0);
  return x;
}

void check_borders(const char* text, std::size_t block, const Rounding& rounding, Tally& tally,
                   std::uint64_t& expected) {
  const BlockFormat f = parse_block_format(text);
  const auto borders = borders_of(f.element);
  std::mt19937_64 draw(block);
  for (int k = 0; k < 12; ++k) {
    const auto amax =
        std::ldexp(static_cast<float>(draw() >> 40), static_cast<int>(draw() % 50) - 49);
    BlockHow how{rounding};
    if (f.takes_tensor_scale()) how.tensor_scale = amax / static_cast<float>(3 + draw() % 2000);
    std::vector<float> first(block);
    first[0] = amax;
    const Coded scale = quantised(f, {1, 1, block, 1, block}, how, first);
    const double s = scale_value(f, scale.scales, 0, how.tensor_scale);
    const std::vector<float> x = beside_borders(borders, s, amax, block);
    std::vector<std::uint64_t> wanted;
    for (const float v : x) wanted.push_back(element_of(f, Env{rounding}, v, s));
    std::vector<float> turned;
    for (std::size_t r = 0; r < block; ++r)
      for (std::size_t i = r; i < x.size(); i += block) turned.push_back(x[i]);
    const std::size_t columns = x.size() / block;
    for (const BlockGrid& g : {BlockGrid{1, 1, x.size(), 1, block},
                               BlockGrid{1, 2 * x.size() / (4 * block), 2 * block, 2, block},
                               BlockGrid{1, block, columns, block, 1}})
      on_every_target([&] {
        const bool down = g.block_columns == 1;
        const Coded coded = quantised(f, g, how, down ? turned : x);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const std::size_t at = down ? i % block * columns + i / block : i;
          const auto got = code_at(coded.elements, at, item_bytes(f.element.width()));
          tally.check(got == wanted[i], [&] {
            return fmt::format("{} of {:a} / {:a}: {:#x} for {:#x}", text, x[i], s, got, wanted[i]);
          });
        }
        expected += x.size();
      });
  }
}

TEST_CASE("elements beside the borders of their roundings, in blocks that are whole vectors") {
  Tally tally;
  std::uint64_t expected = 0;
  using enum RoundingMode;
  for (const RoundingMode mode : {rne, rna, rup, rtz, odd}) {
    if (sanitized && mode != rne && mode != odd) continue;
    check_borders("nvfp4", 16, mode, tally, expected);
    check_borders("block(int4,16,ue4m3fn)", 16, mode, tally, expected);
    check_borders("block(e3m2fn,32,ue4m3fn)", 32, mode, tally, expected);
    check_borders("block(e2m1fn;bias=-15,16,ue4m3fn)", 16, mode, tally, expected);
    check_borders("block(e7m1;bias=109,16,ue4m3fn)", 16, mode, tally, expected);
    check_borders("block(e7m2;bias=109,16,ue4m3fn)", 16, mode, tally, expected);
    check_borders("block(e2m1fn,16,binary32)", 16, mode, tally, expected);
    check_borders("block(e4m3fn,128,binary32)", 128, mode, tally, expected);
    check_borders("mxfp8_e4m3", 32, mode, tally, expected);
  }
  tally.expect(expected);
}

// Of amax in nvfp4: the quotient by 6 S, or torchao's two in binary32, by the definition.
std::uint32_t small_scale(float amax, const BlockHow& how) {
  Format to = ue4m3fn;
  to.overflow = Overflow::max;
  std::uint32_t code = 0;
  if (how.steps == BlockSteps::single) {
    const float t = std::clamp(amax / 6.0F / how.tensor_scale, 0x1p-6F, 448.0F);
    elementwise(Operation::convert, to, {}, std::vector<CodeArray>{{binary32, &t}}, 1, &code,
                nullptr);
    return code;
  }
  const double most = amax, by = 6.0 * static_cast<double>(how.tensor_scale);
  elementwise(Operation::divide, to, {}, std::vector<CodeArray>{{binary64, &most}, {binary64, &by}},
              1, &code, nullptr);
  return amax == 0 ? 0 : std::max(code, 1U);
}

TEST_CASE("scales in E4M3 beside their borders, of blocks that are whole vectors") {
  Tally tally;
  std::uint64_t expected = 0;
  const BlockFormat f = parse_block_format("nvfp4");
  const auto borders = borders_of(e4m3fn);
  for (const BlockSteps steps : {BlockSteps::exact, BlockSteps::single})
    for (const float tensor_scale : {1.0F, 0x1.8d2p-7F, 0x1.fffffep40F, 0x1.000002p-60F}) {
      BlockHow how;
      how.tensor_scale = tensor_scale, how.steps = steps;
      std::vector<float> x;
      std::vector<std::uint32_t> wanted;
      for (const double border : borders)
        for (int step = -7; step <= 7; ++step) {
          auto amax = static_cast<float>(border * 6.0 * static_cast<double>(tensor_scale));
          for (int i = 0; i < std::abs(step); ++i)
            amax = std::nextafterf(amax, step < 0 ? 0 : 1e30F);
          x.push_back(-amax);
          x.resize(x.size() + 15);
          wanted.push_back(small_scale(amax, how));
        }
      on_every_target([&] {
        const Coded coded = quantised(f, {1, 1, x.size(), 1, 16}, how, x);
        for (std::size_t g = 0; g < wanted.size(); ++g)
          tally.check(coded.scales[g] == wanted[g], [&] {
            return fmt::format("scale of {:a}: {:#x} for {:#x}", x[16 * g], coded.scales[g],
                               wanted[g]);
          });
        expected += wanted.size();
      });
    }
  tally.expect(expected);
}

}  // namespace test_block_numbers
