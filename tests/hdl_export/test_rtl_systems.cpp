#include <doctest/doctest.h>

#include "rtl_cases.hpp"

using namespace tests;

TEST_CASE("all operands, modes and flags of small fixed point, posits and takums, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, small_system_duts());
}

TEST_CASE("operations on wide fixed point, posits and takums, mixed ones too, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, wide_system_duts(1000));
}

TEST_CASE("units of fixed point, posits and takums, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, system_unit_duts(400));
}
