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
