#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "cuda/blocks.hpp"
#include "host_kernels.hpp"
#include "widthwise/sim/text.hpp"

// Blocks by the bodies of the kernels against those of this machine: codes, scales, counts, and the
// numbers that are read back.
using namespace widthwise;
using namespace tests;

namespace {

// Blocks that end within a row, columns of them, tiles, a whole axis, one of all, single elements.
constexpr BlockGrid grids[] = {{2, 5, 96, 1, 32}, {1, 3, 70, 1, 32},    {2, 37, 21, 16, 1},
                               {3, 20, 45, 8, 7}, {1, 6, 130, 1, 130},  {1, 1, 3000, 1, 3000},
                               {1, 1, 33, 1, 1},  {1, 130, 70, 128, 64}};

constexpr const char* formats[] = {
    "mxfp8_e4m3",
    "mxfp8_e5m2;scale=rceil",
    "mxfp6_e2m3;scale=even",
    "mxfp4;scale=nearest",
    "mxint8;scale=midmax",
    "block(e5m2,32,e5m0fnu);scale=ceil",
    "block(e4m3fn,32,e8m0fnu);specials=element;flush=block",
    "bfp(4,32,e8);carry=raise",
    "block(posit16es2,32,e8m0fnu)",
    "nvfp4",
    "block(e5m10,16,ue4m3fn)",
    "block(e4m3fn,1x128,binary32)",
    "block(e5m2,1x128,binary32);scale=pow2",
    "block(int8,128,binary32)",
    "block(bfloat16,16,binary32)",  // scales are so small that quotients overflow
};

std::size_t count_of(const BlockGrid& g) { return g.outer * g.rows * g.columns; }

// Of many sizes, a few bits long as well, zeros, and some at the ends of T.
template <class T>
std::vector<T> numbers(std::size_t n, bool ends) {
  std::mt19937_64 draw(n);
  std::vector<T> x(n);
  for (T& v : x) {
    const auto digits = draw() % 3 ? static_cast<double>(draw() >> 11) : double(draw() % 64);
    v = static_cast<T>(std::ldexp(digits, static_cast<int>(draw() % 60) - 80));
    if (draw() & 1) v = -v;
    if (ends && draw() % 50 == 0) v = std::numeric_limits<T>::denorm_min();
    if (ends && draw() % 200 == 0) v = std::numeric_limits<T>::max();
  }
  for (std::size_t i = 0; i < n && i < 32; ++i) x[i] = 0;
  return x;
}

struct Blocks {
  std::vector<std::byte> elements, scales;
  BlockTally tally;

  Blocks(const BlockFormat& f, const BlockGrid& g)
      : elements(count_of(g) * static_cast<std::size_t>(item_bytes(f.element.width()))),
        scales(g.scales() * static_cast<std::size_t>(item_bytes(f.scale.width()))) {}
};

template <class T>
Blocks here(const BlockFormat& f, const BlockGrid& g, const BlockHow& how, const T* x) {
  Blocks z(f, g);
  const auto quantiser = BlockQuantiser::of<T>(f, g, how);
  for (std::size_t i = 0; i < quantiser.panels() && !z.tally.refused; ++i)
    quantiser.run(i, x, z.elements.data(), z.scales.data(), z.tally);
  return z;
}

template <class T>
Blocks there(const BlockFormat& f, const BlockGrid& g, const BlockHow& how, const T* x) {
  Blocks z(f, g);
  z.tally = cuda::quantise_blocks(host_device(), f, g, how, x, z.elements.data(), z.scales.data());
  return z;
}

template <class T>
std::vector<T> read_here(const BlockFormat& f, const BlockGrid& g, float s, const Blocks& z) {
  std::vector<T> x(count_of(g));
  const auto reader = BlockReader::of<T>(f, g, s);
  for (std::size_t i = 0; i < reader.panels(); ++i)
    reader.run(i, z.elements.data(), z.scales.data(), x.data());
  return x;
}

template <class T>
void compare(const BlockFormat& f, const BlockGrid& g, const BlockHow& how, bool ends) {
  CAPTURE(to_string(f));
  CAPTURE(to_string(how.rounding));
  CAPTURE(fmt::format("{} x {} x {} in {} x {}", g.outer, g.rows, g.columns, g.block_rows,
                      g.block_columns));
  const std::vector<T> x = numbers<T>(count_of(g), ends);
  const Blocks got = there(f, g, how, x.data()), wanted = here(f, g, how, x.data());
  CHECK(got.elements == wanted.elements);
  CHECK(got.scales == wanted.scales);
  CHECK(got.tally.clamped == wanted.tally.clamped);
  CHECK(got.tally.special == wanted.tally.special);
  CHECK(got.tally.refused == wanted.tally.refused);
  std::vector<T> read(x.size());
  cuda::read_blocks(host_device(), f, g, how.tensor_scale, wanted.elements.data(),
                    wanted.scales.data(), read.data());
  CHECK(read == read_here<T>(f, g, how.tensor_scale, wanted));
  CHECK(cuda::largest_magnitude(host_device(), x.data(), x.size()) ==
        largest_magnitude(x.data(), x.size()));
}

}  // namespace

TEST_CASE("blocks there are those of this machine, and so is what they stand for") {
  const std::size_t before = host_device().taken;
  for (const char* text : formats)
    for (const BlockGrid& g : grids)
      for (const char* rounding : {"rne", "rdn", "sr7"}) {
        const BlockFormat f = parse_block_format(text);
        const BlockHow how{parse_rounding(rounding), 11, f.takes_tensor_scale() ? 0.3F : 1.0F};
        compare<float>(f, g, how, f.power_of_two());
        if (f.scale != binary32) compare<double>(f, g, how, f.power_of_two());
      }
  CHECK(host_device().taken == before);
}

TEST_CASE("torchao's steps there, too") {
  const BlockFormat f = parse_block_format("nvfp4");
  for (const BlockGrid& g : grids)
    compare<float>(f, g, {parse_rounding("rne"), 0, 0.7F, BlockSteps::single}, false);
}

TEST_CASE("no number is copied to this machine") {
  const BlockGrid g{1, 64, 1024, 1, 32};
  const std::vector<float> x = numbers<float>(count_of(g), false);
  const std::size_t before = host_device().copied;
  there(parse_block_format("mxfp8_e4m3"), g, {parse_rounding("rne")}, x.data());
  CHECK(host_device().copied - before <= 256);
}

TEST_CASE("the first number that may not be is told, and what a device has not is refused") {
  const BlockGrid g{1, 4, 64, 1, 16};
  std::vector<float> x(count_of(g), 1.0F);
  x[200] = x[77] = std::numeric_limits<float>::infinity();
  const BlockFormat f = parse_block_format("nvfp4");
  CHECK(there(f, g, {parse_rounding("rne")}, x.data()).tally.refused == 77);
  const auto refused = [&](const char* text, const char* rounding, const std::string& words) {
    CHECK_THROWS_WITH_AS(there(parse_block_format(text), g, {parse_rounding(rounding)}, x.data()),
                         doctest::Contains(words.c_str()), std::invalid_argument);
  };
  refused("block(table(nf4),16,binary32)", "rne", "tables are not on the GPU");
  refused("block(e5m52,16,e8m0fnu)", "sr40", "x.to_device('cpu') brings the numbers here");
}
