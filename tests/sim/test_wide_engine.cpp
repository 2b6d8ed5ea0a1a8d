#include <fmt/format.h>

#include "edges.hpp"
#include "limb_ways.hpp"
#include "targets.hpp"
#include "tests/turns.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/text.hpp"

namespace test_wide_engine {

// Both ways of the wide engine against the reference: the same codes and flags.
namespace {

using namespace widthwise;
using namespace tests;

// Numbers about 1, and some about a limb below, whose digits run in ones and zeros, end early, or
// do neither: where products and sums tie, carry far, cancel, or miss that by their last digit.
class RunsOfDigits {
 public:
  RunsOfDigits(const Format& f, ProductRandom& random) : f_(f), random_(random) {}

  CodeList codes(std::size_t count) {
    CodeList x(f_, count);
    for (std::size_t i = 0; i < count; ++i) x.set(i, code());
    return x;
  }

 private:
  WideCode code() {
    const std::int64_t below = random_() % 4 ? 0 : 58 + static_cast<std::int64_t>(random_() % 9);
    const std::int64_t exponent = static_cast<std::int64_t>(random_() % 4) - 2 - below;
    const WideCode sign = random_() % 2 ? bit<WideCode>(f_.magnitude_bits()) : WideCode{};
    return sign | WideCode(exponent + f_.bias) << f_.frac_bits | fraction();
  }
  WideCode fraction() {
    const int i = place(), j = place();
    switch (random_() % 7) {
      case 0: return bit<WideCode>(i);
      case 1: return bit<WideCode>(i) | bit<WideCode>(j);
      case 2: return ones<WideCode>(f_.frac_bits) ^ ones<WideCode>(i);
      case 3: return ones<WideCode>(i);
      case 4: return ones<WideCode>(i) ^ ones<WideCode>(j);
      case 5: return uniform() >> i << i;
      default: return uniform();
    }
  }
  int place() { return static_cast<int>(random_() % static_cast<unsigned>(f_.frac_bits)); }
  WideCode uniform() {
    WideCode x;
    for (std::uint64_t& limb : x.limb) limb = random_();
    return x & ones<WideCode>(f_.frac_bits);
  }

  Format f_;
  ProductRandom& random_;
};

// Compares a unit on such digits, of outputs whose indices pass 2^32.
class ComparingRuns {
 public:
  void compare(const std::string& way, const Unit& u, std::size_t k) {
    const CodeList a = codes(u.a.fmt, m * k), b = codes(u.b.fmt, k * n), c = codes(u.c.fmt, m * n);
    MatrixProduct product;
    product.m = m, product.n = n, product.k = k;
    product.a = a.rows(k), product.b = b.rows(n), product.c = c.rows(n);
    product.seed = random_(), product.first_index = (std::uint64_t{1} << 32) - 5;
    Rival(way, u, tally_, true).compare(product, "runs of digits");
    ++products_;
  }
  std::uint64_t products() const { return products_; }
  ~ComparingRuns() { tally_.expect(products_ * m * n); }

 private:
  static constexpr std::size_t m = 12, n = 24;
  CodeList codes(const Format& f, std::size_t count) {
    return RunsOfDigits(f, random_).codes(count);
  }

  ProductRandom random_{2};
  Tally tally_;
  std::uint64_t products_ = 0;
};

constexpr const char* modes[] = {"rne", "rna", "rnz", "rnp", "rnm", "rno",
                                 "rtz", "rdn", "rup", "raz", "odd"};

Unit rounding_by(int precision, std::string_view product, std::string_view sum) {
  return parse_unit(fmt::format("mac(e15m{0}, product=e15m{0}:{1}, sum=e15m{0}:{2})", precision - 1,
                                product, sum));
}

}  // namespace

TEST_CASE("wide: limbs of every count, and the precisions at their ends") {
  Comparing all;
  for (const std::string& way : ways()) {
    for (const int p : {2,   24,  49,  50,  51,  63,  64,  65,  101, 102, 103, 113, 127, 128, 129,
                        153, 154, 192, 193, 205, 237, 256, 257, 309, 310, 320, 384, 385, 448, 512})
      all.compare(way, parse_unit(fmt::format("mac(e15m{})", p - 1)), {{3, 1, 9}, {2, 7, 11}});
    for (const int p : {513, 577, 640, 673, 704, 769, 832, 877, 896, 960, 1023, 1024, 1025, 1088})
      all.compare(way, parse_unit(fmt::format("mac(e20m{})", p - 1)), {{2, 3, 3}});
  }
}

TEST_CASE("wide: limbs of 64 bits, fused as well as rounded") {
  Comparing all;
  for (const char* form : {"mac(e20m{})", "fma(e20m{})"})
    for (const int p : {63, 64, 113, 256, 320, 385, 448, 704, 1024})
      all.compare("wide", parse_unit(fmt::format(fmt::runtime(form), p - 1)),
                  {{3, 1, 9}, {2, 7, 5}});
}

TEST_CASE("wide: every rounding of products and sums") {
  Comparing all;
  for (const std::string& way : ways())
    for (const int p : {64, 113, 154})
      for (const char* product : modes)
        for (const char* sum : {product, "rne", "rdn"})
          all.compare(way, rounding_by(p, product, sum), {{2, 3, 9}});
}

TEST_CASE("wide: stochastic rounding has the reference's random bits") {
  Comparing all;
  for (const int p : {63, 64, 65, 113, 256, 385})
    for (const char* mode : {"sr1", "sr13", "sr33:half", "sr60", "sr60:even"})
      all.compare("wide", rounding_by(p, mode, mode), {{2, 5, 3}});
  if (!takes("wide52", rounding_by(64, "sr1", "sr1"))) return;
  for (const int k : {1, 2, 8, 13, 16, 17, 32, 33, 40, 47, 48})
    for (const char* variant : {"", ":half", ":even"}) {
      const std::string mode = fmt::format("sr{}{}", k, variant);
      // The last precisions of so many limbs, and the first of one more.
      for (const int limbs : {1, 2, 3, 6, 7})
        for (const int p : {52 * limbs - 3 - k, 52 * limbs - 2 - k})
          if (p > 1) all.compare("wide52", rounding_by(p, mode, mode), {{1, 9, 3}, {1, 2, 9}});
      all.compare("wide52", rounding_by(113, mode, "rdn"), {{2, 5, 9}});
      all.compare("wide52", rounding_by(113, "rup", mode), {{2, 5, 9}});
      all.compare("wide52", rounding_by(113, "sr32:half", mode), {{2, 5, 9}});
      all.compare("wide52", rounding_by(113, mode, "sr19:even"), {{2, 5, 9}});
      all.compare("wide52", rounding_by(1088 - k, mode, "rne"), {{2, 3, 3}});
    }
}

TEST_CASE("wide: exponents of 62 bits and of few, formats apart, without specials") {
  Comparing all;
  for (const std::string& way : ways())
    for (const char* text :
         {"mac(e62m112)", "mac(e61m200)", "mac(e3m66)", "mac(e15m112, sum=e18m112)",
          "mac(e15m112, sum=e8m112)", "mac(e15m112, product=e7m112, sum=e9m112)",
          "mac(binary64, product=e15m112, sum=e15m112)", "mac(e5m10, product=e11m63, sum=e9m63)",
          "mac(e15m112, b=e8m7, c=e11m52)", "mac(e8m70;nan=all_ones;inf=no)",
          "mac(e8m70;nan=none;inf=no;overflow=max)", "mac(e15m112, sum=e15m112:rtz)"})
      all.compare(way, parse_unit(text), {{3, 9, 10}, {2, 1, 17}});
}

TEST_CASE("wide: products, sums and operands of different precisions") {
  Comparing all;
  for (const std::string& way : ways()) {
    for (const char* text :
         {"mac(binary64, sum=e15m112)", "mac(e15m112, sum=binary64)", "mac(e15m112, a=e15m200)",
          "mac(e15m112, product=e15m20:rup, sum=e15m60:odd)", "mac(e15m63, sum=e15m300:rna)",
          "mac(e20m1087, product=e20m1, sum=e20m700:rdn)", "mac(e15m112, c=e15m300, sum=e15m4:rno)",
          "fma(e15m112, sum=binary64)", "fma(e15m70, c=e15m200, sum=e15m70:rtz)",
          "fma(e15m150, sum=e15m1:raz)", "fma(e11m52, b=e8m7, c=e15m112, sum=e8m10:rnz)"})
      all.compare(way, parse_unit(text), {{2, 1, 9}, {3, 7, 10}});
    // The last kept digit at every place of a limb, and either side of one.
    for (int p = 2; p <= 160; p += p % 64 == 61 || p % 52 > 45 ? 1 : 3)
      for (const char* mode : {"rne", "rup", "sr9:even"}) {
        const auto unit = [&](const char* text) {
          return parse_unit(fmt::format(fmt::runtime(text), p - 1, mode));
        };
        all.compare(way, unit("mac(e15m159, product=e15m{0}:{1}, sum=e15m159)"), {{1, 3, 9}});
        all.compare(way, unit("fma(e15m159, sum=e15m{0}:{1})"), {{1, 3, 9}});
      }
  }
  all.compare("wide", parse_unit("mac(e15m400, product=e15m62:sr60, sum=e15m330:sr20:half)"),
              {{2, 1, 7}, {3, 6, 5}});
  for (const std::string& way : ways())
    for (const char* text :
         {"mac(e15m400, product=e15m62:sr31, sum=e15m330:sr20:half)",
          "mac(e15m112, product=e15m20:odd, sum=e15m60:sr2)", "fma(e15m112, sum=e15m40:sr13:even)"})
      all.compare(way, parse_unit(text), {{2, 1, 7}, {3, 6, 5}});
}

TEST_CASE("wide: operands without minus signs, -0, subnormals or zero, or that flush") {
  Comparing all;
  for (const std::string& way : ways())
    for (const char* text :
         {"mac(e4m3fnuz, product=e15m112, sum=e15m112)", "fma(e8m0fnu, b=e6m120, sum=e6m120:rdn)",
          "mac(e15m112, b=ue4m3;nan=all_ones, c=e5m2fnuz)",
          "fma(e4m80, b=e5m2fnuz, c=e5m0;nan=none)",
          "mac(e5m10;daz, b=e15m80, c=e4m60;daz, product=e15m80, sum=e15m112)",
          "kahan(e4m3fnuz, product=e4m80, sum=e4m80)",
          "tree(e5m10;sub=no, b=e6m120, c=ue5m10;zero=no;sub=no;nan=none;inf=no, fan=3, "
          "product=e6m120, node=e6m120, sum=e6m120)",
          "dot(e5m2fnuz, c=e4m80, lanes=8, align=40:rtz, out=e3m51)",
          "dot(e8m0fnu, b=e11m60;sub=no, c=e5m0;nan=none, lanes=4, out=e11m60)",
          "kulisch(e4m3fnuz, b=e6m120, out=e6m120)",
          "dot(e6m60;daz, b=e5m2;ftz, lanes=4, align=70, out=e15m80)"}) {
      CAPTURE(text);
      all.compare(way, parse_unit(text), {{2, 1, 9}, {3, 11, 10}});
    }
}

TEST_CASE("wide: results without -0, that flush, or that are read as zero") {
  // Of few exponents, so that many results are subnormal, or zero.
  Comparing all;
  for (const std::string& way : ways())
    for (const char* text :
         {"mac(e3m60;ftz)",
          "mac(e3m60;daz)",
          "mac(e3m60, sum=e3m58;daz;ftz:rup)",
          "mac(e3m60, product=e3m4;daz:raz, sum=e3m70)",
          "mac(e3m60, sum=e3m4;ftz, final=e3m2;daz)",
          "fma(e3m60;ftz)",
          "fma(e3m60, sum=e3m9;daz:rdn, promote=3:e3m60;daz)",
          "fma(e3m60, sum=e3m20;ftz:sr20, promote=3:e3m60;ftz:sr8)",
          "kahan(e3m60;ftz)",
          "kahan(e3m60;daz, product=e3m50;ftz)",
          "neumaier(e3m60;daz;ftz, sum=e3m60;daz)",
          "tree(e3m60, fan=3, product=e3m60;ftz, node=e3m55;daz, sum=e3m60;ftz)",
          "dot(e3m60, lanes=3, out=e3m60;ftz)",
          "dot(e3m60, lanes=4, align=50, out=e3m60;ftz)",
          "dot(e3m60, lanes=4, align=50, out=e3m60;daz)",
          "kulisch(e3m60, out=e3m3;daz)",
          "mac(e3m60, sum=e4m3fnuz:rdn)",
          "mac(e3m60, product=e5m2fnuz, sum=e3m60:rdn)",
          "fma(e3m60, sum=e4m3fnuz;ftz)",
          "fma(e3m60, sum=e4m3fnuz;daz, final=e3m60:rdn)",
          "kahan(e3m60, sum=e5m2fnuz)",
          "dot(e3m60, lanes=4, align=9, out=e5m2fnuz)",
          "tree(e3m60, fan=4, product=e4m3fnuz, node=e5m2fnuz, sum=e4m60:rdn)"}) {
      CAPTURE(text);
      all.compare(way, parse_unit(text), {{2, 1, 9}, {3, 11, 10}});
    }
}

TEST_CASE("wide: fused multiply-adds") {
  Comparing all;
  for (const char* text :
       {"fma(e15m1)", "fma(e15m63)", "fma(e15m64)", "fma(e15m112)", "fma(e15m112, sum=e15m112:rdn)",
        "fma(e15m112, sum=e15m112:odd)", "fma(e20m255)", "fma(binary64, sum=e15m112)",
        "fma(e5m10, sum=e9m300)", "fma(e62m150, sum=e62m150:rup)", "fma(e3m66)",
        "fma(e15m112, b=e8m7, c=e11m52)"})
    for (const std::string& way : ways())
      all.compare(way, parse_unit(text), {{2, 1, 7}, {3, 6, 9}});
  for (const char* text :
       {"fma(e15m191, sum=e15m191:sr60)", "fma(e62m383, sum=e62m383:rup)", "fma(e20m1023)"})
    all.compare("wide", parse_unit(text), {{2, 1, 7}, {3, 6, 3}});
}

TEST_CASE("wide: fused, limbs of every count, and products of an even and an odd one") {
  Comparing all;
  for (const std::string& way : ways())
    for (const int p :
         {2,   3,   22,  23,  24,  48,  49,  50,  74,  75,  76,  100, 101, 102, 126, 127,
          128, 153, 154, 178, 179, 180, 205, 206, 231, 232, 257, 258, 283, 284, 308, 309})
      for (const char* mode : {"rne", "rdn"})
        all.compare(way, parse_unit(fmt::format("fma(e15m{0}, sum=e15m{0}:{1})", p - 1, mode)),
                    {{2, 1, 9}, {2, 5, 8}});
  for (const std::string& way : ways())
    for (const int digits : {26, 27, 52, 53, 104, 105, 130, 131, 156, 157, 286, 287, 312})
      for (const int k : {1, 8, 17, 32})
        if (const int p = digits - 3 - k; p > 1)
          all.compare(way, parse_unit(fmt::format("fma(e15m{0}, sum=e15m{0}:sr{1})", p - 1, k)),
                      {{2, 1, 9}, {2, 9, 8}});
}

TEST_CASE("wide: compensated sums") {
  Comparing all;
  for (const std::string& way : ways()) {
    for (const char* kind : {"kahan", "neumaier"}) {
      for (const int p : {2, 49, 50, 64, 65, 113, 154, 206, 310})
        for (const char* mode : {"rne", "rdn"})
          all.compare(
              way, parse_unit(fmt::format("{}(e15m{}, sum=e15m{}:{})", kind, p - 1, p - 1, mode)),
              {{2, 3, 9}, {9, 4, 3}});
      for (const char* text :
           {"{}(binary64, product=e15m112, sum=e15m112)", "{}(e15m112, sum=binary64:rup)",
            "{}(e15m112, product=e15m20:odd, sum=e15m63, final=e5m10:rtz)",
            "{}(e62m112, sum=e62m112:raz)", "{}(e3m66)", "{}(e15m112, promote=3:e15m200)",
            "{}(e15m63, promote=100:e11m52:rdn, c=e8m7)"})
        all.compare(way, parse_unit(fmt::format(fmt::runtime(text), kind)), {{2, 1, 9}, {9, 7, 3}});
      all.compare(way, parse_unit(fmt::format("{}(e15m63, promote=50:e15m63)", kind)),
                  {{1, 130, 3}});
    }
    all.compare(way, parse_unit("kahan(e20m1000)"), {{2, 3, 3}});
    for (const char* text :
         {"kahan(e15m112, product=e15m112:sr9, sum=e15m112:sr13)",
          "kahan(e15m150, sum=e15m112:sr32:half)", "neumaier(e15m63, sum=e15m63:sr48)",
          "neumaier(e15m64, sum=e15m64:sr30:half, promote=3:e15m64:sr5:even)"})
      all.compare(way, parse_unit(text), {{2, 7, 3}, {9, 9, 10}});
  }
  all.compare("wide",
              parse_unit("neumaier(e15m64, sum=e15m64:sr60:half, promote=3:e15m64:sr5:even)"),
              {{2, 7, 3}, {9, 5, 2}});
}

TEST_CASE("wide: blocks whose products nodes of two add up") {
  Comparing all;
  for (const std::string& way : ways()) {
    for (const int fan : {1, 2, 3, 5, 8, 13, 64})
      for (const char* mode : {"rne", "rup"}) {
        Unit u = parse_unit(
            fmt::format("tree(e15m112, fan={0}, node=e15m112:{1}, sum=e15m112:{1})", fan, mode));
        all.compare(way, u, {{2, 3, 9}, {9, 70, 3}});
        u.group_sum.order = Order::sequential;
        all.compare(way, u, {{2, 7, 9}});
      }
    for (const char* text :
         {"tree(binary64, fan=4, product=e15m112, node=e15m70:rdn, sum=binary64)",
          "tree(e15m63, fan=6, promote=12:e15m112, c=binary64)", "tree(e20m400, fan=3)",
          "tree(e15m112, fan=5, node=e15m20:rtz, sum=e15m63:raz, final=e4m3fn;overflow=max)"})
      all.compare(way, parse_unit(text), {{2, 1, 9}, {10, 17, 3}});
    Unit early = parse_unit("tree(e15m112, fan=4)");
    early.c_level = CLevel::block;
    all.compare(way, early, {{2, 5, 9}});
    for (const int fan : {3, 8, 13}) {
      Unit u =
          parse_unit(fmt::format("tree(e15m112, fan={}, product=e15m112:sr3,"
                                 " node=e15m112:sr41:half, sum=e15m112:sr32:even)",
                                 fan));
      all.compare(way, u, {{2, 12, 3}, {9, 20, 9}});
      u.group_sum.order = Order::sequential;
      all.compare(way, u, {{2, 14, 9}});
    }
  }
  all.compare("wide",
              parse_unit("tree(e15m112, fan=5, product=e15m112:sr3, node=e15m112:sr7:half,"
                         " sum=e15m112:sr60:even)"),
              {{2, 12, 3}, {9, 5, 2}});
}

TEST_CASE("wide: promotion, and C at the end") {
  Comparing all;
  for (const std::string& way : ways()) {
    for (const char* text :
         {"mac(e15m112, promote=1:e15m112)", "mac(e15m112, promote=7:binary64)",
          "fma(e15m63, promote=64:e15m112:rdn)", "mac(binary64, sum=e15m112, promote=50:e15m63)",
          "fma(e15m112, promote=3:e3m66, c=e8m7)"})
      all.compare(way, parse_unit(text), {{2, 1, 9}, {3, 8, 10}, {1, 130, 3}});
    for (const char* text : {"mac(e15m112)", "fma(e15m112, promote=3:e15m150)", "kahan(e15m63)",
                             "neumaier(e15m112, promote=2:e15m63)", "tree(e15m112, fan=3)"}) {
      Unit u = parse_unit(text);
      u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = ieee_format(15, 80)};
      all.compare(way, u, {{2, 1, 9}, {3, 7, 10}});
      u.chain.c_round->rm = Rounding(11, StochasticVariant::plain);
      all.compare(way, u, {{10, 7, 10}});
    }
    // Blocks that begin where a call of the generator is half used.
    for (const char* text :
         {"mac(e15m112, promote=3:e15m112:sr9)", "mac(e15m63, sum=e15m63:sr5, promote=7:binary64)",
          "fma(e15m63, sum=e15m63:sr20, promote=5:e15m80:sr16)"})
      all.compare(way, parse_unit(text), {{2, 8, 3}, {9, 70, 9}});
  }
}

TEST_CASE("wide: parts along k, blocks of rows and of columns") {
  Comparing all;
  for (const std::string& way : ways())
    for (const char* text : {"mac(e11m70)", "kahan(e11m70)", "mac(e11m70, sum=e11m70:sr9)",
                             "kahan(e11m70, sum=e11m70:sr20)"})
      all.compare(way, parse_unit(text), {{2, 130, 3}, {258, 1, 1}, {1, 2, 261}});
}

TEST_CASE("wide: digits that run in ones and zeros" * doctest::test_suite("unsanitized")) {
  ComparingRuns all;
  const auto compare = [&](const std::string& way, const Unit& u, std::size_t k) {
    if (takes(way, u)) all.compare(way, u, k);
  };
  for (const std::string& way : ways())
    for (const int p : {64, 65, 102, 113, 192, 256, 384, 512, 705, 1024})
      for (const char* mode : {"rne", "rtz", "rup"}) {
        const Unit fused = parse_unit(fmt::format("fma(e15m{0}, sum=e15m{0}:{1})", p - 1, mode));
        compare(way, rounding_by(p, mode, mode), 1);
        compare(way, rounding_by(p, mode, mode), 3);
        compare(way, fused, 1);
        compare(way, fused, 3);
        // Whatever is larger, or neither.
        for (const char* kind : {"kahan", "neumaier"}) {
          const std::string text = fmt::format("{0}(e15m{1}, sum=e15m{1}:{2})", kind, p - 1, mode);
          compare(way, parse_unit(text), 4);
        }
        // Kept digits end in another limb.
        const Unit fewer = parse_unit(fmt::format("mac(e15m{0}, product=e15m{1}:{2}, sum=e15m{3})",
                                                  p - 1, p / 2, mode, p / 3));
        compare(way, fewer, 3);
      }
  // Where a number of fewer digits has its leading one at the top of a limb.
  for (const std::string& way : ways())
    for (const auto& [p, q] : {std::pair{101, 49}, {153, 49}, {153, 101}, {205, 153}})
      for (const char* mode : {"rne", "rup"})
        compare(way, parse_unit(fmt::format("fma(e15m{0}, sum=e15m{1}:{2})", p - 1, q - 1, mode)),
                1);
  const std::uint64_t in_lanes =
      ways().size() > 1 ? 5 * 30 + 2 * 18 + 8 : 0;  // fused to 309 digits
  CHECK(all.products() == 7 * 30 + 8 + in_lanes);
}

TEST_CASE("wide: random bits beside digits that run in ones and zeros" *
          doctest::test_suite("unsanitized")) {
  ComparingRuns all;
  for (const std::string& way : ways())
    for (const int p : {33, 64, 113, 256})
      for (const int k : in_turn<int>({1, 2, 8, 13, 32}, 2))
        for (const char* variant : {"", ":half", ":even"}) {
          const std::string mode = fmt::format("sr{}{}", k, variant);
          all.compare(way, rounding_by(p, mode, mode), 3);
          for (const char* form :
               {"fma(e15m{0}, sum=e15m{0}:{2})", "kahan(e15m{0}, sum=e15m{0}:{2})",
                "neumaier(e15m{0}, sum=e15m{0}:{2})",
                "tree(e15m{0}, fan=3, node=e15m{0}:{2}, sum=e15m{0}:{2})",
                "mac(e15m{0}, product=e15m{1}:{2}, sum=e15m{1}:{2})"})
            all.compare(way, parse_unit(fmt::format(fmt::runtime(form), p - 1, p / 2, mode)), 9);
        }
}

TEST_CASE("wide refuses what it cannot vouch for, and nothing less") {
  const Border border("wide");
  border.lies_between("mac(e20m1087)", "mac(e20m1088)");
  border.lies_between("mac(e15m112, a=e20m1087)", "mac(e15m112, a=e20m1088)");
  border.lies_between("mac(e15m112, final=e20m1131)", "mac(e15m112, final=e20m1132)");
  border.lies_between("fma(e15m112, scale=e8m0fnu:32:term)", "mac(e15m112, scale=e8m0fnu:32:term)");
  border.lies_between("tree(e15m112, fan=64)", "tree(e15m112, fan=65)");
  border.lies_between("mac(e15m112, sum=e15m112:sr60)", "mac(e15m112, sum=e15m112:sr61)");
  border.lies_between("kahan(e15m112, sum=e15m112:sr60)", "kahan(e15m112, sum=e15m112:sr61)");
  border.lies_between("mac(e15m112, sum=e8m3)", "mac(e15m112, sum=ue8m3)");
  border.lies_between("mac(e15m112, sum=e2m3)", "mac(e15m112, sum=e1m3)");  // one binade
  border.excludes_each(
      "tree(e15m112, fan=4)",
      {[](Unit& u) { u.c_level = CLevel::group; },
       [](Unit& u) { u.group_sum.order = Order::fused; },
       [](Unit& u) { u.group_sum.align = {.reference = Reference::max_exponent, .frac_bits = 8}; },
       [](Unit& u) { u.lanes = 0; }, [](Unit& u) { u.product.round.reset(); }});
  border.lies_between("kahan(e15m112)", [](Unit& u) { u.product.round.reset(); });
  for (const char* text : {"mac(e15m112, promote=4:binary64)", "mac(e15m112;daz)", "mac(e4m3fnuz)"})
    CHECK(takes("wide", parse_unit(text)));
  if (ways().size() == 1) return;
  const Border of_lanes("wide52");
  of_lanes.lies_between("fma(e15m308)", "fma(e15m309)");
  of_lanes.lies_between("fma(e15m307, sum=e15m307:sr1)", "fma(e15m308, sum=e15m308:sr1)");
  of_lanes.lies_between("mac(e20m1055, sum=e15m112:sr32)", "mac(e20m1056, sum=e15m112:sr32)");
  of_lanes.lies_between("mac(e15m112, sum=e15m112:sr48)", "mac(e15m112, sum=e15m112:sr49)");
  of_lanes.lies_between("tree(e15m112, fan=4, node=e15m112:sr48)",
                        "tree(e15m112, fan=4, node=e15m112:sr49)");
}

TEST_CASE("lanes of 52-bit limbs are among the ways compared here") {
  const Opinion lanes = opinion("wide52", parse_unit("mac(e15m112)"));
  if (!lanes.takes) fmt::print("SKIPPED: wide52: {}\n", lanes.reason);
}

TEST_CASE("auto takes the wide engine's faster way for many digits") {
  for (const char* text : {"mac(e15m112)", "mac(e20m255)", "mac(e20m1023)", "fma(e15m112)",
                           "mac(e15m112, sum=e15m112:sr8)", "kahan(e15m112, sum=e15m112:sr32)"})
    CHECK(prepare({.unit = parse_unit(text), .k = 4}).engine == ways().back());
}

TEST_CASE("auto leaves lanes of limbs alone where there are outputs for few of them") {
  const Unit u = parse_unit("mac(e15m112)");
  CHECK(prepare({.unit = u, .k = 1000, .outputs = 1}).engine == "wide");
  CHECK(prepare({.unit = u, .k = 1000, .outputs = 64}).engine == ways().back());
}

}  // namespace test_wide_engine
