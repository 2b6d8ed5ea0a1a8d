#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "cuda/affine.hpp"
#include "host_kernels.hpp"
#include "widthwise/sim/text.hpp"

// Affine integers by the bodies of the kernels against those of this machine: codes, flags, counts,
// what codes stand for, and ranges.
using namespace widthwise;
using namespace tests;

namespace {

// One scale; channels in front, in the middle, at the end; blocks along rows and along columns; so
// many elements that a thread has several, of one group and of others.
constexpr AffineLayout layouts[] = {
    {1, 600, 1, 1, 0, 0, 0},  {1, 20, 30, 1, 0, 1, 0},  {4, 10, 15, 1, 0, 1, 0},
    {30, 20, 1, 1, 0, 1, 0},  {6, 100, 1, 16, 7, 1, 0}, {3, 20, 10, 7, 30, 10, 1},
    {1, 9000, 1, 1, 0, 0, 0}, {1, 3, 5000, 1, 0, 1, 0}, {2, 5, 1500, 1, 0, 1, 0}};

std::size_t groups_of(const AffineLayout& layout) { return layout.scale_of(layout.size() - 1) + 1; }

template <class T>
std::vector<T> numbers(std::size_t n, bool specials) {
  std::mt19937_64 draw(n);
  std::vector<T> x(n);
  for (T& v : x) {
    const auto digits = draw() % 3 ? static_cast<double>(draw() >> 11) : double(draw() % 64);
    v = static_cast<T>(std::ldexp(digits, static_cast<int>(draw() % 70) - 80));
    if (draw() & 1) v = -v;
    if (specials && draw() % 60 == 0)
      v = std::numeric_limits<T>::infinity() * (draw() & 1 ? 1 : -1);
    if (specials && draw() % 60 == 0) v = std::numeric_limits<T>::quiet_NaN();
    if (specials && draw() % 60 == 0) v = std::numeric_limits<T>::denorm_min();
  }
  return x;
}

struct Scales {
  std::vector<double> scale;
  std::vector<std::int64_t> zero;

  Scales(std::size_t groups, const AffineRule& rule) : scale(groups), zero(groups) {
    std::mt19937_64 draw(groups);
    for (double& s : scale)
      s = static_cast<float>(
          std::ldexp(1 + double(draw() >> 12) * 0x1p-52, static_cast<int>(draw() % 40) - 30));
    for (std::int64_t& z : zero)
      z = rule.qmin +
          static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(rule.qmax - rule.qmin + 1));
  }
};

template <class T>
void compare(const AffineLayout& layout, const AffineRule& rule, int bits) {
  CAPTURE(to_string(rule.rounding));
  CAPTURE(fmt::format("{} x {} x {} in {}, {} bits", layout.outer, layout.length, layout.inner,
                      layout.block, bits));
  const std::vector<T> x = numbers<T>(layout.size(), true);
  const Scales given(groups_of(layout), rule);
  const cuda::AffineNumbers own{layout, given.scale, given.zero};
  const AffineScales scales(layout, given.scale, given.zero);
  const auto item = static_cast<std::size_t>(rule.item.bytes);
  std::vector<std::uint8_t> got(x.size() * item), wanted(x.size() * item), raised(x.size()),
      flags(x.size());
  const AffineCounts there = cuda::quantise_affine(host_device(), own, rule, bits, x.data(),
                                                   got.data(), raised.data(), {5}),
                     here = scales.quantise(rule, x.data(), 0, x.size(), wanted.data(),
                                            flags.data(), {5});
  CHECK(got == wanted);
  CHECK(raised == flags);
  CHECK(there.clamped == here.clamped);
  CHECK(there.nan == here.nan);
  std::vector<T> values(x.size()), exact(x.size());
  cuda::dequantise_affine(host_device(), own, rule.item, bits, got.data(), values.data());
  scales.dequantise(rule.item, wanted.data(), 0, x.size(), exact.data());
  CHECK(values == exact);
}

template <class T>
void check_ranges(const AffineLayout& layout) {
  std::vector<T> x = numbers<T>(layout.size(), false);
  const std::size_t groups = groups_of(layout), special = layout.scale_of(7);
  x[7] = -std::numeric_limits<T>::quiet_NaN();
  constexpr T end = std::numeric_limits<T>::infinity();
  std::vector<T> low(groups), high(groups), least(groups, end), most(groups, -end);
  cuda::group_ranges<T>(host_device(), layout, x.data(), low, high);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t g = layout.scale_of(i);
    least[g] = std::min(least[g], x[i]);
    most[g] = std::max(most[g], x[i]);
  }
  CHECK(std::isnan(low[special]));
  CHECK(std::isnan(high[special]));
  for (std::size_t g = 0; g < groups; ++g) {
    if (g == special) continue;
    CHECK(low[g] == least[g]);
    CHECK(high[g] == most[g]);
  }
}

}  // namespace

TEST_CASE("affine codes there are those of this machine, and so is what they stand for") {
  const std::size_t before = host_device().taken;
  for (const AffineLayout& layout : layouts)
    for (const char* rounding : {"rne", "rdn", "rno", "sr11"}) {
      using enum AffineArithmetic;
      for (const AffineArithmetic how : {exact, onnx, torch, torch_legacy}) {
        AffineRule rule{-128, 127, how, parse_rounding(how == exact ? rounding : "rne"), {1, true}};
        rule.far_is_low = how == torch && groups_of(layout) > 1;
        compare<float>(layout, rule, 8);
        if (how == exact) compare<double>(layout, rule, 8);
      }
      compare<float>(layout, {0, 65535, exact, parse_rounding(rounding), {2, false}}, 16);
      compare<double>(
          layout, {-(1LL << 31), (1LL << 31) - 1, exact, parse_rounding(rounding), {4, true}}, 32);
    }
  CHECK(host_device().taken == before);
}

TEST_CASE("ranges of groups there are their least and largest elements") {
  for (const AffineLayout& layout : layouts)
    check_ranges<float>(layout), check_ranges<double>(layout);
}
