#include <array>
#include <bit>
#include <cmath>

#include "chains.hpp"
#include "targets.hpp"
#include "widthwise/sim/presets.hpp"

// Chains of one product a block in rows of integers, against the reference: the same codes and
// flags, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{2, 1, 70}, {1, 21, 35}};

}  // namespace

TEST_CASE("rows give the reference's codes and flags: chains of every kind") {
  ChainComparison with_reference("integers");
  on_every_target([&] {
    for (const char* text : chains)
      for (const Rival::Shape& s : shapes) with_reference.random(parse_unit(text), s);
  });
}

TEST_CASE("rows give the reference's codes: every mode, without flags") {
  ChainComparison with_reference("integers");
  for (int mode = 0; mode < deterministic_modes; ++mode)
    for (const char* text : {"mac(e5m10)", "mac(e3m3)", "fma(e8m30)"}) {
      Unit u = parse_unit(text);
      u.out.rm = static_cast<RoundingMode>(mode);
      if (u.product.round) u.product.round->rm = static_cast<RoundingMode>((mode * 3 + 1) % 11);
      with_reference.random(u, {2, 9, 35}, false);
    }
}

TEST_CASE("rows give the reference's codes and flags: presets of one product a block") {
  ChainComparison with_reference("integers");
  for (const Preset& p : presets())
    if (p.unit.lanes == 1) with_reference.random(p.unit, {2, 19, 35});
}

TEST_CASE("rows give the reference's codes and flags: more steps than a panel, many panels") {
  ChainComparison with_reference("integers");
  with_reference.random(parse_unit("mac(e5m10, sum=e5m10:sr13)"), {1, 1030, 3});
  with_reference.random(parse_unit("fma(e4m3fn, sum=e5m10, promote=7:binary32)"), {1, 519, 3});
  with_reference.random(parse_unit("mac(e4m3fnuz)"), {67, 3, 5});
  with_reference.random(parse_unit("mac(e8m26)"), {2, 3, 580});
}

TEST_CASE("rows give the reference's codes and flags: sums beside products of all their digits") {
  ChainComparison with_reference("integers");
  on_every_target([&] {
    for (const char* text : long_factors) with_reference.beside_products(parse_unit(text));
  });
}

namespace {

// a * b + c in binary64, as often as fills rows: what one of a row is not sure of is done again.
void compare_step(double a, double b, double c, Tally& tally) {
  CodeList codes(binary64, 3);
  for (int i = 0; i < 3; ++i) codes.set(i, std::bit_cast<std::uint64_t>(std::array{a, b, c}[i]));
  MatrixProduct p;
  p.m = p.k = 1, p.n = 16, p.a = codes.rows(1);
  p.b = {codes.rows(1, 1).data, 0, 0}, p.c = {codes.rows(1, 2).data, 0, 0};
  Rival("integers", parse_unit("fma(binary64)"), tally, true)
      .compare(p, fmt::format("{} {} {}", a, b, c));
}

}  // namespace

TEST_CASE("rows keep the last digit of a product of one word") {
  Tally tally;
  compare_step(77158673929, 119537721, 0x1p56, tally);  // 2^63 + 1
  tally.expect(16);
}

TEST_CASE("rows are sure of no product that lost one leading digit more than its cut allows") {
  ProductRandom random(9);
  Tally tally;
  for (const int about : {2, 10})  // C in the product's binade, and in the one below
    for (int i = 0; i < 64; ++i) {
      const double a = 1 + std::ldexp(static_cast<double>(random() >> 12), -52 - about),
                   b = 1 + std::ldexp(static_cast<double>(random() >> 12), -52 - about);
      compare_step(a, b, 0x1.4p-8 - a * b, tally);
    }
  tally.expect(2 * 64 * 16);
}

TEST_CASE("rows give the reference's codes and flags: random units") {
  random_units::Random random(5);
  ChainComparison with_reference("integers");
  for (int i = 0; i < 500; ++i) {
    const Unit u = random_chain(random, i % 3);
    if (with_reference.takes(u)) with_reference.random(u, {1, 7, 17});
  }
}

TEST_SUITE("exhaustive") {
  TEST_CASE("one step in rows: every product of two codes onto every sum, with flags") {
    ChainComparison with_reference("integers");
    for (const char* text : small_chains) with_reference.one_step(parse_unit(text));
  }
}
