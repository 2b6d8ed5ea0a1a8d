#include <doctest/doctest.h>

#include "closing_gaps.hpp"
#include "dot_text.hpp"
#include "tests/lib/tally.hpp"

namespace test_closing_gaps {

// Closing the gaps between clusters of terms changes no rounding: the full sum is the judge.
namespace {

using namespace tests;
using namespace tests::closing_gaps;

std::string description(const Round& r, const std::vector<Term<M>>& terms, const Code& got,
                        const Code& want) {
  std::string text =
      "got " + std::to_string(static_cast<std::uint64_t>(got.code)) + " flags " +
      std::to_string(got.flags) + ", want " +
      std::to_string(static_cast<std::uint64_t>(want.code)) + " flags " +
      std::to_string(want.flags) + ", mode " + std::to_string(static_cast<int>(r.rm.mode)) + " k " +
      std::to_string(r.rm.random_bits) + " precision " + std::to_string(r.fmt.precision()) +
      " cut " + std::to_string(r.post_norm_frac.value_or(-1)) + ":";
  for (const Term<M>& t : terms)
    text += " " + std::string(t.negative ? "-" : "+") + std::to_string(t.m.limb[0]) + "p" +
            std::to_string(t.q);
  return text;
}

}  // namespace

TEST_CASE(
    "closing gaps gives the code and flags of the full sum, whatever the clusters and the slot") {
  Random random(1);
  Tally tally;
  for (int i = 0; i < 200'000; ++i) {
    const Round r = slot(random);
    const std::vector<Term<M>> terms = clusters(random, reach_of(r));
    const std::uint64_t seed = random();
    const Code got = with_gaps_closed(r, terms, seed), want = exactly(r, terms, seed);
    tally.check(got == want, [&] { return description(r, terms, got, want); });
  }
  tally.expect(200'000);
}

TEST_CASE(
    "a sum of numbers at any distance is the full one in every carrier, its gaps closed or not") {
  constexpr std::int64_t far = 140, step = 3;  // past two words
  Random random(2);
  Tally tally;
  const auto any = [&](std::int64_t q) { return term_of(random() & 1, random() >> 56, q); };
  const auto largest = [](std::int64_t q) { return term_of(false, 255, q); };
  for (std::int64_t first = 0; first <= far; ++first)
    for (std::int64_t second = 0; second <= far; second += step)
      for (const bool heavy : {false, true}) {
        Round r{.fmt = ieee_format(11, static_cast<int>(between(random, 1, 7)))};
        r.rm = static_cast<RoundingMode>(between(random, 0, deterministic_modes - 1));
        std::vector<Term<M>> terms;
        if (heavy) {  // a sum that carries as far as it can
          terms.assign(9, largest(0));
          terms.insert(terms.end(), {largest(-first), largest(-second)});
        } else {  // and one that has cancelled among them
          terms = {any(0), any(-first), any(second - far),
                   finite_term<M>(false, M{}, 2 * second - far)};
        }
        const Code want = exactly(r, terms, 0);
        for (const Code& got :
             {in_carriers<std::uint64_t, std::uint64_t>(r, terms),
              in_carriers<uint128, std::uint64_t>(r, terms), in_carriers<Wide<4>, H>(r, terms),
              in_carriers<Wide<10>, H>(r, terms)})
          tally.check(got == want, [&] { return description(r, terms, got, want); });
      }
  tally.expect((far + 1) * (far / step + 1) * 2 * 4);
}

TEST_CASE("closing gaps: a tail borrows from a power of two, and from the tail's own end") {
  for (RoundingMode mode : {RoundingMode::rne, RoundingMode::rtz, RoundingMode::rdn,
                            RoundingMode::rup, RoundingMode::odd}) {
    Round r{.fmt = ieee_format(11, 7), .rm = mode};
    const std::vector<Term<M>> borrowing{term_of(false, 1, 0), term_of(true, 1, -900)};
    CHECK(with_gaps_closed(r, borrowing, 0) == exactly(r, borrowing, 0));
    const std::vector<Term<M>> twice{term_of(false, 1, 0), term_of(true, 1, -400),
                                     term_of(false, 1, -900)};
    CHECK(with_gaps_closed(r, twice, 0) == exactly(r, twice, 0));
    const std::vector<Term<M>> cancelled{term_of(false, 3, 800), term_of(true, 3, 800),
                                         term_of(true, 1, 0), term_of(false, 5, -700)};
    CHECK(with_gaps_closed(r, cancelled, 0) == exactly(r, cancelled, 0));
  }
  const Round truncating{.fmt = ieee_format(11, 7), .rm = RoundingMode::rtz};
  CHECK(static_cast<std::uint64_t>(
            with_gaps_closed(truncating, {term_of(false, 1, 0), term_of(true, 1, -900)}, 0).code) ==
        (std::uint64_t{1022} << 7 | 0x7f));
}

TEST_CASE("closing gaps: a first cut looks further than the format") {
  // 2^-28 below 1 is past binary32's rounding, but a cut at 2^-31 would have kept a digit put
  // there.
  Round r{.fmt = binary32, .rm = RoundingMode::rup};
  r.post_norm_frac = 31;
  r.post_norm_rm = RoundingMode::rtz;
  const std::vector<Term<M>> terms{term_of(false, 1, 0), term_of(false, 1, -100)};
  CHECK(static_cast<std::uint64_t>(with_gaps_closed(r, terms, 0).code) == 0x3f800000);
}

TEST_CASE("nothing is closed where another sum or a further node still looks at the exact value") {
  Unit u = fused(binary32, 3);
  for (Order order : {Order::sequential, Order::pairwise_tree}) {
    u.group_sum.order = order;
    const double big = 0x1p60, small = 0x1.8p-60;
    CHECK(dot(u, {big, small, -big}, {big, 1, big}) == codes(binary32, {small}));
  }
  Unit grouped = fused(binary32, 4);
  grouped.c_level = CLevel::block;
  grouped.groups = Groups{.consecutive = 2};
  CHECK(dot(grouped, {0x1p60, 0x1.8p-60, -0x1p60, 0}, {0x1p60, 1, 0x1p60, 0}) ==
        codes(binary32, {0x1.8p-60}));
}

}  // namespace test_closing_gaps
