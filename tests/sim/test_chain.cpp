#include <fmt/format.h>

#include "products.hpp"
#include "random_units.hpp"
#include "targets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

// Rows of integers against the reference: the same codes and flags, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{3, 1, 70}, {2, 21, 67}, {1, 530, 3}};

void compare(const char* text, Tally& tally, std::uint64_t& expected, ProductRandom& random) {
  CAPTURE(text);
  const Unit u = parse_unit(text);
  const Opinion o = opinion("chain", u, true);
  CAPTURE(o.reason);
  REQUIRE(o.takes);
  for (const Rival::Shape& s : shapes)
    for (const bool flags : {false, true}) {
      Rival("chain", u, tally, flags).compare_random(s, random);
      expected += outputs_compared(s);
    }
}

}  // namespace

TEST_CASE("chains in rows give the reference's codes and flags: formats of every kind") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"mac(e5m10)", "mac(e4m3fnuz)", "mac(e8m26)", "mac(binary64)", "fma(e8m7)"})
    compare(text, tally, expected, random);
  tally.expect(expected);
}
