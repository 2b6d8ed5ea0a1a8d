#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cuda/affine.hpp"
#include "cuda/blocks.hpp"
#include "cuda/packing.hpp"
#include "widthwise/sim/text.hpp"

// Blocks and affine integers that a device makes, against those of this machine.
namespace tests {

using namespace widthwise;

// Blocks that end within a row, columns of them, tiles, a whole axis, one of all, single elements.
inline constexpr BlockGrid block_grids[] = {
    {2, 5, 96, 1, 32},   {1, 3, 70, 1, 32},     {2, 37, 21, 16, 1}, {3, 20, 45, 8, 7},
    {1, 6, 130, 1, 130}, {1, 1, 3000, 1, 3000}, {1, 1, 33, 1, 1},   {1, 130, 70, 128, 64}};

inline constexpr const char* block_formats[] = {
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
    "block(table(nf4),64,binary32)",
    "block(table(-2,-1,0,0.5,3),32,e8m0fnu)",
};

inline std::size_t count_of(const BlockGrid& g) { return g.outer * g.rows * g.columns; }

enum class Ends { none, numbers, specials };

// Of many sizes, a few bits long as well, zeros, and some at the ends of T.
template <class T>
std::vector<T> numbers(std::size_t n, Ends ends) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 draw(n);
  std::vector<T> x(n);
  for (T& v : x) {
    const auto digits = draw() % 3 ? static_cast<double>(draw() >> 11) : double(draw() % 64);
    v = static_cast<T>(std::ldexp(digits, static_cast<int>(draw() % 60) - 80));
    if (ends != Ends::none && draw() % 50 == 0) v = Limits::denorm_min();
    if (ends == Ends::numbers && draw() % 200 == 0) v = Limits::max();
    if (ends == Ends::specials && draw() % 60 == 0) v = Limits::infinity();
    if (draw() & 1) v = -v;
    if (ends == Ends::specials && draw() % 60 == 0) v = Limits::quiet_NaN();
  }
  for (std::size_t i = 0; i < n && i < 32; ++i) x[i] = 0;
  return x;
}

// An array of the device, which is brought here.
template <class T>
class There {
 public:
  There(cuda::Device& device, std::size_t n)
      : device_(device), n_(n), memory_(device, n * sizeof(T)) {}
  There(cuda::Device& device, const std::vector<T>& x) : There(device, x.size()) {
    device.copy_in(at(), x.data(), n_ * sizeof(T));
  }
  T* at() const { return memory_.template at<T>(); }
  std::vector<T> here() const {
    std::vector<T> x(n_);
    device_.copy_out(x.data(), at(), n_ * sizeof(T));
    return x;
  }

 private:
  cuda::Device& device_;
  std::size_t n_;
  cuda::Buffer memory_;
};

// --- Blocks --------------------------------------------------------------------------------------

using Bytes = std::vector<std::uint8_t>;
struct Blocks {
  Bytes elements, scales;
  BlockTally tally{};

  Blocks(const BlockFormat& f, const BlockGrid& g)
      : elements(count_of(g) * static_cast<std::size_t>(item_bytes(f.element.width()))),
        scales(g.scales() * static_cast<std::size_t>(item_bytes(f.scale.width()))) {}
};

template <class T>
Blocks blocks_here(const BlockFormat& f, const BlockGrid& g, const BlockHow& how,
                   const std::vector<T>& x) {
  Blocks z(f, g);
  const auto quantiser = BlockQuantiser::of<T>(f, g, how);
  for (std::size_t i = 0; i < quantiser.panels() && !z.tally.refused; ++i)
    quantiser.run(i, x.data(), z.elements.data(), z.scales.data(), z.tally);
  return z;
}

template <class T>
Blocks blocks_there(cuda::Device& device, const BlockFormat& f, const BlockGrid& g,
                    const BlockHow& how, const std::vector<T>& x) {
  Blocks z(f, g);
  const There<T> numbers(device, x);
  const There<std::uint8_t> elements(device, z.elements.size()), scales(device, z.scales.size());
  z.tally = cuda::quantise_blocks(device, f, g, how, numbers.at(), elements.at(), scales.at());
  z.elements = elements.here(), z.scales = scales.here();
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
std::vector<T> read_there(cuda::Device& device, const BlockFormat& f, const BlockGrid& g, float s,
                          const Blocks& z) {
  const There<std::uint8_t> elements(device, z.elements), scales(device, z.scales);
  const There<T> x(device, count_of(g));
  cuda::read_blocks(device, f, g, s, elements.at(), scales.at(), x.at());
  return x.here();
}

template <class T>
void compare_blocks(cuda::Device& device, const BlockFormat& f, const BlockGrid& g,
                    const BlockHow& how, Ends ends) {
  CAPTURE(to_string(f));
  CAPTURE(to_string(how.rounding));
  CAPTURE(fmt::format("{} x {} x {} in {} x {}", g.outer, g.rows, g.columns, g.block_rows,
                      g.block_columns));
  const std::vector<T> x = numbers<T>(count_of(g), ends);
  const Blocks got = blocks_there(device, f, g, how, x), wanted = blocks_here(f, g, how, x);
  CHECK(got.elements == wanted.elements);
  CHECK(got.scales == wanted.scales);
  CHECK(got.tally.clamped == wanted.tally.clamped);
  CHECK(got.tally.special == wanted.tally.special);
  CHECK(got.tally.refused == wanted.tally.refused);
  CHECK(read_there<T>(device, f, g, how.tensor_scale, wanted) ==
        read_here<T>(f, g, how.tensor_scale, wanted));
  CHECK(cuda::largest_magnitude(device, There<T>(device, x).at(), x.size()) ==
        largest_magnitude(x.data(), x.size()));
}

inline void compare_blocks(cuda::Device& device) {
  for (const char* text : block_formats)
    for (const BlockGrid& g : block_grids)
      for (const char* rounding : {"rne", "rdn", "sr7"}) {
        const BlockFormat f = parse_block_format(text);
        const BlockHow how{parse_rounding(rounding), {11}, f.takes_tensor_scale() ? 0.3F : 1.0F};
        const Ends ends = f.power_of_two() ? Ends::numbers : Ends::none;
        compare_blocks<float>(device, f, g, how, ends);
        if (f.scale != binary32) compare_blocks<double>(device, f, g, how, ends);
      }
  const BlockFormat steps = parse_block_format("nvfp4");
  for (const BlockGrid& g : block_grids)
    compare_blocks<float>(device, steps, g, {parse_rounding("rne"), {}, 0.7F, BlockSteps::single},
                          Ends::none);
}

// --- Affine integers -----------------------------------------------------------------------------

// One scale; channels in front, in the middle, at the end; blocks along rows and along columns; so
// many elements that a thread has several, of one group and of others.
inline constexpr AffineLayout affine_layouts[] = {
    {1, 600, 1, 1, 0, 0, 0},  {1, 20, 30, 1, 0, 1, 0},  {4, 10, 15, 1, 0, 1, 0},
    {30, 20, 1, 1, 0, 1, 0},  {6, 100, 1, 16, 7, 1, 0}, {3, 20, 10, 7, 30, 10, 1},
    {1, 9000, 1, 1, 0, 0, 0}, {1, 3, 5000, 1, 0, 1, 0}, {2, 5, 1500, 1, 0, 1, 0}};

inline std::size_t groups_of(const AffineLayout& layout) {
  return layout.scale_of(layout.size() - 1) + 1;
}

// Of binary32.
struct GivenScales {
  std::vector<double> scale;
  std::vector<std::int64_t> zero;

  GivenScales(std::size_t groups, const AffineRule& rule) : scale(groups), zero(groups) {
    std::mt19937_64 draw(groups);
    const auto codes = static_cast<std::uint64_t>(rule.qmax - rule.qmin + 1);
    for (double& s : scale)
      s = static_cast<float>(
          std::ldexp(1 + double(draw() >> 12) * 0x1p-52, static_cast<int>(draw() % 40) - 30));
    for (std::int64_t& z : zero) z = rule.qmin + static_cast<std::int64_t>(draw() % codes);
  }
};

template <class T>
void compare_affine(cuda::Device& device, const AffineLayout& layout, const AffineRule& rule,
                    int bits) {
  CAPTURE(to_string(rule.rounding));
  CAPTURE(fmt::format("{} x {} x {} in {}, {} bits", layout.outer, layout.length, layout.inner,
                      layout.block, bits));
  const std::vector<T> x = numbers<T>(layout.size(), Ends::specials);
  const GivenScales given(groups_of(layout), rule);
  const cuda::AffineNumbers own{layout, given.scale, given.zero};
  const AffineScales scales(layout, given.scale, given.zero);
  Bytes wanted(x.size() * static_cast<std::size_t>(rule.item.bytes)), flags(x.size());
  const There<T> there(device, x), values(device, x.size());
  const There<std::uint8_t> codes(device, wanted.size()), raised(device, x.size());
  const AffineCounts got = cuda::quantise_affine(device, own, rule, bits, there.at(), codes.at(),
                                                 raised.at(), {5}),
                     here = scales.quantise(rule, x.data(), 0, x.size(), wanted.data(),
                                            flags.data(), {5});
  CHECK(codes.here() == wanted);
  CHECK(raised.here() == flags);
  CHECK(got.clamped == here.clamped);
  CHECK(got.nan == here.nan);
  std::vector<T> exact(x.size());
  cuda::dequantise_affine(device, own, rule.item, bits, codes.at(), values.at());
  scales.dequantise(rule.item, wanted.data(), 0, x.size(), exact.data());
  CHECK(values.here() == exact);
}

inline void compare_affine(cuda::Device& device) {
  using enum AffineArithmetic;
  constexpr std::int64_t half = std::int64_t{1} << 31;
  for (const AffineLayout& layout : affine_layouts)
    for (const char* rounding : {"rne", "rdn", "rno", "sr11"}) {
      const Rounding mode = parse_rounding(rounding);
      for (const AffineArithmetic how : {exact, onnx, torch, torch_legacy}) {
        AffineRule rule{-128, 127, how, how == exact ? mode : Rounding{}, {1, true}};
        rule.far_is_low = how == torch && groups_of(layout) > 1;
        compare_affine<float>(device, layout, rule, 8);
        if (how == exact) compare_affine<double>(device, layout, rule, 8);
      }
      compare_affine<float>(device, layout, {0, 65535, exact, mode, {2, false}}, 16);
      compare_affine<double>(device, layout, {-half, half - 1, exact, mode, {4, true}}, 32);
    }
}

// With a NaN in one group.
template <class T>
void check_ranges(cuda::Device& device, const AffineLayout& layout) {
  constexpr T end = std::numeric_limits<T>::infinity();
  std::vector<T> x = numbers<T>(layout.size(), Ends::none);
  const std::size_t groups = groups_of(layout), special = layout.scale_of(7);
  x[7] = -std::numeric_limits<T>::quiet_NaN();
  std::vector<T> low(groups), high(groups), least(groups, end), most(groups, -end);
  cuda::group_ranges<T>(device, layout, There<T>(device, x).at(), low, high);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t g = layout.scale_of(i);
    least[g] = std::min(least[g], x[i]), most[g] = std::max(most[g], x[i]);
  }
  for (std::size_t g = 0; g < groups; ++g) {
    CHECK((g == special ? std::isnan(low[g]) : low[g] == least[g]));
    CHECK((g == special ? std::isnan(high[g]) : high[g] == most[g]));
  }
}

inline void check_ranges(cuda::Device& device) {
  for (const AffineLayout& layout : affine_layouts) {
    check_ranges<float>(device, layout);
    check_ranges<double>(device, layout);
  }
}

// --- Codes side by side --------------------------------------------------------------------------

inline void compare_packing(cuda::Device& device, int width, std::size_t rows, std::size_t n) {
  const auto item = static_cast<std::size_t>(item_bytes(width));
  std::mt19937_64 draw(n);
  Bytes codes(rows * n * item), bytes(rows * packed_bytes(n, width));
  for (std::size_t i = 0; i < rows * n; ++i)
    store_code(reinterpret_cast<std::byte*>(&codes[i * item]), static_cast<int>(item),
               draw() >> (64 - width));
  pack_codes(width, codes.data(), rows, n, reinterpret_cast<std::byte*>(bytes.data()));
  const There<std::uint8_t> from(device, codes), packed(device, bytes.size()),
      back(device, codes.size());
  cuda::pack_codes(device, width, from.at(), rows, n, packed.at());
  cuda::unpack_codes(device, width, packed.at(), rows, n, back.at());
  CAPTURE(fmt::format("{} x {} codes of {} bits", rows, n, width));
  CHECK(packed.here() == bytes);
  CHECK(back.here() == codes);
}

inline void compare_packing(cuda::Device& device) {
  for (int width = 1; width <= 64; ++width)
    for (const std::size_t n : {1, 2, 7, 8, 9, 63, 300})
      for (const std::size_t rows : {1, 3}) compare_packing(device, width, rows, n);
}

}  // namespace tests
