#include <fmt/format.h>

#include "products.hpp"
#include "targets.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_block_formats {

// Formats that the blocks engine rounds to, all modes and flags, where they lack something.
using namespace widthwise;
using namespace tests;

TEST_CASE("the blocks engine rounds into formats without subnormals, zero, or more than one digit" *
          doctest::test_suite("unsanitized")) {
  const auto all = [](const Format& f) {
    CodeList x(f, std::size_t{1} << f.width());
    for (std::uint64_t i = 0; i < std::uint64_t{1} << f.width(); ++i) x.set(i, i);
    return x;
  };
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* to :
       {"e3m2;sub=no", "e3m2;zero=no", "ue3m2;nan=all_ones", "ue2m3;sub=no", "e3m0;sub=no;nan=none",
        "e8m0fnu", "ue3m2;nan=none;sub=no;zero=no", "binary8p1", "binary8p1sf", "binary8p1uf",
        "binary8p1ue", "e4m0;bias=8;inf=top;nan=negative_zero", "e3m0;bias=4;nan=negative_zero"})
    for (int mode = 0; mode < deterministic_modes; ++mode) {
      CAPTURE(to);
      Unit u = parse_unit("fma(e3m2)");
      u.out.fmt = parse_format(to), u.out.rm = Rounding(static_cast<RoundingMode>(mode));
      const CodeList a = all(u.a.fmt);
      MatrixProduct p;
      p.m = p.n = 64, p.k = 1;
      p.a = a.rows(1), p.b = a.rows(64);
      for (const std::uint64_t c : {0x00, 0x20, 0x01, 0x22, 0x05, 0x27, 0x3c}) {
        p.c = {a.rows(0, c).data, 0, 0};
        Rival("blocks", u, tally, true).compare(p, fmt::format("C {:x}", c));
        Rival("blocks", u, tally).compare(p, fmt::format("C {:x}, no flags", c));
        expected += 2 * p.m * p.n;
      }
    }
  tally.expect(expected);
}

TEST_CASE("the blocks engine reads subnormal results as zero, and delivers them, as formats say") {
  // Of few exponents, so that many results are subnormal.
  ProductRandom random(4);
  Tally tally;
  std::uint64_t expected = 0;
  const Rival::Shape shape{3, 21, 14};
  on_every_target([&] {
    for (const char* text :
         {"mac(e3m3, product=e3m3;daz:rup, sum=e3m5)", "mac(e3m3, sum=e3m4;daz)",
          "mac(e3m3, sum=e3m4;daz, final=e3m6;daz)", "mac(e3m3, final=e3m2;daz)",
          "mac(e3m3, sum=e3m3;daz:sr4)", "fma(e3m3, sum=e3m5;daz, promote=3:e3m3;daz)",
          "fma(e3m3, sum=e3m5, promote=3:e3m2;daz)", "kahan(e3m4;daz)", "kahan(e3m4;daz;ftz)",
          "kahan(e3m4, sum=e3m4;daz:rdn)",
          "neumaier(e3m4, product=e3m3;daz, sum=e3m5;daz, promote=4:e3m6;daz)",
          "neumaier(e3m4;daz, final=e3m2;daz;ftz)",
          "tree(e3m3, fan=4, product=e3m4;daz, node=e3m4;daz, sum=e3m4;daz:rtz)",
          "tree(e3m2, fan=3, product=e3m4;daz;ftz, node=e3m3;daz;ftz, sum=e8m23;daz, final=e3m2)",
          "tree(e5m9, fan=4, product=e8m23;daz;ftz, sum=e8m23;daz)",
          "dot(e3m3, lanes=4, align=6, out=e3m4;daz:raz)", "dot(e3m3, lanes=4, align=5, out=e3m3)",
          "dot(e3m3, lanes=4, align=6, floor=-1, out=e3m4;daz;ftz)", "dot(e3m3, out=e3m4;daz)"})
      for (const bool flags : {true, false}) {
        CAPTURE(text);
        Rival("blocks", parse_unit(text), tally, flags).compare_random(shape, random);
        expected += outputs_compared(shape);
      }
  });
  tally.expect(expected);
}

TEST_CASE("the blocks engine raises no flag in sums that a product without a code has decided") {
  ProductRandom random(3);
  Tally tally;
  std::uint64_t expected = 0;
  const Rival::Shape shape{3, 6, 20};
  for (const char* product : {"e8m0fnu:rup", "ue4m3;nan=all_ones", "e3m2;zero=no"}) {
    CAPTURE(product);  // numbers below zero become NaN, or zeros do
    const Unit u = parse_unit(fmt::format("tree(e3m2fn, fan=3, product={})", product));
    Rival("blocks", u, tally, true).compare_random(shape, random);
    expected += outputs_compared(shape);
  }
  tally.expect(expected);
}

TEST_CASE("the blocks engine refuses zeros of a sign in doubt where they become numbers") {
  // Of 1 - 1 rounded down the definition makes the least number below zero.
  const auto taken = [](const char* out) {
    return opinion("blocks", parse_unit(fmt::format("fma(e3m2, sum={})", out))).takes;
  };
  CHECK_FALSE(taken("e3m2;inf=top;nan=none;zero=no:rdn"));
  CHECK(taken("e3m2;inf=top;nan=none;zero=no:rtz"));
  CHECK(taken("e3m2;zero=no:rdn"));  // NaN, of no sign
  CHECK(taken("e3m2;inf=top;nan=none:rdn"));
}

TEST_CASE("the blocks engine makes +0 of exact zeros alone, not of what is cut to zero") {
  Tally tally;
  Unit u = parse_unit("dot(e4m3, c=binary32, lanes=2, out=binary32)");
  u.out.post_norm_frac = 6, u.out.zero_sign = ZeroSign::plus;
  const CodeList zeros(e4m3, 4);
  CodeList c(binary32, 2);
  c.set(0, 0x80000001), c.set(1, 0x80000000);  // less than a cut leaves, and nothing
  MatrixProduct p;
  p.m = 1, p.n = p.k = 2;
  p.a = zeros.rows(2), p.b = zeros.rows(2), p.c = c.rows(2);
  Rival("blocks", u, tally).compare(p, "no flags");
  Rival("blocks", u, tally, true).compare(p, "flags");
  tally.expect(4);
}

}  // namespace test_block_formats
