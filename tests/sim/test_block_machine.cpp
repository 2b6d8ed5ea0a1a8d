#include <fmt/format.h>

#include "dot_text.hpp"
#include "everywhere.hpp"
#include "sim/blocks/chain_rules.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace test_block_machine {

// Block lanes whose every rounding is the machine's own, against the reference.
namespace {

using namespace widthwise;
using namespace tests;

// Which way block lanes take a unit.
bool rounds_as_machine(const Unit& u, bool flags = true) {
  return blocks::machine_rules({.unit = u, .k = 20, .flags = flags}).has_value();
}

Unit in_turn(const char* text) {
  return with(parse_unit(text), [](Unit& u) { u.group_sum.order = Order::sequential; });
}

// Every kind of sum, mode and way for C to join.
std::vector<Unit> units() {
  std::vector<Unit> all =
      units_of({"kahan(binary64)",
                "neumaier(binary64)",
                "tree(binary64, fan=2)",
                "tree(binary64, fan=8)",
                "tree(binary64, fan=5)",
                "kahan(binary64, product=binary64:rtz, sum=binary64:rtz)",
                "neumaier(binary64, product=binary64:rdn, sum=binary64:rdn)",
                "kahan(binary64, product=binary64:rup, sum=binary64:rup)",
                "kahan(binary64, promote=3:binary64)",
                "neumaier(binary64, promote=4:binary64)",
                "tree(binary64, fan=4, product=binary64:rdn, node=binary64:rdn, sum=binary64:rdn)",
                "tree(binary64, fan=4, product=binary64:rup, node=binary64:rup, sum=binary64:rup)",
                "kahan(e11m40, product=binary64, sum=binary64)",
                "tree(e10m20, fan=4, product=binary64, node=binary64, sum=binary64, c=binary32)",
                "neumaier(e5m2, b=e11m52, c=e8m7, product=binary64, sum=binary64)",
                "kahan(binary32, sum=binary64)",
                "neumaier(e5m10, product=e4m3fn:rtz, sum=binary64)",
                "tree(e8m7, fan=4, product=e5m2:sr5, node=binary64, sum=binary64)",
                "kahan(e9m10, product=e10m20;bias=700, sum=binary64)",
                "kahan(e10m10, product=binary32, sum=binary64)"});
  all.push_back(in_turn("tree(binary64, fan=5)"));
  const auto vary = [&](const char* text, void (*change)(Unit&)) {
    all.push_back(with(parse_unit(text), change));
  };
  vary("tree(binary64, fan=5)", [](Unit& u) { u.c_level = CLevel::group; });
  vary("tree(binary64, fan=6)", [](Unit& u) {
    u.groups = Groups{.strided = 3};
    u.block_sum = u.group_sum;
  });
  vary("tree(binary64, fan=7)", [](Unit& u) {
    u.groups = Groups{.consecutive = 2};
    u.block_sum = u.group_sum;
    u.c_level = CLevel::block;
  });
  vary("tree(binary64, fan=4)", [](Unit& u) { u.chain.c_at = CAt::last, u.chain.c_round = u.out; });
  vary("tree(binary32, fan=4)", [](Unit& u) {  // exact products
    u.product.round.reset();
    u.group_sum.node_round = u.out = Round{.fmt = binary64};
  });
  vary("neumaier(e5m10, product=e4m3fn:rtz, sum=binary64)",
       [](Unit& u) { u.product.round->zero_sign = ZeroSign::plus; });  // which products have not
  vary("kahan(binary64)", [](Unit& u) { u.a.subnormals = Flush::flush_signed_zero; });
  return all;
}

void refused(
    const char* text, void (*change)(Unit&) = [](Unit&) {}) {
  const Unit u = with(parse_unit(text), change);
  CAPTURE(to_string(u));
  CHECK_FALSE(rounds_as_machine(u));
}

}  // namespace

TEST_CASE("the machine's own roundings: the reference's codes and flags, all sorts of operands") {
  const std::vector<Unit> all = units();
  hold_everywhere(all, [](const Unit& u) { return rounds_as_machine(u); });
  compare_everywhere("blocks", all, 1);
}

TEST_CASE("the machine's own roundings: past one panel, and infinities that last") {
  compare_past_panels("blocks", {"kahan(binary64)", "neumaier(binary64)", "tree(binary64, fan=8)"});
}

TEST_CASE("the machine's own roundings: an infinite product decides before a sum overflows") {
  // Left to themselves, nodes would add infinity to the infinity that the other two overflow to.
  Tally tally;
  for (const char* text :
       {"tree(binary64, fan=4)",
        "tree(binary64, fan=4, product=binary64:rdn, node=binary64:rdn, sum=binary64:rdn)"}) {
    const Unit u = parse_unit(text);
    REQUIRE(rounds_as_machine(u));
    constexpr std::uint64_t most = 0x7fefffffffffffff, minus = std::uint64_t{1} << 63;
    CodeList a(binary64, 4), b(binary64, 4), result(binary64, 1);
    for (std::size_t i = 0; i < 4; ++i) b.set(i, 0x3ff0000000000000);
    a.set(0, 0x7ff0000000000000), a.set(1, 0), a.set(2, minus | most), a.set(3, minus | most);
    MatrixProduct p;
    p.m = p.n = 1, p.k = 4;
    p.a = a.rows(4), p.b = b.rows(1), p.result = result.data();
    Rival("blocks", u, tally, true).compare(p, "infinity and twice the largest");
    a.set(0, most), b.set(0, 0x3ff0000000000001);  // the product overflows, in some modes
    Rival("blocks", u, tally, true).compare(p, "a product past the largest number");
    a.set(0, most), a.set(1, most), a.set(2, minus | 0x7ff0000000000000), a.set(3, most);
    Rival("blocks", u, tally, true).compare(p, "twice the largest and an infinity");
  }
  tally.expect(6);
}

TEST_CASE("the machine's own roundings: what is rounded otherwise goes another way") {
  CHECK(rounds_as_machine(parse_unit("kahan(binary64)")));
  CHECK(rounds_as_machine(parse_unit("kahan(binary64)"), false));
  for (const char* text :
       {"kahan(binary32)", "kahan(binary64, sum=binary64:rtz)",
        "kahan(binary64, product=binary64:rna, sum=binary64:rna)",
        "kahan(binary64, product=binary64:sr8, sum=binary64:sr8)",
        "kahan(e12m20, product=binary64, sum=binary64)",
        "kahan(e11m53, product=binary64, sum=binary64)",
        "kahan(binary64, product=e11m51, sum=binary64)", "kahan(binary32, sum=binary64:rdn)",
        "kahan(e8m26, product=binary32, sum=binary64)", "kahan(binary64, promote=4:e11m51)",
        "kahan(binary64, final=binary32)", "tree(binary64, fan=4, node=e11m51)",
        "dot(binary64, lanes=2)"})
    refused(text);
  refused("kahan(binary64)", [](Unit& u) { u.out.zero_sign = ZeroSign::plus; });
  refused("kahan(binary64)", [](Unit& u) { u.out.subnormals = Flush::flush_signed_zero; });
  refused("kahan(binary64)", [](Unit& u) { u.out.overflow = Overflow::max; });
  refused("kahan(binary64)", [](Unit& u) { u.a.keep_frac = 20; });
  refused("kahan(binary64)", [](Unit& u) { u.product.overflow_to_inf_at = 20; });
  refused("tree(binary64, fan=4)", [](Unit& u) { u.product.round.reset(); });
  refused("tree(binary64, fan=4)", [](Unit& u) { u.group_sum.node_round.reset(); });
  refused("tree(binary64, fan=4)", [](Unit& u) { u.group_sum.width = 100; });
}

}  // namespace test_block_machine
