#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sim/containers/affine_code.hpp"
#include "targets.hpp"
#include "widthwise/sim/affine.hpp"
#include "widthwise/sim/integer_product.hpp"

// Vectors of every instruction set against the definition, one value at a time; integer products
// against sums in 64 bits.
using namespace widthwise;

namespace {

using tests::on_every_target;

// Ties and their neighbours, numbers of all sizes, specials.
template <class Value>
std::vector<Value> values_for(double scale, std::int64_t most, std::uint32_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<Value> values;
  const auto add = [&](double v) {
    const auto x = static_cast<Value>(v);
    constexpr Value infinity = std::numeric_limits<Value>::infinity();
    for (const Value y : {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)})
      values.push_back(y);
  };
  for (int i = 0; i < 700; ++i) {
    const auto steps = static_cast<double>(static_cast<std::int64_t>(draw()) % (2 * most + 4));
    add(steps / 2 * scale);
    add(std::ldexp(static_cast<double>(draw() >> 11), static_cast<int>(draw() % 60) - 80) * scale);
  }
  using Limits = std::numeric_limits<Value>;
  for (const Value v : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Value{0},
                        -Value{0}, Limits::max(), Limits::denorm_min()})
    values.push_back(v);
  return values;
}

std::int64_t read(IntegerItem item, const std::vector<std::uint8_t>& codes, std::size_t i) {
  std::int64_t code = 0;
  for (int b = item.bytes; b-- > 0;)
    code =
        code << 8 | codes[i * static_cast<std::size_t>(item.bytes) + static_cast<std::size_t>(b)];
  const int unused = 64 - 8 * item.bytes;
  return item.is_signed ? code << unused >> unused : code;
}

template <class Value>
void check_codes(const AffineRule& rule, const std::vector<double>& scales,
                 const std::vector<std::int64_t>& zeros, const std::vector<Value>& x) {
  AffineLayout layout{.length = x.size()};
  if (scales.size() > 1)  // one scale each, along the last axis
    layout = {.outer = x.size() / scales.size(), .length = scales.size(), .of_group = 1};
  const AffineScales made(layout, scales, zeros);
  std::vector<std::uint8_t> codes(x.size() * static_cast<std::size_t>(rule.item.bytes));
  const AffineCounts counts =
      made.quantise(rule, x.data(), 0, layout.size(), codes.data(), nullptr);
  AffineCounts wanted;
  int faults = 0;
  for (std::size_t i = 0; i < layout.size() && faults < 20; ++i) {
    const std::size_t s = i % scales.size();
    const affine::Code code = affine::code_of(rule, double{x[i]}, scales[s], zeros[s], {}, 0);
    const std::int64_t clamped = std::clamp(code.sum, rule.qmin, rule.qmax);
    wanted.clamped += clamped != code.sum, wanted.nan += code.nan;
    CAPTURE(x[i]);
    CAPTURE(scales[s]);
    CHECK(read(rule.item, codes, i) == clamped);
    faults += read(rule.item, codes, i) != clamped;
  }
  CHECK(counts.clamped == wanted.clamped);
  CHECK(counts.nan == wanted.nan);
}

struct Codes {
  std::int64_t least, most;
  IntegerItem item;
};
constexpr Codes kinds[] = {{0, 255, {1, false}},
                           {-127, 127, {1, true}},
                           {-7, 7, {1, true}},
                           {-32768, 32767, {2, true}},
                           {0, (1LL << 27) - 1, {4, false}},
                           {-(1LL << 31), (1LL << 31) - 1, {4, true}}};

// Each by itself among those that go together: whatever sends them elsewhere sends all of them.
template <class Value>
std::vector<Value> apart(const std::vector<Value>& values) {
  constexpr std::size_t together = 64;
  std::vector<Value> spread(values.size() * together);
  for (std::size_t i = 0; i < values.size(); ++i) spread[i * together + i % together] = values[i];
  return spread;
}

template <class Value>
void check_kinds(AffineArithmetic how, RoundingMode mode) {
  const float single = 0.37F;
  for (const Codes& kind : kinds)
    for (const double scale : {double{single}, 0.125, 0.1, 0x1p-140}) {
      if (how != AffineArithmetic::exact && (scale == 0.1 || scale < 0x1p-120)) continue;
      CAPTURE(kind.most);
      CAPTURE(static_cast<int>(mode));
      AffineRule rule{kind.least, kind.most, how, mode, kind.item};
      if (how != AffineArithmetic::exact) rule.nan_is_zero_point = false, rule.nan = kind.least;
      const std::int64_t zero = std::clamp<std::int64_t>(3, kind.least, kind.most);
      const auto x = values_for<Value>(scale, kind.most - kind.least, 7);
      check_codes(rule, {scale}, {zero}, x);
      check_codes(rule, {scale, 2 * scale, scale / 2}, {zero, 0, zero - 1}, x);
    }
}

}  // namespace

TEST_CASE("affine codes are the definition's on every instruction set") {
  using enum AffineArithmetic;
  on_every_target([] {
    for (const RoundingMode mode :
         {RoundingMode::rne, RoundingMode::rna, RoundingMode::rnm, RoundingMode::rdn,
          RoundingMode::rup, RoundingMode::rtz, RoundingMode::odd}) {
      check_kinds<float>(exact, mode);
      check_kinds<double>(exact, mode);
    }
    for (const AffineArithmetic engine : {onnx, torch, torch_legacy})
      check_kinds<float>(engine, RoundingMode::rne);
  });
}

TEST_CASE("a border alone in its vector is decided exactly, whatever the scale") {
  constexpr auto exact = AffineArithmetic::exact;
  const AffineRule rule{0, 255, exact, RoundingMode::rne, {1, false}},
      about_zero{-128, 127, exact, RoundingMode::rne, {1, true}};
  std::vector<float> scales;
  std::mt19937 draw(11);
  for (int i = 0; i < 40; ++i)
    scales.push_back(std::ldexp(static_cast<float>(draw() >> 8 | 1), -30));
  on_every_target([&] {
    for (const float scale : scales) {
      std::vector<float> x;
      for (int steps = -3; steps < 514; ++steps) {
        const float tie = static_cast<float>(steps) / 2 * scale;
        for (const float y : {tie, std::nextafter(tie, 1e30F), std::nextafter(tie, -1e30F)})
          x.push_back(y);
      }
      check_codes(rule, {scale}, {0}, apart(x));
    }
    // As far from a tie as products by reciprocals may be, and twice that.
    for (const float scale : {scales[0], 1.0F / 3, 0x1.fffffep-3F}) {
      std::vector<float> x;
      for (int steps = -513; steps < 516; steps += 2)
        for (int away = -9; away <= 9; ++away)
          x.push_back((static_cast<float>(steps) / 2 + static_cast<float>(away) * 0x1p-15F) *
                      scale);
      for (const std::int64_t zero : {0, 77, 255}) check_codes(rule, {scale}, {zero}, apart(x));
      for (const std::int64_t zero : {-128, 0, 127})
        check_codes(about_zero, {scale}, {zero}, apart(x));
    }
  });
}

TEST_CASE("a range of floats is that of all of them, and NaN where one is") {
  on_every_target([] {
    for (std::size_t n = 1; n < 100; ++n) {
      std::vector<float> x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 37 % 101) - 50;
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      float of_block[2][100];
      block_ranges(x.data(), n, 7, 1, of_block[0], of_block[1]);
      CHECK(
          of_block[0][0] ==
          *std::min_element(x.begin(), x.begin() + static_cast<long>(std::min<std::size_t>(n, 7))));
      constexpr float infinity = std::numeric_limits<float>::infinity();
      const FloatRange range = float_range(x.data(), n, {infinity, -infinity});
      CHECK(range.low == *low);
      CHECK(range.high == *high);
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<float> with = x;
        with[i] = std::numeric_limits<float>::quiet_NaN();
        CHECK(std::isnan(float_range(with.data(), n, {infinity, -infinity}).low));
      }
    }
  });
}

namespace {

template <class A, class B>
void check_products(std::size_t k) {
  std::mt19937 draw(static_cast<unsigned>(k));
  const std::size_t m = 13, n = 45;
  using LimitsA = std::numeric_limits<A>;
  using LimitsB = std::numeric_limits<B>;
  std::vector<A> a(m * k);
  std::vector<B> b(k * n);
  for (auto& x : a)
    x = draw() % 3 == 0   ? LimitsA::max()
        : draw() % 3 == 0 ? LimitsA::min()
                          : static_cast<A>(draw());
  for (auto& x : b)
    x = draw() % 3 == 0   ? LimitsB::max()
        : draw() % 3 == 0 ? LimitsB::min()
                          : static_cast<B>(draw());
  IntegerProduct p;
  p.m = m, p.n = n, p.k = k;
  p.a = {a.data(), static_cast<std::ptrdiff_t>(k), 1, {sizeof(A), LimitsA::is_signed}};
  p.b = {b.data(), static_cast<std::ptrdiff_t>(n), 1, {sizeof(B), LimitsB::is_signed}};
  const std::int64_t za = LimitsA::is_signed ? -100 : 200, zb = LimitsB::is_signed ? 127 : 3;
  p.zero_a = {za}, p.zero_b = {zb};
  on_every_target([&] {
    std::vector<std::int32_t> c(m * n);
    PreparedIntegers(p).run(0, m, c.data());
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        std::int64_t sum = 0;
        for (std::size_t l = 0; l < k; ++l) sum += (a[i * k + l] - za) * (b[l * n + j] - zb);
        CHECK(c[i * n + j] == static_cast<std::int32_t>(sum));
      }
  });
}

}  // namespace

TEST_CASE("integer products are those of 64-bit sums on every instruction set") {
  for (const std::size_t k : {1, 2, 3, 4, 9, 67}) {
    check_products<std::uint8_t, std::int8_t>(k);
    check_products<std::uint8_t, std::uint8_t>(k);
    check_products<std::int8_t, std::int8_t>(k);
    check_products<std::int8_t, std::uint8_t>(k);
    check_products<std::int16_t, std::int8_t>(k);
    check_products<std::uint8_t, std::int16_t>(k);
  }
}
