#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edges.hpp"
#include "random_units.hpp"
#include "sim/exact/levels.hpp"
#include "targets.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/unit_text.hpp"

// The exact engine against the reference: the same codes and flags, whatever the operands.
namespace {

using namespace widthwise;
using namespace tests;

constexpr Rival::Shape shapes[] = {{5, 1, 70}, {6, 33, 67}, {1, 300, 3}};

// Lanes add their products in one to three sums.
constexpr const char* exact_units[] = {
    "kulisch(e4m3fn)",
    "kulisch(e2m1fn)",
    "kulisch(e4m3fnuz)",
    "kulisch(e5m2)",
    "kulisch(e5m10)",
    "kulisch(e6m2)",
    "kulisch(e8m7)",
    "kulisch(e5m2, b=e8m7, c=binary32, out=binary32)",
    "kulisch(binary32)",
    "kulisch.f32",
    "dot(e5m10)",
    "dot(e8m7, out=binary32:rdn)",
    "kulisch(e5m10, out=e8m7:sr9, final=e4m3fn:rup)",
    "kulisch(e4m3fn, out=e5m2:odd, scale=e8m0fnu:16:term)",
    "kulisch(e4m3fn, out=e5m10:rdn)",
    "kulisch(e5m2, out=binary32, scale=e4m3fn:5:term)",
    "kulisch(e4m3fn, out=binary64:sr13)",
    "kulisch(e5m10, out=e8m23:sr32, final=binary64:sr32)",
};

// A register of its own last digit or width.
constexpr const char* register_units[] = {
    "fix24.wrap",
    "fix24.sat",
    "fixedacc(e4m3fn, width=12, frac=4, overflow=saturate)",
    "fixedacc(e4m3fn, width=14, frac=4, align=rtz)",
    "fixedacc(e4m3fn, width=14, frac=4, align=rtz, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=rup)",
    "fixedacc(e5m10, width=20, frac=8, align=rne)",
    "fixedacc(e5m10, width=20, frac=8, align=rne, overflow=saturate)",
    "fixedacc(e5m10, width=20, frac=8, align=raz)",
    "fixedacc(e5m10, width=20, frac=8, align=rna, overflow=saturate)",
    "fixedacc(e5m10, width=60, frac=8, align=odd)",
    "fixedacc(e5m10, frac=40, align=rne)",
    "fixedacc(e8m7, frac=20, align=rtz)",
    "fixedacc(e3m2fn, width=9, frac=4, overflow=saturate)",
    "fixedacc(e4m3fn, width=22, frac=20, overflow=wrap)",
    "fixedacc(e5m10, width=51, frac=48, overflow=saturate)",
    "fixedacc(e5m10, width=52, frac=48, overflow=saturate)",
    "fixedacc(e4m3fn, width=16, frac=6, overflow=flag)",
    "fixedacc(e4m3fn, b=e5m2, width=24, frac=16, align=rno, overflow=flag)",
};

// Products that no double holds.
constexpr const char* integer_units[] = {
    "kulisch(binary64)",
    "kulisch(binary32, b=binary64, out=binary64:rtz)",
    "dot(e11m40, b=e5m2, out=binary64)",
    "fixedacc(e8m30, width=64, frac=20, overflow=saturate)",
    "fixedacc(e8m31, width=100, frac=0, align=rup)",
    "fixedacc(binary64, width=64, frac=30)",
    "fixedacc(binary64, width=40, frac=20, overflow=saturate, align=rtz)",
    "fixedacc(e15m40, width=32, frac=20, overflow=saturate, align=raz)",
    "fixedacc(e2m58, b=e3m58, c=e8m7, width=100, frac=70, align=rup, out=binary64)",
    "fixedacc(e6m50, width=120, frac=80, overflow=flag, align=rtz, out=binary64)",
    "fixedacc(binary64, width=64, frac=40, align=rne, overflow=saturate, out=binary64:sr24)",
    "kulisch(e8m31, out=binary64:sr32:half)",
    // of 127 and 128 digits
    "fixedacc(binary64, width=55, frac=21, align=rdn, overflow=flag, scale=e8m10:28:term)",
    "fixedacc(binary64, width=80, frac=10, align=rup, scale=e8m10:8:term)",
    "fixedacc(binary64, width=90, frac=30, align=odd, scale=e8m9:8:term)",
    "fixedacc(binary64, width=90, frac=9, align=rne, overflow=saturate, scale=e8m10:8:term)",
    "fixedacc(binary64, b=e8m51, width=60, frac=0, align=raz, scale=e8m10:8:term)",
};

std::uint64_t compare(const char* engine, const Unit& u, bool flags, Tally& tally,
                      ProductRandom& random) {
  CAPTURE(to_string(u));
  const Opinion o = opinion(engine, u, flags);
  REQUIRE_MESSAGE(o.takes, o.reason);
  std::uint64_t expected = 0;
  for (const Rival::Shape& s : shapes) {
    Rival(engine, u, tally, flags).compare_random(s, random);
    expected += outputs_compared(s);
  }
  return expected;
}

}  // namespace

TEST_CASE("the exact engine gives the reference's codes and flags: products added without loss") {
  ProductRandom random(1);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : exact_units)
    for (const char* engine : {"exact", "words"})
      expected += compare(engine, parse_unit(text), true, tally, random);
  tally.expect(expected);
}

TEST_CASE("the exact engine gives the reference's codes and flags: registers") {
  ProductRandom random(2);
  Tally tally;
  std::uint64_t expected = 0;
  int in_lanes = 0;
  for (const char* text : register_units) {
    const Unit u = parse_unit(text);
    for (const bool flags : {false, true}) {
      expected += compare("words", u, flags, tally, random);
      if (!opinion("exact", u, flags).takes) continue;
      ++in_lanes;
      expected += compare("exact", u, flags, tally, random);
    }
  }
  CHECK(in_lanes == 29);
  tally.expect(expected);
}

// Products of 2 (p - 1) fraction bits that are cut `digits` above the last of them: ties there,
// what is next to one, and what is all ones.
void compare_cut(const Format& f, std::string_view mode, int digits, Tally& tally) {
  const int fraction = f.frac_bits, place = 2 * fraction + 1 - digits;  // the tie's last digit
  const int of_a = std::clamp(place, 0, fraction), of_b = std::clamp(place - of_a, 0, fraction);
  const std::uint64_t one = static_cast<std::uint64_t>(f.bias) << fraction;
  const auto with = [&](int n) { return one | (n > 0 ? std::uint64_t{1} << (fraction - n) : 0); };
  const std::uint64_t most = one | widthwise::ones<std::uint64_t>(fraction),
                      minus = std::uint64_t{1} << f.magnitude_bits();
  const std::uint64_t rows[] = {with(of_a),     with(of_a) | minus,
                                with(of_a) + 1, with(of_a) - 1,
                                most,           one,
                                most | minus},
                      columns[] = {with(of_b), with(of_b) | minus, with(of_b) + 1, one, most};
  CodeList a(f, std::size(rows)), b(f, std::size(columns));
  for (std::size_t i = 0; i < std::size(rows); ++i) a.set(i, rows[i]);
  for (std::size_t i = 0; i < std::size(columns); ++i) b.set(i, columns[i]);
  MatrixProduct p;
  p.m = std::size(rows), p.n = std::size(columns), p.k = 1;
  p.a = a.rows(1), p.b = b.rows(p.n);
  const std::string text = fmt::format("fixedacc({}, width=120, frac={}, align={}, out=binary64)",
                                       to_string(f), 2 * fraction - digits, mode);
  Rival("words", parse_unit(text), tally).compare(p, "cut");
}

TEST_CASE("words round at any digit of a product, by every mode: ties and their neighbours") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const Format& f : {binary64, binary32, ieee_format(8, 31), ieee_format(8, 40)})
    for (const char* mode : {"rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz"})
      for (int digits = 1; digits <= 2 * f.frac_bits + 30; ++digits)
        compare_cut(f, mode, digits, tally), expected += 7 * 5;
  tally.expect(expected);
}

TEST_CASE("the exact engine gives the reference's codes: random bits that see 85 digits of a sum") {
  const Unit u = parse_unit("kulisch(e8m31, out=binary64:sr32)");
  constexpr std::size_t n = 40'000;  // of 4,096 such sums one would go elsewhere by 65 digits
  CodeList a = ones(u.a.fmt, 2), b(u.b.fmt, 2 * n);
  const auto power = [&](std::int64_t e) { return static_cast<std::uint64_t>(e + u.a.fmt.bias); };
  a.set(0, power(6) << 31), a.set(1, power(6) << 31);  // 2^6 is the lowest digit of a word
  for (std::size_t j = 0; j < n; ++j) {
    b.set(j, power(0) << 31);
    b.set(n + j, power(-53) << 31 | ones<std::uint64_t>(31));  // 2^-52 (1 - 2^-32)
  }
  MatrixProduct p;
  p.m = 1, p.n = n, p.k = 2;
  p.a = a.rows(2), p.b = b.rows(n);
  Tally tally;
  Rival("words", u, tally).compare(p, "a last place less one part in 2^32");
  tally.expect(n);
}

TEST_CASE("the exact engine gives the reference's codes and flags: products in integers") {
  ProductRandom random(3);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : integer_units)
    for (const bool flags : {false, true})
      if (opinion("words", parse_unit(text), flags).takes)
        expected += compare("words", parse_unit(text), flags, tally, random);
  tally.expect(expected);
}

TEST_CASE("the exact engine gives the reference's codes on every instruction set") {
  ProductRandom random(4);
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const char* text : {"kulisch(e4m3fn)", "kulisch(e5m10)", "kulisch(e8m7)", "fix24.wrap",
                             "fix24.sat", "fixedacc(e5m10, width=20, frac=8, align=rne)",
                             "fixedacc(e5m10, width=20, frac=8, align=raz, overflow=saturate)"})
      expected += compare("exact", parse_unit(text), false, tally, random);
  });
  tally.expect(expected);
}

TEST_CASE("the exact engine gives the reference's codes: random units") {
  ProductRandom random(5);
  Tally tally;
  int taken = 0;
  std::uint64_t expected = 0;
  for (int i = 0; i < 400; ++i) {
    Unit u = random_units::unit(random, 8, 30);
    u.lanes = 0, u.c_level = CLevel::group, u.product.round.reset();
    u.product.overflow_to_inf_at.reset(), u.groups.reset();
    u.chain.c_at = CAt::first, u.chain.c_round.reset(), u.chain.promote.reset();
    u.chain.compensation = Compensation::none;
    u.group_sum.order = Order::fused, u.group_sum.node_round.reset();
    if (u.scale) u.scale->apply = ScaleApply::term;
    if (u.group_sum.align.reference == Reference::max_exponent)
      u.group_sum.align.reference = Reference::fixed_lsb;
    const bool flags = random() % 2;
    for (const char* engine : {"exact", "words"}) {
      constexpr Rival::Shape s{3, 20, 5};
      const auto all = opinions({.unit = u, .k = s.k, .flags = flags});
      if (!std::ranges::find(all, engine, &Opinion::engine)->takes) continue;
      CAPTURE(to_string(u));
      ++taken;
      Rival(engine, u, tally, flags).compare_random(s, random);
      expected += outputs_compared(s);
    }
  }
  CHECK(taken > 300);
  tally.expect(expected);
}

TEST_CASE(
    "the exact engine gives the reference's codes: long sums, of panels and at their limits") {
  // The largest products for most of the way, then the least, which a sum too full would lose.
  ProductRandom random(6);
  Tally tally;
  std::uint64_t expected = 0;
  const auto edges = [&](const char* text, std::size_t k) {
    const Unit u = parse_unit(text);
    CodeList a(u.a.fmt, 4 * k), b(u.b.fmt, k);
    const Layout<std::uint64_t> f(u.a.fmt), g(u.b.fmt);
    const std::size_t turn = k - k / 8;
    for (std::size_t i = 0; i < k; ++i) {
      b.set(i, i < turn ? g.max_finite : 1);
      a.set(i, i < turn ? f.max_finite : 1);
      a.set(k + i, a[i] | f.sign);
      a.set(2 * k + i, i < turn ? f.max_finite | (i & 1 ? f.sign : 0) : 1);
      a.set(3 * k + i, i % 512 < 448 ? f.max_finite : random() % 8);
    }
    MatrixProduct p;
    p.m = 4, p.k = k, p.n = 1;
    p.a = a.rows(k), p.b = b.rows(1);
    Rival("exact", u, tally, true).compare(p, "edges");
    expected += 4;
  };
  for (const char* text : {"kulisch(e4m3fn, out=binary64)", "kulisch(e4m9, out=binary64)",
                           "kulisch(e4m7, out=binary64)", "kulisch(e5m10, out=binary64)",
                           "kulisch(e5m13, out=binary64)", "kulisch(e5m16, out=binary64)",
                           "kulisch(e6m3, out=binary64)", "kulisch(e6m9, out=binary64)",
                           "kulisch(e8m7, out=binary64)", "fixedacc(e5m10, frac=17, out=binary64)",
                           "fixedacc(e5m10, frac=20, align=rne, out=binary64)",
                           "fixedacc(e5m10, frac=10, width=43, overflow=saturate, out=binary64)",
                           "fixedacc(e5m10, frac=10, width=45, overflow=wrap, out=binary64)"})
    for (const std::size_t k : {100, 512, 1023, 5000}) edges(text, k);
  edges("kulisch(e4m3fn, out=binary64)", 70000);
  edges("kulisch(e5m10, out=binary64)", 70000);
  edges("fixedacc(e5m10, frac=12, width=24, overflow=saturate, out=binary64)", 70000);
  tally.expect(expected);

  Tally by_panels;
  for (const char* text : {"kulisch(e5m10)", "fix24.sat", "fix24.wrap", "kulisch(e8m7)"})
    Rival("exact", parse_unit(text), by_panels, true).compare_random({2, 2100, 3}, random);
  Rival("words", parse_unit("fixedacc(e4m3fn, width=18, frac=6, overflow=flag)"), by_panels, true)
      .compare_random({2, 2100, 3}, random);
  by_panels.expect(5 * outputs_compared({2, 2100, 3}));
}

namespace {

double number(const Format& f, std::uint64_t code) {
  const Number<std::uint64_t> x = unpack(Layout<std::uint64_t>(f), code);
  return std::ldexp(static_cast<double>(x.sig), static_cast<int>(x.exp));
}

// Codes of two large factors whose product leaves nearly half of 2^digit.
std::pair<std::uint64_t, std::uint64_t> leaving_half(const Unit& u, std::int64_t digit,
                                                     ProductRandom& random) {
  const Layout<std::uint64_t> f(u.a.fmt), g(u.b.fmt);
  for (;;) {
    const std::uint64_t a = f.max_finite - random() % (f.fraction_mask / 8),
                        b = g.max_finite - random() % (g.fraction_mask / 8);
    const double units =
        std::ldexp(number(u.a.fmt, a) * number(u.b.fmt, b), -static_cast<int>(digit));
    const double left = units - std::floor(units);
    if (0.48 < left && left < 0.5) return {a, b};
  }
}

}  // namespace

TEST_CASE("two sums of the exact engine lose nothing: both as full as they get, then cancelled") {
  // Products of 52 digits, 2^86 from the last digit of the least to beyond the largest. Whatever
  // was lost on the way is all that is left beside the least product.
  const Unit u = parse_unit("kulisch(e3m25, b=e5m25, c=binary64, out=binary64)");
  const std::size_t n = 512;
  const auto whole = exact::levels({-66, 20}, 1024);
  REQUIRE(whole);
  REQUIRE(whole->count == 2);
  REQUIRE(whole->steps == n);
  const std::int64_t digit = whole->digit[0];
  CHECK(digit == -21);

  ProductRandom random(7);
  Tally tally;
  for (const std::int64_t early : {digit - 1, digit, digit + 1})
    for (const std::int64_t late : {digit - 1, digit, digit + 1}) {
      CodeList a(u.a.fmt, 4 * n), b(u.b.fmt, 4 * n);
      const std::uint64_t sign = Layout<std::uint64_t>(u.a.fmt).sign;
      const auto first = leaving_half(u, early, random), second = leaving_half(u, late, random);
      for (std::size_t i = 0; i < 2 * n; ++i) {
        auto [x, y] = i < n ? first : second;
        if (i + 1 == 2 * n) x = y = 1;
        a.set(i, x), b.set(i, y);
        a.set(2 * n + i, i + 1 == 2 * n ? 0 : x | sign), b.set(2 * n + i, y);
      }
      MatrixProduct p;
      p.m = p.n = 1, p.k = 4 * n;
      p.a = a.rows(p.k), p.b = b.rows(1);
      Rival("exact", u, tally).compare(p, "full");
    }
  tally.expect(9);
}

TEST_CASE("doubles do not hold what is left to integers") {
  for (const char* text : integer_units) {
    CAPTURE(text);
    CHECK(opinion("words", parse_unit(text)).takes);
    CHECK_FALSE(opinion("exact", parse_unit(text)).takes);
  }
}

TEST_CASE("the exact engine refuses what it cannot vouch for, and nothing less") {
  const Border border("words"), with_flags("words", true);
  const auto takes_products = [](std::size_t k) {
    return opinion("exact", parse_unit("kulisch(e4m3fn)"), false, k).takes;
  };
  CHECK(takes_products(std::size_t{1} << 30));
  CHECK_FALSE(takes_products((std::size_t{1} << 30) + 1));
  border.lies_between("dot(e5m10)", "dot(e5m10, lanes=4)");
  border.lies_between("dot(e5m10)", "dot(e5m10, align=25:rtz)");
  // Far from where sums of exponents overflow.
  border.lies_between("dot(e5m10;bias=524000, c=e5m10;bias=1048566)",
                      "dot(e5m10;bias=524000, c=e5m10;bias=1048567)");
  border.lies_between("dot(e5m10;bias=-524000, c=e5m10;bias=-1048545)",
                      "dot(e5m10;bias=-524000, c=e5m10;bias=-1048546)");
  // Sums of 131,072 bits.
  border.lies_between("fixedacc(e5m10, width=200000, frac=131037)",
                      "fixedacc(e5m10, width=200000, frac=131038)");
  // Codes, and significands with their scales.
  border.lies_between("kulisch(e5m58)", "kulisch(e5m59)");
  border.lies_between("kulisch(e5m50, scale=e5m12:32:term)", "kulisch(e5m50, scale=e5m13:32:term)");
  // Registers that sums pass, and one that they do not.
  border.lies_between("fixedacc(e8m7, width=120, frac=100, overflow=saturate)",
                      "fixedacc(e8m7, width=121, frac=100, overflow=saturate)");
  border.lies_between("fixedacc(e5m10, width=250, frac=100, overflow=saturate)",
                      "fixedacc(e8m7, width=250, frac=100, overflow=saturate)");
  with_flags.lies_between("fixedacc(e5m10, width=100, frac=91, overflow=flag)",
                          "fixedacc(e5m10, width=100, frac=92, overflow=flag)");
  border.lies_between(
      "fix24.sat", [](Unit& u) { u.out.post_norm_frac = 93; },
      [](Unit& u) { u.out.post_norm_frac = 94; });
  border.excludes_each("fix24.sat",
                       {[](Unit& u) { u.groups = Groups{.consecutive = 4}; },
                        [](Unit& u) { u.c_level = CLevel::late; },
                        [](Unit& u) { u.product.overflow_to_inf_at = 128; },
                        [](Unit& u) { u.product.round = u.out; },
                        [](Unit& u) {
                          u.scale = Scale{e8m0fnu, 32, ScaleApply::group};
                        },
                        [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = u.out; },
                        [](Unit& u) {
                          u.chain.promote = Promote{4, u.out};
                        },
                        [](Unit& u) { u.group_sum.order = Order::sequential; },
                        [](Unit& u) { u.group_sum.node_round = u.out; },
                        [](Unit& u) { u.group_sum.align.reference = Reference::exact; }});
  // The order of products matters where sums saturate, or raise a flag, on their way.
  const Unit flagged = with("fix24.sat", [](Unit& u) {
    u.group_sum.overflow = RegisterOverflow::flag;
    u.chain.lane_permutation = LanePermutation{2, 2};
  });
  CHECK(opinion("words", flagged).takes);
  CHECK_FALSE(opinion("words", flagged, true).takes);
  border.lies_between("fix24.sat", [](Unit& u) {
    u.chain.lane_permutation = LanePermutation{2, 2};
  });
}

TEST_CASE("exact sums of infinities of both signs, of NaN and of products with 0, near and far" *
          doctest::test_suite("unsanitized")) {
  constexpr std::size_t m = 9, k = 2300, n = 70;  // past a panel of steps and one of columns
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text :
       {"kulisch(e5m10)", "kulisch(e5m2)", "kulisch.f32", "fix24.sat",
        "fixedacc(e5m10, width=20, frac=8, overflow=flag)", "kulisch(e5m2, scale=e5m2:32:term)",
        "kulisch(e5m10, out=e4m3fn;overflow=max, final=e5m1:sr8)",  // the largest number, by
                                                                    // random bits
        "fixedacc(e5m10, width=20, frac=8, scale=e8m0fnu:7:term)"}) {
    const Unit u = parse_unit(text);
    const Layout<std::uint64_t> of_a(u.a.fmt), of_b(u.b.fmt), of_c(u.c.fmt);
    CodeList a = ones(u.a.fmt, m * k), b = ones(u.b.fmt, k * n), c(u.c.fmt, m * n);
    const auto in_a = [&](std::size_t r, std::size_t t, bool negative) {
      a.set(r * k + t, of_a.infinity | (negative ? of_a.sign : 0));
    };
    in_a(1, 0, false), in_a(1, k - 2, false), in_a(1, k - 1, false);
    in_a(2, 3, false), in_a(2, k - 1, true);
    for (std::size_t t = 0; t < 300; ++t) in_a(3, 2 * t, false);
    in_a(3, k - 1, true);
    in_a(4, k - 2, true);
    a.set(5 * k + 700, of_a.first_nan);
    for (std::size_t t = 0; t < 300; ++t) a.set(7 * k + 7 * t, of_a.first_nan);
    for (std::size_t t = 0; t < 300; ++t) in_a(8, t, t == 200);
    b.set(1 * n + 3, of_b.infinity | of_b.sign);
    b.set((k - 2) * n + 5, 0), b.set((k - 1) * n + 6, b[0] | of_b.sign);
    b.set(1200 * n + 69, of_b.first_nan);
    c.set(0 * n + 9, of_c.infinity), c.set(4 * n + 9, of_c.infinity);
    c.set(0 * n + 20, of_c.infinity | of_c.sign);
    c.set(1 * n + 9, of_c.first_nan);
    const Format scale = u.scale ? u.scale->fmt : u.a.fmt;
    const std::size_t block = u.scale ? static_cast<std::size_t>(u.scale->block) : 1,
                      runs = (k + block - 1) / block;
    const Layout<std::uint64_t> of_scale(scale);
    CodeList scale_a = ones(scale, m * runs), scale_b = ones(scale, runs * n);
    if (scale.has_inf()) scale_a.set(2 * runs + 1, of_scale.infinity);
    in_a(6, 0, false), in_a(6, 1000, false);  // e5m2: infinities of both signs by their scales
    if (scale.is_signed()) scale_a.set(6 * runs + 1000 / block, scale_a[0] | of_scale.sign);
    scale_a.set(0 * runs + 2, of_scale.first_nan);  // of numbers
    scale_b.set((runs - 1) * n + 11, 0);            // e5m2: 0, for infinities of A too
    scale_b.set((700 / block) * n + 12, of_scale.first_nan);
    for (const bool with_c : {false, true}) {
      MatrixProduct p;
      p.m = m, p.n = n, p.k = k;
      p.a = a.rows(k), p.b = b.rows(n);
      if (with_c) p.c = c.rows(n);
      if (u.scale) p.scale_a = scale_a.rows(runs), p.scale_b = scale_b.rows(n);
      CAPTURE(text);
      const std::uint64_t compared = Rival("", u, tally).compare_engines({"exact", "words"}, p);
      CHECK(compared >= 3 * m * n);  // the flag of a register, not by doubles
      expected += compared;
    }
  }
  tally.expect(expected);
}
