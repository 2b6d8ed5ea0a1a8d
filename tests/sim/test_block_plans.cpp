#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/blocks/plan.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/presets.hpp"

namespace test_block_plans {

// How block lanes take a unit, on both sides of every condition of their faster ways. That they are
// right whichever way they go is for test_blocks.cpp.
namespace {

using namespace widthwise;
using namespace widthwise::blocks;

std::string way(const Rules& r) {
  std::string text = r.quick              ? fmt::format("quick, {} in integers", r.chunk)
                     : r.float_tree       ? "a tree of floats"
                     : r.narrow_span >= 0 ? fmt::format("exact, {} binades", r.narrow_span)
                                          : "one by one";
  if (r.late_tile) text += ", C late in tiles";
  if (r.exact_tile) text += ", in tiles";
  if (r.doubtful_zero) text += ", zeros again";
  return text;
}

std::string way(
    const char* preset, void (*change)(Unit&) = [](Unit&) {}) {
  ProductTask task{find_preset(preset)->unit, 64};
  change(task.unit);
  const Answer answer = plan(task);
  return answer.rules ? way(*answer.rules) : answer.reason;
}

}  // namespace

TEST_CASE("products of a window are added in integers where these hold some") {
  const auto digits = [](std::int64_t frac_bits) {
    ProductTask task{find_preset("hopper.f16.f32")->unit, 64};
    task.unit.group_sum.align.frac_bits = frac_bits;
    return way(*plan(task).rules);
  };
  CHECK(digits(0) == "quick, 0 in integers");
  CHECK(digits(1) == "quick, 268435456 in integers");
  CHECK(digits(25) == "quick, 16 in integers");
  CHECK(digits(28) == "quick, 2 in integers");
  CHECK(digits(29) == "quick, 0 in integers");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.group_sum.align.rm = RoundingMode::rdn; }) ==
        "quick, 0 in integers");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.b.fmt = ieee_format(5, 12); }) ==
        "quick, 16 in integers");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.b.fmt = ieee_format(5, 13); }) ==
        "quick, 0 in integers");
  CHECK(way("blackwell.mxfp8") == "quick, 16 in integers");
  CHECK(way("blackwell.mxfp8", [](Unit& u) { u.scale->fmt = ue4m3fn; }) == "quick, 4 in integers");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.product.exponent = ProductExponent::normalised; }) ==
        "one by one");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.product.round = Round{binary32}; }) == "one by one");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.group_sum.width = 30; }) ==
        "one by one, zeros again");
  CHECK(way("hopper.f16.f32", [](Unit& u) { u.out.rm = RoundingMode::rdn; }) ==
        "quick, 16 in integers, zeros again");
}

TEST_CASE("groups of few bits are added as floats") {
  CHECK(way("blackwell.nvfp4") == "quick, 16384 in integers");
  CHECK(way("blackwell.nvfp4", [](Unit& u) { u.b.fmt = e3m2fn; }) == "quick, 16384 in integers");
  CHECK(way("blackwell.nvfp4", [](Unit& u) { u.a.fmt = u.b.fmt = e2m3fn; }) ==
        "quick, 16384 in integers");
  CHECK(way("blackwell.nvfp4", [](Unit& u) { u.b.fmt = ieee_format(3, 2); }) == "one by one");
}

TEST_CASE("sums of a block's products are exact where exponents lie close enough") {
  CHECK(way("cdna1.f16") == "exact, 29 binades, in tiles");
  CHECK(way("cdna1.f16", [](Unit& u) { u.lanes = 3; }) == "exact, 29 binades, in tiles");
  CHECK(way("cdna1.f16", [](Unit& u) { u.lanes = 5; }) == "exact, 28 binades, in tiles");
  CHECK(way("cdna1.f16", [](Unit& u) { u.a.fmt = ieee_format(5, 9); }) ==
        "exact, 30 binades, in tiles");
  CHECK(way("cdna1.bf16") == "exact, 36 binades, in tiles");
  CHECK(way("cdna1.f16", [](Unit& u) { u.product.overflow_to_inf_at = 3; }) == "one by one");
  CHECK(way("cdna1.f16", [](Unit& u) { u.product.round = Round{binary32}; }) == "one by one");
  CHECK(way("cdna1.f16", [](Unit& u) { u.product.exponent = ProductExponent::normalised; }) ==
        "one by one");
}

TEST_CASE("sums of exact blocks lie in tiles where they are rounded to binary32 and no more") {
  for (void (*change)(Unit&) : {+[](Unit& u) { u.out.fmt = ieee_format(8, 22); },
                                +[](Unit& u) { u.out.rm = RoundingMode::rtz; },
                                +[](Unit& u) { u.out.rm = Rounding(3, StochasticVariant::plain); },
                                +[](Unit& u) { u.out.post_norm_frac = 31; },
                                +[](Unit& u) { u.out.subnormals = Flush::flush_signed_zero; },
                                +[](Unit& u) {
                                  u.chain.promote = Promote{8, {.fmt = binary32}};
                                }})
    CHECK(way("cdna1.f16", change) == "exact, 29 binades");
  CHECK(way("cdna1.f16", [](Unit& u) { u.out.zero_sign = ZeroSign::ieee; }) ==
        "exact, 29 binades, in tiles");
  CHECK(way(*plan({find_preset("cdna1.f16")->unit, 64, true}).rules) == "exact, 29 binades");
}

TEST_CASE("C joins whole sums late in tiles where all digits that are looked at fit them") {
  for (const char* name : {"cdna3.f16", "cdna3.bf16", "cdna3.xf32", "cdna3.fp8", "cdna3.bf8"})
    CHECK(way(name) == "quick, 32 in integers, C late in tiles");
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.lanes = 15; }, +[](Unit& u) { u.c_sum.align.drop_c_below = 25; },
        +[](Unit& u) { u.c.fmt = ieee_format(9, 23); },
        +[](Unit& u) { u.group_sum.align.e_floor = -60; },
        +[](Unit& u) { u.chain.final = Round{.fmt = binary16}; }})
    CHECK(way("cdna3.f16", change) == "quick, 32 in integers, C late in tiles");
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.lanes = 16; }, +[](Unit& u) { u.c_sum.align.rm = RoundingMode::rtz; },
        +[](Unit& u) { u.late_frac->F_sum = 31; },
        +[](Unit& u) { u.c_sum.align.drop_c_below = 24; }, +[](Unit& u) { u.late_frac->F_C = 25; },
        +[](Unit& u) { u.c.fmt = ieee_format(8, 24); },
        +[](Unit& u) { u.group_sum.align.e_floor = -59; },
        +[](Unit& u) { u.c_sum.align.e_floor = -59; }, +[](Unit& u) { u.out.post_norm_frac = 30; },
        +[](Unit& u) { u.out.post_norm_frac.reset(); },
        +[](Unit& u) { u.out.post_norm_rm = RoundingMode::rtz; },
        +[](Unit& u) { u.out.zero_sign = ZeroSign::plus; },
        +[](Unit& u) { u.out.fmt = ieee_format(8, 22); },
        +[](Unit& u) { u.out.subnormals = Flush::flush_signed_zero; },
        +[](Unit& u) {
          u.chain.promote = Promote{8, {.fmt = binary32}};
        }})
    CHECK(way("cdna3.f16", change) == "quick, 32 in integers");
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.groups = Groups{.strided = 3}; },
        +[](Unit& u) { u.block_sum.align.rm = RoundingMode::rtz; },
        +[](Unit& u) { u.block_sum.align.frac_bits = 23; },
        +[](Unit& u) { u.block_sum.align.e_floor = -59; }, +[](Unit& u) { u.lanes = 18; }})
    CHECK(way("cdna3.fp8", change) == "quick, 32 in integers");
  CHECK(way("cdna3.f16", [](Unit& u) { u.group_sum.align.frac_bits = 23; }) ==
        "quick, 64 in integers");
  CHECK(way(*plan({find_preset("cdna3.f16")->unit, 64, true}).rules) == "quick, 32 in integers");
}

TEST_CASE("trees of binary32 are the machine's own additions") {
  CHECK(way("cdna2.f16") == "a tree of floats");
  CHECK(way("tree8.f32") == "a tree of floats");
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.lanes = 2; }, +[](Unit& u) { u.lanes = 8; },
        +[](Unit& u) { u.lanes = 32; }, +[](Unit& u) { u.a.fmt = binary32; },
        +[](Unit& u) { u.product.round.reset(), u.a.fmt = u.b.fmt = ieee_format(8, 11); }})
    CHECK(way("cdna2.f16", change) == "a tree of floats");
  for (void (*change)(Unit&) :
       {+[](Unit& u) { u.lanes = 3; }, +[](Unit& u) { u.lanes = 64; },
        +[](Unit& u) { u.a.fmt = ieee_format(8, 24); },
        +[](Unit& u) { u.product.round.reset(), u.a.fmt = u.b.fmt = ieee_format(8, 12); },
        +[](Unit& u) { u.product.round->rm = RoundingMode::rtz; },
        +[](Unit& u) { u.product.overflow_to_inf_at = 20; },
        +[](Unit& u) { u.group_sum.node_round->fmt = ieee_format(8, 22); },
        +[](Unit& u) { u.group_sum.node_round->zero_sign = ZeroSign::plus; },
        +[](Unit& u) { u.group_sum.order = Order::sequential; },
        +[](Unit& u) { u.out.zero_sign = ZeroSign::plus; },
        +[](Unit& u) { u.out.post_norm_frac = 30; }, +[](Unit& u) { u.out.rm = RoundingMode::rtz; },
        +[](Unit& u) { u.c.fmt = ieee_format(8, 24); },
        +[](Unit& u) { u.c.fmt = ieee_format(9, 10); },
        +[](Unit& u) { u.a = {.fmt = ieee_format(7, 23)}, u.b.fmt = u.a.fmt; },
        +[](Unit& u) { u.c_level = CLevel::group; }})
    CHECK(way("cdna2.f16", change) == "one by one");
  ProductTask task{find_preset("cdna2.f16")->unit, 64};
  task.flags = true;
  CHECK(way(*plan(task).rules) == "one by one");
  task.flags = false, task.multiplier = mitchell();
  CHECK(way(*plan(task).rules) == "one by one");
}

}  // namespace test_block_plans
