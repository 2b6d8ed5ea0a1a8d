#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <climits>
#include <cmath>

#include "cuda/chain_tiles.hpp"
#include "host_kernels.hpp"
#include "tests/sim/chains.hpp"
#include "tests/sim/edges.hpp"
#include "widthwise/sim/presets.hpp"

namespace test_chain_tiles {

// Chains in integers on threads, by the kernels' own bodies on the CPU, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

bool takes(const Unit& u) {
  return cuda::why_no_chain_tiles({.unit = u, .k = 1, .flags = true}).empty();
}
ChainComparison comparison() { return ChainComparison(cuda_on_the_cpu, takes); }

constexpr Rival::Shape shapes[] = {{2, 1, 35}, {1, 37, 5}};

}  // namespace

TEST_CASE("chains on threads give the reference's codes and flags: chains of every kind") {
  ChainComparison with_reference = comparison();
  for (const char* text : chains) {
    const Unit u = parse_unit(text);
    if (std::string_view(text) == "mac(e26m8)" || std::string_view(text) == "mac(e40m12)") {
      CHECK_FALSE(with_reference.takes(u));  // exponents past 32 bits: the definition
      continue;
    }
    for (const Rival::Shape& s : shapes) with_reference.random(u, s);
  }
}

TEST_CASE("chains on threads give the reference's codes and flags: every mode") {
  ChainComparison with_reference = comparison();
  for (int mode = 0; mode < deterministic_modes; ++mode)
    for (const char* text : {"mac(e5m10)", "mac(e3m3)", "fma(e8m30)"}) {
      Unit u = parse_unit(text);
      u.out.rm = static_cast<RoundingMode>(mode);
      if (u.product.round) u.product.round->rm = static_cast<RoundingMode>((mode * 3 + 1) % 11);
      with_reference.random(u, {2, 9, 35});
    }
}

TEST_CASE("chains on threads give the reference's codes and flags: several blocks of threads") {
  ChainComparison with_reference = comparison();
  for (const char* text : {"mac(e5m10, sum=e5m10:sr20)", "mac(e4m3fnuz)", "mac(e8m26)",
                           "fma(e4m3fn, sum=e5m10, promote=7:binary32)"})
    with_reference.random(parse_unit(text), {35, 18, 67});
}

TEST_CASE("chains on threads give the reference's codes and flags: sums beside long products") {
  ChainComparison with_reference = comparison();
  for (const char* text : long_factors) with_reference.beside_products(parse_unit(text));
}

namespace {

// One step of a unit of one format.
void compare_step(const char* unit, const std::array<std::uint64_t, 3>& abc, Tally& tally) {
  const Unit u = parse_unit(unit);
  CodeList codes(u.a.fmt, 3);
  for (int i = 0; i < 3; ++i) codes.set(i, abc[i]);
  MatrixProduct p;
  p.m = p.k = p.n = 1;
  p.a = codes.rows(1), p.b = codes.rows(1, 1), p.c = codes.rows(1, 2);
  Rival(cuda_on_the_cpu, u, tally, true)
      .compare(p, fmt::format("{} {:x} {:x} {:x}", unit, abc[0], abc[1], abc[2]));
}
void compare_step(double a, double b, double c, Tally& tally) {
  const auto code = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  compare_step("fma(binary64)", {code(a), code(b), code(c)}, tally);
}

}  // namespace

TEST_CASE("chains on threads keep the last digit of a product of one word") {
  Tally tally;
  compare_step(77158673929, 119537721, 0x1p56, tally);  // 2^63 + 1
  tally.expect(1);
}

TEST_CASE("chains on threads keep the last digit of a product of factors of half a word") {
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 31) - 1,
                          negative = std::uint64_t{1} << 39;
  const auto power = [](std::uint64_t exponent) { return (exponent + 127) << 31; };
  Tally tally;  // (2^32 - 1)^2 - 2^64 = 1 - 2^33, a tie
  compare_step("fma(e8m31)", {power(31) | fraction, power(31) | fraction, negative | power(64)},
               tally);
  tally.expect(1);
}

TEST_CASE("chains on threads are sure of no product that lost one digit more than its cut allows") {
  ProductRandom random(9);
  Tally tally;
  for (const int about : {2, 10})  // C in the product's binade, and in the one below
    for (int i = 0; i < 64; ++i) {
      const double a = 1 + std::ldexp(static_cast<double>(random() >> 12), -52 - about),
                   b = 1 + std::ldexp(static_cast<double>(random() >> 12), -52 - about);
      compare_step(a, b, 0x1.4p-8 - a * b, tally);
    }
  tally.expect(2 * 64);
}

TEST_CASE("chains on threads give the reference's codes and flags: 32 digits, and one more") {
  ChainComparison with_reference = comparison();
  for (const char* text : {"mac(e5m26)", "mac(e5m27)"})
    with_reference.random(parse_unit(text), {2, 9, 35});
}

TEST_CASE("chains on threads give the reference's codes and flags: random units") {
  random_units::Random random(5);
  ChainComparison with_reference = comparison();
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const Unit u = random_chain(random, i % 3);
    if (!with_reference.takes(u)) continue;
    with_reference.random(u, {1, 7, 17});
    ++taken;
  }
  CHECK(taken > 100);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("one step on threads: every product of two codes onto every sum, with flags") {
    ChainComparison with_reference = comparison();
    for (const char* text : small_chains) with_reference.one_step(parse_unit(text));
  }
}

TEST_CASE("chains on threads: units that they cannot compute are refused, and nothing less") {
  const auto takes_length = [](std::size_t k) {
    return cuda::why_no_chain_tiles({.unit = parse_unit("mac(e5m10)"), .k = k}).empty();
  };
  CHECK(takes_length(1));
  CHECK(takes_length(INT_MAX / 2));
  CHECK_FALSE(takes_length(0));
  CHECK_FALSE(takes_length(INT_MAX / 2 + std::size_t{1}));
  const Border border(takes);
  border.lies_between("fma(e5m10)", "dot(e5m10, lanes=2)");
  border.lies_between("mac(e5m58)", "mac(e5m59)");
  border.lies_between("mac(e5m10, sum=e5m10:sr49)", "mac(e5m10, sum=e5m10:sr50)");
  border.lies_between("mac(e24m7)", "mac(e25m6)");
  border.lies_between("mac(e5m10;bias=16777215)", "mac(e5m10;bias=16777216)");
  border.lies_between("mac(e5m10;bias=-16777215)", "mac(e5m10;bias=-16777216)");
  border.excludes_each(
      "fma(e5m10)",
      {[](Unit& u) {
         u.scale = Scale{e8m0fnu, 32, ScaleApply::term};
       },
       [](Unit& u) { u.chain.compensation = Compensation::kahan; },
       [](Unit& u) {
         u.chain.lane_permutation = LanePermutation{1, 1};
       },
       [](Unit& u) { u.product.overflow_to_inf_at = 8; },
       [](Unit& u) { u.out.post_norm_frac = 12; },
       [](Unit& u) { u.group_sum.align.reference = Reference::max_exponent; },
       [](Unit& u) { u.group_sum.width = 40; }, [](Unit& u) { u.group_sum.node_round = u.out; }});
  // Of the sums after the products' own the one that C joins.
  border.lies_between(
      "fma(e5m10)", [](Unit& u) { u.block_sum.width = 40; },
      [](Unit& u) { u.block_sum.width = 40, u.c_level = CLevel::block; });
  border.lies_between(
      "fma(e5m10)", [](Unit& u) { u.c_sum.width = 40; },
      [](Unit& u) { u.c_sum.width = 40, u.c_level = CLevel::late; });
}

}  // namespace test_chain_tiles
