#include "edges.hpp"
#include "random_units.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/unit_text.hpp"

// Segments of a chain and the sums of their sums, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {3, 33, 67}, {1, 130, 3}};

constexpr const char* units[] = {
    "mac(e5m10, promote=32:binary32)",
    "mac(e8m7, promote=1:e8m7)",
    "fma(e5m2, sum=e6m9, promote=4:e6m9:rtz)",
    "fma(e4m3fn, sum=e5m10, c=e4m3fn, promote=8:binary32:rdn)",
    "mac(e4m3fn, sum=e5m10, promote=16:e4m3fn)",
    "mac(e4m3fnuz, promote=3:e4m3fnuz)",
    "mac(e5m10;ftz;daz, promote=8:e5m10;ftz)",
    "mac(e5m10, promote=8:e5m10;daz)",
    "mac(binary32, promote=5:binary64:rup)",
    "mac(binary64, promote=7:binary64)",
    "mac(e11m60, promote=4:e11m63)",
    "mac(e15m112, promote=9:binary64:rno)",
    "mac(e5m10, promote=4:e8m15, final=e5m10:sr9)",
    "mac(e5m10, promote=4:e8m15;overflow=max, final=e4m3fn:odd)",
    "kahan(e5m10, promote=16:binary32)",
    "neumaier(binary32, promote=6:binary64)",
    "tree(e5m10, fan=4, promote=8:binary32)",
    "dot(e5m10, lanes=8, align=24:rtz, out=e8m23, promote=16:e8m23)",
    "fma(e4m3fn, sum=binary32, scale=e8m0fnu:8:term, promote=4:binary32)",
    "fma(e4m3fn, sum=e8m15, scale=e5m2:4:term, promote=12:binary32)",
    "{a.fmt = \"e5m10\", b.fmt = \"e5m10\", c.fmt = \"e4m3\", c_level = \"group\", lanes = 2, "
    "out.fmt = \"e8m15\", chain.promote.interval = 4, chain.promote.round.fmt = \"binary32\", "
    "chain.c_at = \"last\", chain.c_round.fmt = \"e5m7\", chain.c_round.rm = \"rup\"}",
    "{a.fmt = \"e5m10\", b.fmt = \"e4m3fn\", c.fmt = \"e5m2\", c_level = \"block\", lanes = 1, "
    "out.fmt = \"e5m10\", chain.promote.interval = 3, chain.promote.round.fmt = \"e8m12\", "
    "chain.c_at = \"last\", chain.c_round.fmt = \"e8m30\", chain.final.fmt = \"e8m7\"}",
    "{a.fmt = \"e5m10\", b.fmt = \"e5m10\", c.fmt = \"e5m10\", c_level = \"group\", lanes = 1, "
    "out.fmt = \"e5m10\", chain.promote.interval = 4, chain.promote.round.fmt = \"e8m12\", "
    "chain.c_at = \"last\", chain.c_round.fmt = \"e8m7;zero=no\"}",
};

}  // namespace

TEST_CASE("promoted: segments and their sums give the reference's codes") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    REQUIRE(opinion("promoted", u).takes);
    for (const Rival::Shape& s : shapes) {
      Rival("promoted", u, tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  tally.expect(expected);
}

TEST_CASE("promoted: past one tile of rows and columns, and in parts") {
  ProductRandom random(2);
  Tally tally;
  const Unit u = parse_unit("mac(e4m3fn, sum=e5m10, promote=2:e8m7, final=e5m2:sr4)");
  const Rival::Shape down{515, 5, 3}, across{2, 5, 515};
  Rival("promoted", u, tally).compare_random(down, random);
  Rival("promoted", u, tally).in_tiles(600).compare_random(across, random);
  tally.expect(outputs_compared(down) + outputs_compared(across));
}

TEST_CASE("promoted: products of the user's own, and units of any fields") {
  ProductRandom random(3);
  Tally tally;
  const Rival::Shape shape{2, 19, 9};
  const Unit own = parse_unit("mac(e5m10, promote=4:binary32)");
  Rival("promoted", own, tally, false, mitchell()).compare_random(shape, random);
  std::uint64_t expected = outputs_compared(shape);
  for (int taken = 0; taken < 60;) {
    const Unit u = random_units::unit(random);
    if (!u.chain.promote || !has_length(u, shape.k) || !opinion("promoted", u).takes) continue;
    CAPTURE(to_string(u));
    Rival("promoted", u, tally).compare_random(shape, random);
    expected += outputs_compared(shape), ++taken;
  }
  tally.expect(expected);
}

TEST_CASE("promoted refuses what segments do not know of, and nothing less") {
  const Border border("promoted", false, 64);
  constexpr const char* unit = "mac(e5m10, promote=4:binary32)";
  CHECK_FALSE(opinion("promoted", parse_unit(unit), true, 64).takes);  // with flags
  for (const char* outside :
       {"mac(e5m10)", "mac(e5m10, sum=e5m10:sr9, promote=4:binary32)",
        "mac(e5m10, promote=4:binary32:sr9)", "mac(e5m10, product=e5m10:sr3, promote=4:binary32)",
        "mac(e5m10, promote=4:binary32;zero=no)"})
    border.lies_between(unit, outside);
  border.excludes_each(unit, {[](Unit& u) {
                                u.chain.lane_permutation = LanePermutation{1, 1};
                              },
                              [](Unit& u) { u.c.subnormals = Flush::flush_signed_zero; },
                              [](Unit& u) { u.chain.promote->round.keep_frac = 9; }});
  // C comes last, and is none where +0 begins.
  const std::string c_last =
      "{a.fmt = \"e5m10\", b.fmt = \"e5m10\", c_level = \"group\", "
      "lanes = 1, out.fmt = \"e5m10\", chain.promote.interval = 4, "
      "chain.promote.round.fmt = \"e8m12\", chain.c_at = \"last\", ";
  border.lies_between(
      (c_last + "chain.c_round.fmt = \"e8m7;zero=no\", c.fmt = \"e5m10\"}").c_str(),
      (c_last + "chain.c_round.fmt = \"e8m7\", c.fmt = \"e5m10;zero=no\"}").c_str());
  // Codes and digits of a final rounding.
  border.lies_between("mac(e5m10, promote=4:e8m55, final=e8m20)",
                      "mac(e5m10, promote=4:e8m56, final=e8m20)");
  border.lies_between("mac(e5m10, promote=4:e8m55, final=e8m55)",
                      "mac(e5m10, promote=4:e8m55, final=e8m56)");
  border.lies_between("fma(e4m3fn, sum=binary32, scale=e8m0fnu:6:term, promote=12:binary32)",
                      "fma(e4m3fn, sum=binary32, scale=e8m0fnu:6:term, promote=4:binary32)");
}
