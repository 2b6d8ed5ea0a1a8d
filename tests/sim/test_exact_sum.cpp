#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "widthwise/sim/exact_sum.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace {

using namespace widthwise;

using Codes = std::vector<std::uint16_t>;

MatrixProduct dot(const Codes& a, const Codes& b) {
  MatrixProduct p;
  p.m = p.n = 1;
  p.k = a.size();
  p.a = {a.data(), 0, 1};
  p.b = {b.data(), 1, 0};
  return p;
}

TEST_CASE("ExactSum: the deviation is counted in places of the exact sum") {
  const Unit u = parse_unit("mac(e5m10)");
  const Format& f = u.out.fmt;
  ExactSum sum(u);
  const std::uint16_t one = 0x3c00, tiny = 0x0001, three = 0x4200;
  sum.start(&one);
  sum.add(&one, &one, nullptr, nullptr);
  sum.add(&tiny, &tiny, nullptr, nullptr);  // 2 + 2^-48
  const std::uint16_t two = 0x4000, above = 0x4001;
  CHECK(sum.deviation(f, &two).ulps == std::ldexp(1.0, -48 + 9));
  CHECK(sum.deviation(f, &above).ulps == doctest::Approx(1));
  CHECK(sum.deviation(f, &three).relative == doctest::Approx(0.5));
  sum.start(nullptr);
  const std::uint16_t zero = 0;
  CHECK(sum.deviation(f, &zero).ulps == 0);
  CHECK(sum.deviation(f, &tiny).ulps == 1);
  CHECK(std::isinf(sum.deviation(f, &tiny).relative));
}

TEST_CASE("ExactSum: what is no number deviates without end from one, and not from its like") {
  const Unit u = parse_unit("mac(e5m10)");
  const Format& f = u.out.fmt;
  ExactSum sum(u);
  const std::uint16_t one = 0x3c00, infinity = 0x7c00, minus = 0xfc00, nan = 0x7e00, zero = 0;
  sum.start(&one);
  CHECK(std::isinf(sum.deviation(f, &infinity).ulps));
  CHECK(std::isinf(sum.deviation(f, &nan).ulps));
  sum.add(&infinity, &one, nullptr, nullptr);
  CHECK(sum.deviation(f, &infinity).ulps == 0);
  CHECK(std::isinf(sum.deviation(f, &minus).ulps));
  CHECK(std::isinf(sum.deviation(f, &one).ulps));
  sum.add(&infinity, &zero, nullptr, nullptr);
  CHECK(sum.deviation(f, &nan).ulps == 0);
}

TEST_CASE("ExactSum: error, sum, magnitude and condition, by hand") {
  const Unit u = parse_unit("mac(e5m10)");
  const Format& f = u.out.fmt;
  // 1 * 3 - 2 * 1.25 = 0.5, of magnitude 5.5; 2^-24 * 2^-24 is added to both
  const Codes a = {0x3c00, 0xc000, 0x0001}, b = {0x4200, 0x3d00, 0x0001};
  ExactSum sum(u);
  sum.start(nullptr);
  add_products(sum, u, dot(a, b), 0, 2);
  const std::uint16_t half = 0x3800, minus_one = 0xbc00, infinity = 0x7c00, zero = 0;
  Deviation d = sum.deviation(f, &minus_one);
  CHECK(d.error == -1.5);
  CHECK(d.exact == 0.5);
  CHECK(d.magnitude == 5.5);
  CHECK(d.condition == 11);
  CHECK(d.relative == 3);
  CHECK(d.ulps == std::ldexp(1.5, 11));  // the last place at 0.5 is 2^-11
  CHECK(sum.deviation(f, &infinity).error == INFINITY);
  CHECK(sum.deviation(f, &zero).error == -0.5);
  add_products(sum, u, dot(a, b), 2, 3);
  d = sum.deviation(f, &half);
  CHECK(d.error == -std::ldexp(1.0, -48));
  CHECK(d.exact == 0.5 + std::ldexp(1.0, -48));
  CHECK(d.magnitude == 5.5 + std::ldexp(1.0, -48));
}

TEST_CASE("deviations: of a whole product, row by row") {
  const Unit u = parse_unit("kulisch(e5m10)");
  const Codes a = {0x3c00, 0x1400, 0x4200, 0x3555}, b = {0x3c01, 0x3c00, 0x0400, 0x3c00};
  std::vector<std::uint16_t> z(4);
  MatrixProduct p = dot(a, b);
  p.m = p.n = p.k = 2;
  p.a = {a.data(), 2, 1}, p.b = {b.data(), 2, 1};
  p.result = z.data();
  make_reference(u, 2)->run(p, 0, 2);
  Deviation errors[4];
  deviations(u, p, 0, 2, errors);
  for (const Deviation& d : errors) CHECK(d.ulps <= 0.5);
  z[3] ^= 1;
  deviations(u, p, 0, 2, errors);
  CHECK(errors[3].ulps >= 0.5);
}

TEST_CASE("ExactSum: the difference of two sums of codes in several formats") {
  const Unit narrow = parse_unit("mac(e5m10)"), wide = parse_unit("mac(binary32)");
  const std::uint16_t one = 0x3c00, infinity = 0x7c00, minus = 0xfc00, nan = 0x7e00;
  const std::uint32_t unit = 0x3f800000, above = 0x3f800001;
  ExactSum x(narrow), y(narrow);
  x.start(&one), y.start(&one);
  x.add(&one, &one, nullptr, nullptr), y.add(&one, &one, nullptr, nullptr);
  y.read(wide);  // what y holds stays
  y.add(&above, &above, nullptr, nullptr);
  const Format& f = narrow.out.fmt;
  CHECK(x.minus(x, f).error == 0);
  CHECK(y.minus(x, f).error == 1 + 0x1p-22 + 0x1p-46);
  CHECK(x.minus(y, f).error == -(1 + 0x1p-22 + 0x1p-46));
  const std::uint32_t minus_unit = 0xbf800000;
  y.add(&minus_unit, &unit, nullptr, nullptr);
  CHECK(y.minus(x, f).error == 0x1p-22 + 0x1p-46);
  ExactSum above_all(narrow), below_all(narrow), none(narrow);
  above_all.start(&infinity), below_all.start(&minus), none.start(&nan);
  CHECK(above_all.minus(x, f).error == INFINITY);
  CHECK(x.minus(above_all, f).error == -INFINITY);
  CHECK(below_all.minus(x, f).error == -INFINITY);
  CHECK(above_all.minus(below_all, f).error == INFINITY);
  CHECK(above_all.minus(above_all, f).error == 0);
  CHECK(
      std::isnan(none.minus(x, f).error + x.minus(none, f).error + none.minus(above_all, f).error));
}

TEST_CASE("ExactSum: parts of an error are measured by the sum that is asked for") {
  const Unit u = parse_unit("mac(e5m10)");
  const Format& f = u.out.fmt;
  const std::uint16_t one = 0x3c00, two = 0x4000, three = 0x4200, nan = 0x7e00, zero = 0;
  ExactSum given(u), read(u), nothing(u), none(u);
  given.start(&two), read.start(&one), nothing.start(nullptr), none.start(&nan);
  Difference d = read.error(f, &three, given);  // 3 - 1, by 2
  CHECK((d.ulps == 1024 && d.relative == 1 && d.error == 2));
  d = read.minus(given, f);  // 1 - 2, by 2
  CHECK((d.ulps == 512 && d.relative == 0.5 && d.error == -1));
  CHECK(read.error(f, &one, none).ulps == 0);
  CHECK(std::isinf(read.error(f, &two, none).relative));
  CHECK(std::isinf(read.error(f, &two, nothing).relative));
  CHECK(nothing.error(f, &zero, nothing).relative == 0);
}

TEST_CASE("ExactSum: parts of an error past a double's range have figures") {
  const Unit u = parse_unit("mac(e20m10)");
  const Format& f = u.out.fmt;
  // 2^100000 and one step above it, and 2^-100000.
  const std::uint32_t large = (524287u + 100000u) << 10, above = large + 1,
                      small = (524287u - 100000u) << 10;
  for (const std::uint32_t code : {large, small}) {
    ExactSum sum(u), other(u);
    sum.start(&code);
    const std::uint32_t next = code + 1;
    other.start(&next);
    CHECK(other.minus(sum, f).ulps == 1);
    CHECK(other.minus(sum, f).relative == 0x1p-10);
    CHECK(sum.error(f, &next, sum).ulps == 1);
    CHECK(sum.error(f, &next, other).relative == doctest::Approx(1 / 1025.));
  }
  ExactSum sum(u);
  sum.start(&large);
  CHECK(sum.deviation(f, &above).error == INFINITY);
}

TEST_CASE("ExactSum: terms too far apart to add are refused") {
  ExactSum sum(parse_unit("fma(e62m10)"));
  const std::uint64_t high[] = {std::uint64_t{0x3ffffffffffffffe} << 10, 0x3f},
                      one[] = {std::uint64_t{0x1fffffffffffffff} << 10, 0x7};
  sum.start(nullptr);
  sum.add(one, one, nullptr, nullptr);
  const std::uint64_t top[] = {high[0], 0xff};
  CHECK_THROWS_WITH_AS(sum.add(top, one, nullptr, nullptr),
                       doctest::Contains("and at most 2^2097152 are held exactly"),
                       std::invalid_argument);
  sum.start(nullptr);
  CHECK_NOTHROW(sum.add(top, one, nullptr, nullptr));  // alone it may lie anywhere
}

}  // namespace
