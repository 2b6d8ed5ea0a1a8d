#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "rtl_cases.hpp"
#include "rtl_exhaustive.hpp"

using namespace tests;

namespace {

// So many vectors at least of what `more` makes, in one simulation. All of them at once would not
// fit into memory.
void check_many(long wanted, const std::function<Dut()>& more) {
  std::optional<Simulation> simulation;
  long vectors = 0;
  while (vectors < wanted) {
    const std::vector<Dut> duts{more()};
    if (!simulation) simulation.emplace(HdlSimulator::verilator, duts);
    vectors += check_verdicts(duts, simulation->run_on(duts));
  }
  MESSAGE(vectors << " vectors");
}

constexpr long million = 1'000'000;

}  // namespace

TEST_CASE("a million vectors of fma of three 8-bit formats, in turn, in Verilator") {
  if (have("verilator")) check_all(HdlSimulator::verilator, in_turn(fma_duts(91'000), 3));
}

TEST_CASE("fma on all operands of three 8-bit formats in every mode, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  for (const char* f : small_fma_formats) {
    const auto op = operation(fmt::format("fma {0} {0} {0} -> {0}", f));
    const Verdict v = on_every_triple(op.s, rtl(op, "dut"));
    CAPTURE(f);
    CHECK(v.vectors == (1L << 24) * widthwise::deterministic_modes);
    CHECK(v.errors == 0);
  }
}

TEST_CASE("all operands tell a module that was changed") {
  if (!have("verilator")) return;
  const auto op = operation("fma e2m1fn e2m1fn e2m1fn -> e2m1fn");
  auto files = rtl(op, "dut");
  const Verdict right = on_every_triple(op.s, files);
  CHECK(right.vectors == 4096 * widthwise::deterministic_modes);
  CHECK(right.errors == 0);
  auto& pack = std::ranges::find(files, "ww_pack.v", &widthwise::hdl::RtlFile::name)->text;
  const std::string one_mode = "mixed ? rm == 4'd2";
  REQUIRE(pack.find(one_mode) != std::string::npos);
  pack.replace(pack.find(one_mode), one_mode.size(), "mixed ? rm == 4'd3");
  const Verdict wrong = on_every_triple(op.s, files, false);
  CHECK(wrong.vectors == right.vectors);
  CHECK(wrong.errors > 0);
  CHECK(wrong.errors < right.vectors / 11);
}

TEST_CASE("a million vectors of each wide operation, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  Random random(10);
  for (const std::string& text : wide_operations()) {
    CAPTURE(text);
    const auto op = operation(text);
    const int modes = op.options.rounding_port ? widthwise::deterministic_modes : 1;
    check_many(million,
               [&] { return dut("wide", op, aimed_tuples(op.s.read(), 250'000 / modes, random)); });
  }
}

TEST_CASE("a million vectors of each unit that is named, in Verilator") {
  if (!long_run() || !have("verilator")) return;
  Random random(17);
  for (std::size_t i = 0; i < named_units; ++i) {
    CAPTURE(i);
    check_many(million, [&] { return named_unit_dut(i, 50'000, random); });
  }
}
