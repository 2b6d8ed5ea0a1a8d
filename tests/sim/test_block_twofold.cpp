#include <fmt/format.h>

#include "dot_text.hpp"
#include "edges.hpp"
#include "everywhere.hpp"
#include "sim/blocks/plan.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_block_twofold {

// Block lanes whose exact sums are two doubles each, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

bool as_two_doubles(const Unit& u, bool flags = true) {
  const auto rules = blocks::plan({.unit = u, .k = 1, .flags = flags}).rules;
  return rules && rules->group.aligned == blocks::Aligned::twofold;
}

// Every mode and way to round, and to come to one sum.
std::vector<Unit> units() {
  std::vector<Unit> all =
      units_of({"dot(binary64, lanes=4)",
                "dot(binary64, lanes=2, out=binary64:rtz)",
                "dot(binary64, lanes=3, out=binary64:rdn)",
                "dot(binary64, lanes=8, out=binary64:rup)",
                "dot(binary64)",
                "dot(binary64, lanes=4, promote=8:binary64)",
                "dot(binary64, b=e5m10, c=binary32, lanes=4, out=binary64)",
                "dot(e11m30, lanes=4, out=binary64)",
                "dot(binary32, lanes=4, out=binary64:rtz)",
                "dot(binary64, lanes=4, c=e8m7, out=binary32)",
                "dot(e8m30, lanes=4)",
                "dot(e8m30, lanes=3, out=e8m30:rdn)",
                "dot(e8m30, lanes=3, out=e6m20:sr8)",
                "dot(e9m40, lanes=5, out=e9m40:rna)",
                "dot(e9m40, lanes=5, out=e4m3fnuz:rup)",
                "dot(e9m33, b=e9m45, lanes=4, out=e9m45:odd, promote=8:e8m20)",
                "dot(e8m40, lanes=3, out=e8m50)",
                "dot(e8m40, lanes=3, out=e8m43:sr7:half)",
                "dot(binary64, lanes=4, out=e10m44, final=binary64)",
                "mac(binary64, c=binary32, sum=binary32)",
                "mac(binary64, sum=binary64:sr8)",
                "fma(binary64, sum=binary64:sr1:half)",
                "fma(binary64, sum=binary64:sr32:even)",
                "dot(binary32, c=binary64, lanes=5, out=binary64:sr17:even)",
                "dot(binary64, lanes=4, out=binary64:sr5:half)",
                "dot(binary64, lanes=4, out=binary64:rna)",
                "dot(binary64, lanes=3, out=binary64:rnm, promote=9:binary64)",
                "dot(binary32, c=binary64, lanes=5, out=binary64:rno)",
                "dot(binary64, lanes=4, promote=8:binary64:rup)",
                "mac(binary64, product=binary64:sr3:even, promote=3:binary64:rnp)",
                "dot(binary64, lanes=2, out=binary64:rtz, final=binary64:rdn,"
                " promote=6:binary64:sr5)"});
  const auto vary = [&](const char* text, void (*change)(Unit&)) {
    all.push_back(with(parse_unit(text), change));
  };
  vary("dot(binary64, lanes=4)", [](Unit& u) { u.product.round = u.out; });
  vary("dot(binary64, lanes=4, out=binary64:sr6)", [](Unit& u) {
    u.product.round = u.out;
    u.product.round->rm = {4, StochasticVariant::even};
  });
  vary("dot(binary64, lanes=6)", [](Unit& u) {
    u.groups = Groups{.strided = 3};
    u.c_level = CLevel::block;
  });
  vary("dot(binary64, lanes=5)", [](Unit& u) { u.c_level = CLevel::late; });
  vary("dot(binary64, lanes=4)",
       [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = u.out; });
  vary("dot(binary64, lanes=4, out=binary64:rnz)", [](Unit& u) {
    u.product.round = Round{.fmt = binary64, .rm = RoundingMode::rnp};
    u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = binary64, .rm = RoundingMode::rno};
  });
  vary("dot(binary64, lanes=4)", [](Unit& u) { u.a.subnormals = Flush::flush_signed_zero; });
  return all;
}

// One row and column of doubles, beside a C.
void compare(const char* text, std::initializer_list<double> a, std::initializer_list<double> b,
             double c, Tally& tally) {
  const Unit u = parse_unit(text);
  REQUIRE(as_two_doubles(u));
  Rival("blocks", u, tally, true).compare_doubles(a, b, c);
}

constexpr const char* every_mode[] = {"dot(binary64, lanes=4, out=binary64:sr2)",
                                      "dot(binary64, lanes=4, out=binary64:sr1:even)",
                                      "dot(binary64, lanes=4, out=binary64:sr1:half)",
                                      "dot(binary64, lanes=4)",
                                      "dot(binary64, lanes=4, out=binary64:rtz)",
                                      "dot(binary64, lanes=4, out=binary64:rdn)",
                                      "dot(binary64, lanes=4, out=binary64:rup)",
                                      "dot(binary64, lanes=4, out=binary64:odd)",
                                      "dot(binary64, lanes=4, out=binary64:raz)",
                                      "dot(binary64, lanes=4, out=binary64:rna)",
                                      "dot(binary64, lanes=4, out=binary64:rnz)",
                                      "dot(binary64, lanes=4, out=binary64:rnp)",
                                      "dot(binary64, lanes=4, out=binary64:rnm)",
                                      "dot(binary64, lanes=4, out=binary64:rno)",
                                      "dot(binary64, lanes=4, out=e10m44:rna)"};

}  // namespace

TEST_CASE("sums of two doubles: the reference's codes and flags, all sorts of operands") {
  const std::vector<Unit> all = units();
  hold_everywhere(all, [](const Unit& u) { return as_two_doubles(u); });
  compare_everywhere("blocks", all, 1);
}

TEST_CASE("long products: rounded to odd before they are rounded") {
  std::vector<Unit> all =
      units_of({"kahan(e8m40, product=e7m36, sum=e7m36:raz)", "tree(e8m30, fan=4, sum=e8m30)",
                "neumaier(e7m52, b=e7m50, c=e7m3, product=e7m25:rdn, sum=e7m8)",
                "tree(e6m45, b=e5m10, fan=3, product=e6m50, node=e6m50:rup, sum=e6m50:rna)",
                "kahan(e4m49, b=e8m10, product=e5m2:sr9, sum=e5m11:rdn)"});
  compare_everywhere("blocks", all, 4);
  const Border border("blocks");
  border.lies_between("kahan(e8m40, product=e7m50, sum=e7m50)",
                      "kahan(e8m40, product=e7m51, sum=e7m50)");
  border.lies_between("dot(e7m40, lanes=2, scale=e4m0;nan=all_ones:32:term)",
                      "dot(e7m40, lanes=2, scale=e4m1:32:term)");
}

TEST_CASE("sums of two doubles: windows of more digits than a double has") {
  std::vector<Unit> all = units_of(
      {"dot(binary32, lanes=4, align=60)", "dot(e8m20, lanes=8, align=52:rna, out=e8m40:rdn)",
       "dot(e8m10, lanes=7, align=80:rdn, floor=-120, out=e8m45:rup)",
       "dot(e8m23, lanes=3, align=53:odd, out=e8m30:sr9, promote=6:e8m12)",
       "dot(e5m10, b=e8m7, c=e8m23, lanes=16, align=70:rup, out=binary32:rtz)"});
  all.push_back(with(all[0], [](Unit& u) {
    u.groups = Groups{.consecutive = 2};
    u.group_sum.align = {.reference = Reference::max_exponent, .frac_bits = 30};
    u.block_sum.align = {.reference = Reference::max_exponent, .frac_bits = 62};
    u.c_level = CLevel::block;
  }));
  all.push_back(with(all[0], [](Unit& u) {
    u.group_sum.align.frac_bits = 30;
    u.c_level = CLevel::late;
    u.late_frac = LateFrac{.F_sum = 40, .F_C = 64};
    u.c_sum.align = {.reference = Reference::max_exponent, .frac_bits = 64};
  }));
  // Scales of groups may be infinite, which no product tells.
  all.push_back(
      with(parse_unit("dot(e4m3fn, c=binary32, out=binary32, lanes=4, align=60)"), [](Unit& u) {
        u.scale = Scale{e5m2, 4, ScaleApply::group};
        u.group_sum.align.frac_bits = 10;
        u.c_level = CLevel::late;
        u.late_frac = LateFrac{.F_sum = 54, .F_C = 60};
        u.c_sum.align = {.reference = Reference::max_exponent, .frac_bits = 60};
      }));
  compare_everywhere("blocks", all, 3);
}

TEST_CASE("sums of two doubles: flags, past one panel, and infinities that last") {
  compare_past_panels("blocks", {"dot(binary64, lanes=4)", "dot(e8m30, lanes=3)",
                                 "dot(binary64, lanes=4, out=binary32:rup)"});
}

TEST_CASE("sums of two doubles: what the second one loses decides") {
  Tally tally;
  for (const char* text : every_mode)
    for (const double sign : {1.0, -1.0}) {
      CAPTURE(text);
      const double one = sign, half = sign * 0x1p-53, least = 0x1p-200;
      // A tie, and beside it what is far below the second double.
      compare(text, {1, 1, 1, 0}, {half, 0, 0, 0}, one, tally);
      compare(text, {1, least, 1, 0}, {half, 1, 0, 0}, one, tally);
      compare(text, {1, least, 1, 0}, {half, -1, 0, 0}, one, tally);
      compare(text, {1, least, 1, 0}, {3 * half, -1, 0, 0}, one, tally);
      // Nothing but that is left, or nothing at all.
      compare(text, {1, least, 1, 0}, {-one, 1, 0, 0}, one, tally);
      compare(text, {1, least, least, 1}, {-one, 1, -1, 0}, one, tally);
      compare(text, {1, least, least * least, 1}, {-one, 1, 1, -least}, one, tally);
      // Next to it, exactly and not.
      compare(text, {1, least, 0, 0}, {one, 1, 0, 0}, one, tally);
      compare(text, {1, least, 0, 0}, {one, -1, 0, 0}, one, tally);
    }
  tally.expect(std::size(every_mode) * 2 * 9);
}

TEST_CASE("sums of two doubles: zeros of both signs, and products at both ends") {
  Tally tally;
  for (const char* text : every_mode) {
    CAPTURE(text);
    for (const double c : {0.0, -0.0}) {
      compare(text, {0, -0.0, 0, -0.0}, {1, 1, 1, 1}, c, tally);
      compare(text, {-0.0, -0.0, -0.0, -0.0}, {1, 1, 1, 1}, c, tally);
      compare(text, {1, 1, 0, 0}, {1, -1, 1, 1}, c, tally);
      // Digits below the least double, and sums past the largest that come back or do not.
      compare(text, {0x1.0000000000001p-500, 0, 0, 0}, {0x1.0000000000001p-470, 0, 0, 0}, c, tally);
      compare(text, {0x1.0000000000001p-500, 0, 0, 0}, {0x1.0000000000001p-471, 0, 0, 0}, c, tally);
      compare(text, {0x1.0000000000001p-500, 1, 0, 0}, {0x1.0000000000001p-522, 1, 0, 0}, c, tally);
      compare(text, {0x1p1000, 0x1p1000, 1, 0}, {0x1p23, 0x1p23, 1, 1}, c, tally);
      compare(text, {0x1p1000, 0x1p1000, 1, 0}, {0x1p24, -0x1p24, 1, 1}, c, tally);
      compare(text, {0x1p1000, 0x1p1000, 0x1p1000, 0}, {0x1p23, 0x1p23, -0x1p23, 1}, c, tally);
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    compare(text, {infinity, 0x1p1000, 0x1p1000, 0}, {1, -0x1p100, -0x1p100, 1}, 0, tally);
    compare(text, {1, 0x1p1000, 0x1p1000, 0}, {infinity, 0x1p-990, 1, infinity}, 0, tally);
  }
  tally.expect(std::size(every_mode) * (2 * 9 + 2));
}

TEST_CASE("sums of two doubles: a chain adds numbers past the largest double together") {
  Tally tally;
  constexpr double largest = std::numeric_limits<double>::max();
  for (const char* text :
       {"mac(binary64, promote=2:e5m10:sr28:even)", "mac(binary64, promote=1:e8m20;overflow=max)",
        "dot(binary64, lanes=2, promote=2:e5m2;overflow=max)"}) {
    compare(text, {1.625, 1}, {0x1p1022, 0x1p8}, largest, tally);
    compare(text, {1, 0}, {0x1p970, 0}, largest, tally);
    compare(text, {-1.625, 1}, {0x1p1022, 0x1p8}, -largest, tally);
    compare(text, {1, 1, 1, 1}, {0x1p1023, 0, 0x1p1023, 0}, 0, tally);
  }
  tally.expect(3 * 4);
}

TEST_CASE("sums of two doubles: what is summed or rounded otherwise goes another way") {
  const auto refused = [](
                           const char* text, void (*change)(Unit&) = [](Unit&) {}) {
    const Unit u = with(parse_unit(text), change);
    CAPTURE(to_string(u));
    CHECK_FALSE(as_two_doubles(u));
  };
  CHECK(as_two_doubles(parse_unit("dot(binary64, lanes=4)")));
  for (const char* text :
       {"dot(e12m20, lanes=4, out=binary64)", "dot(e11m53, lanes=4, out=binary64)",
        "dot(binary64, lanes=4, out=e11m51)", "dot(binary64, lanes=4, out=binary64:sr33)",
        "dot(binary64, lanes=4, align=60)", "dot(binary64, lanes=4, promote=8:binary64:sr33)",
        "tree(binary64, fan=4, node=e11m51)"})
    refused(text);
  refused("dot(binary64, lanes=4)", [](Unit& u) { u.a.keep_frac = 20; });
  refused("dot(binary64, lanes=4)", [](Unit& u) { u.product.overflow_to_inf_at = 20; });
  refused("dot(binary64, lanes=4)", [](Unit& u) { u.product.round = Round{ieee_format(11, 51)}; });
  refused("dot(binary64, lanes=4)", [](Unit& u) { u.out.zero_sign = ZeroSign::plus; });
  refused("dot(binary64, lanes=4)", [](Unit& u) { u.group_sum.width = 4000; });
}

}  // namespace test_block_twofold
