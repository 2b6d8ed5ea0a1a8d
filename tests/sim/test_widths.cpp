#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random_units.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace test_widths {

// Figures: the datapath page, 2.4.
namespace {

using namespace widthwise;

Widths of(const std::string& unit) { return derive_widths(parse_unit(unit)); }
SumWidths accumulator(const std::string& unit) { return of(unit).accumulator(); }

TEST_CASE("product significand: both significands side by side") {
  CHECK(of("volta.f16.f32").product_significand == 22);
  CHECK(of("ampere.f16.f32").product_significand == 22);
  CHECK(of("hopper.f16.f32").product_significand == 22);
  CHECK(of("hopper.e4m3.f32").product_significand == 8);
  CHECK(of("blackwell.e4m3.f32").product_significand == 8);
  CHECK(of("blackwell.nvfp4").product_significand == 4);
  CHECK(of("hopper.tf32.f32").significand_a == 11);
  CHECK(of("hopper.tf32.f32").product_significand == 22);
  CHECK(of("hopper.e4m3.f32").product_fraction == 6);
}

TEST_CASE("fixed point stands at one exponent, posits and takums at their leading digit's") {
  CHECK(of("mac(int8)").product_significand == 16);
  CHECK(of("mac(int8)").product_exponent == ExponentRange{14, 14});
  CHECK(of("mac(uint8)").product_significand == 16);
  CHECK(of("mac(fixed8.4)").product_lsb == -8);
  // 2^14 = -128 * -128 takes 15 bits, four of them 17, and a sign is added.
  CHECK(accumulator("dot(int8, c=int8, out=int8, lanes=4)").needed == 1 + 17);
  CHECK(of("mac(posit8es2)").product_significand == 2 * 4);
  CHECK(of("mac(posit8es2)").product_exponent == ExponentRange{-48, 48});
  CHECK(of("mac(posit8es2)").product_lsb == -48);
  CHECK(of("mac(takum16)").product_exponent == ExponentRange{-510, 508});
  // Products of posit16es2 are multiples of 2^-112 up to 2^112, which a quire of 256 bits holds.
  CHECK(derive_widths(parse_unit("kulisch(posit16es2)"), 1 << 30).accumulator().needed == 256);
}

TEST_CASE("magnitude after alignment: F + 2, since a product is below 4") {
  CHECK(of("volta.f16.f32").group_sum.magnitude == 25);
  CHECK(of("ampere.f16.f32").group_sum.magnitude == 26);
  CHECK(of("hopper.f16.f32").group_sum.magnitude == 27);
  CHECK(of("hopper.e4m3.f32").group_sum.magnitude == 15);
  CHECK(of("blackwell.e4m3.f32").group_sum.magnitude == 27);
  CHECK(accumulator("blackwell.nvfp4").magnitude == 35 + 11);
}

TEST_CASE("signed sum: 34 bits for 32 products and F = 25, as DeepSeek asks for") {
  CHECK(accumulator("volta.f16.f32").width == 29);
  CHECK(accumulator("ampere.f16.f32").width == 31);
  CHECK(accumulator("hopper.f16.f32").width == 33);
  CHECK(accumulator("hopper.e4m3.f32").width == 22);
  CHECK(accumulator("blackwell.e4m3.f32").width == 34);
  CHECK(accumulator("blackwell.nvfp4").width == 49);
  CHECK(accumulator("blackwell.mxfp4").width == 48);
  CHECK(of("blackwell.nvfp4").group_sum.width == 13);
  CHECK(of("blackwell.nvfp4").group_sum.fraction == 2);
  REQUIRE_FALSE(presets().empty());
  for (const Preset& p : presets()) {
    CAPTURE(p.name);
    const SumWidths w = derive_widths(p.unit).accumulator();
    if (!p.unit.group_sum.width) CHECK_FALSE(w.can_overflow());
    CHECK(w.width == 1 + w.integer() + w.fraction);
    CHECK(w.needed == 1 + w.carry() + w.magnitude);
  }
  for (const char* name : {"fix24.wrap", "fix24.sat"}) CHECK(accumulator(name).can_overflow());
}

TEST_CASE("signed exponent width: products, scales, C and the floor") {
  for (const std::string name :
       {"volta.f16.f32", "ampere.f16.f32", "hopper.f16.f32", "hopper.bf16.f32", "hopper.tf32.f32",
        "hopper.e4m3.f32", "blackwell.e4m3.f32", "blackwell.nvfp4", "blackwell.mxfp4"}) {
    CAPTURE(name);
    CHECK(of(name).exponent.width() == 9);
  }
  CHECK(of("volta.f16.f32").exponent == ExponentRange{-131, 127});
  CHECK(of("hopper.bf16.f32").product_exponent == ExponentRange{-252, 254});
  Unit mxfp8 = find_preset("blackwell.mxfp8")->unit;
  CHECK(derive_widths(mxfp8).exponent.width() == 10);
  mxfp8.a.fmt = mxfp8.b.fmt = e5m2;
  CHECK(derive_widths(mxfp8).exponent == ExponentRange{-282, 284});
  CHECK(derive_widths(mxfp8).exponent.width() == 10);
  CHECK(ExponentRange{-256, 255}.width() == 9);
  CHECK(ExponentRange{-257, 255}.width() == 10);
  CHECK(ExponentRange{0, 0}.width() == 1);
}

TEST_CASE("exact sums: from the least bit of a term to the top of the largest") {
  const SumWidths f16 = accumulator("cdna1.f16"), bf16 = accumulator("cdna1.bf16");
  CHECK(f16.fraction == 149);
  CHECK(f16.magnitude == 149 + 128);  // C, a binary32
  CHECK(f16.needed == 278);           // the page: about 280
  CHECK(bf16.fraction == 266);
  CHECK(bf16.magnitude == 266 + 256);
  CHECK(bf16.needed == 266 + 258);  // two products below 2^256, C, the sign
}

TEST_CASE("Kulisch registers before guard bits: one product's range") {
  const std::pair<std::string, std::int64_t> figures[] = {
      {"binary32", 554}, {"binary64", 4196}, {"bfloat16", 522}, {"binary16", 80},
      {"e5m2", 64},      {"e4m3fn", 36},     {"e2m1fn", 8}};
  int cases = 0;
  for (const auto& [name, bits] : figures) {
    const std::string format = name;
    CAPTURE(format);
    const Unit u = parse_unit("kulisch(" + format + ")");
    const SumWidths one = derive_widths(u, 1).accumulator();
    CHECK(one.magnitude == bits);
    for (const std::int64_t n : {2, 1000, 1 << 20}) {
      const SumWidths w = derive_widths(u, n).accumulator();
      CHECK(w.needed <= bits + 1 + (64 - std::countl_zero(static_cast<std::uint64_t>(n))));
      CHECK(w.needed >= bits + 1);
      CHECK(w.terms == n + 1);
    }
    ++cases;
  }
  CHECK(cases == 7);
  const SumWidths w = accumulator("kulisch.f32");
  CHECK(w.width == 640);
  CHECK(w.fraction == 298);
  CHECK(w.integer() == 640 - 1 - 298);
  CHECK(w.needed == 1 + 554 + 32);
  CHECK_FALSE(
      derive_widths(find_preset("kulisch.f32")->unit, INT64_MAX).accumulator().can_overflow());
}

TEST_CASE("levels: late C, groups, rounded nodes, the adders of the chain") {
  const Widths cdna3 = of("cdna3.bf8");
  CHECK(cdna3.group_sum.terms == 8);
  CHECK(cdna3.group_sum.needed == 24 + 5 + 1);  // 8 products below 4
  REQUIRE(cdna3.block_sum.has_value());
  CHECK(cdna3.block_sum->terms == 2);
  CHECK(cdna3.block_sum->needed == 24 + 6 + 1);
  REQUIRE(cdna3.c_sum.has_value());
  CHECK(cdna3.c_sum->fraction == 32);
  CHECK(cdna3.c_sum->needed == 32 + 7 + 1);  // 64 and C, below 66
  const Widths tree = of("tree8.f32");
  CHECK(tree.group_sum.terms == 8);
  CHECK(tree.group_sum.needed == 149 + 129 + 1);
  CHECK_FALSE(tree.block_sum.has_value());
  CHECK(tree.c_sum->needed == 149 + 129 + 1);
  const Widths promoted = of("hopper.e4m3.promote128");
  CHECK_FALSE(promoted.compensation_sum.has_value());
  const Widths compensated =
      derive_widths(parse_unit("kahan(e4m3fn, product=e5m10, sum=binary32)"));
  REQUIRE(compensated.compensation_sum.has_value());
  CHECK(compensated.compensation_sum->needed == 149 + 128 + 1 + 1);  // two of binary32, and a sign
  REQUIRE(promoted.promote_sum.has_value());
  CHECK(promoted.promote_sum->needed == 149 + 129 + 1);
  CHECK_FALSE(promoted.last_sum.has_value());
  CHECK(of("lowered.e4m3.f16").last_sum->needed == 24 + 17 + 1);
  CHECK(of("hopper.f16.f32").products == 16);
}

TEST_CASE("one digit of precision is a power of two: it needs no bit for what lies below 2") {
  const SumWidths w = accumulator("dot(e8m0fnu, lanes=4, align=10:rtz)");
  CHECK(w.magnitude == 10 + 1);
  CHECK(w.needed == 10 + 3 + 1);  // four ones and C, five
}

TEST_CASE("a rounded node of two inputs is as wide as their fused sum") {
  Unit u = parse_unit("mac(e5m2, c=binary32, sum=e5m2)");
  const std::int64_t fused = derive_widths(u).accumulator().needed;
  u.c_sum.order = Order::sequential;
  u.c_sum.node_round = Round{.fmt = binary32};
  CHECK(derive_widths(u).accumulator().needed == fused);
}

TEST_CASE("the widest exponents saturate instead of wrapping") {
  const Widths w = of("dot(e62m10, lanes=2)");
  CHECK(w.accumulator().needed == INT64_MAX);
  CHECK(w.product_exponent.max == 2 * ((std::int64_t{1} << 61) - 1));
  CHECK(w.exponent.width() == 63);
}

TEST_CASE("2,000 random units, 62-bit exponents among them: the parts add up") {
  random_units::Random random(6);
  int cases = 0;
  for (; cases < 2000; ++cases) {
    const Unit u = random_units::unit(random, 62, 4095);
    const Widths w = derive_widths(u);
    CAPTURE(to_toml(u));
    for (const SumWidths& s : {w.group_sum, w.accumulator()}) {
      if (s.needed != INT64_MAX) REQUIRE(s.carry() >= 0);
      REQUIRE(s.exponent.min <= s.exponent.max);
      REQUIRE(s.can_overflow() == (s.width < s.needed));
    }
    REQUIRE(w.product_exponent.min <= w.product_exponent.max);
    if (w.block_sum) REQUIRE((u.groups || u.c_level == CLevel::block));
    REQUIRE(w.c_sum.has_value() == (u.c_level == CLevel::late));
  }
  CHECK(cases == 2000);
}

// --- No block can overflow what is called wide enough --------------------------------------------

// An operand's value as m * 2^q with the exponent that the aligner sees; small formats only.
struct Value {
  std::int64_t m, q, e;
};

Value value_of(const Format& f, std::uint64_t magnitude) {
  const auto fraction = static_cast<std::int64_t>(magnitude & ((1u << f.frac_bits) - 1));
  const auto field = static_cast<std::int64_t>(magnitude >> f.frac_bits);
  const bool bottom = field == 0 && !f.all_normal();
  const std::int64_t e = bottom ? f.emin() : field - f.bias;
  return {bottom ? fraction : fraction + (1 << f.frac_bits), e - f.frac_bits, e};
}

std::uint64_t largest_magnitude(const Format& f) {
  const auto top = static_cast<std::uint64_t>(f.top_field()) << f.frac_bits;
  if (f.nan == NanCodes::ieee) return top - 1;
  return (top | ((1u << f.frac_bits) - 1)) - (f.nan == NanCodes::all_ones) -
         (f.inf == InfCodes::top);
}

// m * 2^q on the grid of 2^lsb, cut as the mode says; |m| below 2^40.
std::int64_t cut(RoundingMode rm, std::int64_t m, std::int64_t q, std::int64_t lsb) {
  if (lsb <= q) return m << (q - lsb);
  if (m == 0) return 0;
  const std::int64_t n = std::min<std::int64_t>(lsb - q, 60);
  const std::int64_t floor = m >> n, rest = m - (floor << n), half = std::int64_t{1} << (n - 1);
  if (rest == 0) return floor;
  switch (rm) {
    case RoundingMode::rdn: return floor;
    case RoundingMode::rup: return floor + 1;
    case RoundingMode::rtz: return m < 0 ? floor + 1 : floor;
    case RoundingMode::raz: return m < 0 ? floor : floor + 1;
    case RoundingMode::odd: return floor | 1;
    default: return rest > half || (rest == half && floor % 2 != 0) ? floor + 1 : floor;  // rne
  }
}

struct Block {
  Unit unit;
  std::vector<Value> terms;  // products and C, with their signs in m

  // Their sum in units of the accumulator's least bit.
  std::int64_t sum(const SumWidths& w) const {
    const Align& align = unit.group_sum.align;
    std::int64_t e = align.e_floor.value_or(INT64_MIN), total = 0;
    for (const Value& t : terms)
      if (t.m != 0) e = std::max(e, t.e);
    if (e == INT64_MIN) return 0;  // zeros alone
    const std::int64_t lsb =
        align.reference == Reference::max_exponent ? e - align.frac_bits : -w.fraction;
    for (const Value& t : terms)
      if (t.m != 0) total += cut(align.rm.mode, t.m, t.q, lsb);
    return total;
  }
};

// Operands at the top, at the bottom or anywhere, all of one sign as often as not.
Block random_block(random_units::Random& random, const Unit& u) {
  Block b{u, {}};
  const bool one_sign = random() % 2, negative = random() % 2;
  const auto magnitude = [&](const Format& f) {
    const std::uint64_t top = largest_magnitude(f);
    const std::uint64_t least = f.zero ? 0 : 1;
    return random() % 2 ? top : random() % 3 ? random() % (top + 1) : least;
  };
  const auto sign = [&] { return one_sign ? negative : random() % 2 == 0; };
  for (int i = 0; i < u.lanes; ++i) {
    const Value x = value_of(u.a.fmt, magnitude(u.a.fmt)),
                y = value_of(u.b.fmt, magnitude(u.b.fmt));
    const std::int64_t m = x.m * y.m;
    b.terms.push_back({sign() ? -m : m, x.q + y.q, x.e + y.e});
  }
  const Value c = value_of(u.c.fmt, magnitude(u.c.fmt));
  b.terms.push_back({sign() ? -c.m : c.m, c.q, c.e});
  return b;
}

Unit random_dot(random_units::Random& random) {
  constexpr RoundingMode modes[] = {RoundingMode::rne, RoundingMode::rtz, RoundingMode::rdn,
                                    RoundingMode::rup, RoundingMode::raz, RoundingMode::odd};
  constexpr Format formats[] = {e2m1fn, e3m2fn, e4m3fn, e2m3fn, e4m3fnuz, ieee_format(2, 1)};
  const auto format = [&] { return formats[random() % std::size(formats)]; };
  Unit u{};
  u.a.fmt = format();
  u.b.fmt = format();
  u.c.fmt = u.out.fmt = format();
  u.lanes = static_cast<std::int64_t>(1 + random() % 9);
  u.c_level = CLevel::group;
  Align& align = u.group_sum.align;
  align.reference = static_cast<Reference>(random() % 3);
  align.rm = modes[random() % std::size(modes)];
  if (align.reference != Reference::exact)
    align.frac_bits = static_cast<std::int64_t>(random() % 16) - 4;
  if (align.reference == Reference::max_exponent && random() % 3 == 0) align.e_floor = -3;
  return u;
}

TEST_CASE("needed: no block of extreme or random operands passes it; some come within a bit") {
  random_units::Random random(5);
  int cases = 0, close = 0;
  for (int i = 0; i < 3000; ++i) {
    const Unit u = random_dot(random);
    const SumWidths w = derive_widths(u).accumulator();
    CAPTURE(to_string(u));
    REQUIRE(w.needed < 60);
    const std::int64_t end = std::int64_t{1} << (w.needed - 1);
    std::int64_t farthest = 0;
    for (int trial = 0; trial < 60; ++trial, ++cases) {
      const std::int64_t sum = random_block(random, u).sum(w);
      REQUIRE(-end <= sum);
      REQUIRE(sum < end);
      farthest = std::max(farthest, sum < 0 ? -sum : sum);
    }
    close += farthest >= end / 4;
  }
  CHECK(cases == 180000);
  CHECK(close > 2000);
}

}  // namespace

}  // namespace test_widths
