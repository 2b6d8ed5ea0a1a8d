#include "tensor_rival.hpp"

namespace test_block_tiles {

// Trees of the machine's floats, and exact sums in its doubles, on a GPU's threads.
namespace {

using namespace widthwise;
using namespace tests;

std::vector<Unit> relatives() {
  return {
      with("cdna2.bf16_1k", [](Unit& u) { u.a.fmt = binary32, u.b.fmt = e5m2; }),
      with("cdna2.f16", [](Unit& u) { u.a.subnormals = u.c.subnormals = Flush::keep; }),
      with("tree8.f32", [](Unit& u) { u.lanes = 2; }),
      with("tree8.f32", [](Unit& u) { u.lanes = 4, u.a.fmt = bfloat16; }),
      with("cdna1.f16", [](Unit& u) { u.lanes = 2, u.a.fmt = e4m3fnuz; }),
      with("cdna1.bf16", [](Unit& u) { u.lanes = 4, u.b.fmt = binary32; }),
  };
}

}  // namespace

TEST_CASE("block tiles give the reference's codes: relatives of the presets") {
  ProductRandom random(7);
  Tally tally;
  std::uint64_t expected = 0;
  for (const Unit& u : relatives()) expected += compare_relative(u, tally, random);
  tally.expect(expected);
}

TEST_CASE("block tiles add trees as the machine does, and flush") {
  const Unit f16 = preset("cdna2.f16"), bf16 = preset("cdna2.bf16_1k"),
             single = preset("tree8.f32");
  const double least = power(-126), almost = 0x1.fffffep-127;
  compare({
      {"neighbours first", f16, {1, power(-12), power(-12), -1}, {1, power(-12), power(-12), 1}},
      {"C last", f16, {1, -1}, {1, 1}, 0x1p-140},
      {"subnormal operands", f16, {power(-24), 1}, {1, power(-24)}, 0},
      {"a subnormal C", f16, {0}, {1}, -power(-140)},
      {"a product below the least normal", bf16, {power(-63)}, {power(-64)}, 0},
      {"and minus: a zero of its sign", bf16, all(4, -power(-63)), all(4, power(-64)), -0.0},
      {"the least normal product", bf16, {power(-63)}, {power(-63)}, 0},
      {"one that rounds up to it", bf16, {0x1.fep-64}, {0x1.02p-63}, 0},
      {"a node below it", bf16, {0x1.8p-126, -power(-126)}, {1, 1}, 0},
      {"a sum below it", bf16, {0x1.8p-126}, {1}, -least},
      {"zeros of both signs", bf16, {-0.0, 0}, {1, 1}, -0.0},
      {"zeros that are minus", bf16, all(4, -0.0), all(4, 1), -0.0},
      {"-0 and padding", bf16, {-0.0}, {1}, -0.0},
      {"products that cancel", bf16, {1, -1, -1, 1}, all(4, 1), -0.0},
      {"a product past the range", bf16, {power(100), 1}, {power(100), 1}, 0, true},
      {"a node past the range", bf16, all(2, power(127)), all(2, 1), 0, true},
      {"the largest sum", bf16, {power(127)}, {1}, 0x1.fffffcp126},
      {"a tie with infinity", bf16, {power(103)}, {1}, 0x1.fffffep127, true},
      {"infinity", bf16, {infinity}, {1}, 0, true},
      {"infinity times 0", bf16, {infinity}, {0}, 0, true},
      {"C NaN", bf16, {1}, {1}, std::nan(""), true},
      {"nothing flushed: a node", single, {0x1.8p-126, -power(-126)}, {1, 1}, 0},
      {"nothing flushed: products", single, all(8, power(-70)), all(8, power(-79)), power(-149)},
      {"nothing flushed: one that is lost, minus", single, {-power(-75)}, {power(-76)}, -0.0},
      {"nothing flushed: C", single, {0}, {0}, almost},
  });
}

TEST_CASE("block tiles round exact sums once, where doubles hold them") {
  const Unit f16 = preset("cdna1.f16"), bf16 = preset("cdna1.bf16");
  compare({
      {"no digit is lost", f16, {power(15), power(-8), -power(15)}, {power(15), 1, power(15)}, 0},
      {"as many as a double has", f16, {power(14), power(-12)}, {power(14), power(-12)}, 0},
      {"one more", f16, {power(14), power(-12)}, {power(14), power(-13)}, 0, true},
      {"one more, and cancelled",
       f16,
       {power(14), power(-12), -power(14)},
       {power(14), power(-13), power(14)},
       0,
       true},
      {"C decides a tie", f16, {1, power(-12)}, {1, power(-12)}, power(-149)},
      {"C decides a tie, minus", f16, {1, power(-12)}, {1, power(-12)}, -power(-149)},
      {"the products decide C's tie", f16, {power(-12), power(-14)}, {power(-12), power(-14)}, 1},
      {"a tie", f16, {power(-12)}, {power(-12)}, 1},
      {"a tie to odd's neighbour", f16, {power(-12)}, {power(-12)}, 0x1.000002p0},
      {"zeros that are minus", f16, all(4, -0.0), all(4, 1), -0.0},
      {"cancelled", f16, {1.5}, {1}, -1.5},
      {"minus, and lost", bf16, {-power(-80)}, {power(-80)}, -0.0},
      {"subnormal", bf16, {power(-75), power(-75)}, {power(-75), power(-75)}, 0},
      {"the least number", bf16, {3 * power(-76)}, {power(-75)}, 0},
      {"subnormal operands", bf16, {power(-133)}, {power(-10)}, power(-149)},
      {"past the range and back", bf16, {power(127), -power(127)}, {power(20), power(20)}, 1},
      {"past the range", bf16, {power(127)}, {2}, 0, true},
      {"the largest", bf16, {0x1.fep127}, {1}, 0x1.fffffep118},
      {"a tie with infinity", bf16, {power(103)}, {1}, 0x1.fffffep127, true},
      {"infinity", bf16, {infinity, 1}, {1, 1}, 0, true},
      {"NaN", bf16, {std::nan("")}, {0}, 0, true},
      {"C infinite", bf16, {1}, {1}, -infinity, true},
  });
}

TEST_CASE("a barrier left out of a block tile is seen") {
  for (const char* name : {"cdna1.f16", "cdna2.bf16", "tree8.f32"}) {
    CAPTURE(name);
    check_barriers(preset(name));
  }
}

TEST_CASE("block tiles refuse what they cannot do, and nothing less") {
  const Border border([](const Unit& u) { return why_no_block_tiles(u).empty(); });
  const char *exact = "cdna1.f16", *flushed = "cdna2.f16", *tree = "tree8.f32";
  CHECK_FALSE(why_no_block_tiles(preset(exact), true).empty());      // with flags
  CHECK_FALSE(why_no_block_tiles(preset(exact), false, 0).empty());  // of no length
  border.excludes_each(
      exact, {[](Unit& u) { u.lanes = 3; }, [](Unit& u) { u.out.zero_sign = ZeroSign::ieee; },
              [](Unit& u) { u.product.overflow_to_inf_at = 20; },
              [](Unit& u) { u.group_sum.align.reference = Reference::max_exponent; },
              [](Unit& u) { u.c_level = CLevel::late; }, [](Unit& u) { u.c.fmt = binary16; },
              [](Unit& u) { u.groups = Groups{.consecutive = 2}; },
              [](Unit& u) { u.chain.final = Round{.fmt = binary16}; }});
  border.lies_between(
      exact, [](Unit& u) { u.a.fmt = binary32; }, [](Unit& u) { u.a.fmt = ieee_format(8, 24); });
  border.lies_between(
      exact, [](Unit& u) { u.a.fmt = binary32; }, [](Unit& u) { u.a.fmt = ieee_format(9, 10); });
  border.excludes_each(flushed, {[](Unit& u) { u.lanes = 8; }, [](Unit& u) { u.lanes = 3; },
                                 [](Unit& u) { u.out.subnormals = Flush::keep; },
                                 [](Unit& u) { u.c_level = CLevel::group; },
                                 [](Unit& u) { u.group_sum.width = 100; }});
  border.excludes_each(tree,
                       {[](Unit& u) { u.lanes = 16; }, [](Unit& u) { u.product.round.reset(); },
                        [](Unit& u) { u.product.overflow_to_inf_at = 20; }});
}

}  // namespace test_block_tiles
