#include <fmt/format.h>

#include "products.hpp"
#include "sim/lanes/plan.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_halves {

// Lanes that compute in binary16 itself, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

bool halves_here() {
  if (opinion("halves", parse_unit("mac(e5m10)")).takes) return true;
  fmt::print("SKIPPED: this CPU's lanes do not compute in binary16\n");
  return false;
}

// Every mode of products and of sums, fused, and formats whose numbers are binary16's.
constexpr const char* units[] = {"mac(e5m10)",
                                 "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
                                 "mac(e5m10, product=e5m10:rdn, sum=e5m10:rdn)",
                                 "mac(e5m10, product=e5m10:rup, sum=e5m10:rup)",
                                 "mac(e5m10, product=e5m10:rup, sum=e5m10:rdn)",
                                 "mac(e5m10, product=e5m10:rdn, sum=e5m10:rup)",
                                 "mac(e5m10, sum=e5m10:rtz)",
                                 "mac(e5m10, product=e5m10:rtz, sum=e5m10)",
                                 "fma(e5m10)",
                                 "fma(e5m10, sum=e5m10:rtz)",
                                 "fma(e5m10, sum=e5m10:rdn)",
                                 "fma(e5m10, sum=e5m10:rup)",
                                 "mac(e4m3fn, product=e5m10, sum=e5m10)",
                                 "fma(e4m3fn, sum=e5m10)",
                                 "fma(e5m2, sum=e5m10:rdn)",
                                 "fma(e2m1fn, sum=e5m10)",
                                 "fma(e3m9, sum=e5m10)",
                                 "mac(e5m9;bias=16, product=e5m10, sum=e5m10, c=e4m10)",
                                 "mac(e5m10, final=e4m3fn:rtz)"};

}  // namespace

TEST_CASE("halves give the reference's codes: every mode, ordinary and hostile operands") {
  if (!halves_here()) return;
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    for (const Rival::Shape& s :
         {Rival::Shape{5, 1, 150}, {9, 33, 67}, {1, 300, 3}, {3, 600, 1}, {2, 257, 129}}) {
      Rival("halves", parse_unit(text), tally).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  for (const Rival::Shape& s : {Rival::Shape{521, 2, 3}, {3, 2, 521}}) {  // past a block
    Rival("halves", parse_unit("mac(e5m10)"), tally).compare_random(s, random);
    expected += outputs_compared(s);
  }
  tally.expect(expected);
}

TEST_CASE("one step in halves: products onto every C") {
  if (!halves_here()) return;
  constexpr std::size_t all = 1 << 16;
  CodeList c(binary16, all);
  for (std::size_t i = 0; i < all; ++i) c.set(i, i);
  const std::uint16_t b[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c01, 0xbc00,
                             0x1400, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"mac(e5m10)", "mac(e5m10, product=e5m10:rup, sum=e5m10:rdn)", "fma(e5m10, sum=e5m10:rup)"})
    for (const std::uint16_t a : {0x3fff, 0x8401}) {
      CAPTURE(text);
      MatrixProduct p;
      p.m = all, p.k = 1, p.n = std::size(b);
      p.a = {&a, 0, 0}, p.b = {b, 0, 1}, p.c = {c.rows(1).data, 1, 0};
      Rival("halves", parse_unit(text), tally).compare(p, fmt::format("A {:x}", a));
      expected += p.m * p.n;
    }
  tally.expect(expected);
}

TEST_CASE("halves take what binary16 holds and rounds, and not one digit more") {
  const auto taken = [](const char* unit) {
    return lanes::plan_in_halves(parse_unit(unit)).plan.has_value();
  };
  for (const char* text : units) {
    CAPTURE(text);
    CHECK(taken(text));
  }
  for (const char* text :
       {"mac(e5m11, product=e5m10, sum=e5m10, c=e5m10)", "fma(e5m10, c=e5m11)",
        "mac(e5m10;bias=16, product=e5m10, sum=e5m10, c=e5m10)",
        "mac(e5m9;bias=14, product=e5m10, sum=e5m10, c=e5m10)",
        "mac(e6m3, product=e5m10, sum=e5m10, c=e5m10)",
        "mac(e4m3fnuz, product=e5m10, sum=e5m10, c=e5m10)", "fma(e5m10, sum=e5m9)",
        "fma(e5m10, sum=e5m11)", "fma(e5m10, sum=e5m10;bias=16)", "mac(e5m10, product=e5m9)",
        "mac(e5m10, product=e6m10)", "mac(e5m10, sum=e5m10:rna)",
        "mac(e5m10, product=e5m10:rna, sum=e5m10)", "fma(e5m10, sum=e5m10:rnz)",
        "mac(e5m10, sum=e5m10:sr13)", "kahan(e5m10)", "hopper.f16.f16"}) {
    CAPTURE(text);
    CHECK(!taken(text));
  }
}

}  // namespace test_halves
