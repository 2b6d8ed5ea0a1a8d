#include <doctest/doctest.h>
#include <fmt/core.h>

#include <span>

#include "rtl_cases.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;
using widthwise::parse_unit;

namespace {

std::string refusal(const auto& what, const widthwise::hdl::RtlOptions& options = {}) {
  try {
    rtl(what, "dut", options);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("bfloat16 1.0 + 0x3bff is 0x3f81: alignment distances saturate, they never wrap") {
  if (!have("iverilog")) return;
  const auto op = operation("add bfloat16 bfloat16 -> bfloat16 rne");
  Dut d = dut("sum", op, {{Code(0x3f80), Code(0x3bff)}});
  CHECK(d.vectors == std::vector<std::string>{"3f803bff3f8101"});
  const Verdict v = simulate(HdlSimulator::icarus, {d})["sum"];
  CHECK(v.vectors == 1);
  CHECK(v.errors == 0);
}

TEST_CASE("a module that was changed in one place fails its vectors") {
  if (!have("iverilog")) return;
  const Change changes[] = {
      {"ww_decide.v", "guard & (sticky | odd);     // rne", "guard & (sticky | !odd);    // rne"},
      {"ww_shift_right.v", "lost = lost |", "lost ="},
      {"ww_shift_right.v", ">= {{XW{1'b0}}, WIDTH}", "> {{XW{1'b0}}, WIDTH + 32'd9}"},
      {"ww_normalise.v", "- $signed(zeros)", "- $signed(zeros >> 1)"},
      {"ww_denormalise.v", "assign by_one = &above", "assign by_one = !above[0]"},
      {"ww_round.v", "by_one && carries", "carries && !by_one"},
      {"ww_round.v", ".odd(1'b1)", ".odd(1'b0)"},
      {"ww_pack.v", "mixed ? rm == 4'd2", "mixed ? rm == 4'd3"},
      {"ww_pack.v", "rm == 4'd1 || rm == 4'd6", "rm == 4'd1 || rm == 4'd4"},
      {"ww_sum.v", "assign created = plus_inf & minus_inf", "assign created = 1'b0"},
      {"ww_sum.v", "none ? !any_plus", "none ? 1'b0"},
      {"ww_largest.v", "high > low", "high < low"},
      {"ww_align.v", ".JAM(RM != 4'd1)", ".JAM(1'b0)"},
      {"ww_unpack.v", "magnitude} >= FIRST_NAN", "magnitude} > FIRST_NAN"},
  };
  Random random(6);
  const auto op = operation("fma e5m10 e5m10 e5m10 -> e5m10");
  check_caught(thinned(dut("mutant", op, aimed_tuples(op.s.read(), 2000, random)), 6000), changes);
}

TEST_CASE("so does one that rounds in the gap below a format without subnormals") {
  if (!have("iverilog")) return;
  const Change changes[] = {
      {"ww_round.v", "ALL_NORMAL ? kept &", "ALL_NORMAL ? kept |"},
      {"ww_gap.v", "subnormal || bottom", "subnormal"},
      {"ww_gap.v", "{1'b0, sig} < LEAST", "{1'b0, sig} <= LEAST"},
      {"ww_gap.v", "k = K + 1", "k = K"},
      {"ww_gap.v", "left = left - LEAST", "left = left - ONE"},
      {"ww_gap.v", "|left", "left[0]"},
      {"ww_gap.v", ".odd(1'b0)", ".odd(1'b1)"},
      {"ww_gap.v", "!subnormal && reaches", "!subnormal"},
      {"ww_gap.v", "!subnormal && reaches", "reaches"},
      {"ww_gap.v", "lossy | below", "lossy"},
      {"ww_gap.v", "<< SPARE", "<< 1"},
  };
  const auto op = operation("convert e5m9;sub=no -> e4m3;sub=no");
  check_caught(thinned(dut("mutant", op, every_tuple(op.s.read())), 20000), changes);
}

TEST_CASE("a multiplier of one's own takes the place of the exact one") {
  if (!have("iverilog")) return;
  // The low two digits of each operand dropped before an exact product.
  const char* text =
      "module rough #(parameter integer WA = 4, parameter integer WB = 4) (\n"
      "  input [WA-1:0] a, input [WB-1:0] b, output [WA+WB-1:0] p);\n"
      "  assign p = ({{WB{1'b0}}, a} & ~3) * ({{WA{1'b0}}, b} & ~3);\nendmodule\n";
  Random random(8);
  Dut d = dut("plugged", parse_unit("mac(e5m10)"), 200, random, {.multiplier = "rough"},
              widthwise::truncated_operands(2));
  d.files.push_back({"rough.v", text});
  const Verdict v = simulate(HdlSimulator::icarus, {d})["plugged"];
  CHECK(v.vectors == 200);
  CHECK(v.errors == 0);
}

TEST_CASE("a user's multiplier too wide for a table is a module to be filled in") {
  const auto multiply = [](std::uint64_t a, std::uint64_t b) { return widthwise::uint128{a | b}; };
  const auto files = widthwise::hdl::rtl(parse_unit("mac(e5m10)"), "dut", {.multiply = multiply});
  CHECK(files[1].name == "dut_multiplier.v");
  CHECK(files[1].text.find("// Fill in: p is the product") != std::string::npos);
}

TEST_CASE("what is not built is refused, with the way out") {
  CHECK(refusal(operation("divide e5m10 e5m10 -> e5m10").s) ==
        "rtl: divide is not built; add, subtract, multiply, fma and convert are");
  CHECK(refusal(operation("add e5m10 e5m10 -> e5m10 rtz").s, {.generator = true}) ==
        "rtl: options.generator is set and the rounding is rtz; leave it out, or round by sr");
  CHECK(refusal(parse_unit("kulisch(e4m3fn)"))
            .starts_with("rtl: the unit takes all of K at once; give"));
  CHECK(refusal(parse_unit("hopper.e4m3.f32"), {.lanes = 48})
            .starts_with("rtl: the unit takes 32 products a block and options.lanes = 48; give a"));
  const auto wide = [](std::uint64_t a, std::uint64_t) { return widthwise::uint128{a} << 9; };
  CHECK(refusal(parse_unit("mac(e4m3fn)"), {.multiply = wide}) ==
        "rtl: the multiplier makes more of 1 * 1 than the 8 digits that both significands have "
        "together; cut its product");
  // A fixed-point sum hands on the largest exponent of its terms, which its register does not hold.
  CHECK(refusal(parse_unit("{a.fmt = 'e2m1fn', b.fmt = 'e2m1fn', c.fmt = 'e5m10', lanes = 4, "
                           "groups.consecutive = 2, c_level = 'late', out.fmt = 'e5m10', "
                           "block_sum.align = {reference = 'fixed_lsb', frac_bits = 9}, "
                           "c_sum.align = {reference = 'max_exponent', frac_bits = 12}, "
                           "scale = {fmt = 'e4m3fn', block = 4, apply = 'group'}}"))
            .starts_with("rtl: join below the largest exponent of exact sums is not built"));
  CHECK(refusal(parse_unit("dot(e11m52, lanes=4)")) == "");
  CHECK(refusal(parse_unit("dot(e15m112, lanes=4)"))
            .starts_with("rtl: group_sum: a sum over 8192 digits"));
}
