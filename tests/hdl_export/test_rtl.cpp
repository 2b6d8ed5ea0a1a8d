#include <doctest/doctest.h>

#include "rtl_cases.hpp"

using namespace tests;

TEST_CASE("all operands, modes and flags of small formats, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, small_duts());
}

TEST_CASE("add, multiply and fma of eleven formats, mixed ones, wide exponents, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, wide_duts(1000));
}

TEST_CASE("the same in Icarus, some of them") {
  if (!have("iverilog")) return;
  std::vector<Dut> duts = wide_duts(200);
  for (Dut& d : duts) d = thinned(std::move(d), 60);
  check_all(HdlSimulator::icarus, duts);
}

TEST_CASE("blocks of units of every kind, in Verilator") {
  if (!have("verilator")) return;
  std::vector<Dut> all = unit_duts(600), duts;
  // Compiling them takes longest, so each time every other one; Icarus has them all.
  for (std::size_t i = 0; i < all.size(); i += is_long() ? 1 : 2) duts.push_back(std::move(all[i]));
  check_all(HdlSimulator::verilator, duts);
}

TEST_CASE("blocks of units of every kind, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, unit_duts(15));
}

TEST_CASE("every preset there is, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, preset_duts(10));
}

TEST_CASE("multipliers of lib's and a table of a user's, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, multiplier_duts(200));
}

TEST_CASE("units that nobody thought of, in Icarus") {
  if (!have("iverilog")) return;
  check_all(HdlSimulator::icarus, random_duts(1, 40, 60));
}
