#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "dot_text.hpp"
#include "tests/lib/tally.hpp"
#include "traced_units.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_datapath {

// Corners that the datapath page names, on units whose answer can be worked out by hand.
namespace {

using namespace tests;

const Unit& preset(std::string_view name) { return find_preset(name)->unit; }

double two_to(int e) { return std::ldexp(1.0, e); }

std::vector<double> times(std::size_t n, double x) { return std::vector<double>(n, x); }

// Multiply, round, add, round.
Unit rounded_products(const Format& f) {
  Unit u = fused(f, 1);
  u.product.round = Round{f};
  u.c_level = CLevel::late;
  return u;
}

std::string sum(const Unit& u, const std::vector<double>& x, double c = 0) {
  return dot(u, x, times(x.size(), 1), c);
}

}  // namespace

TEST_CASE("pitfall 22: sixteen ones in e5m2 are 8 in order, 16 at once, 16 in blocks of eight") {
  CHECK(sum(fused(e5m2, 1), times(16, 1)) == codes(e5m2, {8}));
  CHECK(sum(fused(e5m2, 16), times(16, 1)) == codes(e5m2, {16}));
  CHECK(sum(fused(e5m2, 8), times(16, 1)) == codes(e5m2, {16}));
}

// --- Exponents of 62 bits ------------------------------------------------------------------------

namespace {

// Magnitudes of e62m1: 1, the largest number, the smallest normal one.
const Format e62m1 = ieee_format(62, 1);
constexpr std::uint64_t one = ((std::uint64_t{1} << 61) - 1) << 1,
                        largest = (((std::uint64_t{1} << 62) - 1) << 1) - 1, least = 2,
                        infinite = largest + 1, minus = std::uint64_t{1} << 63;

std::string hex(const std::vector<std::uint64_t>& codes) {
  std::string text;
  for (std::uint64_t x : codes) text += fmt::format("{:016x}", x);
  return text;
}

std::string e62(const Unit& u, const std::vector<std::uint64_t>& a,
                const std::vector<std::uint64_t>& b, std::uint64_t c = 0) {
  return dot(u, {hex(a), hex(b), hex({c})});
}

}  // namespace

TEST_CASE("a dot product of e62 terms 2^63 binades apart is exact and rounds once") {
  const Unit exact = fused(e62m1, 0);
  CHECK(e62(exact, {largest, least}, {largest, least}) == hex({infinite}));
  CHECK(e62(exact, {largest, largest | minus, one}, {largest, largest, one}) == hex({one}));
  CHECK(e62(exact, {largest, largest | minus, least}, {largest, largest, least}) == hex({0}));
  const Unit up = with(exact, [](Unit& u) { u.out.rm = RoundingMode::rup; });
  CHECK(e62(up, {largest, largest | minus, least}, {largest, largest, least}) == hex({1}));
  CHECK(e62(up, {least, one}, {least, one}) == hex({one + 1}));
  const Unit down = with(exact, [](Unit& u) { u.out.rm = RoundingMode::rtz; });
  CHECK(e62(down, {least | minus, one}, {least, one}) == hex({one - 1}));
  CHECK(e62(down, {largest, least}, {largest, least}) == hex({largest}));
}

TEST_CASE("a chain of fused multiply-adds takes e62 terms 2^63 binades apart") {
  const Unit up = with(fused(e62m1, 1), [](Unit& u) { u.out.rm = RoundingMode::rup; });
  CHECK(e62(up, {one, least}, {one, least}) == hex({one + 1}));
  CHECK(e62(up, {least, one}, {least, one}) ==
        hex({one + 1}));  // 2^-2^62 rounds up to the least number first
  CHECK(e62(up, {largest}, {largest}, infinite | minus) == hex({infinite | minus}));
  CHECK(e62(fused(e62m1, 1), {largest, largest | minus}, {largest, largest}) ==
        hex({infinite}));  // C was infinite by then
  const Unit down = with(fused(e62m1, 1), [](Unit& u) { u.out.rm = RoundingMode::rdn; });
  CHECK(e62(down, {largest}, {largest}, least | minus) == hex({largest}));
}

TEST_CASE("multiply, round, add, round takes e62 terms 2^63 binades apart") {
  const Unit unit = rounded_products(e62m1);
  CHECK(e62(unit, {one, least}, {one, least}) == hex({one}));  // the second product underflows to 0
  CHECK(e62(unit, {largest}, {largest}, least) == hex({infinite}));
  const Unit up = with(unit, [](Unit& u) { u.product.round->rm = u.out.rm = RoundingMode::rup; });
  CHECK(e62(up, {one, least}, {one, least}) == hex({one + 1}));
  CHECK(e62(up, {largest | minus, least}, {largest, least}) == hex({(largest - 1) | minus}));
}

// --- The corner cases of 3.9 ---------------------------------------------------------------------

namespace {

// The columns of the table. bfloat16 operands reach where binary16's do not; binary32's both.
struct Column {
  std::string_view unit;
  std::string want;
};

void check_columns(const std::vector<double>& a, const std::vector<double>& b, double c,
                   const std::vector<Column>& columns) {
  for (const Column& column : columns) {
    CAPTURE(column.unit);
    const Unit& u = preset(column.unit);
    const auto lanes = static_cast<std::size_t>(u.lanes);
    std::vector<double> x = a, y = b;
    if (lanes > x.size()) x.resize(lanes), y.resize(lanes);  // the other lanes: +0
    CHECK(dot(u, x, y, c) == column.want);
  }
}

std::string f32(double x) { return codes(binary32, {x}); }
const std::string nvidia_nan = "7fffffff", canonical = "7fc00000";

}  // namespace

TEST_CASE("3.9: a sum of zeros") {
  check_columns({0, -0.0}, {1, 1}, 0,
                {{"hopper.bf16.f32", f32(0)},
                 {"cdna1.bf16", f32(0)},
                 {"cdna2.bf16", f32(0)},
                 {"cdna3.bf16", f32(0)},
                 {"fma.f32", f32(0)}});
  check_columns(times(16, -0.0), times(16, 1), -0.0,
                {{"blackwell.bf16.f32", f32(-0.0)},
                 {"hopper.bf16.f32", f32(0)},
                 {"cdna1.bf16", f32(0)},
                 {"cdna2.bf16", f32(0)},
                 {"cdna3.bf16", f32(-0.0)},
                 {"fma.f32", f32(-0.0)}});
}

// docs/evidence.md: what an H200 gave.
TEST_CASE("3.9: Hopper makes +0 of what rounds to zero below it, too") {
  for (const std::string_view unit : {"hopper.f16.f16", "hopper.wgmma.f16.f16", "lowered.e5m2.f16"})
    check_columns({-0x1p-15}, {0x1p-14}, 0, {{unit, codes(binary16, {0})}});
  check_columns({-0x1p-15}, {0x1p-14}, 0, {{"blackwell.f16.f16", codes(binary16, {-0.0})}});
}

TEST_CASE("3.9: x - x is +0, but -0 where an IEEE unit rounds down") {
  check_columns({3, -3}, {1, 1}, 0,
                {{"hopper.bf16.f32", f32(0)},
                 {"cdna1.bf16", f32(0)},
                 {"cdna2.bf16", f32(0)},
                 {"cdna3.bf16", f32(0)},
                 {"fma.f32", f32(0)}});
  const Unit down = with(preset("fma.f32"), [](Unit& u) { u.out.rm = RoundingMode::rdn; });
  CHECK(dot(down, {3}, {1}, -3) == f32(-0.0));
}

TEST_CASE("3.9: infinity times zero, infinity minus infinity and NaN give the unit's NaN") {
  for (const auto& [a, b, c] : {std::tuple{infinity, 0.0, 0.0},
                                {infinity, 1.0, -infinity},
                                {not_a_number, 1.0, 0.0},
                                {1.0, 1.0, not_a_number}})
    check_columns({a}, {b}, c,
                  {{"hopper.bf16.f32", nvidia_nan},
                   {"cdna1.bf16", canonical},
                   {"cdna2.bf16", canonical},
                   {"cdna3.bf16", canonical},
                   {"fma.f32", canonical}});
  CHECK(dot(preset("hopper.f16.f16"), {infinity}, {0}) == "7fff");
}

TEST_CASE("3.9: terms past the range may cancel where products are exact") {
  check_columns({two_to(127), -two_to(127)}, {2, 2}, 0,
                {{"hopper.bf16.f32", f32(0)},
                 {"cdna1.bf16", f32(0)},
                 {"cdna2.bf16", canonical},
                 {"cdna3.bf16", canonical}});
}

TEST_CASE("3.9: a sum past the range is infinite, under truncation too") {
  check_columns({two_to(127), two_to(127)}, {1, 1}, 0,
                {{"hopper.bf16.f32", f32(infinity)},
                 {"cdna1.bf16", f32(infinity)},
                 {"cdna2.bf16", f32(infinity)},
                 {"cdna3.bf16", f32(infinity)},
                 {"fma.f32", f32(infinity)}});
  const double most = (2 - two_to(-23)) * two_to(127);
  check_columns({two_to(103)}, {1}, most,
                {{"hopper.bf16.f32", f32(most)},
                 {"cdna1.bf16", f32(infinity)},
                 {"cdna2.bf16", f32(infinity)},
                 {"cdna3.bf16", f32(infinity)},
                 {"fma.f32", f32(infinity)}});
}

TEST_CASE("3.9: a term far below the range keeps its sign where it is not lost in alignment") {
  check_columns({-two_to(-80)}, {two_to(-80)}, 0,
                {{"hopper.bf16.f32", f32(0)},
                 {"cdna1.bf16", f32(-0.0)},
                 {"cdna2.bf16", f32(0)},
                 {"cdna3.bf16", f32(-0.0)},
                 {"fma.f32", f32(-0.0)}});
}

TEST_CASE("3.9: one and a half of the least number") {
  check_columns({3 * two_to(-75)}, {two_to(-75)}, 0,
                {{"hopper.bf16.f32", f32(two_to(-149))},
                 {"cdna1.bf16", f32(two_to(-148))},
                 {"cdna2.bf16", f32(0)},
                 {"cdna3.bf16", f32(two_to(-148))}});
}

// --- The corners decided in 3.10 -----------------------------------------------------------------

TEST_CASE("3.10, 2: what a unit's result format cannot hold") {
  const auto into = [](const Format& f) {
    return with(fused(binary16, 1), [&](Unit& u) {
      u.c.fmt = binary16;
      u.out.fmt = f;
    });
  };
  Format unsigned_nan = ieee_format(5, 10);
  unsigned_nan.sign = Sign::none;
  CHECK(dot(into(unsigned_nan), {-1}, {1}) == codes(unsigned_nan, {not_a_number}));
  CHECK(dot(into(unsigned_nan), {-0.0}, {1}, -0.0) == codes(unsigned_nan, {0}));
  Format unsigned_finite = finite_format(5, 10);
  unsigned_finite.sign = Sign::none;
  CHECK(dot(into(unsigned_finite), {-1}, {1}) == codes(unsigned_finite, {0}));
  CHECK(dot(into(e8m0fnu), {0}, {1}) == "ff");
  Format no_zero = finite_format(3, 2);
  no_zero.zero = false;
  CHECK(dot(into(no_zero), {0}, {1}) == "00");
  CHECK(dot(into(no_zero), {two_to(-20)}, {1}) == "00");
  const auto plus = [](Unit& u) { u.out.zero_sign = ZeroSign::always_plus; };
  CHECK(dot(with(into(no_zero), plus), {-two_to(-20)}, {1}) == "20");  // a number, and no zero
  CHECK(dot(into(e4m3fn), {infinity}, {1}) == "7f");
  CHECK(dot(into(e2m1fn), {-infinity}, {1}) == "f");
  CHECK(dot(into(e2m1fn), {not_a_number}, {1}) == "0");
  CHECK(dot(with(into(e4m3fn), [](Unit& u) { u.out.overflow = Overflow::max; }), {-infinity},
            {1}) == "fe");
}

TEST_CASE("products keep the sign of their factors: zero_sign is about sums") {
  for (const ZeroSign sign : {ZeroSign::ieee, ZeroSign::plus, ZeroSign::always_plus}) {
    const Unit u = with(fused(binary16, 1), [&](Unit& x) {
      x.c.fmt = x.out.fmt = binary16;
      x.product.round = Round{.fmt = binary16, .zero_sign = sign};
    });
    CHECK(dot(u, {-two_to(-20)}, {two_to(-20)}, -0.0) == "8000");
    CHECK(dot(u, {-0.0}, {1}, -0.0) == "8000");
  }
}

TEST_CASE("3.10, 3: below the least number without subnormals the gap decides") {
  Format f = ieee_format(4, 3);
  f.subnormals = false;
  const Unit u = with(fused(binary16, 1), [&](Unit& x) { x.out.fmt = f; });
  CHECK(dot(u, {9}, {two_to(-11)}) == "00");  // half of 9 * 2^-10: a tie, 0 counts as even
  CHECK(dot(u, {9 + two_to(-6)}, {two_to(-11)}) == "01");
}

TEST_CASE(
    "3.10, 4: with one digit ties to even take the larger magnitude, in P3109's formats the even "
    "code") {
  Format one_digit = ieee_format(5, 0);
  one_digit.nan = NanCodes::none;
  one_digit.inf = InfCodes::none;
  const auto into = [](const Format& f) {
    return with(fused(binary16, 1), [&](Unit& u) { u.out.fmt = f; });
  };
  CHECK(dot(into(one_digit), {3}, {0.5}) == codes(one_digit, {2}));
  CHECK(dot(into(one_digit), {3}, {1}) == codes(one_digit, {4}));
  const Format p3109 = p3109_format(8, 1, true, true);
  CHECK(dot(into(p3109), {3}, {0.5}) == codes(p3109, {1}));  // 1 has an even code, 2 an odd one
  CHECK(dot(into(p3109), {3}, {1}) == codes(p3109, {4}));
}

TEST_CASE("3.10, 5: scales multiply as numbers, and a NaN scale makes its block NaN") {
  Unit u = with(fused(binary16, 2), [](Unit& x) {
    x.scale = Scale{binary16, 2, ScaleApply::term};
  });
  const auto scaled = [&](double a, double b, double scale_a, double scale_b) {
    return dot(u, {codes(binary16, {a, 0}), codes(binary16, {b, 0}), "0000",
                   codes(binary16, {scale_a}), codes(binary16, {scale_b})});
  };
  CHECK(scaled(3, 1, -2, 0.5) == codes(binary16, {-3}));
  CHECK(scaled(0, 0, not_a_number, 1) == codes(binary16, {not_a_number}));
  CHECK(scaled(3, 1, infinity, 0) == codes(binary16, {not_a_number}));
  CHECK(scaled(3, 1, -infinity, 1) ==
        codes(binary16, {not_a_number}));  // -infinity and the other lane's 0 * infinity
  u.lanes = 1, u.scale->block = 1;
  CHECK(dot(u, {codes(binary16, {3}), codes(binary16, {1}), "0000", codes(binary16, {-infinity}),
                codes(binary16, {1})}) == codes(binary16, {-infinity}));
}

TEST_CASE("3.10, 5: an infinite C hides no NaN among the scales of groups") {
  Unit u = fused(binary16, 2);
  u.groups = Groups{.consecutive = 1};
  u.c_level = CLevel::block;
  u.scale = Scale{binary16, 1, ScaleApply::group};
  const std::string ones = codes(binary16, {1, 1});
  for (const std::vector<double>& scales : {std::vector{not_a_number, 1.0}, {1.0, not_a_number}})
    CHECK(dot(u, {ones, ones, codes(binary16, {infinity}), codes(binary16, scales), ones}) ==
          codes(binary16, {not_a_number}));
}

TEST_CASE("3.10, 5: scales follow the lane permutation") {
  Unit u = with(fused(binary32, 2), [](Unit& x) {
    x.scale = Scale{binary32, 2, ScaleApply::term};
    x.chain.lane_permutation = LanePermutation{1, 2};  // 0 2 | 1 3
  });
  const auto of = [&](const std::vector<double>& a) {
    const std::string ones = codes(binary32, times(4, 1));
    return dot(
        u, {codes(binary32, a), ones, f32(0), codes(binary32, {1, 4}), codes(binary32, {1, 2})});
  };
  CHECK(of({0, 1, 0, 0}) == f32(1));  // not 8, the scale of the second block of lanes
  CHECK(of({0, 0, 1, 0}) == f32(8));
  CHECK(of({1, 1, 1, 1}) == f32(18));
}

TEST_CASE("3.10, 6: drop_c_below forgets C and nothing else") {
  Unit u = fused(binary32, 2);
  u.group_sum.align = {.reference = Reference::max_exponent,
                       .frac_bits = 40,
                       .rm = RoundingMode::rdn,
                       .drop_c_below = 4};
  CHECK(dot(u, {16, 1}, {1, 1}, -1) == f32(16));        // C lies at 2^(4 - 4), not below
  CHECK(dot(u, {16, 0.5}, {1, 1}, -0.5) == f32(16.5));  // C is dropped, a product as small is not
  CHECK(dot(u, {16, 0}, {1, 1}, -two_to(-100)) == f32(16));
  u.group_sum.align.drop_c_below.reset();
  u.out.rm = RoundingMode::rtz;  // or the unit in the window's last place would be rounded away
  CHECK(dot(u, {16, 0}, {1, 1}, -two_to(-100)) == f32(16 - two_to(-20)));
}

TEST_CASE("3.10, 7: a sum that cancelled keeps its vote, a sum of zeros has none") {
  CHECK(dot(preset("cdna3.bf8"), {1, 0, -1}, {1, 0, 1}, two_to(-30)) == f32(0));
  CHECK(dot(preset("cdna3.bf8"), {0, 0, 0}, {1, 0, 1}, two_to(-30)) == f32(two_to(-30)));
}

TEST_CASE("3.10, 7: a short block is filled with +0, which shows in the sign of zero alone") {
  CHECK(dot(preset("volta.f16.f32"), {-0.0}, {1}, -0.0) == f32(0));
  CHECK(dot(preset("volta.f16.f32"), times(4, -0.0), times(4, 1), -0.0) == f32(-0.0));
  CHECK(dot(preset("volta.f16.f32"), times(3, 1), times(3, 1)) == f32(3));
}

TEST_CASE("3.10, 8: mac rounds its products to the sum's format") {
  CHECK(preset("mac.bf16.f32.bf16").product.round->fmt == binary32);
  CHECK(parse_unit("mac(bfloat16, sum=binary32, final=bfloat16)").product.round->fmt.frac_bits <=
        23);
}

// --- The chain -----------------------------------------------------------------------------------

TEST_CASE("promotion adds the running value into an outer one, every interval and at the end") {
  // binary16 stops counting at 2048; an outer binary32 value never sees that many ones at a time.
  const Unit plain = fused(binary16, 4);
  Unit promoted = plain;
  promoted.chain.promote = Promote{1024, {binary32}};
  CHECK(sum(plain, times(4096 + 2, 1)) ==
        codes(binary16, {4096}));  // the last two tie down to even
  CHECK(sum(promoted, times(4096 + 2, 1)) == f32(4098));
  CHECK(dot(promoted, {1}, {1}, -3) == f32(-2));
}

TEST_CASE("promotion starts from C and rounds to its own format") {
  Unit u = fused(binary16, 2);
  u.chain.promote = Promote{2, {e5m2}};
  // 8 + 1 ties to 8 in e5m2, twice; binary16 would have counted on.
  CHECK(sum(u, {1, 0, 1, 0}, 8) == codes(e5m2, {8}));
}

TEST_CASE("c_at = last adds C at the end, rounded by c_round") {
  Unit u = fused(binary16, 2);
  u.c.fmt = binary32;
  u.chain.c_at = CAt::last;
  u.chain.c_round = Round{binary32, RoundingMode::rtz};
  CHECK(sum(u, {1, 1, 1}, two_to(-22)) == f32(3 + two_to(-22)));
  CHECK(sum(u, {1, 1, 1}, -two_to(-60)) == f32(3 - two_to(-22)));
  u.chain.final = Round{binary16, RoundingMode::raz};
  CHECK(sum(u, {1, 1, 1}, two_to(-22)) == codes(binary16, {3 + two_to(-9)}));
}

TEST_CASE("c_at = last starts from +0 where the result's format has no zero") {
  Unit u = fused(binary16, 2);
  u.out.fmt = e8m0fnu;
  u.chain.c_at = CAt::last;
  u.chain.c_round = Round{binary32};
  CHECK(sum(u, {2, 2}) == f32(4));
}

TEST_CASE("a chain of no products is its C, rounded as a block of zeros would") {
  CHECK(dot(preset("hopper.f16.f32"), {}, {}, 1.5) == f32(1.5));
  CHECK(dot(preset("hopper.e4m3.f32"), {}, {}, 1 + two_to(-20)) == f32(1));
  CHECK(dot(preset("kulisch.f32"), {}, {}, -0.0) == f32(0));
  CHECK(dot(preset("blackwell.mxfp8"), {"", "", f32(2), "", ""}) == f32(2));
}

TEST_CASE("an accumulator between blocks aligns by the exponent it has in its format") {
  // In the window of 25 bits below 2^-133 the register's least number survives, its half does not.
  CHECK(dot(preset("hopper.bf16.f32"), {two_to(-75)}, {two_to(-74)}, 0) == f32(two_to(-149)));
  CHECK(dot(preset("hopper.bf16.f32"), {two_to(-75)}, {two_to(-75)}, 0) == f32(0));
}

// --- Traces --------------------------------------------------------------------------------------

TEST_CASE("a trace shows every wire, and the flags are those of all roundings on the way") {
  for (const TracedUnit& t : traced_units()) {
    const Dot dot(t.unit, t.operands);
    const auto engine = make_reference(t.unit, dot.k());
    CHECK(dot.trace(*engine) == t.rows);
    Flags flags = 0;
    const std::string code = dot.run(*engine, flags);
    CHECK(flags == t.flags);
    CHECK(code == dot.at_the_end_of_the_trace(*engine));
  }
}

}  // namespace test_datapath
