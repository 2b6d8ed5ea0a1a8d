#include "tensor_rival.hpp"

namespace test_tensor_chains {

// What tensor tiles do beside a fused sum: scales, promotion, C last and C late.
namespace {

using namespace widthwise;
using namespace tests;

Unit scaled() { return preset("blackwell.mxfp8"); }
// One block of numbers, and what they are scaled by.
Dot scaled(std::string what, std::vector<double> a, std::vector<double> b, double scale_a,
           double scale_b, double c = 0, bool redone = false) {
  return {std::move(what), scaled(), std::move(a), std::move(b), c, redone, {scale_a}, {scale_b}};
}

// Numbers that begin so many blocks of the unit, and zeros.
std::vector<double> blocks(const Unit& u, std::vector<double> first) {
  const auto lanes = static_cast<std::size_t>(u.lanes);
  std::vector<double> z = all(lanes * first.size(), 0);
  for (std::size_t i = 0; i < first.size(); ++i) z[i * lanes] = first[i];
  return z;
}

// Units beside the presets.
std::vector<Unit> relatives() {
  return {
      with("blackwell.mxfp8", [](Unit& u) { u.a.fmt = e5m2, u.b.fmt = e2m1fn; }),
      with("blackwell.mxfp8", [](Unit& u) { u.scale->block = 16; }),
      with("blackwell.mxfp8", [](Unit& u) { u.lanes = 8, u.scale->block = 24; }),
      with("blackwell.mxfp8", [](Unit& u) { u.scale->fmt = ieee_format(6, 0); }),
      with("blackwell.mxfp8",
           [](Unit& u) {
             u.a.fmt = u.b.fmt = bfloat16;
             u.group_sum.align.e_floor.reset();
           }),
      with("blackwell.mxfp8",
           [](Unit& u) {
             u.chain.lane_permutation = LanePermutation{3, 4};
             u.lanes = 5;
           }),
      with("hopper.f16.f16",
           [](Unit& u) {
             u.chain.promote = Promote{32, {.fmt = binary32}};
           }),
      with("hopper.e4m3.promote128", [](Unit& u) { u.lanes = 3, u.chain.promote->interval = 9; }),
      with("blackwell.e4m3.f32",
           [](Unit& u) {
             u.chain.promote = Promote{64, {.fmt = binary32}};
           }),
      with("lowered.e4m3.f32", [](Unit& u) { u.lanes = 6; }),
      with("lowered.e5m2.f16", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("cdna3.f16", [](Unit& u) { u.out.post_norm_frac.reset(); }),
      with("cdna3.f16",
           [](Unit& u) {
             u.late_frac = LateFrac{34, 23};
           }),
      with("cdna3.f16", [](Unit& u) { u.late_frac.reset(), u.c_sum.align.drop_c_below = 3; }),
      with("cdna3.bf8", [](Unit& u) { u.lanes = 9; }),
      with("cdna3.xf32",
           [](Unit& u) {
             u.product.overflow_to_inf_at = 20;
             u.c_sum.align.drop_c_below = std::int64_t{1} << 40;
           }),
      with("cdna3.f16", [](Unit& u) { u.c_sum.align.e_floor = 20; }),
      with("blackwell.mxfp8",
           [](Unit& u) { u.group_sum.align.e_floor = -(std::int64_t{1} << 40); }),
      with("cdna3.fp8", [](Unit& u) { u.groups = Groups{.consecutive = 5}, u.lanes = 10; }),
      with("cdna3.bf16",
           [](Unit& u) {
             u.chain.promote = Promote{16, {.fmt = binary32}};
           }),
  };
}

}  // namespace

TEST_CASE(
    "tensor tiles give the reference's codes: relatives with scales, promotion, C last, late") {
  ProductRandom random(5);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Unit& u : relatives()) expected += compare_relative(u, tally, random);
  tally.expect(expected);
}

TEST_CASE("tensor tiles scale by moving exponents, as far as sums go") {
  const double nan = std::nan("");
  compare({
      scaled("scales that cancel", {1, 1.5}, {1, 1}, power(100), power(-100)),
      scaled("larger than binary32 and back", {256, -256, 1}, {256, 256, 1}, power(60), power(60)),
      scaled("past the range", {256}, {256}, power(60), power(60), 0, true),
      scaled("far past it", {448}, {448}, power(127), power(127), 0, true),
      scaled("far past it, negative", {-448}, {448}, power(127), power(127), 1, true),
      scaled("and back, beside C", {448, -448}, {448, 448}, power(127), power(127), 1),
      scaled("the least number", {1}, {1}, power(-75), power(-74)),
      scaled("half of it", {1}, {1}, power(-75), power(-75)),
      scaled("half of it, negative", {-1}, {1}, power(-75), power(-75), 0, true),
      scaled("far below", {1}, {1}, power(-127), power(-127)),
      scaled("subnormals, scaled up", {power(-9)}, {power(-9)}, power(127), 1),
      scaled("zeros, largest scales", {0, 0}, {1, 0}, power(127), power(127), -1.5),
      scaled("a scale that is NaN", {1}, {1}, nan, 1, 0, true),
      scaled("and of zeros", {0, 0}, {0, 0}, 1, nan, 0, true),
      {"every block has its own",
       scaled(),
       blocks(scaled(), {1, 1.25, -1}),
       blocks(scaled(), {1, 1, 1}),
       0,
       false,
       {1, power(20), power(-20)},
       {power(3), power(-20), power(5)}},
      {"the second block's is NaN",
       scaled(),
       blocks(scaled(), {1, 0}),
       blocks(scaled(), {1, 1}),
       0,
       true,
       {1, nan},
       {1, 1}},
  });
}

TEST_CASE("tensor tiles promote after every interval, and what is left") {
  const Unit u = preset("hopper.e4m3.promote128");
  const auto ones = [&](std::vector<double> a) { return blocks(u, all(a.size(), 1)); };
  const auto dot = [&](std::string what, const std::vector<double>& first, double c = 0,
                       bool redone = false) {
    return Dot{std::move(what), u, blocks(u, first), ones(first), c, redone};
  };
  compare({
      dot("less than an interval", {448, 0.001953125}),
      dot("an interval", {448, 1, 0.001953125, 0.001953125}),
      dot("digits that the next one keeps", {448, 1, 1, 1, 0.001953125}),
      dot("two intervals", {448, 1, 1, 1, 0.001953125, 1, 1, 1}),
      dot("and some more", {448, 1, 1, 1, 0.001953125, 1, 1, 1, -1.125}),
      dot("C, which no window cuts", {1, 1, 1, 1, 1}, 0x1.fffffep0),
      dot("C large", {448}, 0x1.fffffep127),
      dot("C infinite", {1}, infinity, true),
      dot("C that is -0, and a zero", {0}, -0.0),
      dot("C that is -0, and -0", {-0.0}, -0.0),
      dot("intervals that cancel", {1, 0, 0, 0, -1}),
      dot("FP8's NaN", {1, 0, 0, 0, std::nan("")}, 0, true),
  });
  const Unit wide = with("hopper.bf16.f32", [](Unit& v) {
    v.chain.promote = Promote{16, {.fmt = binary32}};
  });
  compare({
      {"outer sums past the range", wide, blocks(wide, all(2, power(127))), all(32, 1), 0, true},
      {"and back", wide, blocks(wide, {power(127), power(127), -power(127)}), all(48, 1), 0, true},
      {"a negative sum that underflows", wide, {-power(-75)}, {power(-75)}, 0},
      {"and C is -0", wide, {-power(-75)}, {power(-75)}, -0.0, true},
      {"subnormal sums", wide, blocks(wide, {power(-126), -power(-127), power(-133)}), all(48, 1)},
  });
}

TEST_CASE("tensor tiles add C to the last sum, and round that") {
  const Unit f32 = preset("lowered.e5m2.f32"), f16 = preset("lowered.e5m2.f16");
  compare({
      {"C outside the window", f32, {1, -1}, {1, 1}, power(-100)},
      {"C with all its digits", f32, {1}, {1}, 0x1.fffffep0},
      {"a tie", f32, {power(12)}, {power(12)}, 1},
      {"past a tie", f32, {power(12)}, {power(12)}, 0x1.000002p0},
      {"past the range", f32, {power(15)}, {power(15)}, 0x1.fffffep127},
      {"C infinite", f32, {1}, {1}, -infinity, true},
      {"C NaN", f32, {1}, {1}, std::nan(""), true},
      {"a product infinite", f32, {infinity}, {1}, 1, true},
      {"no products, -0", f32, {0, 0}, {1, 1}, -0.0},
      {"products that are -0, and C", f32, all(16, -0.0), all(16, 1), -0.0},
      {"subnormal C", f32, {0}, {0}, -power(-149)},
      {"the other stream's window", f32, {1, -1, power(-16)}, {1, 1, power(-10)}, 0},
      {"the same stream's", f32, {1, -1, 0, 0, power(-16)}, {1, 1, 0, 0, power(-10)}, 0},
      {"binary16: a tie to even", f16, {1}, {1}, power(-11)},
      {"binary16: a tie to odd's neighbour", f16, {1, power(-10)}, {1, 1}, power(-11)},
      {"binary16: past a tie", f16, {1}, {1}, 0x1.004p-11},
      {"binary16: minus", f16, {-1, -power(-10)}, {1, 1}, -power(-11)},
      {"binary16: subnormal", f16, {power(-16)}, {power(-8)}, power(-24)},
      {"binary16: the largest", f16, {power(15)}, {1}, 32736},
      {"binary16: a tie with infinity", f16, {49152}, {1}, 16368, true},
      {"binary16: past the range", f16, {-57344}, {1}, -65504, true},
      {"binary16: a sum that underflows, and C", f16, {-power(-16)}, {power(-10)}, 1},
      {"binary16: and no C", f16, {-power(-16)}, {power(-10)}, 0},
      {"binary16: and C is -0", f16, {-power(-16)}, {power(-10)}, -0.0, true},
  });
}

TEST_CASE("tensor tiles join C late: each rounded down at a digit of its own") {
  const Unit f16 = preset("cdna3.f16"), bf16 = preset("cdna3.bf16"), fp8 = preset("cdna3.bf8");
  compare({
      {"C far below, minus", f16, {1, -1}, {1, 1}, -power(-100)},
      {"C far below", f16, {1, -1}, {1, 1}, power(-100)},
      {"C at its last digit", f16, {1, -1}, {1, 1}, power(-24)},
      {"C below it", f16, {1, -1}, {1, 1}, power(-25)},
      {"C below it, minus", f16, {1, -1}, {1, 1}, -power(-25)},
      {"the sum at its last digit", f16, {power(-14)}, {power(-2)}, 0x1p16},
      {"below it", f16, {power(-14)}, {power(-3)}, 0x1p16},
      {"below it, minus", f16, {-power(-14)}, {power(-3)}, 0x1p16},
      {"no products", f16, {0}, {0}, -0x1.fffffep30},
      {"no products, C subnormal", f16, {0}, {0}, -power(-149), true},
      {"no products, the least normal C", f16, {0}, {0}, power(-126), true},
      {"and the next", f16, {0}, {0}, 0x1.000002p-126},
      {"zeros and -0", f16, {-0.0}, {1}, -0.0, true},
      {"zeros", f16, {-0.0}, {1}, 0},
      {"cancelled with C", f16, {1.5}, {1}, -1.5, true},
      {"cancelled with C, plus", f16, {-1.5}, {1}, 1.5},
      {"cut before it is rounded", f16, {-0x1.bfcp-13, 0}, {power(-10), 0}, -0x1.fffffep-2},
      {"cut, plus", f16, {0x1.bfcp-13, 0}, {power(-10), 0}, 0x1.fffffep-2},
      {"a tie to even", f16, {power(-12)}, {power(-12)}, 1},
      {"a tie, minus, which the cut takes away",
       f16,
       {-power(-12), -power(-24)},
       {power(-12), power(-7)},
       -1},
      {"products at 2^127", bf16, {power(100)}, {power(26)}, 0},
      {"products that may be 2^128", bf16, {power(100)}, {power(27)}, 0, true},
      {"past the range", bf16, all(8, power(100)), all(8, power(26)), 0, true},
      {"C infinite", f16, {1}, {1}, infinity, true},
      {"C NaN", f16, {1}, {1}, std::nan(""), true},
      {"a product NaN", bf16, {infinity}, {0}, 1, true},
      {"groups: an odd lane far below, minus", fp8, {1, -power(-17)}, {1, power(-17)}, 0},
      {"groups: an even one", fp8, {1, 0, -power(-17)}, {1, 0, power(-17)}, 0},
      {"groups: the odd one larger", fp8, {power(-12), power(3)}, {power(-12), power(3)}, 0},
      {"groups: C dropped", fp8, {1, 0, -1}, {1, 0, 1}, power(-26)},
      {"groups: C dropped, minus", fp8, {1, 0, -1}, {1, 0, 1}, -power(-26), true},
      {"groups: C not dropped", fp8, {1, 0, -1}, {1, 0, 1}, -power(-25)},
      {"groups: the cancelled one votes", fp8, {1, 0, -1}, {1, 0, 1}, power(-30)},
      {"groups: NaN, where -0 would be", fp8, {1, std::nan("")}, {1, 0}, 0, true},
  });
}

TEST_CASE("a barrier left out is seen with scales, promotion, C last and C late") {
  for (const char* name :
       {"blackwell.mxfp8", "hopper.e4m3.promote128", "lowered.e4m3.f32", "cdna3.bf8"}) {
    CAPTURE(name);
    check_barriers(preset(name));
  }
}

TEST_CASE("tensor tiles refuse scales, chains and joins that they have not, and no others") {
  const Border border([](const Unit& u) { return why_no_tensor_tiles(u).empty(); });
  border.lies_between("blackwell.mxfp8", [](Unit& u) { u.scale->fmt = ue4m3fn; });
  border.lies_between("blackwell.mxfp8", [](Unit& u) { u.product.overflow_to_inf_at = 128; });
  border.lies_between(
      "hopper.f16.f32",
      [](Unit& u) {
        u.chain.promote = Promote{16, {.fmt = binary32}};
      },
      [](Unit& u) {
        u.chain.promote = Promote{16, {.fmt = binary64}};
      });
  border.excludes_each("lowered.e4m3.f32",
                       {[](Unit& u) { u.chain.c_round->rm = RoundingMode::rtz; },
                        [](Unit& u) {
                          u.chain.promote = Promote{16, {.fmt = binary32}};
                        }});
  border.lies_between("cdna3.bf16", [](Unit& u) { u.scale = Scale{e8m0fnu, 8, ScaleApply::term}; });
  border.excludes_each(
      "cdna3.fp8", {[](Unit& u) { u.lanes = 0; }, [](Unit& u) { u.groups = Groups{.strided = 3}; },
                    [](Unit& u) { u.block_sum.align.frac_bits = 25; },
                    [](Unit& u) { u.block_sum.align.rm = RoundingMode::rtz; }});
  border.excludes_each("cdna3.f16", {[](Unit& u) { u.c_sum.align.rm = RoundingMode::rtz; },
                                     [](Unit& u) { u.c_sum.align.e_floor = -127; },
                                     [](Unit& u) { u.group_sum.align.e_floor = -126; },
                                     [](Unit& u) { u.out.post_norm_rm = RoundingMode::rtz; },
                                     [](Unit& u) { u.out.zero_sign = ZeroSign::plus; }});
  border.lies_between(
      "cdna3.f16", [](Unit& u) { u.c_sum.align.e_floor = 1024; },
      [](Unit& u) { u.c_sum.align.e_floor = 1025; });
  border.lies_between(
      "cdna3.f16",
      [](Unit& u) {
        u.late_frac = LateFrac{38, 24};
      },
      [](Unit& u) {
        u.late_frac = LateFrac{39, 24};
      });
  border.lies_between(
      "cdna3.f16",
      [](Unit& u) {
        u.late_frac = LateFrac{32, 23};
      },
      [](Unit& u) {
        u.late_frac = LateFrac{32, 22};
      });
  // Eight products of 28 bits, in words of 31 and a sign.
  border.lies_between(
      "cdna3.f16", [](Unit& u) { u.group_sum.align.frac_bits = 26; },
      [](Unit& u) { u.group_sum.align.frac_bits = 27; });
}

}  // namespace test_tensor_chains
