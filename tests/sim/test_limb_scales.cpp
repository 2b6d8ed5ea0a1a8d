#include <fmt/format.h>

#include "edges.hpp"
#include "limb_ways.hpp"
#include "widthwise/layout.hpp"

namespace test_limb_scales {

// Block scales that are powers of two, which limbs' exponents take, against the reference.
using namespace widthwise;
using namespace tests;

TEST_CASE("limbs: exact products with scales that are powers of two") {
  Comparing all;
  for (const char* text :
       {"fma(e15m63, scale=e8m0fnu:3:term)", "fma(e11m54, sum=binary64:rup, scale=e8m0fnu:32:term)",
        "fma(e4m59;daz, b=e15m20, c=e8m7, sum=e8m70:sr9, scale=e8m0fnu:2:term)",
        "fma(e15m112, sum=e6m112, scale=e4m0;nan=all_ones:5:term)",
        "fma(e5m58, scale=e5m0;bias=-3;nan=none;inf=no:1:term, final=e5m10:odd)",
        "fma(e15m60, promote=4:e15m70, scale=e8m0fnu:2:term)",
        "dot(e15m20, lanes=4, out=e15m70, scale=e8m0fnu:4:term)",
        "dot(e15m63, lanes=3, scale=e8m0fnu:7:term)", "dot(e15m63, scale=e8m0fnu:16:term)"}) {
    const Unit u = parse_unit(text);
    for (int i = 0; i < 8; ++i) all.compare("wide", u, {{2, 3, 9}, {9, 9, 3}, {3, 70, 5}});
  }
}

// Ordinary operands, whose outputs are the limbs' own, and some scales that are no numbers.
TEST_CASE("limbs: a scale for each row, column and block, and NaN, zeros and signs among them") {
  constexpr std::size_t m = 5, k = 70, n = 12, block = 8, runs = 9;
  ProductRandom random(7);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"fma(e15m63, scale=e8m0fnu:8:term)", "fma(e15m63, scale=e5m0;nan=all_ones:8:term)",
        "dot(e11m52, lanes=4, out=e15m63, scale=e8m0fnu:8:term)"}) {
    const Unit u = parse_unit(text);
    REQUIRE(u.scale->block == block);
    const Format& f = u.scale->fmt;
    const CodeList a = codes(u.a.fmt, m * k, Manner::about_one, random),
                   b = codes(u.b.fmt, k * n, Manner::about_one, random);
    const auto scales = [&](std::size_t count) {
      CodeList x(f, count);
      for (std::size_t i = 0; i < count; ++i)
        x.set(i, static_cast<std::uint64_t>(f.bias) - 3 + random() % 7);
      return x;
    };
    CodeList scale_a = scales(m * runs), scale_b = scales(runs * n);
    const Layout<std::uint64_t> layout(f);
    scale_a.set(3 * runs + 8, layout.first_nan);
    scale_b.set(2 * n + 7, layout.first_nan);
    if (f.is_signed()) scale_a.set(1 * runs + 2, layout.sign | scale_a[runs + 2]);
    if (f.zero) scale_b.set(4 * n + 10, 0);
    MatrixProduct p;
    p.m = m, p.k = k, p.n = n, p.a = a.rows(k), p.b = b.rows(n);
    p.scale_a = scale_a.rows(runs), p.scale_b = scale_b.rows(n);
    Rival("wide", u, tally, true).compare(p, text);
    expected += m * n;
  }
  tally.expect(expected);
}

TEST_CASE("limbs refuse other block scales") {
  const Border border("wide");
  border.lies_between("fma(e15m63, scale=e4m0;nan=all_ones:3:term)",
                      "fma(e15m63, scale=e4m1:3:term)");
  border.lies_between("fma(e15m63, scale=e8m0fnu:3:term)", "mac(e15m63, scale=e8m0fnu:3:term)");
  border.lies_between("kulisch(e5m60)", "kulisch(e5m60, scale=e8m0fnu:3:term)");
  border.lies_between("dot(e15m63, lanes=4, scale=e8m0fnu:4:term)",
                      "dot(e15m63, lanes=4, align=20:rtz, scale=e8m0fnu:4:term)");
  border.lies_between("fma(e15m63, scale=e8m0fnu:3:term)",
                      [](Unit& u) { u.scale->apply = ScaleApply::group; });
}

}  // namespace test_limb_scales
