#include <fmt/format.h>

#include "products.hpp"
#include "tests/lib/operands.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Both ways of the wide engine against the reference: the same codes and flags.
namespace {

using namespace widthwise;
using namespace tests;

constexpr const char* ways[] = {"wide", "wide52"};

// False, and said, where this machine lacks what the way needs.
bool usable(std::string_view way) {
  if (opinion(way, parse_unit("mac(e15m112)")).takes) return true;
  fmt::print("SKIPPED: {}\n", opinion(way, parse_unit("mac(e15m112)")).reason);
  return false;
}

}  // namespace

TEST_CASE(
    "wide gives the reference's codes and flags: every manner of operand, limbs of all counts") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  constexpr Rival::Shape small[] = {{3, 1, 9}, {2, 7, 11}};
  for (const char* way : ways) {
    if (!usable(way)) continue;
    for (const int p : {2,   24,  49,  50,  63,  64,  65,  101, 102, 113, 127, 128,
                        129, 153, 154, 191, 192, 193, 237, 256, 257, 311, 384, 512}) {
      const Unit u = parse_unit(fmt::format("mac(e15m{})", p - 1));
      CAPTURE(p);
      REQUIRE(opinion(way, u).takes);
      for (const Rival::Shape& s : small) {
        Rival(way, u, tally, true).compare_random(s, random);
        expected += outputs_compared(s);
      }
    }
  }
  tally.expect(expected);
}
