#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/lanes/plan.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_lane_plans {

// Which units the lanes take, and how, on both sides of every condition: none moves by one unseen.
// That the lanes are right wherever they take a unit is for test_lanes.cpp.
namespace {

using namespace widthwise;
using namespace widthwise::lanes;

// Of a unit's plan one letter: upper case for double lanes, '.' where there is none.
char letter(const char* unit, bool own_modes) {
  const Answer answer = plan(parse_unit(unit), own_modes);
  if (!answer.plan) return '.';
  const Plan& p = *answer.plan;
  const bool exact = p.multiply == Multiply::exact;
  const char c = p.multiply == Multiply::odd ? 'o'  // fused, to odd
                 : p.add == Add::odd         ? (exact                          ? 'x'
                                                : p.multiply == Multiply::wide ? 'w'
                                                                               : 'y')
                 : p.add == Add::native      ? 'm'                  // the machine's own
                 : p.add == Add::cut         ? 'c'                  // directed
                 : p.add == Add::random      ? 's'                  // stochastic
                 : p.add == Add::normal      ? (exact ? 'e' : 'p')  // exact or rounded products
                                             : (exact ? 'f' : 'r');      // the same, subnormal sums
  return p.carrier.digits == in_float.digits ? c : static_cast<char>(c - 'a' + 'A');
}

struct Case {
  const char* unit;
  char with, without;  // rounding modes of the operations' own
};

}  // namespace

TEST_CASE("lanes take what their conditions allow, and not one digit more") {
  for (const Case& c : {
           Case{"mac(e5m10)", 'p', 'p'},
           Case{"mac(e5m11)", 'P', 'P'},
           Case{"mac(e5m3, product=e5m3, sum=e5m11, c=e5m3)", 'P', 'P'},
           Case{"mac(e5m3, product=e5m3, sum=e5m10, c=e5m3)", 'p', 'p'},
           Case{"mac(e5m10, product=e5m11, sum=e5m10)", 'R', 'R'},
           Case{"mac(e2m1)", 'p', 'p'},
           Case{"mac(e5m1)", 'p', 'p'},
           Case{"fma(e3m2, sum=e3m8)", 'e', 'e'},
           Case{"mac(e11m25)", 'P', 'P'},
           Case{"mac(e11m26)", 'W', 'W'},
           Case{"mac(e8m7)", 'p', 'p'},
           Case{"mac(e9m7)", 'P', 'P'},
           Case{"mac(e11m7)", 'P', 'P'},
           Case{"mac(e12m7)", '.', '.'},
           Case{"mac(e5m11, product=e5m3, sum=e5m3, c=e5m3)", 'P', 'P'},
           Case{"mac(e5m10, product=e5m3, sum=e5m3, c=e5m3)", 'p', 'p'},
           Case{"mac(e5m3, product=e5m10, sum=e5m3)", 'R', 'R'},
           Case{"mac(e5m9, product=e5m10, sum=e5m9)", 'R', 'R'},
           Case{"mac(e5m9, product=e5m11, sum=e5m9)", 'R', 'R'},
           Case{"mac(e4m3, product=e5m7, sum=e5m7)", 'e', 'e'},
           Case{"mac(e4m3, product=e5m6, sum=e5m7)", 'p', 'p'},
           Case{"mac(e4m3, product=e4m7, sum=e5m7)", 'p', 'p'},
           Case{"mac(e4m3, product=e12m3, sum=e5m7)", '.', '.'},
           Case{"mac(e4m3, product=e9m3, sum=e5m7)", 'R', 'R'},
           Case{"mac(e5m10, product=e5m2, sum=e5m10)", 'p', 'p'},
           Case{"mac(e5m10, c=e5m11)", 'y', 'y'},
           Case{"mac(e5m10, c=e5m9)", 'p', 'p'},
           Case{"mac(e5m3, product=e6m3, sum=e5m3)", 'r', 'r'},
           Case{"mac(e5m3, product=e5m3, sum=e6m3)", 'p', 'p'},
           Case{"mac(e8m7, c=e7m5, sum=e2m9)", 'y', 'y'},
           Case{"mac(e8m7, c=e7m5, sum=e7m9)", 'r', 'r'},
           Case{"mac(e8m7, c=e2m5, sum=e2m5)", 'r', 'r'},
           Case{"mac(e5m5;bias=21, c=e5m5, sum=e2m7)", 'R', 'R'},
           Case{"mac(e5m5;bias=20, c=e5m5, sum=e2m7)", 'r', 'r'},
           Case{"mac(e5m3, c=e6m3)", 'r', 'r'},
           Case{"fma(e4m3, sum=e4m7)", 'f', 'f'},
           Case{"fma(e4m3, sum=e5m7)", 'e', 'e'},
           Case{"fma(e4m3, sum=e5m8)", 'e', 'e'},
           Case{"fma(e4m6, sum=e5m7)", 'o', 'F'},
           Case{"fma(e4m7, sum=e5m7)", 'o', 'F'},
           Case{"fma(e4m8, sum=e5m7)", 'o', 'x'},
           Case{"fma(e2m10;bias=-112, a=e2m4, b=e2m5)", 'f', 'f'},
           Case{"fma(e2m10;bias=-113, a=e2m4, b=e2m5)", 'F', 'F'},
           Case{"fma(e2m10;bias=-113, a=e2m9, b=e2m9)", 'F', 'F'},
           Case{"mac(e5m4, product=e2m4;bias=-106, sum=e5m4)", 'p', 'p'},
           Case{"mac(e5m4, product=e2m4;bias=-107, sum=e5m4)", 'P', 'P'},
           Case{"fma(e5m10)", 'o', 'F'},
           Case{"fma(e8m7)", 'o', 'X'},
           Case{"fma(e8m15)", 'o', 'X'},
           Case{"fma(e6m3, sum=e5m3)", 'o', 'F'},
           Case{"fma(e7m3, sum=e5m3)", 'o', 'x'},
           Case{"fma(e8m3, sum=e5m3, c=e5m3)", 'o', 'F'},
           Case{"fma(e8m3, sum=e8m8, c=e8m8)", 'o', 'F'},
           Case{"fma(e7m21)", 'o', 'X'},
           Case{"fma(e7m22)", 'O', 'X'},
           Case{"fma(e8m21)", 'o', 'X'},
           Case{"fma(e8m22)", 'O', 'X'},
           Case{"fma(e9m3)", 'O', 'X'},
           Case{"fma(e10m50)", 'O', '.'},
           Case{"fma(e10m51)", '.', '.'},
           Case{"fma(e11m49)", 'O', '.'},
           Case{"fma(e11m50)", 'O', '.'},
           Case{"fma(e12m3)", '.', '.'},
           Case{"fma(e5m3, c=e5m22)", 'o', 'x'},
           Case{"fma(e5m3, c=e5m23)", 'o', 'x'},
           Case{"fma(e5m3, c=e5m24)", 'O', 'X'},
           Case{"fma(e5m3, c=e9m3)", 'O', 'X'},
           Case{"fma(e5m3, c=e12m3)", '.', '.'},
           Case{"mac(binary32)", 'm', 'm'},
           Case{"fma(binary32)", 'm', 'm'},
           Case{"mac(binary64)", 'M', 'M'},
           Case{"fma(binary64)", 'M', 'M'},
           Case{"mac(binary32, product=binary32:rtz, sum=binary32:rtz)", 'm', 'm'},
           Case{"mac(binary32, product=binary32:rtz)", '.', '.'},
           Case{"mac(binary32, product=binary32:rna, sum=binary32:rna)", 'C', 'C'},
           Case{"fma(binary64, sum=binary64:rup)", 'M', 'M'},
           Case{"fma(e5m10, sum=binary32)", 'm', 'm'},
           Case{"fma(e5m10, sum=binary32, c=e5m22)", 'm', 'm'},
           Case{"fma(e5m10, sum=binary32, c=e5m24)", 'O', 'X'},
           Case{"mac(e8m7, product=binary32, sum=binary32)", 'm', 'm'},
           Case{"mac(e7m7;bias=92, product=binary32, sum=binary32, c=binary32)", 'm', 'm'},
           Case{"fma(binary32, sum=binary64)", 'M', 'M'},
           Case{"fma(e10m20, sum=binary64)", 'M', 'M'},
           Case{"fma(e12m20, sum=binary64)", '.', '.'},
           Case{"mac(e8m23, product=e8m22, sum=e8m23)", 'P', 'P'},
           Case{"mac(e8m22, c=binary32)", 'Y', 'Y'},
           Case{"mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)", 'c', 'c'},
           Case{"mac(e5m10, product=e5m10:rtz, sum=e5m10:rdn)", '.', '.'},
           Case{"mac(e5m10, product=e5m10, sum=e5m10:rup)", 'y', 'y'},
           Case{"mac(e5m10, product=e5m10:rnz, sum=e5m10:rnz)", '.', '.'},
           Case{"mac(e5m10, product=e6m10:rtz, sum=e5m10:rtz)", '.', '.'},
           Case{"mac(e5m3, product=e5m21:rup, sum=e5m3:rup)", 'c', 'c'},
           Case{"mac(e5m3, product=e5m22:rup, sum=e5m3:rup)", 'C', 'C'},
           Case{"fma(e5m21, sum=e5m21:rdn)", 'c', 'c'},
           Case{"fma(e5m22, sum=e5m22:rdn)", 'C', 'C'},
           Case{"fma(e5m3, sum=e5m22:rna, c=e5m3)", 'C', 'C'},
           Case{"fma(e5m3, sum=e5m3:rna, c=e5m22)", 'C', 'C'},
           Case{"fma(e5m50, sum=e5m50:rdn)", 'C', 'C'},
           Case{"fma(e5m51, sum=e5m51:rdn)", '.', '.'},
           // Scaled by 2^-127 or 2^-1023, and 2^-128 or 2^-1024, which have no inverse.
           Case{"fma(e2m4, sum=e2m7;bias=0:rdn)", 'c', 'c'},
           Case{"fma(e2m4, sum=e2m7;bias=-1:rdn)", '.', '.'},
           Case{"fma(e8m21, sum=e8m21:rtz)", 'c', 'c'},
           Case{"fma(e8m3, sum=e7m3:rtz)", '.', '.'},
           Case{"fma(e7m3, sum=e8m3:rtz)", 'c', 'c'},
           Case{"fma(e6m3, sum=e5m3:rtz)", 'c', 'c'},
           Case{"fma(e11m3, sum=e11m3:rtz)", 'C', 'C'},
           Case{"fma(e12m3, sum=e12m3:rtz)", '.', '.'},
           Case{"fma(e9m3, sum=e9m3:rtz)", 'C', 'C'},
           Case{"mac(e5m10, sum=e5m10:sr13)", 's', 's'},
           Case{"mac(e5m10, sum=e5m10:sr14)", 'S', 'S'},
           Case{"mac(e5m10, sum=e8m25:sr16)", 'S', 'S'},
           Case{"mac(e5m10, sum=e8m26:sr9)", '.', '.'},
           Case{"mac(e5m11, sum=e5m11:sr8)", 'S', 'S'},
           Case{"mac(e5m3, sum=e5m3:sr16)", 's', 's'},
           Case{"mac(e5m3, sum=e5m3:sr17)", '.', '.'},
           Case{"mac(e5m10, product=e5m10:rtz, sum=e5m10:sr13)", '.', '.'},
           Case{"mac(e5m10, sum=e5m10:sr13:half)", '.', '.'},
           Case{"fma(e4m3, sum=e5m7:sr8)", 's', 's'},
           Case{"fma(e4m3, sum=e4m7:sr8)", '.', '.'},
           Case{"mac(e4m3fnuz)", 'p', 'p'},
           Case{"mac(e4m3fnuz, product=e4m3fnuz:rtz, sum=e5m10:rtz)", '.', '.'},
           Case{"mac(e4m3fnuz, product=e5m10:rdn, sum=e5m10:rdn)", 'c', 'c'},
           Case{"mac(e4m3fnuz, sum=e5m10:sr9)", 's', 's'},
           Case{"mac(e4m3, product=e5m7;bias=19;ftz, sum=e6m7)", 'e', 'e'},
           Case{"mac(e4m3, product=e5m7;bias=18;ftz, sum=e6m7)", 'p', 'p'},
           Case{"mac(e5m10;ftz;daz)", 'p', 'p'},
           Case{"mac(e5m10, product=e5m11;ftz, sum=e5m10)", 'R', 'R'},
           Case{"mac(e5m10;daz)", '.', '.'},
           Case{"mac(e5m10, product=e5m10;daz, sum=e5m10)", '.', '.'},
           Case{"fma(e5m10;daz, sum=binary32)", 'm', 'm'},
           Case{"mac(binary32;ftz;daz)", 'm', 'm'},
           Case{"mac(binary32;ftz;daz, tininess=before)", 'P', 'P'},
           Case{"mac(binary64;ftz;daz, tininess=before)", '.', '.'},
           Case{"mac(e5m10;ftz, tininess=before)", 'p', 'p'},
           Case{"fma(e5m10;ftz, tininess=before)", '.', '.'},
           Case{"fma(e5m10;ftz, sum=e8m23;ftz, tininess=delivered)", 'm', 'm'},
           Case{"mac(e5m10, product=e5m10;ftz:rup, sum=e5m10:rup)", '.', '.'},
           Case{"mac(e5m10, product=e5m10;ftz:rtz, sum=e5m10:rtz)", 'c', 'c'},
           Case{"mac(e8m7, product=e8m7;ftz:rtz, sum=e8m7;ftz:rtz)", 'c', 'c'},
           Case{"mac(e5m10, sum=e5m10;ftz:sr9)", '.', '.'},
           Case{"fma(e5m10, sum=e4m3fn)", 'o', 'x'},
           Case{"fma(e5m10, sum=e4m3fn;ftz)", '.', '.'},
           // Sums to odd, then by any mode.
           Case{"mac(e5m10, sum=e5m21:rtz)", 'y', 'y'},
           Case{"mac(e5m10, sum=e5m22:rtz)", 'Y', 'Y'},
           Case{"mac(e5m10, sum=e5m50:raz)", 'Y', 'Y'},
           Case{"mac(e5m10, sum=e5m51:raz)", '.', '.'},
           Case{"mac(e5m11, sum=e5m11:rtz)", 'w', 'w'},
           Case{"mac(e5m11, product=e5m10, sum=e5m11:rtz)", 'w', 'w'},
           Case{"mac(e5m10, product=e5m11, sum=e5m11:rtz)", 'w', 'w'},
           Case{"mac(e5m11, a=e5m10, b=e5m11, product=e5m10, sum=e5m11:rtz)", 'y', 'y'},
           Case{"mac(e5m21, sum=e5m21:rtz)", 'w', 'w'},
           Case{"mac(e5m22, sum=e5m22:rtz)", 'Y', 'Y'},
           Case{"mac(e5m25, sum=e5m25:rtz)", 'Y', 'Y'},
           Case{"mac(e5m26, sum=e5m26:rtz)", 'W', 'W'},
           Case{"mac(e11m50)", 'W', 'W'},
           Case{"mac(e11m51)", '.', '.'},
           Case{"mac(e5m20, product=e9m50, sum=e9m45:rtz)", 'X', 'X'},
           Case{"mac(e10m50, sum=e11m30:rtz)", 'W', 'W'},
           Case{"mac(e10m51, product=e10m51, sum=e10m20)", '.', '.'},
           Case{"fma(e5m11, sum=e8m21:odd)", 'x', 'x'},
           Case{"fma(e5m11, b=e5m12, sum=e8m21:odd)", 'X', 'X'},
           Case{"fma(e5m25, b=e5m26, sum=e8m50:odd)", 'X', 'X'},
           Case{"fma(e5m26, sum=e8m50:odd)", '.', '.'},
           Case{"fma(e7m9, a=e7m11;bias=64, b=e7m11;bias=65)", 'o', 'x'},
           Case{"fma(e7m9, a=e7m11;bias=65, b=e7m11;bias=65)", 'o', 'X'},
           Case{"fma(e4m3, sum=e5m4:odd)", 'x', 'x'},
           Case{"fma(e4m3, sum=e5m3:odd)", '.', '.'},
           Case{"mac(e5m3, sum=e5m3:odd, c=e5m3)", 'y', 'y'},
           Case{"mac(e5m3, sum=e5m3:odd, c=e5m4)", '.', '.'},
           Case{"mac(e5m10, product=e5m10:rtz, sum=e5m10)", '.', '.'},
           Case{"mac(e4m3, product=e5m7:rtz, sum=e5m9:odd)", 'x', 'x'},
           Case{"mac(e5m10, sum=e5m10;ftz:rtz)", '.', '.'},
           Case{"mac(e4m3fnuz, sum=e5m10:rtz)", 'y', 'y'},
           Case{"mac(e8m3, product=e12m3, sum=e8m10:rtz)", '.', '.'},
           Case{"mac(e4m3, sum=e12m30:rtz)", '.', '.'},
           Case{"hopper.f16.f32", '.', '.'},
           Case{"tree8.f32", '.', '.'},
           Case{"cdna2.f16", '.', '.'},
           Case{"approx.f16", '.', '.'},
           Case{"mac.bf16.f32.bf16", 'm', 'm'},
           Case{"mac(e5m10, final=e8m50)", 'p', 'p'},
           Case{"mac(e5m10, final=e8m60)", '.', '.'},
           Case{"kulisch(e4m3fn)", '.', '.'},
           Case{"blackwell.mxfp8", '.', '.'},
       }) {
    const std::string unit = c.unit;
    CAPTURE(unit);
    CHECK(letter(c.unit, true) == c.with);
    CHECK(letter(c.unit, false) == c.without);
  }
}

}  // namespace test_lane_plans
