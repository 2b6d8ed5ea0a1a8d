#pragma once
#include <random>
#include <vector>

#include "widthwise/datapath/block.hpp"
#include "widthwise/wide.hpp"

// Sums whose terms lie far apart, computed with their gaps closed and, in a carrier that holds it,
// in full (docs/semantics.md, D5).
namespace tests::closing_gaps {

using namespace widthwise;

using M = Wide<40>;
using H = uint128;
using Random = std::mt19937_64;

inline std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

inline Term<M> term_of(bool negative, std::uint64_t m, std::int64_t q) {
  Term<M> z = finite_term<M>(negative, M(m), q);
  z.zero = m == 0, z.e = q;
  return z;
}

// Clusters of terms, gaps as often just closed as just open, tops that cancel now and then.
inline std::vector<Term<M>> clusters(Random& random, std::int64_t reach) {
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

inline Round slot(Random& random) {
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

template <class H, class M>
Code rounded_sum(const Round& r, Term<M> sum, std::uint64_t seed) {
  if (sum.m == M{}) sum.negative = sum.mixed = false;  // fused_sum settles that
  Progress progress{{seed, 0}};
  NoTrace trace;
  const H code = rounded(RoundingSlot<H>(Slot::out, r), sum, 0, progress, trace);
  return {code, progress.flags};
}

inline Term<M> number(const Total<M>& sum) {
  const bool negative = is_negative(sum.v);
  return finite_term<M>(negative, opposite_if<M>(negative, sum.v), sum.q);
}
inline Code exactly(const Round& r, std::vector<Term<M>> terms, std::uint64_t seed) {
  NoTrace trace;
  const std::int64_t last = std::ranges::min(terms, {}, &Term<M>::q).q;
  const M sum = sum_to_digit<M>(std::span<Term<M>>(terms), last, 0, trace);
  return rounded_sum<H>(r, number({sum, last}), seed);
}

inline Code with_gaps_closed(const Round& r, std::vector<Term<M>> terms, std::uint64_t seed) {
  NoTrace trace;
  const Total<M> sum = sum_closing_gaps<M>(std::span<Term<M>>(terms), 0, reach_of(r), trace);
  return rounded_sum<H>(r, number(sum), seed);
}

// As a unit's sum does it in these carriers: only where they hold it, its gaps are not closed.
template <class Small, class Codes>
Code in_carriers(const Round& r, std::span<const Term<M>> terms) {
  std::vector<Term<Small>> own;
  for (const Term<M>& t : terms) {
    own.push_back(finite_term<Small>(t.negative, Small(t.m.limb[0]), t.q));
    own.back().zero = t.zero;
  }
  Progress progress;
  NoTrace trace;
  Term<Small> sum;
  fused_sum(SumRule<Small>{}, std::span<Term<Small>>(own), reach_of(r), progress, trace, sum);
  return rounded_sum<Codes>(r, sum, 0);
}

}  // namespace tests::closing_gaps
