#include <doctest/doctest.h>
#include <fmt/core.h>

#include <optional>

#include "rtl_cases.hpp"

using namespace tests;

namespace {

// How many vectors there were.
long check_all(const std::vector<Dut>& duts, const Verdicts& verdicts) {
  long vectors = 0;
  for (const Dut& d : duts) {
    CAPTURE(d.name);
    REQUIRE(verdicts.contains(d.name));
    const Verdict& v = verdicts.at(d.name);
    CHECK(v.vectors == static_cast<long>(d.vectors.size()));
    CHECK(v.vectors > 0);
    CHECK(v.errors == 0);
    vectors += v.vectors;
  }
  return vectors;
}

void check_all(HdlSimulator with, const std::vector<Dut>& duts) {
  const long vectors = check_all(duts, simulate(with, duts));
  MESSAGE(duts.size() << " units, " << vectors << " vectors");
}

// One value of the first operand after the other, in one simulation.
void check_exhaustively(const widthwise::hdl::RtlOperation& op) {
  const std::vector<widthwise::Format> others(op.operands.begin() + 1, op.operands.end());
  const Tuples rest = every_tuple(others);
  std::optional<Simulation> simulation;
  long vectors = 0;
  for (std::uint64_t first = 0; first >> op.operands[0].width() == 0; ++first) {
    Tuples tuples = rest;
    for (auto& tuple : tuples) tuple.insert(tuple.begin(), Code(first));
    const std::vector<Dut> duts{dut("exhaustive", op, tuples)};
    if (!simulation) simulation.emplace(HdlSimulator::verilator, duts);
    vectors += check_all(duts, simulation->run_on(duts));
  }
  MESSAGE(vectors << " vectors");
}

}  // namespace

TEST_CASE("all operands, modes and flags of small formats, in Verilator") {
  if (!have("verilator")) return;
  check_all(HdlSimulator::verilator, small_duts());
}

TEST_CASE("a million vectors of fma of three 8-bit formats, in Verilator") {
  if (have("verilator")) check_all(HdlSimulator::verilator, fma_duts(91'000));
}

TEST_CASE("fma on all operands of three 8-bit formats, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  for (const char* f : small_fma_formats)
    check_exhaustively(operation(fmt::format("fma {0} {0} {0} -> {0}", f)));
}

TEST_CASE("a million vectors of each wide operation, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  for (const std::string& text : wide_operations()) {
    Random random(10);
    const auto op = operation(text);
    const int modes = op.rounding ? 1 : widthwise::deterministic_modes;
    check_all(HdlSimulator::verilator,
              {dut("wide", op, aimed_tuples(op.operands, 1'000'000 / modes + 1, random))});
  }
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
  check_all(HdlSimulator::verilator, unit_duts(600));
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
