#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "widthwise/sim/unit_text.hpp"

namespace test_unit_check {

namespace {

using namespace widthwise;

// A valid unit with one thing changed, and what check says of it.
std::string fault_of(auto change) {
  Unit u = parse_unit("dot(binary16, lanes=8, align=24:rtz, out=binary32)");
  change(u);
  try {
    check(u);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST_CASE("check: every field that contradicts another or passes a limit is refused by its key") {
  const Rounding sr(8, StochasticVariant::plain);
  const std::string refused =
      ": sr8: stochastic rounding is refused here; take rtz, rdn, odd or a nearest mode";
  CHECK(fault_of([](Unit&) {}) == "accepted");
  CHECK(
      fault_of([&](Unit& u) { u.a.keep_rm = sr; }) ==
      "unit: a.keep_rm: sr8: stochastic rounding is refused here; take rtz, rdn, odd or a nearest "
      "mode");
  CHECK(fault_of([&](Unit& u) { u.c_sum.align.rm = sr; }) == "unit: c_sum.align.rm" + refused);
  CHECK(fault_of([&](Unit& u) { u.out.post_norm_rm = sr; }) == "unit: out.post_norm_rm" + refused);
  CHECK(fault_of([](Unit& u) { u.b.keep_frac = 11; }) ==
        "unit: b.keep_frac: 11 of the 10 fraction bits of e5m10");
  CHECK(fault_of([](Unit& u) { u.out.keep_frac = -1; }) ==
        "unit: out.keep_frac: -1 of the 23 fraction bits of e8m23");
  CHECK(fault_of([](Unit& u) { u.out.post_norm_frac = -1; }) ==
        "unit: out.post_norm_frac: -1 is not in 0 to 1048576");
  CHECK(fault_of([](Unit& u) { u.out.nan_bits = std::uint64_t{1} << 32; }) ==
        "unit: out.nan_bits: 0x100000000 does not fit the 32 bits of e8m23");
  CHECK(fault_of([](Unit& u) { u.out.nan_bits = 0xff800001; }) == "accepted");
  CHECK(fault_of([](Unit& u) { u.out.nan_bits = 0x7f800000; }) ==
        "unit: out.nan_bits: 0x7f800000 is no NaN of e8m23: take a code that is one, or leave it "
        "out");
  CHECK(fault_of([](Unit& u) {
          u.chain.promote = Promote{8, {.fmt = e4m3fnuz, .nan_bits = 0x7f}};
        }) ==
        "unit: chain.promote.round.nan_bits: 0x7f is no NaN of e4m3fnuz: take a code that is one, "
        "or leave it out");
  CHECK(fault_of([](Unit& u) {
          u.chain.final = Round{.fmt = binary128, .nan_bits = ~std::uint64_t{}};
        }).starts_with("unit: chain.final.nan_bits: 0xffffffffffffffff is no NaN of e15m112"));
  CHECK(fault_of([](Unit& u) { u.chain.final = Round{.fmt = e2m1fn, .nan_bits = 0x7}; }) ==
        "unit: chain.final.nan_bits: e2m1fn has no NaN: leave it out");
  CHECK(fault_of([](Unit& u) { u.out.rm.mode = RoundingMode::sr; }) ==
        "unit: out.rm: 0 random bits; sr takes 1 to 64");
  CHECK(fault_of([](Unit& u) { u.a.fmt.exp_bits = 0; }) ==
        "unit: a.fmt: e0m10;bias=15: 0 exponent bits: there may be 1 to 62");
  CHECK(fault_of([](Unit& u) { u.lanes = max_lanes + 1; }) ==
        "unit: lanes: 1048577 is not in 0 to 1048576");
  CHECK(fault_of([](Unit& u) { u.group_sum.width = 0; }) ==
        "unit: group_sum.width: 0 is not in 1 to 1048576");
  CHECK(fault_of([](Unit& u) { u.group_sum.align.frac_bits = max_register_bits + 1; }) ==
        "unit: group_sum.align.frac_bits: 1048577 is not in -1048576 to 1048576");
  CHECK(fault_of([](Unit& u) { u.groups = Groups{.consecutive = 2}; }) ==
        "unit: c_level: group needs one group; with groups C enters at block or late");
  CHECK(fault_of([](Unit& u) { u.groups = Groups{.consecutive = 2, .strided = 2}; }) ==
        "unit: groups: either consecutive, lanes a group, or strided, groups");
  CHECK(fault_of([](Unit& u) { u.groups = Groups{}; }) ==
        "unit: groups: either consecutive, lanes a group, or strided, groups");
  CHECK(fault_of([](Unit& u) { u.chain.c_at = CAt::last; }) ==
        "unit: chain.c_round: it goes with c_at = last: give both or neither");
  CHECK(fault_of([](Unit& u) { u.chain.c_round = Round{.fmt = binary32}; }) ==
        "unit: chain.c_round: it goes with c_at = last: give both or neither");
  CHECK(fault_of([](Unit& u) {
          u.chain.promote = Promote{12, {.fmt = binary32}};
        }) == "unit: chain.promote.interval: 12 is not a multiple of lanes = 8");
  CHECK(fault_of([](Unit& u) {
          u.lanes = 0;
          u.chain.promote = Promote{12, {.fmt = binary32}};
        }) == "unit: chain.promote.interval: 12 is not a multiple of lanes = 0");
  CHECK(fault_of([](Unit& u) {
          u.chain.lane_permutation = LanePermutation{0, 2};
        }).starts_with("unit: chain.lane_permutation.run: 0 is not in 1 to"));
}

TEST_CASE("check: compensated sums add pairs, and no more") {
  const auto said = [](auto change) {
    return fault_of([&](Unit& u) {
      u = parse_unit("kahan(e5m10)");
      change(u);
    });
  };
  const std::string sums = ": compensated sums (chain.compensation) ";
  CHECK(said([](Unit&) {}) == "accepted");
  CHECK(said([](Unit& u) { u.lanes = 4; }) ==
        "unit: lanes" + sums + "take one product at a time: lanes = 1");
  CHECK(said([](Unit& u) { u.lanes = 0; }) ==
        "unit: lanes" + sums + "take one product at a time: lanes = 1");
  CHECK(said([](Unit& u) { u.groups = Groups{.consecutive = 1}; }) ==
        "unit: groups" + sums + "have no groups: leave it out");
  const std::string exact = sums + "add two numbers exactly and round by out: leave it out";
  CHECK(said([](Unit& u) { u.group_sum.width = 24; }) == "unit: group_sum" + exact);
  CHECK(said([](Unit& u) { u.block_sum.order = Order::sequential; }) == "unit: block_sum" + exact);
  CHECK(said([](Unit& u) { u.c_sum.align.rm = RoundingMode::rtz; }) == "unit: c_sum" + exact);
  CHECK(said([](Unit& u) { u.c_level = CLevel::block; }) ==
        "unit: c_level" + sums + "start with C in the running sum: late");
  CHECK(said([](Unit& u) {
          u.late_frac = LateFrac{1, 2};
        }) == "unit: late_frac" + sums + "align nothing: leave it out");
  CHECK(said([](Unit& u) {
          u.scale = Scale{e8m0fnu, 32, ScaleApply::group};
        }) == "unit: scale.apply" + sums + "scale each product: term");
  CHECK(said([](Unit& u) {
          u.scale = Scale{e8m0fnu, 32, ScaleApply::term};
          u.chain.promote = Promote{5, {.fmt = binary32}};
        }) == "accepted");
  CHECK(said([](Unit& u) { u.out.fmt.sign = Sign::none; }) ==
        "unit: out.fmt" + sums + "have errors of either sign: take a signed format");
}

TEST_CASE("check: scales apply where C is not, and one to each group") {
  const auto scaled = [](std::int64_t lanes, std::int64_t block, std::optional<Groups> groups) {
    return fault_of([&](Unit& u) {
      u.lanes = lanes;
      u.groups = groups;
      u.c_level = CLevel::block;
      u.scale = Scale{e8m0fnu, block, ScaleApply::group};
    });
  };
  CHECK(
      fault_of([](Unit& u) {
        u.scale = Scale{e8m0fnu, 8, ScaleApply::group};
      }) ==
      "unit: scale.apply: group would scale C too, which enters at c_level = group; take term, or "
      "C at block");
  CHECK(scaled(8, 4, {}) ==
        "unit: scale.block: 4 elements a scale: the groups of a block of 8 lanes "
        "must lie inside one scale's elements");
  CHECK(scaled(8, 8, {}) == "accepted");
  CHECK(scaled(8, 16, {}) == "accepted");
  CHECK(scaled(64, 16, Groups{.consecutive = 16}) == "accepted");
  CHECK(scaled(64, 32, Groups{.consecutive = 16}) == "accepted");
  CHECK(scaled(64, 16, Groups{.consecutive = 32}) != "accepted");
  CHECK(scaled(6, 4, Groups{.consecutive = 2}) == "accepted");
  CHECK(scaled(6, 4, Groups{.consecutive = 3}) != "accepted");
  CHECK(scaled(8, 4, Groups{.strided = 2}) != "accepted");
  CHECK(scaled(8, 4, Groups{.strided = 8}) == "accepted");
  CHECK(scaled(0, 4, Groups{.consecutive = 8}) == "accepted");  // k decides, when it is known
  CHECK(fault_of([](Unit& u) {
          u.a.fmt = u.b.fmt = parse_format("e60m3");
          u.scale = Scale{parse_format("e61m3"), 8, ScaleApply::term};
        }) == "accepted");
  CHECK(fault_of([](Unit& u) {
          u.a.fmt = u.b.fmt = parse_format("e61m3");
          u.scale = Scale{parse_format("e62m3"), 8, ScaleApply::term};
        }) ==
        "unit: scale.fmt: e62m3 takes the exponents of products of e61m3 and e61m3 past "
        "+-(2^62 - 1)");
}

// Every way that groups and scales can lie, walked lane by lane.
TEST_CASE("check: groups inside scales is what walking over the lanes finds") {
  int cases = 0;
  for (std::int64_t lanes = 1; lanes <= 8; ++lanes)
    for (std::int64_t block = 1; block <= 9; ++block)
      for (std::int64_t size = 0; size <= 9; ++size)
        for (const bool strided : {false, true}) {
          if (size == 0 && strided) continue;
          bool one_scale = true;
          for (std::int64_t first = 0; first < lanes * block; first += lanes) {
            std::map<std::int64_t, std::set<std::int64_t>> scales;
            for (std::int64_t i = 0; i < lanes; ++i)
              scales[size == 0 ? 0 : strided ? i % size : i / size].insert((first + i) / block);
            for (const auto& [group, found] : scales) one_scale = one_scale && found.size() == 1;
          }
          const std::string said = fault_of([&](Unit& u) {
            u.lanes = lanes;
            u.c_level = CLevel::late;
            if (size != 0)
              u.groups = strided ? Groups{.strided = size} : Groups{.consecutive = size};
            u.scale = Scale{e8m0fnu, block, ScaleApply::group};
          });
          CAPTURE(lanes);
          CAPTURE(block);
          CAPTURE(size);
          CAPTURE(strided);
          REQUIRE((said == "accepted") == one_scale);
          ++cases;
        }
  CHECK(cases == 8 * 9 * 19);
}

}  // namespace

}  // namespace test_unit_check
