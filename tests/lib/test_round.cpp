#include <array>
#include <bit>
#include <string>

#include "operands.hpp"
#include "tally.hpp"
#include "widthwise/sim/text.hpp"

namespace test_round {

// The rounder by itself: what it decides, where it steps, and what lies past the ends of a format.
namespace {

using namespace tests;
using Small = std::uint32_t;

constexpr std::array all_modes{RoundingMode::rne, RoundingMode::rna, RoundingMode::rnz,
                               RoundingMode::rnp, RoundingMode::rnm, RoundingMode::rno,
                               RoundingMode::rtz, RoundingMode::rdn, RoundingMode::rup,
                               RoundingMode::raz, RoundingMode::odd};
static_assert(all_modes.size() == deterministic_modes);

const Layout<Small> single(binary32);

// A binary32 number, rounded.
Result<Small> rounded(float x, const Format& to, const Env& env, Small random = 0) {
  return convert<Small>(Rounder<Small>(to, env), single, std::bit_cast<Small>(x), random);
}
Small code(float x, const Format& to, Rounding how, Small random = 0) {
  return rounded(x, to, {.rounding = how}, random).code;
}

// Whether a magnitude goes away, one letter for each of exact, below half, half and above half,
// 'A' always, '-' never, 'e' from even, 'o' from odd; positive first, then negative.
// datapath page 3.1 in a table.
struct Row {
  RoundingMode mode;
  const char* positive;
  const char* negative;
};
constexpr Row table[] = {
    {RoundingMode::rne, "--oA", "--oA"}, {RoundingMode::rna, "--AA", "--AA"},
    {RoundingMode::rnz, "---A", "---A"}, {RoundingMode::rnp, "--AA", "---A"},
    {RoundingMode::rnm, "---A", "--AA"}, {RoundingMode::rno, "--eA", "--eA"},
    {RoundingMode::rtz, "----", "----"}, {RoundingMode::rdn, "----", "-AAA"},
    {RoundingMode::rup, "-AAA", "----"}, {RoundingMode::raz, "-AAA", "-AAA"},
    {RoundingMode::odd, "-eee", "-eee"},
};

bool goes_away(const Row& row, bool negative, bool odd, int place) {
  const char c = (negative ? row.negative : row.positive)[place];
  return c == 'A' || (c == 'o' && odd) || (c == 'e' && !odd);
}

// Exact, below half, half, above half: where a dropped part of `digits` digits lies.
int place(Small dropped, int digits) {
  const Small half = Small{1} << (digits - 1);
  return dropped == 0 ? 0 : dropped < half ? 1 : dropped == half ? 2 : 3;
}

std::string row_text(const Row& row, bool negative, bool odd, Small dropped) {
  return to_string(Rounding(row.mode)) + (negative ? " negative" : " positive") +
         (odd ? " odd" : " even") + ", dropped " + hex({dropped});
}

}  // namespace

TEST_CASE("rounds_away is the table of the datapath page, for every dropped part") {
  Tally tally;
  for (const Row& row : table)
    for (bool negative : {false, true})
      for (bool odd : {false, true})
        for (Small dropped = 0; dropped < 256; ++dropped) {
          const bool got =
              rounds_away<Small>(RoundingRule(row.mode), negative, odd, dropped << 24, 0);
          tally.check(got == goes_away(row, negative, odd, place(dropped, 8)),
                      [&] { return row_text(row, negative, odd, dropped); });
        }
  tally.expect(std::size(table) * 2 * 2 * 256);
}

TEST_CASE("the rounder's increments carry where the table says away, and nowhere else") {
  Tally tally;
  for (const Row& row : table) {
    const Rounder<Small> to(binary32, {.rounding = row.mode});
    REQUIRE(to.drop == 8);
    for (bool negative : {false, true})
      for (bool odd : {false, true})
        for (Small dropped = 0; dropped < 256; ++dropped) {
          const Small carry = (dropped + to.increment[2 * negative + odd]) >> to.drop;
          tally.check(carry == Small{goes_away(row, negative, odd, place(dropped, 8))},
                      [&] { return row_text(row, negative, odd, dropped); });
        }
  }
  tally.expect(std::size(table) * 2 * 2 * 256);
}

TEST_CASE("an exact value never moves, whatever the mode and the random bits") {
  Tally tally;
  for (const Env& env : all_environments())
    for (Small r :
         {Small{0}, static_cast<Small>((std::uint64_t{1} << env.rounding.random_bits) - 1)})
      for (Small a = 0; a < 0x7c00; ++a) {
        const Layout<Small> half(binary16);
        const Rounder<Small> to(binary16, env);
        const Result<Small> z = convert<Small>(to, half, a, r);
        tally.check(z.code == a && z.flags == 0,
                    [&] { return hex({a}) + " " + to_string(env.rounding); });
      }
  tally.expect(all_environments().size() * 2 * 0x7c00);
}

TEST_CASE("stochastic rounding goes away for as many random numbers as its variant says") {
  using enum StochasticVariant;
  constexpr int k = 6, finer = 3;  // delta in steps of 2^-9
  const Format two_digits = parse_format("e5m1");
  Tally tally;
  for (Small delta = 0; delta < 1u << (k + finer); ++delta) {
    const float x = 1 + static_cast<float>(delta) / (1 << (k + finer)) / 2;  // ulp 1/2
    const Small whole = delta >> finer, rest = delta & ((1u << finer) - 1),
                half = 1u << (finer - 1);
    const Small nearest = whole + (rest > half || (rest == half && whole % 2 == 1));
    const Small half_up = whole + (rest >= half);
    for (auto [variant, want] :
         {std::pair{plain, whole}, {StochasticVariant::half, half_up}, {even, nearest}}) {
      Small away = 0;
      for (Small r = 0; r < 1u << k; ++r)
        away +=
            code(x, two_digits, Rounding(k, variant), r) - code(1, two_digits, RoundingMode::rtz);
      tally.check(away == want, [&, v = variant, w = want] {
        return to_string(Rounding(k, v)) + ", delta " + hex({delta}) + "/512: away for " +
               std::to_string(away) + " of 64, want " + std::to_string(w);
      });
    }
  }
  tally.expect(3 << (k + finer));
}

TEST_CASE("without subnormals the gap below the least number is rounded like any other") {
  const Format f = parse_format("e4m3;sub=no");  // least number, code 1: 1.125 * 2^-7
  const float least = 0x1.2p-7f;
  const auto near = [&](float part, Rounding how, Small r = 0) {
    return code(part * least, f, how, r);
  };
  CHECK(near(1, RoundingMode::rne) == 1);
  CHECK(near(0.5f, RoundingMode::rne) == 0);  // 0 is the even neighbour
  CHECK(near(0.5f, RoundingMode::rno) == 1);
  CHECK(near(0.5f, RoundingMode::rna) == 1);
  CHECK(near(0.5f, RoundingMode::rnz) == 0);
  CHECK(near(-0.5f, RoundingMode::rnm) == 0x81);
  CHECK(near(-0.5f, RoundingMode::rnp) == 0x80);
  CHECK(near(0.625f, RoundingMode::rne) == 1);
  CHECK(near(0.0625f, RoundingMode::raz) == 1);
  CHECK(near(0.0625f, RoundingMode::odd) == 1);
  CHECK(near(-0.9375f, RoundingMode::rtz) == 0x80);
  CHECK(near(-0.0625f, RoundingMode::rdn) == 0x81);
  CHECK(near(0.375f, Rounding(3, StochasticVariant::plain), 4) == 0);
  CHECK(near(0.375f, Rounding(3, StochasticVariant::plain), 5) == 1);
}

TEST_CASE("without zero every tiny value becomes the smallest number") {
  for (RoundingMode mode : all_modes) {
    CHECK(code(0x1p-140f, e8m0fnu, mode) == 0);
    const Result<Small> z = rounded(0x1p-140f, e8m0fnu, {.rounding = mode});
    CHECK(z.flags == (inexact | underflow));
  }
  CHECK(rounded(0, e8m0fnu, {}).code == 0xff);
  CHECK(rounded(0, e8m0fnu, {}).flags == invalid);
}

// What 10^6 becomes: the largest number, infinity, NaN.
TEST_CASE("overflow: by mode and sign, by policy, and by what the format has") {
  struct Case {
    const char* format;
    Small largest, past;  // magnitudes
    bool past_is_nan;
  };
  constexpr Case cases[] = {
      {"e5m2", 0x7b, 0x7c, false},
      {"e4m3fn", 0x7e, 0x7f, true},
      {"e2m1fn", 7, 7, false},
      {"e4m3fnuz", 0x7f, 0x80, true},
      {"binary8p4se", 0x7e, 0x7f, false},
      {"e5m2;overflow=max", 0x7b, 0x7b, false},
      {"e5m2;overflow=nan", 0x7b, 0x7e, true},
      {"e4m3fn;overflow=inf", 0x7e, 0x7f, true},
      {"e4m3fn;overflow=max", 0x7e, 0x7e, false},
  };
  Tally tally;
  for (const Case& c : cases)
    for (RoundingMode mode : all_modes)
      for (bool negative : {false, true}) {
        const Format f = parse_format(c.format);
        const bool stops = mode == RoundingMode::rtz || mode == RoundingMode::odd ||
                           mode == (negative ? RoundingMode::rup : RoundingMode::rdn);
        const bool largest = stops && f.overflow == Overflow::ieee;
        const Small sign = negative && !(c.past_is_nan && !largest) ? 1u << (f.width() - 1) : 0;
        const Small want = (largest ? c.largest : c.past) | sign;
        const Result<Small> z = rounded(negative ? -1e6f : 1e6f, f, {.rounding = mode});
        tally.check(z.code == want && z.flags == (overflow | inexact), [&] {
          return Description{negative ? "-10^6" : "10^6",
                             f,
                             {.rounding = mode},
                             0,
                             {z.code},
                             {want},
                             static_cast<Flags>(z.flags),
                             overflow | inexact}
              .text();
        });
      }
  tally.expect(std::size(cases) * all_modes.size() * 2);
}

TEST_CASE(
    "one digit of precision: ties go to the larger magnitude, in P3109's formats to the even "
    "code") {
  const Format plain = parse_format("e5m0;nan=all_ones"), p3109 = parse_format("binary8p1se");
  const Small one = 15, one_p3109 = 0x40;
  struct Tie {
    float value;
    int below;  // exponent of the neighbour below
  };
  for (Tie tie : {Tie{1.5f, 0}, Tie{3, 1}, Tie{0.75f, -1}, Tie{6, 2}}) {
    const Small lower = one + static_cast<Small>(tie.below);
    const Small even = one_p3109 + static_cast<Small>(tie.below);
    CHECK(code(tie.value, plain, RoundingMode::rne) == lower + 1);
    CHECK(code(-tie.value, plain, RoundingMode::rne) == (0x20 | (lower + 1)));
    CHECK(code(tie.value, plain, RoundingMode::rno) == lower);
    CHECK(code(tie.value, p3109, RoundingMode::rne) == even + even % 2);
    CHECK(code(tie.value, p3109, RoundingMode::rno) == even + (even + 1) % 2);
  }
}

// 2^-14 - 2^-26 rounds up to binary16's least normal number, 2^-14 - 2^-25 as well, but only the
// first would without a least exponent: between 2^-15 and 2^-14 the step is 2^-25.
TEST_CASE("tininess before and after rounding differ just below the least normal number") {
  const auto flags = [](float x, Tininess t) {
    return rounded(x, binary16, {.rounding = RoundingMode::rne, .tininess = t}).flags;
  };
  const float above = 0x1p-14f - 0x1p-26f, below = 0x1p-14f - 0x1p-25f;
  CHECK(rounded(above, binary16, {}).code == 0x400);
  CHECK(rounded(below, binary16, {}).code == 0x400);
  CHECK(flags(above, Tininess::before_rounding) == (underflow | inexact));
  CHECK(flags(above, Tininess::after_rounding) == inexact);
  CHECK(flags(below, Tininess::before_rounding) == (underflow | inexact));
  CHECK(flags(below, Tininess::after_rounding) == (underflow | inexact));
  CHECK(flags(0x1p-24f, Tininess::before_rounding) == 0);  // exact
}

TEST_CASE("flushed results are zero with underflow and inexact, even where they were exact") {
  const Format f = parse_format("e5m10;ftz");
  CHECK(rounded(0x1p-24f, f, {}).code == 0);
  CHECK(rounded(-0x1p-24f, f, {}).code == 0x8000);
  CHECK(rounded(0x1p-24f, f, {}).flags == (underflow | inexact));
  CHECK(rounded(0x1p-14f - 0x1p-26f, f, {}).code == 0x400);  // tested after rounding
}

}  // namespace test_round
