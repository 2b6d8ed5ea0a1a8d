#include <fmt/format.h>

#include <cmath>

#include "sim/exact/course.hpp"
#include "tensor_rival.hpp"
#include "tests/sim/random_units.hpp"
#include "widthwise/sim/text.hpp"

namespace test_exact_tiles {

// Exact sums in doubles on a GPU's threads, by the kernels' own bodies on the CPU, against the
// reference.
namespace {

using namespace widthwise;
using namespace tests;

bool takes(const Unit& u, bool flags = false, std::size_t k = 33) {
  return why_no_exact_tiles(u, flags, k).empty();
}

// What a tile has to take, however its products are added.
constexpr const char* units[] = {
    "kulisch(e4m3fn)",
    "kulisch(e2m1fn)",
    "kulisch(e4m3fnuz)",
    "kulisch(e5m10)",
    "kulisch(e5m13)",
    "kulisch(e8m7)",
    "kulisch(e5m2, b=e8m7, c=binary32, out=binary32)",
    "kulisch(binary32)",
    "kulisch.f32",
    "dot(e5m10)",
    "dot(e8m7, out=binary32:rdn)",
    "dot(e4m3fn, out=e5m10:rdn)",
    "kulisch(e5m10, out=e8m7:sr9, final=e4m3fn:rup)",
    "kulisch(e4m3fn, out=e5m2:odd, scale=e8m0fnu:16:term)",
    "kulisch(e5m2, out=binary32, scale=e4m3fn:5:term)",
    "fix24.wrap",
    "fix24.sat",
    "fixedacc(e4m3fn, width=12, frac=4, overflow=saturate)",
    "fixedacc(e4m3fn, width=14, frac=4, align=rtz)",
    "fixedacc(e4m3fn, width=14, frac=4, align=rtz, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=rup)",
    "fixedacc(e5m10, width=20, frac=8, align=rup, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=rdn, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=rne)",
    "fixedacc(e5m10, width=20, frac=8, align=rne, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=raz)",
    "fixedacc(e5m10, width=20, frac=8, align=raz, overflow=saturate)",
    "fixedacc(e5m10, frac=40, align=rne)",
    "fixedacc(e8m7, frac=20, align=rtz)",
    "fixedacc(e8m7, width=100, frac=100, align=rup)",
    "fixedacc(e3m2fn, width=9, frac=4, overflow=saturate)",
    "fixedacc(e4m3fn, width=22, frac=20, overflow=wrap)",
    "fixedacc(binary32, width=64, frac=298, overflow=wrap)",
    "fixedacc(e5m10, width=51, frac=40, overflow=saturate)",
};

// By the whole engine: what no tile can do goes to the definition.
void compare_rows(const Unit& u, const CodeList& a, const CodeList& b, std::size_t m, std::size_t k,
                  Tally& tally) {
  MatrixProduct p;
  p.m = m, p.k = k, p.n = 1;
  p.a = a.rows(k), p.b = b.rows(1);
  Rival(cuda_on_the_cpu, u, tally, true).compare(p, fmt::format("rows of {}", k));
}

// 1 x 1, and whether a tile computed it.
bool in_a_tile(const Unit& u, double a, double b, Tally& tally) {
  tile_runs() = {};
  const CodeList x = encoded(u.a.fmt, {a}), y = encoded(u.b.fmt, {b});
  compare_rows(u, x, y, 1, 1, tally);
  return tile_runs().outputs == 1;
}

}  // namespace

TEST_CASE("exact tiles give the reference's codes and flags: units of every kind") {
  constexpr Rival::Shape shapes[] = {{2, 1, 7}, {3, 33, 67}};
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : units) {
    CAPTURE(text);
    const Unit u = parse_unit(text);
    for (const bool flags : {false, true}) {
      REQUIRE(takes(u, flags));
      for (const Rival::Shape& s : shapes) {
        Rival(cuda_on_the_cpu, u, tally, flags).compare_random(s, random);
        expected += outputs_compared(s);
      }
    }
  }
  tally.expect(expected);
  CHECK(host_device().taken == 0);
}

TEST_CASE("exact tiles give the reference's codes and flags: random units") {
  ProductRandom random(2);
  random_units::Random of_units(2);
  Tally tally;
  int taken = 0;
  std::uint64_t expected = 0;
  for (int i = 0; i < 400; ++i) {
    Unit u = random_units::unit(of_units, 8, 30);
    u.lanes = 0, u.c_level = CLevel::group, u.product.round.reset();
    u.product.overflow_to_inf_at.reset(), u.groups.reset();
    u.chain = {.final = u.chain.final};
    u.group_sum.order = Order::fused, u.group_sum.node_round.reset();
    if (u.scale) u.scale->apply = ScaleApply::term;
    if (u.group_sum.align.reference == Reference::max_exponent)
      u.group_sum.align.reference = Reference::fixed_lsb;
    constexpr Rival::Shape s{3, 20, 5};
    const bool flags = random() % 2;
    if (!takes(u, flags, s.k) || !opinion(cuda_on_the_cpu, u, flags, s.k).takes) continue;
    CAPTURE(to_string(u));
    ++taken;
    Rival(cuda_on_the_cpu, u, tally, flags).compare_random(s, random);
    expected += outputs_compared(s);
  }
  CHECK(taken > 100);
  tally.expect(expected);
}

// The largest products for most of the way, then the least, which a sum too full would lose.
TEST_CASE("exact tiles empty their sums before those are too full") {
  ProductRandom random(3);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"kulisch(e4m3fn, out=e8m52)", "kulisch(e4m9, out=e8m52)", "kulisch(e5m10, out=e8m52)",
        "kulisch(e5m16, out=e8m52)", "kulisch(e6m3, out=e8m52)", "kulisch(e6m9, out=e8m52)",
        "fixedacc(e5m10, frac=17, out=e8m52)", "fixedacc(e5m10, frac=13, align=rdn, out=e8m52)",
        "fixedacc(e5m10, frac=13, align=rne, out=e8m52)",
        "fixedacc(e5m10, frac=13, align=raz, out=e8m52)",
        "fixedacc(e5m10, frac=10, width=43, overflow=saturate, out=e8m52)",
        "fixedacc(e5m10, frac=10, width=45, overflow=wrap, out=e8m52)"})
    for (const std::size_t k : {100, 512, 1023, 5000}) {
      CAPTURE(text);
      const Unit u = parse_unit(text);
      CodeList a(u.a.fmt, 4 * k), b(u.b.fmt, k);
      const Layout<std::uint64_t> f(u.a.fmt);
      const std::size_t turn = k - k / 8;
      for (std::size_t i = 0; i < k; ++i) {
        b.set(i, i < turn ? f.max_finite : 1);
        a.set(i, i < turn ? f.max_finite : 1);
        a.set(k + i, a[i] | f.sign);
        a.set(2 * k + i, i < turn ? f.max_finite | (i & 1 ? f.sign : 0) : 1);
        a.set(3 * k + i, i % 512 < 448 ? f.max_finite : random() % 8);
      }
      compare_rows(u, a, b, 4, k, tally);
      expected += 4;
    }
  tally.expect(expected);
}

// Numbers that leave nearly half of the first sum's last digit, 2^-20: both sums are as full as
// they get, and all that is left in the end is the least number of all.
TEST_CASE("two sums of exact tiles lose nothing") {
  const Unit u = parse_unit("kulisch(e6m45, b=e4m3fn, c=e8m52, out=e8m52)");
  constexpr std::size_t n = 512;
  const auto whole = exact::levels({-65, 21}, 4 * n);
  REQUIRE(whole);
  REQUIRE(whole->count == 2);
  REQUIRE(whole->steps == n);
  REQUIRE(whole->digit[0] == -20);
  Tally tally;
  tile_runs() = {};
  for (const double left : {power(-21) - power(-26), -power(-21) + power(-26), power(-21)}) {
    std::vector<double> a(4 * n), ones(4 * n, 1.0);
    for (std::size_t i = 0; i < 2 * n; ++i) {
      a[i] = power(20) - power(-17) + (i < n ? left : -left);
      a[2 * n + i] = -a[i];
    }
    a[n] = power(-17), a[2 * n + n] = 0;
    const CodeList x = encoded(u.a.fmt, a), y = encoded(u.b.fmt, ones);
    compare_rows(u, x, y, 1, 4 * n, tally);
  }
  tally.expect(3);
  CHECK(tile_runs().outputs == 3);
  CHECK(tile_runs().redone == 0);
}

TEST_CASE("exact tiles leave to the definition what is not finite, and zeros in doubt") {
  const Unit half = parse_unit("kulisch(e5m10)"),
             down = parse_unit("kulisch(e5m10, out=e5m10:rdn)"),
             brain = parse_unit("kulisch(e8m7, c=binary32)"), wraps = preset("fix24.wrap"),
             full = preset("fix24.sat");
  const double nan = std::nan("");
  compare({
      {"no digit is lost", half, {power(15), power(-24), -power(15)}, {power(15), 1, power(15)}, 0},
      {"C alone", half, {0}, {0}, 0x1.ffcp15},
      {"the least product decides a tie",
       half,
       {1, power(-12), power(-24)},
       {1, power(1), power(-24)},
       0},
      {"cancelled", half, {1.5, 1}, {1, -1.5}, 0},
      {"cancelled with C", half, {1.5}, {1}, -1.5, true},
      {"zeros that are minus", half, all(3, -0.0), all(3, 1), -0.0, true},
      {"zeros that are minus, and C's +0", half, all(3, -0.0), all(3, 1), 0},
      {"cancelled, rounded down", down, {1.5, 1}, {1, -1.5}, 0, true},
      {"infinity", half, {infinity, 1}, {1, 1}, 0, true},
      {"infinities", half, {infinity, 1}, {1, -infinity}, 0, true},
      {"infinity times 0", half, {infinity}, {0}, 0, true},
      {"NaN times 0", half, {0}, {nan}, 0, true},
      {"C infinite", half, {1}, {1}, -infinity, true},
      {"C NaN", half, {1}, {1}, nan, true},
      {"C above the products", brain, {1}, {1}, power(30)},
      {"C far above the products", brain, {1}, {1}, power(100), true},
      {"C far above them, minus", brain, {1}, {1}, -power(100), true},
      {"C below the products", brain, {power(20)}, {power(20)}, 1.0},
      {"C far below the products", brain, {power(20)}, {power(20)}, power(-140), true},
      {"a term rounded down", full, {-power(-24)}, {power(-24)}, 1},
      {"up to the end and back", full, {power(6), power(6), -power(5)}, {power(5), power(5), 1}, 0},
      {"C from the end back", full, {power(6), power(6)}, {power(5), power(5)}, -3.5},
      {"wrapped", wraps, {power(6), 1}, {power(5), 0.5}, 0},
      {"wrapped by C", wraps, {0x1.ffcp10}, {1}, 0x1.8p1},
      {"infinity past the end", full, {infinity, 1}, {1, 1}, 0, true},
      {"minus infinity past the end", full, {power(6), -infinity}, {power(6), 1}, 0, true},
  });
}

TEST_CASE("products too far apart are the definition's") {
  const Unit u = parse_unit("kulisch(binary32, c=e8m52, out=e8m52)");
  Tally tally;
  CHECK(in_a_tile(u, power(100), power(-100), tally));
  const auto beside = [&](double most, double least) {
    tile_runs() = {};
    const CodeList x = encoded(binary32, {most, least}), y = encoded(binary32, {1, 1});
    compare_rows(u, x, y, 1, 2, tally);
    return tile_runs().outputs == 1;
  };
  // From 2^(least - 46) to below 2^(most + 2), two of them: 125 digits.
  CHECK(beside(power(38), power(-37)));
  CHECK_FALSE(beside(power(38), power(-38)));
  CHECK_FALSE(beside(power(39), power(-37)));
  tally.expect(4);
}

TEST_CASE("a register's terms may be so large that its sums have no room") {
  // 2^-17 is the last digit: sums of 16 terms below 2^(49 - 17 - 4) stay in their binade.
  const Unit u = parse_unit("fixedacc(e8m7, width=60, frac=17, align=rne)");
  Tally tally;
  const auto taken = [&](double most) {
    tile_runs() = {};
    const CodeList x = encoded(u.a.fmt, std::vector<double>(40, most)),
                   y = encoded(u.b.fmt, std::vector<double>(40, 1.5));
    compare_rows(u, x, y, 1, 40, tally);
    return tile_runs().outputs == 1;
  };
  CHECK(taken(power(26)));
  CHECK_FALSE(taken(power(27)));
  tally.expect(2);
}

TEST_CASE(
    "exact sums on threads are rounded with the definition's random bits, in parts as whole") {
  Tally tally;
  ProductRandom random(6);
  host_device().memory = std::size_t{1} << 17;
  Rival(cuda_on_the_cpu, parse_unit("kulisch(e5m10, out=e8m3:sr9)"), tally, true)
      .compare_random({70, 37, 130}, random);
  host_device().memory = std::size_t{1} << 28;
  tally.expect(outputs_compared({70, 37, 130}));
}

TEST_CASE("a barrier left out of an exact tile is seen") {
  for (const char* text : {"kulisch(e4m3fn)", "kulisch(e5m10)", "kulisch(binary32)", "fix24.sat",
                           "fixedacc(e5m10, width=20, frac=8, align=rne)",
                           "fixedacc(e5m10, width=20, frac=8, align=raz)"}) {
    CAPTURE(text);
    check_barriers(parse_unit(text));
  }
}

TEST_CASE("ordinary operands leave next to nothing of exact sums to the definition") {
  ProductRandom random(8);
  for (const char* text : {"kulisch(e4m3fn)", "kulisch(e5m10)", "kulisch(e8m7)", "kulisch.f32",
                           "fix24.wrap", "fix24.sat"})
    compare_ordinary(parse_unit(text), random);
}

TEST_CASE("exact tiles refuse what they cannot do, and nothing less") {
  const Border border([](const Unit& u) { return takes(u); });
  const Unit flagged = parse_unit("fixedacc(e4m3fn, width=16, frac=6, overflow=flag)");
  CHECK(takes(flagged));
  CHECK_FALSE(takes(flagged, true));
  CHECK_FALSE(takes(parse_unit("kulisch(e5m10)"), false, 0));  // of no length
  border.lies_between("dot(e5m10)", "dot(e5m10, lanes=4)");
  border.lies_between("kulisch(binary32)", "kulisch(binary64)");
  border.lies_between("fixedacc(e5m10, width=20, frac=8, align=rne)",
                      "fixedacc(e5m10, width=20, frac=8, align=rna)");
}

}  // namespace test_exact_tiles
