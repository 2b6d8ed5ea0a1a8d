#include "products.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_systems {

// Units over fixed point, posits and takums in rows of integers, against the definition.
namespace {

using namespace widthwise;
using namespace tests;

const char* const units[] = {
    "mac(posit16es2)",
    "fma(posit16es2)",
    "mac(posit8es0, sum=posit16es1:rdn)",
    "mac(posit32es2, product=binary32, sum=posit32es2:odd)",
    "fma(takum16, sum=takum32:raz)",
    "mac(takum8)",
    "mac(posit8es2, sum=posit8es2:sr7)",
    "mac(fixed16.8)",
    "mac(fixed16.8;overflow=wrap)",
    "fma(fixed32.16;overflow=wrap)",
    "fma(int24;overflow=keep_sign, sum=int24)",
    "mac(int8, product=int12;overflow=wrap_sm, sum=int20;overflow=symmetric)",
    "mac(fixed8.4, sum=fixed12.6;overflow=zero:rna)",
    "mac(ufixed8.4, sum=fixed16.4:sr5)",
    "fma(fixed40.20;overflow=wrap)",
    "tree(posit16es2, fan=4)",
    "tree(fixed16.8, fan=8, node=fixed18.8;overflow=wrap)",
    "dot(posit16es2, lanes=4)",
    "dot(fixed8.4, lanes=8, out=fixed16.8)",
    "dot(int8, lanes=4, align=2:rtz, out=int16)",
    "dot(posit8es2, lanes=4, align=12:rtz, out=posit16es2)",
    "kulisch(posit8es2)",
    "kulisch(fixed24.12, out=fixed24.12;overflow=wrap)",
    "pairwise(posit16es1)",
    "kahan(posit16es2)",
    "neumaier(fixed16.8)",
    "mac(posit16es2, promote=8:binary32)",
    "mac(e4m3fn, sum=posit16es2)",
    "mac(posit16es2, final=int8:rtz)",
};

}  // namespace

TEST_CASE("number systems: rows of integers give the definition's codes and flags") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (const Rival::Shape& s : {Rival::Shape{2, 1, 11}, Rival::Shape{2, 16, 11}}) {
      CAPTURE(opinion("integers", u, true, s.k).reason);
      REQUIRE(opinion("integers", u, true, s.k).takes);
      Rival("integers", u, tally).everywhere().compare_random(s, random);
      expected += Rival::times_everywhere() * outputs_compared(s);
    }
  }
  tally.expect(expected);
}

TEST_CASE("number systems: sums of more digits than a carrier has do not wrap") {
  CHECK_THROWS_WITH(make_reference(parse_unit("kulisch(binary64, out=int8;overflow=wrap)"), 8),
                    doctest::Contains("the widest carrier has 4160; take overflow=saturate"));
  CHECK_NOTHROW(make_reference(parse_unit("kulisch(binary64, out=int8)"), 8));
  CHECK_NOTHROW(make_reference(parse_unit("kulisch(binary32, out=int8;overflow=wrap)"), 8));
}

}  // namespace test_systems
