#include "dot_text.hpp"
#include "edges.hpp"
#include "everywhere.hpp"

namespace test_block_watch {

// Block lanes that align and cut numbers as wide as doubles, and look out for those that they have
// no room for, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

bool takes(const Unit& u) { return opinion("blocks", u, true).takes; }

std::vector<Unit> units() {
  std::vector<Unit> all = units_of(
      {"dot(binary64, lanes=4, align=24:rtz)",
       "dot(binary64, lanes=16, align=24:rtz, out=binary32)",
       "dot(binary64, lanes=3, align=49:odd, out=e8m40:rdn)",
       "dot(binary64, lanes=5, align=30:rdn, out=binary32:rtz, promote=10:binary64)",
       "dot(binary64, lanes=4, align=49, out=e8m40:sr2)",
       "dot(binary64, lanes=2, align=-3:raz, out=binary64:rup)",
       "dot(e5m10, lanes=4, align=24:rtz, out=binary64)",
       "dot(e5m10, lanes=4, align=24:rup, floor=-14, out=binary64:rdn, final=e5m10)",
       "dot(e9m5, b=e9m5;bias=257, c=e8m23, lanes=16, align=28:rtz, out=binary32:rtz)",
       "dot(e9m49, lanes=4, align=10:rnm, out=e9m25:rtz)",
       "dot(e8m23, b=e9m30, c=binary64, lanes=7, align=45:rna, out=e8m23)",
       "dot(e11m40, lanes=4)",
       "dot(e11m40, lanes=16, align=24:rtz, out=e11m40:rtz)",
       "dot(e11m30, lanes=3, align=40:rna, out=e11m50:rup, promote=6:e11m12:sr9)",
       "mac(binary64, c=binary64, product=binary64, sum=e4m3;bias=-10:raz)",
       "fma(binary64, c=binary64, sum=e4m3;bias=-10:rup)",
       "mac(e10m49, c=e8m10, product=e8m7:raz, sum=e8m10)",
       "mac(e10m3;bias=123, c=e8m10, product=e8m7:rtz, sum=e8m10)",
       "fixedacc(e8m7, width=40, frac=20, out=binary64)",
       "fixedacc(e5m10, width=33, frac=9, overflow=saturate, out=binary64, final=binary32)"});
  const auto vary = [&](const char* text, void (*change)(Unit&)) {
    all.push_back(with(parse_unit(text), change));
  };
  vary("dot(binary64, lanes=4)", [](Unit& u) { u.product.round = Round{.fmt = binary32}; });
  vary("dot(binary64, lanes=4, out=e8m20:rdn, final=binary64:rtz)", [](Unit& u) {
    u.product.round = Round{.fmt = ieee_format(8, 30)};
    u.product.round->rm = RoundingMode::rup;
  });
  vary("dot(binary64, lanes=6, align=20:rtz)", [](Unit& u) {
    u.groups = Groups{.consecutive = 2};
    u.block_sum.align = {.reference = Reference::max_exponent, .frac_bits = 30};
    u.c_level = CLevel::block;
  });
  vary("dot(binary64, lanes=4, align=20:rdn)", [](Unit& u) {
    u.c_level = CLevel::late;
    u.late_frac = LateFrac{.F_sum = 25, .F_C = 31};
    u.c_sum.align = {.reference = Reference::max_exponent, .frac_bits = 31};
  });
  vary("dot(binary64, lanes=4, align=20:rtz)",
       [](Unit& u) { u.product.exponent = ProductExponent::normalised; });
  vary("dot(binary64, lanes=4, align=20:rtz)", [](Unit& u) { u.product.overflow_to_inf_at = 30; });
  vary("dot(binary64, lanes=5, align=40, out=binary32)",
       [](Unit& u) { u.group_sum.order = Order::sequential; });
  vary("dot(binary64, lanes=4, align=24:rtz)",
       [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = binary64}; });
  vary("dot(binary64, lanes=4, align=20, promote=12:binary64:sr7)", [](Unit& u) {
    u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = binary64, .rm = RoundingMode::rna};
  });
  vary("dot(e11m40, lanes=4, align=24:rtz, c=binary64)",
       [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = u.out; });
  return all;
}

void compare(const char* text, std::initializer_list<double> a, std::initializer_list<double> b,
             double c, Tally& tally) {
  const Unit u = parse_unit(text);
  REQUIRE(takes(u));
  for (const bool flags : {false, true}) Rival("blocks", u, tally, flags).compare_doubles(a, b, c);
}

}  // namespace

TEST_CASE("numbers as wide as doubles, aligned: the reference's codes and flags") {
  const std::vector<Unit> all = units();
  hold_everywhere(all, takes);
  compare_everywhere("blocks", all, 1);
}

TEST_CASE("numbers as wide as doubles, aligned: past one panel, and infinities that last") {
  compare_past_panels("blocks", {"dot(binary64, lanes=8, align=24:rtz)",
                                 "dot(binary64, lanes=8, align=30, out=e8m20)"});
}

TEST_CASE("numbers as wide as doubles, aligned: no room for what lies too far apart") {
  Tally tally;
  const char* up = "dot(binary64, lanes=2, align=20:rup)";  // whatever is not 0
  compare(up, {0x1p390, 0x1p-500}, {1, 0x1p-500}, 0, tally);
  compare(up, {0x1p390, -0x1p-500}, {1, 0x1p-500}, 0, tally);
  compare(up, {0x1p300, 0x1p-200}, {1, 0x1p-96}, 0, tally);  // the last digit at 2^-400
  compare(up, {0x1p300, 0x1p-200}, {1, 0x1p-97}, 0, tally);
  compare(up, {0x1p800, 0x1p-296}, {1, 1}, 0, tally);
  compare(up, {0x1p398, 0x1p-296}, {1, 1}, 0, tally);
  compare(up, {0x1p390, 0}, {1, 0}, 0x1p-1074, tally);
  compare(up, {0x1p390, 0}, {1, 0}, -0x1p-348, tally);
  compare(up, {0x1p390, 0}, {1, 0}, 0x1p-349, tally);
  compare(up, {0x1p-290, 0}, {1, 0}, 0x1p1000, tally);
  compare(up, {0x1p-290, 0}, {1, 0}, 0x1p400, tally);
  // Every second step a sum far below or above the products.
  compare(up, {0x1p-290, 0, 0x1p300, 0, -0x1p300, 0}, {1, 0, 1, 0, 1, 0}, 0x1p-300, tally);
  compare(up, {-0x1p300, 0, 0x1p-290, 0}, {1, 0, 1, 0}, 0x1p300, tally);
  tally.expect(2 * 13);
}

TEST_CASE("numbers as wide as doubles, aligned: digits past those of a double") {
  Tally tally;
  // Products that a double would round across a digit of the window.
  compare("dot(binary64, lanes=1, align=24:rtz)", {1 + 0x1p-27}, {1 - 0x1p-27}, 0, tally);
  compare("dot(binary64, lanes=1, align=24:rup)", {1 + 0x1p-27}, {1 - 0x1p-27 + 0x1p-53}, 0, tally);
  compare("dot(binary64, lanes=1, align=49:rna)", {1 + 0x1p-50}, {1 - 0x1p-53}, 0, tally);
  compare("dot(binary64, lanes=1, align=49:rnz)", {1 + 0x1p-50}, {1 + 0x1p-52}, 0, tally);
  // More than 18 and a 54th digit.
  compare("dot(binary64, lanes=6, align=49:rtz, out=e8m20:rup)",
          {1.9375, 1.9375, 1.9375, 1.9375, 1.9375, 0x1p-49},
          {1.9375, 1.9375, 1.9375, 1.9375, 1.9375, 1}, 0, tally);
  tally.expect(2 * 5);
}

TEST_CASE("sums that grow at every step, as they are rounded, past a double's exponents") {
  struct Growing {
    const char* unit;
    std::size_t k;
    bool taken = false;
  };
  Tally tally;
  std::uint64_t expected = 0;
  for (const Growing& x :
       {Growing{"fma(e5m10, c=e5m10, sum=e11m1:rup)", 2500},
        {"fma(e5m10, c=e5m10, sum=e11m1:rup)", 20, true},
        {"mac(binary64, sum=e11m3:raz)", 7000},
        {"mac(binary64, sum=e11m1:rna)", 2500, true},
        {"mac(binary64, sum=e11m1:rtz)", 2500, true},
        {"fma(binary64, promote=1:e11m1:rup)", 2500},
        {"tree(binary64, fan=2, node=e11m1:rup, sum=e11m1:rup)", 5000},
        {"kahan(binary64, sum=e11m1:rup)", 2500},
        {"fma(binary64, sum=e11m1:rup, scale=e8m0fnu:8:term)", 2500},
        {"dot(binary64, lanes=2, out=e11m1:rup)", 4000},
        {"dot(binary64, lanes=2, out=binary64:rup)", 4000, true},
        {"dot(e5m10, c=e5m10, lanes=1, align=20:rup, out=e11m2:rup)", 5000},
        {"dot(e5m10, c=e5m10, lanes=1, align=20:rup, out=e10m2:rup)", 5000, true},
        {"dot(binary64, lanes=1, align=0:raz, out=binary64)", 1100},
        {"dot(binary64, lanes=1, align=20:raz, out=binary64)", 1100, true},
        {"dot(e5m10, c=binary64, lanes=2, align=-1:rna, out=binary64)", 2400},
        {"dot(bfloat16, c=binary64, lanes=1, align=-4:rup, out=binary64, "
         "scale=e8m0fnu:8:term)",
         400}}) {
    const Unit u = parse_unit(x.unit);
    MatrixProduct p;
    p.m = p.n = 1, p.k = x.k;
    const CodeList a = ones(u.a.fmt, x.k), b = ones(u.b.fmt, x.k), scales = ones(e8m0fnu, x.k);
    p.a = a.rows(x.k), p.b = b.rows(1);
    if (u.scale) p.scale_a = scales.rows(x.k), p.scale_b = scales.rows(1);
    CAPTURE(x.unit);
    for (const Opinion& o : opinions({.unit = u, .k = x.k, .flags = true})) {
      if (o.engine == "blocks") CHECK(o.takes == x.taken);
      if (!o.takes || o.engine == "reference") continue;
      Rival(o.engine, u, tally, true).compare(p, o.engine);
      ++expected;
    }
  }
  tally.expect(expected);
}

TEST_CASE("sums that a first cut lifts, before the rounding proper, grow as well") {
  const auto takes_long = [](RoundingMode mode, const char* out) {
    Unit u = parse_unit(out);
    u.out.post_norm_frac = 1, u.out.post_norm_rm = Rounding(mode);
    const auto all = opinions({.unit = u, .k = 5000});
    return std::ranges::find(all, "blocks", &Opinion::engine)->takes;
  };
  CHECK_FALSE(takes_long(RoundingMode::raz, "fma(binary64, sum=e11m40)"));
  CHECK(takes_long(RoundingMode::rtz, "fma(binary64, sum=e11m40)"));
  CHECK(takes_long(RoundingMode::raz, "fma(binary32, sum=e8m20)"));  // whose format ends before
}

TEST_CASE("numbers as wide as doubles, aligned: what goes another way") {
  const Border border("blocks");
  border.lies_between("dot(binary64, lanes=4, align=49, out=e8m40)",
                      "dot(binary64, lanes=4, align=50, out=e8m40)");
  border.lies_between("dot(e11m20, lanes=4, align=20)", "dot(e12m20, lanes=4, align=20)");
  border.lies_between("dot(e5m10, lanes=4, align=60, out=e11m50)",
                      "dot(e5m10, lanes=4, align=60, out=e11m51)");
  border.lies_between("dot(e5m10, lanes=4, align=48, out=binary64)",
                      "dot(e5m10, lanes=4, align=49, out=binary64)");
  // Within 2^900 either way nothing is watched.
  border.lies_between("dot(e4m3;bias=438, lanes=4, align=20)",
                      "dot(e4m3;bias=439, lanes=4, align=20)");
  border.lies_between("dot(e4m3;bias=-432, lanes=4, align=20)",
                      "dot(e4m3;bias=-433, lanes=4, align=20)");
  // A, either way, and products have a number nearer to one than 2^400.
  border.lies_between(
      "dot(e4m3;bias=414, b=e4m3;bias=-200, lanes=4, align=20, c=e8m23, out=e11m40)",
      "dot(e4m3;bias=415, b=e4m3;bias=-200, lanes=4, align=20, c=e8m23, out=e11m40)");
  border.lies_between(
      "dot(e4m3;bias=-401, b=e4m3;bias=200, lanes=4, align=20, c=e8m23, out=e11m40)",
      "dot(e4m3;bias=-402, b=e4m3;bias=200, lanes=4, align=20, c=e8m23, out=e11m40)");
  border.lies_between("dot(e4m3;bias=214, lanes=4, align=20, out=binary64)",
                      "dot(e4m3;bias=215, lanes=4, align=20, out=binary64)");
  // Numbers that no operand has: of an infinity that saturates, a zero that is none, a least
  // number.
  for (const std::string text :
       {"mac(e5m2, product=binary32, sum=e11m10;inf=no;overflow=max)",
        "mac(binary64, c=e5m2, product=e11m10;inf=no;overflow=max, sum=binary64:rtz)",
        "fma(e5m2, sum=e11m10;nan=none;zero=no;bias=1000)", "fma(e5m2, sum=e4m3;bias=-1000:rup)",
        "mac(binary64, sum=e11m20;bias=1024)", "mac(binary32, final=e10m3;bias=1030)",
        "mac(e11m3;bias=1024, b=binary64, product=binary64, sum=e8m10)",
        "mac(binary64, c=e11m3;bias=1024, product=binary64, sum=binary64)",
        "dot(e9m7, lanes=2, align=0:raz, floor=900, out=e11m20)"}) {
    CAPTURE(text);
    CHECK_FALSE(takes(parse_unit(text)));
  }
  const Unit last = with(parse_unit("dot(binary64, lanes=4, align=20)"), [](Unit& u) {
    u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = binary64};
    u.chain.c_round->rm = {33, StochasticVariant::plain};
  });
  CHECK_FALSE(takes(last));
}

}  // namespace test_block_watch
