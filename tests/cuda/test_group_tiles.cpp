#include "tensor_rival.hpp"

namespace test_group_tiles {

// Groups of FP4 and its like: added exactly, then scaled, on a GPU's threads.
namespace {

using namespace widthwise;
using namespace tests;

Unit nvfp4() { return preset("blackwell.nvfp4"); }

// A block of four groups that begin with these numbers.
struct Groups4 {
  std::vector<double> a[4], scale_a{1, 1, 1, 1}, scale_b{1, 1, 1, 1};
};
Dot dot(std::string what, const Groups4& g, double c = 0, bool redone = false) {
  std::vector<double> a, b;
  for (const std::vector<double>& numbers : g.a)
    for (std::size_t i = 0; i < 16; ++i) {
      const double x = i < numbers.size() ? numbers[i] : 0;
      a.push_back(x), b.push_back(x < 0 ? -x : x);
    }
  return {std::move(what), nvfp4(), a, b, c, redone, g.scale_a, g.scale_b};
}

std::vector<Unit> relatives() {
  return {
      with("blackwell.nvfp4", [](Unit& u) { u.b.fmt = e2m3fn; }),
      with("blackwell.nvfp4", [](Unit& u) { u.block_sum.align.frac_bits = 38; }),
      with("blackwell.nvfp4", [](Unit& u) { u.lanes = 32; }),
      with("blackwell.nvfp4", [](Unit& u) { u.lanes = 14, u.scale->block = 14; }),
      with("blackwell.nvfp4",
           [](Unit& u) {
             u.lanes = 20;
             u.groups = Groups{.consecutive = 5};
             u.scale->block = 5;
           }),
      with("blackwell.nvfp4", [](Unit& u) { u.scale->fmt = e4m3fn; }),
      with("blackwell.nvfp4", [](Unit& u) { u.scale->fmt = e5m2; }),
      with("blackwell.nvfp4", [](Unit& u) { u.out.keep_frac = 13; }),
      with("blackwell.nvfp4",
           [](Unit& u) {
             u.chain.promote = Promote{128, {.fmt = binary32}};
           }),
      with("blackwell.mxfp4", [](Unit& u) { u.a.fmt = u.b.fmt = e2m3fn; }),
      with("blackwell.mxfp4", [](Unit& u) { u.block_sum.align.e_floor.reset(); }),
      with("blackwell.mxfp4", [](Unit& u) { u.block_sum.align.frac_bits = 38; }),
  };
}

}  // namespace

TEST_CASE("group tiles give the reference's codes: relatives of the presets") {
  ProductRandom random(6);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Unit& u : relatives()) expected += compare_relative(u, tally, random);
  tally.expect(expected);
}

TEST_CASE("group tiles add exactly, align by scales, and truncate") {
  const double nan = std::nan(""), top = 448;
  compare({
      dot("a group that cancels but for its last digit", {{{6, -6, 0.5}, {}, {}, {}}}),
      dot("all largest", {{all(16, 6), all(16, 6), all(16, 6), all(16, 6)},
                          {top, top, top, top},
                          {top, top, top, top}}),
      dot("all largest, minus", {{all(16, -6), all(16, -6), all(16, -6), all(16, -6)},
                                 {top, top, top, top},
                                 {top, top, top, top}}),
      dot("digits of scales", {{{1}, {}, {}, {}}, {1.125, 1, 1, 1}, {1.125, 1, 1, 1}}),
      dot("subnormal scales", {{{1}, {}, {}, {}}, {power(-9), 1, 1, 1}, {power(-9), 1, 1, 1}}),
      dot("C at the last digit", {{all(16, 6), {}, {}, {}}}, power(-35)),
      dot("C below it", {{all(16, 6), {}, {}, {}}}, power(-36)),
      dot("C and what cancels", {{all(16, 6), all(16, -6), {}, {}}}, power(-35)),
      dot("C below, and what cancels", {{all(16, 6), all(16, -6), {}, {}}}, power(-36)),
      dot("C below, minus, and what cancels", {{all(16, 6), all(16, -6), {}, {}}}, -power(-36),
          true),
      dot("a cancelled group has its say", {{{6, -6}, {}, {}, {}}, {256, 1, 1, 1}, {256, 1, 1, 1}},
          power(-20)),
      dot("a group of zeros has none", {{{}, {}, {}, {}}, {256, 1, 1, 1}, {256, 1, 1, 1}},
          power(-20)),
      dot("nor one whose scale is zero", {{{6}, {}, {}, {}}, {0, 1, 1, 1}, {256, 1, 1, 1}},
          power(-20)),
      dot("zeros beside a larger scale that has none",
          {{{}, {0.5}, {}, {}}, {256, power(-9), 1, 1}, {256, power(-9), 1, 1}}, power(-30)),
      dot("a NaN scale", {{{1}, {}, {}, {}}, {nan, 1, 1, 1}}, 0, true),
      dot("a NaN scale of zeros", {{{1}, {}, {}, {}}, {1, 1, 1, 1}, {1, 1, 1, nan}}, 0, true),
      dot("C larger", {{{6}, {}, {}, {}}}, -0x1.fffffep60),
      dot("C infinite", {{{1}, {}, {}, {}}}, infinity, true),
      dot("C NaN", {{{1}, {}, {}, {}}}, nan, true),
      dot("zeros, and C is +0", {{{-0.0}, {}, {}, {}}}),
      dot("zeros, and C is -0", {{{-0.0}, {}, {}, {}}}, -0.0, true),
      dot("C alone, subnormal", {{{}, {}, {}, {}}}, -power(-149)),
      dot("C alone, the largest but one", {{{}, {}, {}, {}}}, 0x1.fffffcp127),
      dot("past the range", {{all(16, 6), {}, {}, {}}, {top, 1, 1, 1}, {top, 1, 1, 1}},
          0x1.fffffep127, true),
  });
  const Unit mx = preset("blackwell.mxfp4");
  const std::vector<double> one = {1}, six = all(64, 6);
  compare({
      {"the least number", mx, one, one, 0, false, {power(-75)}, {power(-74)}},
      {"half of it", mx, one, one, 0, false, {power(-75)}, {power(-75)}},
      {"half of it, minus", mx, {-1}, one, 0, true, {power(-75)}, {power(-75)}},
      {"far below", mx, one, one, 0, false, {power(-127)}, {power(-127)}},
      {"far past the range", mx, six, six, 0, true, {power(127), 1}, {power(127), 1}},
      {"largest scales of zeros", mx, {0}, one, -1.5, false, {power(127)}, {power(127)}},
      {"two scales a block", mx, six, six, 1, false, {power(20), 1}, {1, power(-20)}},
      {"the second one NaN, past the last number", mx, one, one, 0, false, {1}, {1}},
  });
}

TEST_CASE("a barrier left out of a group tile is seen") {
  check_barriers(preset("blackwell.nvfp4"));
}

TEST_CASE("group tiles refuse what they cannot do, and nothing less") {
  const Border border([](const Unit& u) { return why_no_tensor_tiles(u, false, 64).empty(); });
  constexpr const char* unit = "blackwell.nvfp4";
  CHECK_FALSE(why_no_tensor_tiles(nvfp4(), true).empty());  // with flags
  border.lies_between(
      unit, [](Unit& u) { u.b.fmt = e2m3fn; }, [](Unit& u) { u.b.fmt = e3m2fn; });  // 7 bits
  border.lies_between(
      unit, [](Unit& u) { u.lanes = 32; }, [](Unit& u) { u.lanes = 128; });  // groups of 16
  border.lies_between(unit,
                      [](Unit& u) { u.groups = Groups{.consecutive = 8}, u.scale->block = 8; });
  border.lies_between(unit,
                      [](Unit& u) { u.groups = Groups{.consecutive = 32}, u.scale->block = 32; });
  border.lies_between(
      unit, [](Unit& u) { u.block_sum.align.frac_bits = 23; },
      [](Unit& u) { u.block_sum.align.frac_bits = 22; });
  border.lies_between(
      unit, [](Unit& u) { u.block_sum.align.frac_bits = 38; },
      [](Unit& u) { u.block_sum.align.frac_bits = 39; });
  border.excludes_each(
      unit,
      {[](Unit& u) { u.a.fmt.nan = NanCodes::all_ones; },
       [](Unit& u) { u.a.fmt.inf = InfCodes::top; },
       [](Unit& u) { u.block_sum.align.rm = RoundingMode::rdn; },
       [](Unit& u) { u.block_sum.width = 60; }, [](Unit& u) { u.group_sum.width = 60; },
       [](Unit& u) { u.c_level = CLevel::late; }, [](Unit& u) { u.out.rm = RoundingMode::rne; },
       [](Unit& u) { u.chain.final = Round{.fmt = binary16}; }});
}

}  // namespace test_group_tiles
