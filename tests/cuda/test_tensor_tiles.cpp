#include "cuda/tensor_tiles.hpp"
#include "tensor_rival.hpp"

namespace test_tensor_tiles {

// Tensor units on a GPU's threads, run on the CPU, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

// Units beside the presets: other windows, formats and block lengths.
std::vector<Unit> relatives() {
  return {
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 20; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("hopper.f16.f32", [](Unit& u) { u.lanes = 3; }),
      with("hopper.f16.f32", [](Unit& u) { u.lanes = 1; }),
      with("hopper.f16.f32", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.f16.f32", [](Unit& u) { u.out.keep_frac = 5; }),
      with("hopper.f16.f32", [](Unit& u) { u.b.fmt = e4m3fn; }),
      with("hopper.f16.f16", [](Unit& u) { u.a.fmt = u.b.fmt = bfloat16; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.frac_bits = 28; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor = -14; }),
      with("hopper.f16.f16", [](Unit& u) { u.group_sum.align.e_floor.reset(); }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.e_floor = -126; }),
      with("hopper.bf16.f32", [](Unit& u) { u.group_sum.align.frac_bits = 14; }),
      with("blackwell.e4m3.f32", [](Unit& u) { u.a.fmt = e2m1fn, u.b.fmt = e3m2fn; }),
      with("ampere.tf32.f32", [](Unit& u) { u.a.fmt = tf32, u.a.keep_frac.reset(); }),
  };
}

}  // namespace

TEST_CASE("tensor tiles give the reference's codes: every preset, all sorts of operands") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const bool takes = opinion(tensor_engine, preset.unit).takes;
    CHECK((takes || preset.unit.lanes == 1));  // chains are for other tiles
    if (!takes) continue;
    tile_runs() = {};
    expected += compare_all_sorts(preset.unit, tally, random);
    CHECK(tile_runs().redone < tile_runs().outputs);  // of ordinary operands few, as is shown below
  }
  tally.expect(expected);
  CHECK(host_device().taken == 0);
}

TEST_CASE("tensor tiles give the reference's codes: relatives of the presets") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Unit& u : relatives()) expected += compare_relative(u, tally, random);
  tally.expect(expected);
}

TEST_CASE("tensor tiles leave few outputs of ordinary operands to the definition") {
  ProductRandom random(3);
  for (const Preset& preset : presets())
    if (opinion(tensor_engine, preset.unit).takes) compare_ordinary(preset.unit, random);
}

TEST_CASE("tensor tiles align C: larger than all products, far smaller, or alone") {
  const Unit f32 = preset("hopper.f16.f32"), f16 = preset("hopper.f16.f16"),
             e4m3 = preset("hopper.e4m3.f32");
  compare({
      {"C far larger", f32, {1.75, -1.75, 1.5}, {1.25, 1, 1}, 0x1.23456ap60},
      {"C larger, products lose digits", f32, {0x1.ffcp-3, -0x1.ffcp-4}, {1, 0x1.ffcp0}, -0x1p10},
      {"C below the last digit", f32, {1.5}, {1}, -0x1.fffffep-26},
      {"C far smaller", f32, {1.5}, {1}, -power(-149)},
      {"C loses digits", f32, {1.5, power(4)}, {1, 1}, -0x1.fffffep0},
      {"zeros and C", f32, all(40, 0), all(40, 1), -0x1.fffffep30},
      {"zeros and a subnormal C", f32, all(3, 0), all(3, 1), -power(-149)},
      {"zeros and the least normal C", f32, all(3, 0), all(3, 1), 0x1.fffffep-126},
      {"zeros and the largest C but one", f32, all(3, 0), all(3, 1), 0x1.fffffcp127},
      {"zeros and a C that loses digits", e4m3, all(40, 0), all(40, 1), -0x1.fffffep30},
      {"zeros and a subnormal C that loses all", e4m3, all(3, 0), all(3, 1), power(-149)},
      {"and leaves a zero with its sign", e4m3, all(3, 0), all(3, 1), -power(-149), true},
      {"zeros and a subnormal C of binary16", f16, all(3, 0), all(3, 1), -power(-24)},
      {"a term that the floor cuts off",
       f16,
       {power(-14), power(-24)},
       {power(-11), power(-24)},
       0},
      {"and one it keeps", f16, {power(-14), power(-24)}, {power(-11), power(-23)}, 0},
  });
}

TEST_CASE("tensor tiles know the sign of a zero, or leave it to the definition") {
  const Unit f32 = preset("hopper.f16.f32"), f16 = preset("hopper.f16.f16");
  compare({
      {"+0 and zeros of both signs", f32, {0.0, -0.0}, {1, 1}, 0},
      {"+0 and zeros that are minus", f32, {-0.0, -0.0}, {1, 1}, 0},
      {"-0 and zeros that are minus", f32, all(16, -0.0), all(16, 1), -0.0, true},
      {"-0 and one that is plus", f32, {-0.0, 0.0}, {1, 1}, -0.0, true},
      {"-0 and a number", f32, {-0.0, 1.0}, {1, 1}, -0.0},
      {"products that cancel", f32, {1.5, -1.5}, {1, 1}, 0},
      {"products that cancel C", f32, {-1.5}, {1}, 1.5},
      {"products that cancel a C that is minus", f32, {1.5}, {1}, -1.5, true},
      {"a positive sum that underflows", f16, {power(-14)}, {power(-14)}, 0},
      {"a negative one", f16, {-power(-14)}, {power(-14)}, 0, true},
      {"and then a number", f16,
       [] {
         std::vector<double> a = all(17, 0);
         a[0] = -power(-14), a[16] = 1;
         return a;
       }(),
       all(17, power(-14)), 0},
  });
}

TEST_CASE("tensor tiles round at the ends: subnormals, ties, overflow") {
  const Unit f32 = preset("hopper.f16.f32"), f16 = preset("hopper.f16.f16"),
             bf16 = preset("hopper.bf16.f32");
  compare({
      {"subnormal factors", f32, {power(-24), 3 * power(-24)}, {power(-24), power(-20)}, 0},
      {"the least number", bf16, {power(-75)}, {power(-74)}, 0},
      {"half of it", bf16, {power(-75)}, {power(-75)}, 0},
      {"nearly twice", bf16, {power(-75), power(-76)}, {power(-74), 0x1.fcp-74}, 0},
      {"far below", bf16, {power(-126)}, {power(-126)}, 0},
      {"subnormal factors of it", bf16, {3 * power(-133)}, {power(20)}, 0x1.8p-140},
      {"past the range and back", bf16, {power(127), -power(127), 1}, all(3, power(100)), 1},
      {"past the range", bf16, {power(127)}, {2}, 0, true},
      {"past the range, negative", bf16, {-power(127)}, {power(120)}, 0, true},
      {"a tie to even", f16, {1, power(-11)}, {1, 1}, 0},
      {"a tie to odd's neighbour", f16, {0x1.004p0, power(-11)}, {1, 1}, 0},
      {"just past a tie", f16, {1, power(-11), power(-24)}, {1, 1, 0.5}, 0},
      {"just before one", f16, {0x1.004p0, power(-11), -power(-24)}, {1, 1, 0.5}, 0},
      {"a tie below the least number", f16, {power(-13)}, {power(-12)}, 0},
      {"just past it", f16, {power(-13), power(-24)}, {power(-12), power(-14)}, 0},
      {"a tie of subnormals", f16, {power(-13)}, {3 * power(-12)}, 0},
      {"the largest number", f16, {65504, 15}, {1, 1}, 0},
      {"a tie with infinity", f16, {65504, 16}, {1, 1}, 0, true},
  });
}

// Of 64 bits the last is one of the four that go, and what is left a tie.
TEST_CASE("tensor tiles round a sum of more than 32 bits by all of its digits") {
  const Unit u = with("hopper.f16.f16", [](Unit& v) { v.group_sum.align.frac_bits = 28; });
  std::vector<double> a = all(7, 1.5), b = a;
  for (const double x : {0.5, power(-3), power(-14)}) a.push_back(x), b.push_back(x);
  b[8] = power(-4);
  compare({{"just past a tie", u, a, b, 0},
           {"a tie",
            u,
            {a.begin(), a.end() - 1},
            [&] {
              b.pop_back();
              return b;
            }(),
            0}});
}

TEST_CASE("tensor tiles leave infinities and NaN to the definition") {
  const Unit f32 = preset("hopper.f16.f32");
  compare({
      {"infinity", f32, {infinity, 1}, {1, 1}, 0, true},
      {"infinity times 0", f32, {infinity, 1}, {0, 1}, 0, true},
      {"infinity less infinity", f32, {infinity, 1}, {1, infinity}, -infinity, true},
      {"NaN times 0", f32, {0, 1}, {std::nan(""), 1}, 0, true},
      {"C infinite", f32, {1}, {1}, infinity, true},
      {"C infinite, with zeros", f32, all(33, 0), all(33, 0), -infinity, true},
      {"C NaN", f32, {1}, {1}, std::nan(""), true},
      {"FP8's NaN", preset("ada.e4m3.f32"), {1, std::nan("")}, {1, 1}, 0, true},
  });
}

TEST_CASE("tensor tiles hold every sum of products, and see where C takes one past 32 bits") {
  const Unit f16 = preset("hopper.f16.f32"), e4m3 = preset("blackwell.e4m3.f32");
  const double largest = 0x1.ffcp0, most = 0x1.fffffep0;
  compare({
      {"all largest", f16, all(16, largest), all(16, largest), 0},
      {"all least", f16, all(16, -largest), all(16, largest), 0},
      {"and a small C", f16, all(16, largest), all(16, largest), power(-6)},
      {"and a large C", f16, all(16, largest), all(16, largest), most, true},
      {"and one that is minus", f16, all(16, -largest), all(16, largest), -most, true},
      {"two blocks", f16, all(32, largest), all(32, largest), 0},
      {"32 products of 27 bits", e4m3, all(32, 1.875), all(32, 1.875), most},
      {"and minus", e4m3, all(64, -1.875), all(64, 1.875), -most},
      {"34 bits, every one set", e4m3, all(32, 1.875), all(32, 1.875), 0x1.554p-1},
  });
}

TEST_CASE("a barrier left out of a tensor tile is seen") {
  check_barriers(preset("hopper.f16.f32"));
}

TEST_CASE("tensor tiles refuse what they cannot do, and nothing less") {
  const Border border([](const Unit& u) { return why_no_tensor_tiles(u).empty(); });
  const char *f16 = "hopper.f16.f32", *e4m3 = "blackwell.e4m3.f32";
  CHECK_FALSE(why_no_tensor_tiles(preset(f16), true).empty());      // with flags
  CHECK_FALSE(why_no_tensor_tiles(preset(f16), false, 0).empty());  // of no length
  border.lies_between(e4m3, [](Unit& u) { u.lanes = 33; });
  border.lies_between(
      f16, [](Unit& u) { u.a.fmt = ieee_format(5, 15), u.b.fmt = e4m3fn; },
      [](Unit& u) { u.a.fmt = ieee_format(5, 16), u.b.fmt = e4m3fn; });
  border.lies_between(
      f16, [](Unit& u) { u.group_sum.align.frac_bits = 20; },
      [](Unit& u) { u.group_sum.align.frac_bits = 19; });  // which products lose whatever they are
  border.lies_between(f16, [](Unit& u) { u.chain.final = Round{.fmt = binary16}; });
  CHECK(cuda::tensor_tiles({preset("kulisch.f32"), 64}, host_device()) == nullptr);
}

}  // namespace test_tensor_tiles
