#include <limits>

#include "dot_text.hpp"
#include "everywhere.hpp"
#include "sim/blocks/chain_rules.hpp"

namespace test_block_pairs {

// Block lanes whose sums of two numbers are rounded to binary64 here and to fewer digits there, of
// operands as wide as doubles, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

constexpr double largest = std::numeric_limits<double>::max();

// Whether sums are of two terms, rounded before anything else looks at them, and not by the machine
// alone.
bool in_pairs(const Unit& u) {
  const ProductTask task{.unit = u, .k = 1, .flags = true};
  const auto rules = blocks::plan(task).rules;
  const auto is_pair = [](const blocks::SumRule& s) {
    return s.aligned == blocks::Aligned::pair || s.aligned == blocks::Aligned::at_once;
  };
  return rules && !blocks::machine_rules(task) && is_pair(rules->group);
}

void compare(const char* text, std::initializer_list<double> a, std::initializer_list<double> b,
             double c, Tally& tally) {
  const Unit u = parse_unit(text);
  CAPTURE(text);
  REQUIRE(in_pairs(u));
  for (const bool flags : {false, true}) Rival("blocks", u, tally, flags).compare_doubles(a, b, c);
}

// Every kind of sum and way for C to join, of roundings to binary64 and to others.
std::vector<Unit> units() {
  std::vector<Unit> all = units_of(
      {"kahan(binary64, product=binary32, sum=binary32)",
       "kahan(binary64, sum=e5m10)",
       "neumaier(binary32, product=binary64, sum=e8m10)",
       "neumaier(binary64, sum=e4m3fn:rup)",
       "kahan(binary64, promote=3:binary32)",
       "neumaier(binary64, sum=binary32, promote=4:binary64)",
       "kahan(e10m40, b=binary64, product=e8m40:rtz, sum=e8m50:odd, c=binary64)",
       "neumaier(binary64, product=e7m9:sr5, sum=e7m12:sr9:half, final=e5m2:rdn)",
       "tree(binary64, fan=4, product=binary32, node=binary32, sum=binary64)",
       "tree(binary32, fan=8, product=binary64, node=binary32, sum=binary32)",
       "tree(binary64, fan=4, node=e8m7:rdn, sum=e5m10:rna, c=binary64)",
       "tree(binary64, fan=3, node=binary64, sum=e4m3fn:sr5)",
       "tree(binary64, fan=5, product=e5m10, node=e8m12, sum=binary64)",
       "kahan(binary64, sum=binary64:rdn)",
       "kahan(binary64, product=binary64:rna, sum=binary64:odd)",
       "neumaier(binary64, product=binary64:rno, sum=binary64:rnm)",
       "kahan(e5m10, product=binary32, sum=binary64:rdn)",
       "neumaier(binary32, product=binary64, sum=binary64:rno, promote=7:binary64:rnz)",
       "tree(binary64, fan=8, node=binary64:rtz, sum=binary64:rtz)",
       "tree(binary64, fan=3, product=binary64:rup, node=binary64:rnp, sum=binary64:rnz)",
       "tree(e5m10, fan=6, product=binary64, node=binary64:raz, sum=binary64:rna)",
       "kahan(binary64, sum=binary64:sr13)",
       "neumaier(binary64, product=binary64:sr8:half, sum=binary64:sr32:even)",
       "neumaier(binary32, product=binary64, sum=binary64:sr1:half, promote=4:binary64:sr2)",
       "tree(binary64, fan=8, node=binary64:sr5, sum=binary64:sr7, final=binary64:sr9)",
       "tree(binary64, fan=3, product=binary64:sr9, node=binary64:rtz, sum=e8m10:sr4)",
       "tree(e5m10, fan=1, product=binary64, sum=binary64:sr4:even, c=binary64)",
       "kahan(e11m40)",
       "tree(e11m40, fan=8, node=e11m40:rtz, sum=e11m40:rtz)",
       "neumaier(e11m20, product=e11m50:rna, sum=e11m30:sr9)",
       "tree(e10m20;bias=900, b=binary64, fan=3, product=e11m9, node=e10m12;bias=850, sum=e11m20)",
       "tree(binary64, fan=1, product=binary32:rup, sum=e8m30, promote=5:binary64)",
       "tree(e11m20, fan=2, product=binary64, node=e8m9:raz, sum=e8m11)"});
  const auto vary = [&](const char* text, void (*change)(Unit&)) {
    all.push_back(with(parse_unit(text), change));
  };
  vary("tree(binary64, fan=5, node=e8m20, sum=e8m20)",
       [](Unit& u) { u.group_sum.order = Order::sequential; });
  vary("tree(binary64, fan=5, node=e8m20, sum=e8m20, c=binary64)",
       [](Unit& u) { u.c_level = CLevel::group; });
  vary("tree(binary64, fan=7, product=binary32, node=e7m16)", [](Unit& u) {
    u.groups = Groups{.consecutive = 2};
    u.block_sum = u.group_sum;
    u.block_sum.node_round = Round{.fmt = binary32};
    u.c_level = CLevel::block;
  });
  vary("tree(binary64, fan=4, product=binary32, node=binary32, sum=binary32)", [](Unit& u) {
    u.c.fmt = binary64;
    u.chain.c_at = CAt::last, u.chain.c_round = Round{.fmt = ieee_format(8, 9)};
  });
  vary("tree(binary64, fan=6, node=binary64:sr6)", [](Unit& u) {
    u.groups = Groups{.strided = 2};
    u.block_sum = u.group_sum;
    u.c_level = CLevel::late;
    u.chain.c_at = CAt::last, u.chain.c_round = u.group_sum.node_round;
    u.out.rm = {11, StochasticVariant::half};
  });
  vary("tree(e11m20, fan=4)", [](Unit& u) {  // exact products
    u.product.round.reset();
    u.group_sum.node_round = Round{.fmt = binary32};
    u.out = Round{.fmt = binary64};
  });
  return all;
}

}  // namespace

TEST_CASE("sums of two, to binary64 and to others: the reference's codes and flags") {
  const std::vector<Unit> all = units();
  hold_everywhere(all, [](const Unit& u) { return in_pairs(u); });
  compare_everywhere("blocks", all, 1);
}

TEST_CASE("sums of two, to binary64 and to others: past one panel, and infinities that last") {
  compare_past_panels("blocks", {"kahan(binary64, product=binary32, sum=binary32)",
                                 "tree(binary64, fan=8, product=binary32, node=binary32)"});
}

TEST_CASE("sums of two, to binary64 and to others: numbers that doubles have no room for") {
  Tally tally;
  // Each sum overflows in doubles already: it is no infinity that a format without one gets.
  const char* tree = "tree(binary64, fan=2, node=e5m10;overflow=max, sum=e5m10)";
  compare(tree, {largest, largest}, {1, 1}, 0, tally);
  compare(tree, {largest, -largest}, {1, -1}, 0, tally);
  compare(tree, {0x1p900, 0x1p899}, {1, 1}, 0, tally);
  compare(tree, {0x1p600, 0x1p600}, {0x1p600, 0x1p600}, 0, tally);
  // C beside a product.
  const char* fused = "tree(binary64, fan=1, product=binary32, sum=e8m30;overflow=max, c=binary64)";
  compare(fused, {0x1p127}, {1}, largest, tally);
  compare(fused, {1}, {1}, -largest, tally);
  compare(fused, {1}, {1}, 0x1p900, tally);
  // The lower half of a product is no double; nor is the product.
  const char* up = "kahan(binary64, product=binary32:rup, sum=binary32)";
  compare(up, {0x1.8p-600}, {0x1.8p-600}, 0, tally);
  compare(up, {-0x1.8p-600, 0x1p-149}, {0x1.8p-600, 1}, 0, tally);
  compare(up, {0x1p-537}, {0x1p-537}, 0, tally);
  compare(up, {0x1p-511}, {0x1p-511}, 0, tally);
  compare(up, {0x1.0000000000001p-480}, {0x1.0000000000001p-489}, 0, tally);
  compare(up, {0x1.0000000000001p-480, 1}, {0x1.0000000000001p-491, -1}, 0, tally);
  compare(up, {0x1p800, 1}, {0x1p800, 1}, 0, tally);
  tally.expect(2 * 14);
}

TEST_CASE("sums of two, to binary64 and to others: what goes another way") {
  for (const char* text :
       {"kahan(binary64, product=e11m51, sum=binary64)", "kahan(binary64, sum=binary64:sr33)",
        "kahan(e12m20, product=binary64, sum=binary32)", "kahan(binary64, sum=e7m51)",
        "kahan(e11m53, product=binary64, sum=binary32)", "kahan(binary64, sum=e12m20)",
        "tree(binary64, fan=4, node=e7m51)", "dot(binary64, lanes=2, align=50)"}) {
    CAPTURE(text);
    CHECK_FALSE(opinion("blocks", parse_unit(text)).takes);
  }
  const auto refused = [](const char* text, void (*change)(Unit&)) {
    CHECK_FALSE(opinion("blocks", with(parse_unit(text), change)).takes);
  };
  constexpr const char* tree = "tree(binary64, fan=4, product=binary32, node=binary32)";
  CHECK(opinion("blocks", parse_unit(tree)).takes);
  refused(tree, [](Unit& u) { u.product.round.reset(); });
  refused(tree, [](Unit& u) { u.group_sum.node_round.reset(); });
  refused(tree, [](Unit& u) { u.group_sum.width = 100; });
  refused(tree, [](Unit& u) { u.a.keep_frac = 20; });
  refused(tree, [](Unit& u) { u.product.overflow_to_inf_at = 20; });
}

}  // namespace test_block_pairs
