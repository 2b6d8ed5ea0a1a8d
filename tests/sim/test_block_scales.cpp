#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "edges.hpp"
#include "everywhere.hpp"

namespace test_block_scales {

// Block lanes whose operands come with their scales, against the reference: where both have so many
// exponents that the lanes look out for what they have no room for.
namespace {

using namespace widthwise;
using namespace tests;

bool takes(const Unit& u) { return opinion("blocks", u, true).takes; }

// One dot product of two, with two powers of two for scales of each operand.
struct Scaled {
  double a[2], b[2];
  int scale_a[2], scale_b[2];
  double c;
};
void compare(const Unit& u, const Scaled& x, Tally& tally) {
  REQUIRE(takes(u));
  CodeList a(binary64, 2), b = a, c(binary64, 1), scale_a(e8m0fnu, 2), scale_b = scale_a;
  c.set(0, std::bit_cast<std::uint64_t>(x.c));
  for (std::size_t i = 0; i < 2; ++i) {
    a.set(i, std::bit_cast<std::uint64_t>(x.a[i])), b.set(i, std::bit_cast<std::uint64_t>(x.b[i]));
    scale_a.set(i, static_cast<std::uint64_t>(x.scale_a[i] + 127));
    scale_b.set(i, static_cast<std::uint64_t>(x.scale_b[i] + 127));
  }
  MatrixProduct p;
  p.m = p.n = 1, p.k = 2;
  p.a = a.rows(2), p.b = b.rows(1), p.c = c.rows(1);
  p.scale_a = scale_a.rows(2), p.scale_b = scale_b.rows(1);
  for (const bool flags : {false, true})
    Rival("blocks", u, tally, flags).compare(p, fmt::format("{} {}", x.a[0], x.b[0]));
}

}  // namespace

TEST_CASE("blocks with scaled operands of many exponents: the reference's codes and flags") {
  const std::vector<Unit> all = units_of(
      {"fma(bfloat16, scale=e8m0fnu:7:term)",
       "fma(bfloat16, sum=binary32:rdn, scale=e8m0fnu:3:term)",
       "fma(binary64, scale=e8m0fnu:7:term)", "fma(binary64, sum=e8m10:rna, scale=e8m0fnu:7:term)",
       "fma(e5m2, sum=binary64:sr8, scale=e8m0fnu:7:term)",
       "fma(e9m5, sum=binary64, promote=4:binary32, scale=e8m0fnu:7:term)",
       "dot(bfloat16, lanes=8, scale=e8m0fnu:8:term)",
       "dot(binary32, lanes=3, out=e8m10:rtz, scale=e8m0fnu:8:term)",
       "dot(binary64, lanes=4, scale=e8m0fnu:8:term)",
       "dot(binary64, lanes=4, out=e11m40:sr5, scale=e8m0fnu:8:term)",
       "dot(bfloat16, lanes=8, out=binary32, align=25:rtz, scale=e8m0fnu:8:term)",
       "dot(bfloat16, lanes=8, out=binary32, align=25:rtz, floor=-133, scale=e8m0fnu:8:term)",
       "dot(e9m14, b=e4m3, lanes=0, align=23:rtz, scale=e8m0fnu:8:term)",
       "dot(binary64, lanes=16, align=13:rtz, scale=e8m0fnu:8:term)",
       "dot(e11m30, lanes=4, out=e8m10:sr6:even, align=24:rdn, scale=e8m0fnu:8:term)",
       // Products that are rounded before their scales meet them.
       "mac(binary64, scale=e8m0fnu:7:term)",
       "mac(binary64, product=e4m11:sr13, sum=binary64:rup, scale=e8m0fnu:7:term)",
       "mac(e11m40, sum=e4m3fn:odd, scale=e8m0fnu:7:term)",
       "mac(e7m16, product=binary64:sr8, sum=binary32:sr8, scale=e8m0fnu:7:term)",
       "mac(e5m7, c=e8m26, product=e10m21, promote=4:binary64, scale=e8m0fnu:7:term)",
       "kahan(binary64, sum=e9m14:rdn, scale=e8m0fnu:7:term)",
       "kahan(binary64, scale=e8m0fnu:7:term)",
       "neumaier(binary64, product=e4m3:sr6:even, scale=e8m0fnu:7:term)",
       "tree(binary64, product=binary32:rdn, sum=tf32:rna, fan=4, scale=e8m0fnu:7:term)",
       "tree(e8m10, product=e11m30:raz, fan=3, node=e10m21:rnp, final=e5m2, scale=e8m0fnu:7:term)",
       "tree(binary64, fan=8, scale=e8m0fnu:7:term)"});
  hold_everywhere(all, takes);
  compare_everywhere("blocks", all, 1);
}

TEST_CASE("blocks with scaled operands of many exponents: no room for a factor or a product") {
  const Scaled some[] = {
      {{0x1p-1000, 0}, {0x1p900, 0}, {-127, 0}, {0, 0}, 0},  // a factor less than any double
      {{0x1.0000000000001p-1000, 0}, {0x1p890, 0}, {-60, 0}, {0, 0}, 0},  // than a double's digits
      {{0x1p-900, 0}, {0x1p900, 0}, {0, 0}, {0, 0}, 0},
      {{0x1p-1000, 0}, {0x1p900, 0}, {110, 0}, {-50, 0}, 0},
      {{-0x1p-1074, 0x1p-1074}, {0x1p300, 0x1.8p300}, {-60, -61}, {100, 100}, 0x1p-1000},
      {{0x1p1000, 0x1p1000}, {0x1p-1000, -0x1p-1000}, {127, 127}, {-127, -127}, 1},  // more
      {{0x1.fffffffffffffp899, 0}, {1, 0}, {0, 0}, {0, 0}, 1},
      {{0x1.fffffffffffffp899, 0}, {1, 0}, {1, 0}, {0, 0}, 1},
      {{0x1.fffffffffffffp1023, 1}, {1, 1}, {-127, 0}, {1, 0}, 1},
      {{0x1.8p-500, 1}, {0x1.8p-500, 1}, {-60, 0}, {-60, 0}, 0},  // a last digit near the least
      {{0x1.0000000000001p-490, 1}, {0x1.0000000000001p-480, 1}, {0, 0}, {0, 0}, -1},
      {{0x1.0000000000001p-490, 1}, {0x1.0000000000001p-481, 1}, {0, 0}, {0, 0}, -1},
      // Rounded products that leave a double with their scales, or with one of them.
      {{0x1.8p-480, 0}, {0x1p-480, 0}, {-127, 0}, {-127, 0}, 0},
      {{0x1.8p-480, 0}, {0x1p-480, 0}, {-127, 0}, {127, 0}, 0},
      {{0x1.8p400, 0x1.8p400}, {0x1p400, -0x1p400}, {127, 127}, {127, 127}, 1},
      {{0x1.8p800, 0}, {0x1p97, 0}, {127, 127}, {-127, -127}, 0},
      {{0x1.8p-300, -0x1.8p300}, {0x1p-90, 0x1p90}, {-127, 127}, {-127, 127}, 0},
  };
  Tally tally;
  for (const Unit& u : units_of({"fma(binary64, scale=e8m0fnu:1:term)",
                                 "fma(binary64, sum=e8m10:raz, scale=e8m0fnu:1:term)",
                                 "dot(binary64, lanes=2, scale=e8m0fnu:1:term)",
                                 "dot(binary64, lanes=2, align=13:raz, scale=e8m0fnu:1:term)",
                                 "mac(binary64, scale=e8m0fnu:1:term)",
                                 "mac(binary64, product=e8m10:raz, scale=e8m0fnu:1:term)",
                                 "mac(binary64, product=e10m20:rup, scale=e8m0fnu:1:term)",
                                 "mac(binary64, sum=binary64:rup, scale=e8m0fnu:1:term)",
                                 "tree(binary64, fan=2, scale=e8m0fnu:1:term)",
                                 "kahan(binary64, scale=e8m0fnu:1:term)"}))
    for (const Scaled& x : some) compare(u, x, tally);
  tally.expect(2 * 10 * std::size(some));
}

TEST_CASE("blocks with scaled operands of many exponents: what goes another way") {
  const Border border("blocks");
  border.lies_between("dot(binary64, lanes=4, align=24:rtz, scale=e4m0;nan=all_ones:32:term)",
                      "dot(binary64, lanes=4, align=24:rtz, scale=e4m1:32:term)");
  border.lies_between("mac(binary64, scale=e4m0;nan=all_ones:32:term)",
                      "mac(binary64, scale=e4m1:32:term)");
  border.lies_between("fma(bfloat16, scale=e8m0fnu:32:term)", "fma(bfloat16, scale=e8m1:32:term)");
  border.lies_between("fma(e11m52, scale=e8m0fnu:32:term)", "fma(e11m53, scale=e8m0fnu:32:term)");
  // Operands and scales that are no doubles, or far from one, would come back from beyond.
  for (const char* text :
       {"fma(e12m5, c=binary64, sum=binary64, scale=e8m0fnu:1:term)",
        "fma(e8m7;bias=-900, c=binary64, sum=binary64, scale=e8m0fnu:1:term)",
        "dot(e11m7;inf=no;nan=negative_zero, b=e4m3, c=binary32, out=e10m20, lanes=2, "
        "scale=e8m0fnu:2:term)",
        "mac(binary64, c=binary32, sum=binary32, scale=ue18m0;nan=all_ones:1:term)",
        "fma(binary64, scale=ue12m0;nan=all_ones:1:term)"}) {
    CAPTURE(text);
    CHECK_FALSE(takes(parse_unit(text)));
  }
}

}  // namespace test_block_scales
