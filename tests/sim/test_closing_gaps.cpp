#include <doctest/doctest.h>

#include <random>

#include "dot_text.hpp"
#include "tests/lib/tally.hpp"
#include "widthwise/datapath/block.hpp"

// docs/semantics.md, D5: closing the gaps between clusters of terms changes no rounding. The full
// sum in a carrier that holds it is the judge.
namespace {

using namespace tests;

using M = Wide<40>;
using H = uint128;
using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

Term<M> term_of(bool negative, std::uint64_t m, std::int64_t q) {
  return {.kind = m ? Kind::finite : Kind::zero, .negative = negative, .m = M(m), .q = q, .e = q};
}

// Clusters of terms, gaps as often just closed as just open, tops that cancel now and then.
std::vector<Term<M>> clusters(Random& random, std::int64_t reach) {
  std::vector<Term<M>> terms;
  std::int64_t at = 1200;
  while (at > -900 && terms.size() < 9) {
    const std::size_t first = terms.size();
    for (std::int64_t n = between(random, 1, 3); n > 0; --n) {
      const int size = static_cast<int>(between(random, 0, 24));
      terms.push_back(term_of(random() & 1, random() >> (63 - size), at - between(random, 0, 6)));
    }
    if (between(random, 0, 2) == 0) {  // its own negative: the cluster, or a part of it, is gone
      Term<M> mirror = terms[first + random() % (terms.size() - first)];
      mirror.negative = !mirror.negative;
      terms.push_back(mirror);
    }
    at -= between(random, 0, 1) ? between(random, 0, 700) : reach + between(random, -3, 40);
  }
  std::shuffle(terms.begin(), terms.end(), random);
  return terms;
}

Round slot(Random& random) {
  Round r{.fmt = ieee_format(11, static_cast<int>(between(random, 0, 20)))};
  r.fmt.bias = between(random, 0, 2) ? 1023 : between(random, 200, 1800);
  if (between(random, 0, 3) == 0) r.fmt.subnormals = false;
  r.rm = static_cast<RoundingMode>(between(random, 0, deterministic_modes - 1));
  if (between(random, 0, 2) == 0)
    r.rm = Rounding(static_cast<int>(between(random, 1, 64)),
                    static_cast<StochasticVariant>(between(random, 0, 2)));
  if (between(random, 0, 2) == 0)
    r.keep_frac = static_cast<int>(between(random, 0, r.fmt.frac_bits));
  if (between(random, 0, 2) == 0) {
    r.post_norm_frac = static_cast<int>(between(random, 0, 40));
    r.post_norm_rm = static_cast<RoundingMode>(between(random, 0, deterministic_modes - 1));
  }
  return r;
}

struct Code {
  H code;
  Flags flags;
  bool operator==(const Code&) const = default;
};

Code rounded_sum(const Round& r, const Term<M>& sum, std::uint64_t seed) {
  Progress progress{{seed, 0}};
  NoTrace trace;
  const H code = rounded(RoundingSlot<H>(Slot::out, r), sum, 0, progress, trace);
  return {code, progress.flags};
}

Code exactly(const Round& r, std::span<const Term<M>> terms, std::uint64_t seed) {
  NoTrace trace;
  return rounded_sum(r, sum_exactly<M>(terms, 0, false, trace), seed);
}

Code closing_gaps(const Round& r, std::vector<Term<M>> terms, std::uint64_t seed) {
  NoTrace trace;
  return rounded_sum(r, sum_closing_gaps<M>(std::span<Term<M>>(terms), 0, reach_of(r), trace),
                     seed);
}

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
    const Code got = closing_gaps(r, terms, seed), want = exactly(r, terms, seed);
    tally.check(got == want, [&] { return description(r, terms, got, want); });
  }
  tally.expect(200'000);
}

TEST_CASE("closing gaps: a tail borrows from a power of two, and from the tail's own end") {
  for (RoundingMode mode : {RoundingMode::rne, RoundingMode::rtz, RoundingMode::rdn,
                            RoundingMode::rup, RoundingMode::odd}) {
    Round r{.fmt = ieee_format(11, 7), .rm = mode};
    const std::vector<Term<M>> borrowing{term_of(false, 1, 0), term_of(true, 1, -900)};
    CHECK(closing_gaps(r, borrowing, 0) == exactly(r, borrowing, 0));
    const std::vector<Term<M>> twice{term_of(false, 1, 0), term_of(true, 1, -400),
                                     term_of(false, 1, -900)};
    CHECK(closing_gaps(r, twice, 0) == exactly(r, twice, 0));
    const std::vector<Term<M>> cancelled{term_of(false, 3, 800), term_of(true, 3, 800),
                                         term_of(true, 1, 0), term_of(false, 5, -700)};
    CHECK(closing_gaps(r, cancelled, 0) == exactly(r, cancelled, 0));
  }
  const Round truncating{.fmt = ieee_format(11, 7), .rm = RoundingMode::rtz};
  CHECK(static_cast<std::uint64_t>(
            closing_gaps(truncating, {term_of(false, 1, 0), term_of(true, 1, -900)}, 0).code) ==
        (std::uint64_t{1022} << 7 | 0x7f));
}

TEST_CASE("closing gaps: a first cut looks further than the format") {
  // 2^-28 below 1 is past binary32's rounding, but a cut at 2^-31 would have kept a digit put
  // there.
  Round r{.fmt = binary32, .rm = RoundingMode::rup};
  r.post_norm_frac = 31;
  r.post_norm_rm = RoundingMode::rtz;
  const std::vector<Term<M>> terms{term_of(false, 1, 0), term_of(false, 1, -100)};
  CHECK(static_cast<std::uint64_t>(closing_gaps(r, terms, 0).code) == 0x3f800000);
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
