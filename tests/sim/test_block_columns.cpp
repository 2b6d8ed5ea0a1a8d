#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "targets.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/text.hpp"

namespace test_block_columns {

// Blocks in few passes, down columns and in tiles, against the passes that take any block: those
// compute the same blocks one after the other in a row that ends with a short one.
using namespace widthwise;

namespace {

using namespace tests;

constexpr BlockGrid grids[] = {{1, 32, 1024, 32, 1},   {1, 64, 2100, 32, 1}, {1, 33, 40, 32, 1},
                               {3, 40, 9, 16, 1},      {1, 16, 1, 16, 1},    {1, 1, 1, 16, 1},
                               {2, 100, 64, 7, 1},     {1, 128, 48, 128, 1}, {1, 1000, 24, 1000, 1},
                               {1, 5, 300, 1, 1},      {1, 24, 96, 8, 16},   {2, 9, 1280, 4, 128},
                               {1, 300, 512, 128, 128}};

// Numbers of many sizes: ties of few digits, whole blocks of zeros and here and there what few
// passes leave alone.
std::vector<float> numbers(const BlockGrid& g, int spread, bool special) {
  std::mt19937_64 draw(g.rows * g.columns + static_cast<std::size_t>(spread));
  std::vector<float> x(g.outer * g.rows * g.columns);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto digits = draw() % 3 ? static_cast<double>(draw() >> 11) : double(draw() % 64);
    const int size = static_cast<int>(draw() % (2 * static_cast<unsigned>(spread) + 1)) - spread;
    x[i] = static_cast<float>(std::ldexp(draw() & 1 ? -digits : digits, size - 53));
    if (i / g.block_rows % 5 == 2) x[i] = draw() & 1 ? -0.0F : 0.0F;
  }
  if (special) {
    x[draw() % x.size()] = std::numeric_limits<float>::infinity();
    x[draw() % x.size()] = std::numeric_limits<float>::quiet_NaN();
    x[draw() % x.size()] = std::numeric_limits<float>::denorm_min();
  }
  return x;
}

struct Coded {
  std::vector<std::byte> elements, scales;
  BlockTally tally;
};

Coded quantised(const BlockFormat& f, const BlockGrid& g, const BlockHow& how,
                const std::vector<float>& x) {
  Coded coded{
      std::vector<std::byte>(x.size() * static_cast<std::size_t>(item_bytes(f.element.width()))),
      std::vector<std::byte>(g.scales() * static_cast<std::size_t>(item_bytes(f.scale.width()))),
      {}};
  const auto quantiser = BlockQuantiser::of<float>(f, g, how);
  for (std::size_t i = quantiser.panels(); i-- > 0;)
    quantiser.run(i, x.data(), coded.elements.data(), coded.scales.data(), coded.tally);
  return coded;
}

// Where the elements of each block lie, block by block.
std::vector<std::vector<std::size_t>> blocks_of(const BlockGrid& g) {
  std::vector<std::vector<std::size_t>> blocks(g.scales());
  for (std::size_t i = 0; i < g.outer * g.rows * g.columns; ++i) {
    const std::size_t column = i % g.columns, row = i / g.columns % g.rows,
                      outer = i / g.columns / g.rows;
    blocks[(outer * g.row_blocks() + row / g.block_rows) * g.column_blocks() +
           column / g.block_columns]
        .push_back(i);
  }
  return blocks;
}

// Every block as a row of its own, filled up with zeros, and a short block of zeros behind each.
Coded one_by_one(const BlockFormat& f, const BlockGrid& g, const BlockHow& how,
                 const std::vector<float>& x) {
  const auto item = static_cast<std::size_t>(item_bytes(f.element.width())),
             scale = static_cast<std::size_t>(item_bytes(f.scale.width()));
  const std::size_t block = g.block_rows * g.block_columns, row = block + 1;
  const auto blocks = blocks_of(g);
  std::vector<float> rows(blocks.size() * row);
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::size_t i = 0; i < blocks[b].size(); ++i) rows[b * row + i] = x[blocks[b][i]];
  const Coded plain = quantised(f, {1, blocks.size(), row, 1, block}, how, rows);
  Coded coded{std::vector<std::byte>(x.size() * item),
              std::vector<std::byte>(blocks.size() * scale), plain.tally};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::copy_n(&plain.scales[2 * b * scale], scale, &coded.scales[b * scale]);
    for (std::size_t i = 0; i < blocks[b].size(); ++i)
      std::copy_n(&plain.elements[(b * row + i) * item], item,
                  &coded.elements[blocks[b][i] * item]);
  }
  return coded;
}

void check(const char* text, const BlockHow& how, int spread, Tally& tally,
           std::uint64_t& expected) {
  const BlockFormat f = parse_block_format(text);
  for (const BlockGrid& g : grids)
    for (const bool special : {false, true}) {
      if (special && f.refuses_specials()) continue;
      const std::vector<float> x = numbers(g, spread, special);
      const Coded want = one_by_one(f, g, how, x);
      for (const bool known : {false, true})
        on_every_target([&] {
          BlockHow as = how;
          if (known)
            as.maxima = std::make_shared<const LargestMagnitudes>(largest_magnitudes(g, x.data()));
          const Coded got = quantised(f, g, as, x);
          const auto where = [&](const char* what) {
            return fmt::format("{} of {}, {} x {} x {} in {} x {}, mode {}", what, text, g.outer,
                               g.rows, g.columns, g.block_rows, g.block_columns,
                               to_string(how.rounding));
          };
          tally.check(got.elements == want.elements, [&] { return where("elements"); });
          tally.check(got.scales == want.scales, [&] { return where("scales"); });
          tally.check(got.tally.clamped == want.tally.clamped, [&] { return where("clamped"); });
          tally.check(got.tally.special == want.tally.special, [&] { return where("special"); });
          expected += 4;
        });
    }
}

}  // namespace

TEST_CASE("blocks down columns and tiles are what they are one by one") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"mxfp8_e4m3", "mxfp8_e5m2;scale=rceil", "mxfp4", "mxint8", "block(posit8es2,32,e8m0fnu)",
        "nvfp4", "block(e3m2fn,16,ue4m3fn)", "block(e4m3fn,128,binary32)", "bfp(8,32,e8)",
        "block(e5m2,128,binary32);scale=pow2", "block(table(nf4),64,binary32)"})
    for (const RoundingMode mode : {RoundingMode::rne, RoundingMode::rup, RoundingMode::rtz})
      for (const int spread : {4, 100}) {
        if (sanitized && spread == 4) continue;
        BlockHow how{Rounding(mode)};
        const bool scaled = parse_block_format(text).takes_tensor_scale();
        if (scaled) how.tensor_scale = 0x1.8d2p-7F;
        check(text, how, spread, tally, expected);
        if (!scaled) continue;
        how.steps = BlockSteps::single;
        check(text, how, spread, tally, expected);
      }
  tally.expect(expected);
}

TEST_CASE("scales in E4M3 of numbers that a tensor scale leaves too large for any float") {
  BlockHow how;
  how.tensor_scale = 0x1p-100F;
  const BlockFormat f = parse_block_format("nvfp4");
  std::vector<float> x(64, 0x1.8p-98F);
  x[16] = 0x1p40F, x[32] = -std::numeric_limits<float>::max();
  on_every_target([&] {
    const Coded coded = quantised(f, {1, 1, x.size(), 1, 16}, how, x);
    const std::byte one{0x38}, largest{0x7e};
    CHECK(coded.scales == std::vector<std::byte>{one, largest, largest, one});
    CHECK(coded.tally.clamped == 2);
  });
}

TEST_CASE("the largest magnitudes of blocks are theirs, and the largest of these the array's") {
  for (const BlockGrid& g : grids)
    for (const bool special : {false, true}) {
      const std::vector<float> x = numbers(g, 4, special);
      // Magnitudes as integers: infinity and NaN lie above all numbers.
      const auto bits = [](float v) { return std::bit_cast<std::uint32_t>(std::abs(v)); };
      std::vector<std::uint32_t> wanted;
      for (const auto& block : blocks_of(g)) {
        wanted.push_back(0);
        for (const std::size_t i : block) wanted.back() = std::max(wanted.back(), bits(x[i]));
      }
      const double all = std::bit_cast<float>(std::ranges::max(wanted));
      on_every_target([&] {
        const LargestMagnitudes found = largest_magnitudes(g, x.data());
        CHECK((found.of_all == all || (std::isnan(found.of_all) && std::isnan(all))));
        CHECK((found.of_blocks.empty() || std::ranges::equal(found.of_blocks, wanted, {}, bits)));
        if (g.block_columns == 1) CHECK(found.of_blocks.size() == g.scales());
      });
    }
}

TEST_CASE("largest magnitudes of other blocks are refused") {
  const std::vector<float> x(64, 1);
  BlockHow how;
  how.maxima = std::make_shared<const LargestMagnitudes>(
      largest_magnitudes(BlockGrid{1, 64, 1, 16, 1}, x.data()));
  REQUIRE(how.maxima->of_blocks.size() == 4);
  CHECK_THROWS_AS(
      BlockQuantiser::of<float>(parse_block_format("nvfp4"), BlockGrid{1, 32, 1, 16, 1}, how),
      std::invalid_argument);
}

TEST_CASE("blocks of no rows or no columns are refused") {
  const BlockFormat f = parse_block_format("mxfp4");
  for (const BlockGrid grid : {BlockGrid{1, 4, 8, 0, 1}, BlockGrid{1, 1, 0, 1, 0}}) {
    CHECK_THROWS_AS(BlockQuantiser::of<float>(f, grid, {}), std::invalid_argument);
    CHECK_THROWS_AS(BlockReader::of<double>(f, grid, 1), std::invalid_argument);
  }
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

}  // namespace test_block_columns
