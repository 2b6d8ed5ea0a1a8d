#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_cases.hpp"
#include "rtl_exhaustive.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;

TEST_CASE("all operands, modes and flags of small fixed point, posits and takums, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, in_turn(small_system_duts(), 6));
}

TEST_CASE("operations on wide fixed point, posits and takums, mixed ones too, in Icarus") {
  if (!have("iverilog")) return;
  std::vector<Dut> duts = in_turn(wide_system_duts(300), 4);
  for (Dut& d : duts) d = thinned(std::move(d), 300);
  check_all(HdlSimulator::icarus, duts);
}

TEST_CASE("units of fixed point, posits and takums, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, in_turn(system_unit_duts(40), 4));
}

TEST_CASE("registers and running sums of fixed point, posits and takums, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, clocked_system_duts(40));
}

TEST_CASE("units of other number systems that nobody thought of, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, in_turn(random_duts(2, 20, 30, turn_to_other_systems), 4));
}

TEST_CASE("all that in Verilator, on many operands") {
  if (!long_run() || !have("verilator")) return;
  check_all(HdlSimulator::verilator, wide_system_duts(20'000));
  check_all(HdlSimulator::verilator, system_unit_duts(5'000));
  check_all(HdlSimulator::verilator, clocked_system_duts(2'000));
  check_all(HdlSimulator::icarus, random_duts(3, 300, 100, turn_to_other_systems));
}

TEST_CASE("fma of 8 bits on all operands in every mode, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  for (const char* f : {"fixed8.4", "posit8es2", "takum8"}) {
    const auto op = operation(fmt::format("fma {0} {0} {0} -> {0}", f));
    const Verdict v = on_every_triple(op.s, rtl(op, "dut"));
    CAPTURE(f);
    CHECK(v.vectors == (1L << 24) * widthwise::deterministic_modes);
    CHECK(v.errors == 0);
  }
}

TEST_CASE("a multiplier of one's own is given the digits that the simulator gives it") {
  if (!have("iverilog")) return;
  Random random(7);
  std::vector<Dut> duts;
  const auto add = [&](const char* unit, const widthwise::Multiplier& multiply) {
    duts.push_back(dut(fmt::format("rough{}", duts.size()), widthwise::parse_unit(unit), 100,
                       random, {.multiply = multiply}, multiply));
  };
  add("mac(posit8es1)", widthwise::truncated_array(9));
  add("mac(fixed8.4, b=ufixed6.3)", widthwise::truncated_operands(3));
  add("mac(takum9, b=ufixed6.3, sum=takum12)", widthwise::mitchell());
  check_all(HdlSimulator::icarus, duts);
}

namespace {

Dut on_all_operands(const char* text, std::size_t count) {
  const auto op = operation(text);
  return thinned(dut("mutant", op, every_tuple(op.s.read())), count);
}

}  // namespace

TEST_CASE("fixed point that was changed in one place fails its vectors") {
  if (!have("iverilog")) return;
  const Change places[] = {
      {"ww_unpack_fixed.v", "negative ? -code", "negative ? ~code"},
      {"ww_unpack_fixed.v", "IS_SIGNED && code[W-1]", "code[W-1] && code[0]"},
      {"ww_unpack_fixed.v", "negative ^ NEGATE", "negative"},
      {"ww_place.v", "= DOWN - exp", "= DOWN - exp + (|sig)"},
      {"ww_round_pattern.v", ".odd(kept[0])", ".odd(kept[1])"},
      {"ww_round_pattern.v", "lossy = |rest", "lossy = rest[K+1]"},
      {"ww_pack_fixed.v", "rounded > {1'b0, most}", "rounded >= {1'b0, most}"},
      {"ww_pack_fixed.v", "MOST + {{W{1'b0}}, 1'b1}", "MOST"},
      {"ww_pack_fixed.v", "over ? OF_NX : {4'd0, lossy}", "{4'd0, lossy}"},
      {"ww_pack_fixed.v", "nan ? NV : inf", "inf"},
      {"ww_pack_fixed.v", "CLAMPS ? OF_NX : NV", "NV"},
  };
  check_caught(on_all_operands("subtract e3m1 fixed4.2 -> fixed4.1", 6000), places);
  const Change far[] = {
      {"ww_place.v", "distance[XW-1] ? {XW{1'b0}}", "distance[XW-1] ? {XW{1'b1}}"},
      {"ww_place.v", "far = |above", "far = 1'b0"},
  };
  check_caught(on_all_operands("convert e5m2 -> fixed4.1", 3000), far);
  const Change rules[] = {
      {"ww_pack_fixed.v", "OVERFLOW == SYMMETRIC ? MOST", "OVERFLOW == ZERO ? MOST"},
      {"ww_pack_fixed.v", "OVERFLOW == ZERO ? {W{1'b0}}", "OVERFLOW == ZERO ? low"},
      {"ww_pack_fixed.v", "OVERFLOW == WRAP ? low", "OVERFLOW == WRAP ? ~low"},
      {"ww_pack_fixed.v", "whole[W] != whole[W-1]", "whole[W-1]"},
      {"ww_pack_fixed.v", "sign ? TOP : {W{1'b0}}", "{W{1'b0}}"},
  };
  const char* names[] = {"symmetric", "zero", "wrap", "wrap_sm", "keep_sign"};
  for (std::size_t i = 0; i < std::size(rules); ++i)
    check_caught(
        on_all_operands(
            fmt::format("add fixed4.1 fixed4.1 -> fixed4.1;overflow={}", names[i]).c_str(), 1500),
        {&rules[i], 1});
}

TEST_CASE("so do posits and takums") {
  if (!have("iverilog")) return;
  const Change tapered[] = {
      {"ww_pack_tapered.v", "below ? LEAST : ", ""},
      {"ww_pack_tapered.v", "past ? MOST : rounded", "rounded"},
      {"ww_pack_tapered.v", "below ? UF_NX", "below ? OF_NX"},
      {"ww_pack_tapered.v", "inf ? NV", "inf ? OF_NX"},
      {"ww_deliver_tapered.v", "lossy && &kept2", "&kept2"},
  };
  const Change posits[] = {
      {"ww_unpack_posit.v", "run - {{(XW-1){1'b0}}, 1'b1}", "run"},
      {"ww_unpack_posit.v", ": -run", ": ~run"},
      {"ww_unpack_posit.v", "(up ? ~({N{1'b1}} << (1 << k)) : {N{1'b0}})", "{N{1'b0}}"},
      {"ww_unpack_posit.v", "negative && none", "1'b0"},
      {"ww_posit_pattern.v", "exp >>> ES", "exp >> ES"},
      {"ww_posit_pattern.v", "regime ^ {XW{!up}}", "regime ^ {XW{up}}"},
      {"ww_posit_pattern.v", "moved | (up ?", "moved & (up ?"},
  };
  const Change takums[] = {
      {"ww_unpack_takum.v", "up ? length : ~length", "length"},
      {"ww_unpack_takum.v", "10'd1 - {1'b0, power, 1'b0}", "10'd0 - {1'b0, power, 1'b0}"},
      {"ww_unpack_takum.v", "tail << bits", "tail << length"},
      {"ww_takum_pattern.v", "above ? 9'd254", "above ? 9'd253"},
      {"ww_takum_pattern.v", "below ? 9'd257", "below ? 9'd258"},
      {"ww_takum_pattern.v", "(up ? v : ~v) << ~bits", "v << ~bits"},
      {"ww_takum_pattern.v", "up ? bits : ~bits, moved", "bits, moved"},
      {"ww_takum_pattern.v", "-c[7:0]", "~c[7:0]"},
  };
  const Change listed[] = {
      {"ww_unpack_table.v", "{nan, zero, negative, exp", "{zero, nan, negative, exp"},
      {"ww_unpack_table.v", "negative ^ NEGATE", "negative"},
      {"ww_unpack_table.v", "code}*ENTRY", "~code}*ENTRY"},
  };
  check_caught(on_all_operands("subtract e3m1 table(-1,0,nan,0.75,5) -> e4m3", 6000), listed);
  const Dut posit = on_all_operands("fma e3m1 posit4es1 posit3es0 -> posit5es1", 12000);
  check_caught(posit, tapered);
  check_caught(posit, posits);
  const Change jam{"ww_jam.v", "|x[W-KEPT-1:0]", "x[0]"};
  check_caught(on_all_operands("convert e6m2 -> posit4es3", 6000), {&jam, 1});
  Random random(8);
  const auto op = operation("add e9m6 takum12 -> takum13");
  check_caught(thinned(dut("mutant", op, aimed_tuples(op.s.read(), 3000, random)), 12000), takums);
}

TEST_CASE("so do quires that their sums fill") {
  if (!have("iverilog")) return;
  Random random(9);
  const auto quire = [&](const char* unit, int lanes) {
    return dut("mutant", widthwise::parse_unit(unit), 600, random, {.lanes = lanes});
  };
  const Change strict[] = {
      {"ww_register.v", "(STRICT && !fits(wide))", "1'b0"},
      {"ww_register.v", "QUIRE && total == {1'b1, {(W-1){1'b0}}}", "1'b0"},
      {"ww_register.v", "met = met | (", "met = ("},
      {"ww_sum.v", "created | nar;", "created;"},
      {"ww_sum.v", "nar_total & !met_nan", "nar_total"},
      {"mutant.v", "group_sum_nar, 4'd0", "1'b0, 4'd0"},
  };
  check_caught(quire("kulisch(posit3es0, width=5)", 2), strict);
  const Change wraps[] = {
      {"ww_register.v", "STRICT && ", ""},
      {"ww_register.v", "QUIRE && total == {1'b1, {(W-1){1'b0}}}", "1'b0"},
  };
  check_caught(quire("kulisch(posit3es0, width=5, overflow=wrap)", 2), wraps);
  const Change running[] = {
      {"ww_sum.v", "nar_kept | nar_now", "nar_now"},
      {"ww_sum.v", "!first_now && nar_total", "nar_total"},
      {"mutant.v", "first_c_sig = in_first", "first_c_sig = in_last"},
  };
  check_caught(running_dut("mutant", widthwise::parse_unit("kulisch(posit3es0, width=5)"),
                           std::vector<std::size_t>(80, 3), random, {.lanes = 2}),
               running);
}

TEST_CASE("what of other number systems is not built says so and what is") {
  const auto quire = widthwise::parse_unit(
      "{a.fmt = 'posit16es2', b.fmt = 'posit16es2', c.fmt = 'posit16es2', lanes = 4, c_level = "
      "'group', group_sum.width = 256, out.fmt = 'posit16es2'}");
  CHECK_THROWS_WITH_AS(widthwise::hdl::rtl(quire, "dut"),
                       "rtl: group_sum.width of an exact sum is not built; align it with fixed_lsb",
                       std::invalid_argument);
  const char* no_table =
      "table(nf4): exported hardware reads tables and rounds to floats, fixed point, posits and "
      "takums; name one of these for results, or leave it to the simulator";
  CHECK_THROWS_WITH_AS(rtl(operation("add fixed8.4 fixed8.4 -> table(nf4)"), "dut"), no_table,
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      widthwise::hdl::rtl(widthwise::parse_unit("mac(fixed8.4, product=table(nf4))"), "dut"),
      no_table, std::invalid_argument);
  widthwise::SingleOperation divide{
      .op = widthwise::Operation::divide,
      .operands = {widthwise::posit_format(8, 2), widthwise::posit_format(8, 2)},
      .to = widthwise::posit_format(8, 2)};
  CHECK_THROWS_WITH_AS(widthwise::hdl::rtl(divide, "dut"),
                       "rtl: divide is not built; add, subtract, multiply, fma and convert are",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      rtl(operation("add e15m10 e15m10 -> fixed8.4;overflow=wrap"), "dut"),
      "rtl: a sum over 8192 digits whose low ones a result that wraps delivers is not built; "
      "overflow=saturate, or operands of fewer exponents, are",
      std::invalid_argument);
}
