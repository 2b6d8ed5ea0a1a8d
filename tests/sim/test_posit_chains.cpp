#include <fmt/format.h>

#include <cmath>

#include "lane_chains.hpp"
#include "targets.hpp"
#include "widthwise/sim/text.hpp"

namespace test_posit_chains {

// Chains whose products and sums are rounded to posits in lanes, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

constexpr const char* chains[] = {
    "mac(posit16es2)",
    "mac(posit8es2)",
    "mac(posit8es0)",
    "mac(posit9es1)",
    "mac(posit16es0)",
    "mac(posit16es4)",
    "mac(posit24es2)",
    "mac(posit27es1)",
    "mac(posit27es4)",
    "mac(posit8es2, b=posit16es1, c=posit13es1, product=posit9es1, sum=posit13es1)",
    "mac(posit16es2, c=posit8es1, product=posit14es1, sum=posit8es1)",
    "mac(posit3es0, c=posit7es1, sum=posit7es1)",
    "mac(posit8es1, c=posit13es1, sum=posit13es1, final=e4m3fn:sr4)",
    "mac(posit16es2, final=posit8es0)",
};

// C and a product of any two sizes: sums that cancel, and those of which one is all but lost.
std::uint64_t compare_sums(const char* text, ProductRandom& random, Tally& tally) {
  const Unit u = parse_unit(text);
  MatrixProduct p;
  p.m = 64, p.k = 1, p.n = 64;
  const CodeList a = codes(u.a.fmt, p.m, Manner::bits, random),
                 b = codes(u.b.fmt, p.n, Manner::few, random),
                 c = codes(u.c.fmt, p.m * p.n, any_manner(random), random);
  p.a = a.rows(1), p.b = b.rows(p.n), p.c = c.rows(p.n);
  Rival("lanes", u, tally).compare(p, "one sum");
  return p.m * p.n;
}

}  // namespace

TEST_CASE("posits in lanes: the reference's codes on every instruction set") {
  if (!fused_here()) return;
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : chains) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    CAPTURE(opinion("lanes", u).reason);
    REQUIRE(lanes_take(u));
    on_every_target([&] {
      if (!lanes_take(u)) return;
      for (const Rival::Shape& s : {Rival::Shape{5, 1, 70}, {9, 33, 67}, {2, 600, 3}}) {
        Rival("lanes", u, tally).compare_random(s, random);
        expected += outputs_compared(s);
      }
      for (int i = 0; i < 6; ++i) expected += compare_sums(text, random, tally);
    });
  }
  tally.expect(expected);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("posits in lanes: all operands of one and of two products, onto every C") {
    if (!fused_here()) return;
    Tally tally;
    std::uint64_t expected = 0;
    for (const int width : {3, 4, 5, 6})
      for (const int es : {0, 1, 2, 3, 4}) {
        const Unit u = parse_unit(fmt::format("mac(posit{}es{})", width, es));
        CAPTURE(to_string(u));
        expected += compare_all_sums(u, tally);
        if (width < 5) expected += compare_all(u, 2, tally);
      }
    for (const char* text :
         {"mac(posit6es1, c=posit4es0, product=posit5es2, sum=posit4es0)",
          "mac(posit4es2, c=posit7es0, product=posit3es1, sum=posit7es0)",
          "mac(posit5es0, b=posit4es3, c=posit8es2, product=posit8es2, sum=posit8es2)"})
      expected += compare_all_sums(parse_unit(text), tally);
    tally.expect(expected);
  }
}

TEST_CASE("posits in lanes: what its conditions allow, and not one digit more") {
  if (!fused_here()) return;
  const auto reason = [](const char* text) { return opinion("lanes", parse_unit(text)).reason; };
  CHECK(reason("mac(posit30es1)") == "a = posit30es1 has too many digits, or too large exponents");
  CHECK(lanes_take(parse_unit("mac(posit29es1)")));
  CHECK(!lanes_take(parse_unit("mac(posit28es4)")));
  CHECK(reason("fma(posit16es2)") == "products that are not rounded, before sums in posits");
  CHECK(reason("mac(posit16es2, sum=posit16es2:rtz)") ==
        "out does more than round to the nearest posit");
  CHECK(reason("mac(posit16es2, product=posit16es2:sr8)") ==
        "product.round does more than round to the nearest posit");
  CHECK(reason("mac(posit16es2, product=binary32, sum=posit16es2)") ==
        "product.round = e8m23 is no posit");
  CHECK(reason("mac(takum8, product=posit8es1, sum=posit8es1)") == "a = takum8 is no posit");
  CHECK(reason("mac(posit8es1, sum=posit16es1, c=posit8es1)") == "C is no sum's format");
  Border("lanes").excludes_each("mac(posit16es2)", unlike_lanes);
  Border("lanes").lies_between("mac(posit14es1, c=posit8es1, sum=posit8es1)",
                               "mac(posit15es1, c=posit8es1, sum=posit8es1)");
  CHECK(reason("mac(posit24es2, c=posit16es2, sum=posit16es2)") ==
        "products of another format than the sums, whose sums are no doubles");
  CHECK(!lanes_take(parse_unit("kulisch(posit16es2)")));
  CHECK(!lanes_take(parse_unit("dot(posit16es2, lanes=2)")));
  CHECK(!lanes_take(parse_unit("kahan(posit16es2)")));
}

// A product on a border between two sums, to which little is added: what no double holds.
TEST_CASE("posits in lanes: a border and a little") {
  if (!fused_here()) return;
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : {"mac(posit14es1, c=posit8es1, product=posit14es1, sum=posit8es1)",
                           "mac(posit16es2)", "mac(posit26es2)", "mac(posit29es1)"}) {
    const Unit u = parse_unit(text);
    REQUIRE(lanes_take(u));
    const auto top = static_cast<int>(u.out.fmt.emax());
    for (int e = -top; e <= top; ++e)
      for (int of_c = -top; of_c <= top; of_c += 1 + top / 12)
        for (const double sign : {1.0, -1.0}) {
          const double odd = 1 + std::ldexp(1.0, 1 - u.out.fmt.digits());
          Rival("lanes", u, tally)
              .compare_doubles({std::ldexp(odd, e / 2)}, {std::ldexp(sign, e - e / 2)},
                               std::ldexp(1.0, of_c));
          ++expected;
        }
  }
  tally.expect(expected);
}

TEST_CASE("posits in lanes: the planner takes them where nobody wants flags") {
  if (!fused_here()) return;
  const Unit u = parse_unit("mac(posit16es2)");
  CHECK(opinions({.unit = u, .k = 64}).front().engine == "lanes");
  CHECK(opinions({.unit = u, .k = 64, .flags = true}).front().engine == "integers");
}

}  // namespace test_posit_chains
