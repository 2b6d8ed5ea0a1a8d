#include <doctest/doctest.h>

#include "rtl_cases.hpp"

using namespace tests;

TEST_CASE("all operands, modes and flags of small formats, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, in_turn(small_duts(), 8));
}

TEST_CASE("add, multiply and fma of eleven formats, mixed ones, wide exponents, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, in_turn(wide_duts(1000), 4));
}

TEST_CASE("the same in Icarus, some of them") {
  if (!have("iverilog")) return;
  std::vector<Dut> duts = in_turn(wide_duts(200), 4);
  for (Dut& d : duts) d = thinned(std::move(d), 60);
  check_all(HdlSimulator::icarus, duts);
}

TEST_CASE("blocks of units of every kind, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, in_turn(unit_duts(600), 8));  // compiling takes longest
}

TEST_CASE("blocks of units of every kind, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, in_turn(unit_duts(15), 4));
}

TEST_CASE("every preset there is, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, in_turn(preset_duts(10), 6));
}

TEST_CASE("multipliers of lib's and a table of a user's, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, multiplier_duts(200));
}

TEST_CASE("units that nobody thought of, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, in_turn(random_duts(1, 40, 60), 4));
}
