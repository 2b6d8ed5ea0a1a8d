#include <fmt/format.h>

#include "dot_text.hpp"
#include "edges.hpp"
#include "everywhere.hpp"

namespace test_block_chance {

// Block lanes that round by more random bits than a number of 53 digits, rounded to odd, answers
// to: digits and bits together are more than 51.
namespace {

using namespace widthwise;
using namespace tests;

std::vector<Unit> units() {
  std::vector<Unit> all = units_of(
      {"tree(binary64, fan=8, node=e11m40:sr13)",
       "tree(binary64, fan=3, node=e11m50:sr32, sum=e11m50:sr32:even)",
       "tree(e8m20, fan=4, product=e8m30, node=e8m50:sr1:even, sum=e8m45:sr7:half, c=e8m45)",
       "tree(e5m20, fan=1, product=e6m50:sr31:half, sum=e6m48:sr5)", "kahan(e8m40, sum=e8m40:sr24)",
       "kahan(binary64, sum=e11m50:sr2)",
       "neumaier(binary64, product=binary32, sum=e11m44:sr32:even, promote=3:e11m40:sr24:half)",
       "neumaier(e11m30, product=e11m40:sr24, sum=binary32)",
       "kahan(binary64, product=e11m30:sr24, sum=binary64, final=e8m40:sr20)",
       "tree(binary64, fan=2, product=e11m50:sr8:even, node=e11m50)",
       "mac(e4m3fnuz, product=e11m40:sr24, sum=e11m40:sr24)",
       "mac(e5m10, sum=e5m10, promote=4:e11m40:sr13, final=e8m15:sr8:half)",
       "dot(e5m10, lanes=8, align=40:odd, out=e11m40:sr13)",
       "dot(e4m3fn, lanes=4, align=24:rtz, out=e8m50:sr32:half)",
       "fixedacc(e4m3fn, width=32, frac=12, align=rne, overflow=saturate, out=e8m50:sr20)"});
  all.push_back(with(parse_unit("tree(binary64, fan=4, node=e11m40:sr24)"), [](Unit& u) {
    u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = ieee_format(11, 45)};
    u.chain.c_round->rm = {19, StochasticVariant::plain};
    u.c.fmt = binary64;
  }));
  all.push_back(with(parse_unit("tree(e8m20, fan=4, node=e8m40:sr24)"), [](Unit& u) {
    u.group_sum.node_round->subnormals = Flush::flush_signed_zero;
    u.group_sum.node_round->zero_sign = ZeroSign::plus;
  }));
  return all;
}

bool taken(const Unit& u) { return opinion("blocks", u, true).takes; }

}  // namespace

TEST_CASE("blocks by many random bits: the reference's codes and flags") {
  const std::vector<Unit> all = units();
  hold_everywhere(all, taken);
  compare_everywhere("blocks", all, 5);
}

TEST_CASE("blocks by many random bits: what is cut off, and a last digit more or less") {
  // Some 2^-9 of a step reaches what the bits ask for; far below, or next to it, lies a second
  // term. In units of a step of 2^457 it would be 0.
  constexpr std::size_t n = 512;
  Tally tally;
  std::uint64_t expected = 0;
  on_every_target([&] {
    for (const char* node : {"e10m43:sr8", "e10m43:sr8:half", "e10m43:sr8:even"}) {
      const Unit u = parse_unit(fmt::format("tree(binary64, fan=2, node={})", node));
      for (const double step : {1.0, 0x1p500, 0x1p-300})
        for (const double rest : {0.0, 0x1p-960, -0x1p-960})
          for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
            const double sign = seed % 2 ? 1 : -1;
            std::vector<double> b(2 * n, rest);
            for (std::size_t i = 0; i < n; ++i)
              b[i] = step * (1 + static_cast<double>(i) * 0x1p-52);
            const double a[] = {sign, 1};
            MatrixProduct p;
            p.m = 1, p.k = 2, p.n = n, p.seed = seed;
            p.a = {a, 2, 1}, p.b = {b.data(), n, 1};
            Rival("blocks", u, tally, true).compare(p, "near what the bits ask for");
            expected += n;
          }
    }
  });
  tally.expect(expected);
}

TEST_CASE("blocks by many random bits: what goes another way") {
  for (const char* text :
       {"dot(binary64, lanes=4, out=e11m40:sr13)", "dot(e5m10, lanes=2, align=60, out=e11m40:sr13)",
        "dot(e8m10, lanes=4, out=e8m40:sr13)"}) {
    CAPTURE(text);
    CHECK_FALSE(opinion("blocks", parse_unit(text)).takes);
  }
  // Neither so many bits nor what else is asked for, but both together.
  struct Both {
    const char *many, *few;
    Change change;
  };
  const Border border("blocks");
  for (const Both& x :
       {Both{"mac(binary32, sum=binary32:sr28)", "mac(binary32, sum=binary32:sr27)",
             [](Unit& u) { u.lanes = 2; }},
        Both{"tree(e5m10, fan=4, node=e8m40:sr11)", "tree(e5m10, fan=4, node=e8m40:sr10)",
             [](Unit& u) { u.group_sum.node_round->fmt.inf = InfCodes::none; }},
        Both{"kahan(e8m40, sum=e8m40:sr11)", "kahan(e8m40, sum=e8m40:sr10)",
             [](Unit& u) { u.out.post_norm_frac = 45; }},
        Both{"tree(e5m10, fan=1, sum=e8m40:sr11)", "tree(e5m10, fan=1, sum=e8m40:sr10)",
             [](Unit& u) { u.out.zero_sign = ZeroSign::plus; }}}) {
    border.lies_between(x.many, x.change);
    border.lies_between(with(x.few, x.change), with(x.many, x.change));
  }
}

}  // namespace test_block_chance
