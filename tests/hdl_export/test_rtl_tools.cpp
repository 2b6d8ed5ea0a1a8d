#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_cases.hpp"

using namespace tests;

namespace {

void write_dut(const Scratch& folder, const Dut& d) { write_files(folder, {d}); }

// Every module's file alone, and every unit's top with what it needs: nothing is said.
void check_silent(const std::string& command) {
  const std::vector<Dut> all = all_duts(1);
  CHECK(all.size() > 70);
  for (const Dut& d : in_turn(all, 6)) {
    const Scratch folder;
    write_dut(folder, d);
    const Ran lint = run(folder.path(), fmt::format(fmt::runtime(command), d.name));
    CAPTURE(d.files.front().text);
    CHECK(lint.output == "");
    CHECK(lint.status == 0);
  }
}

}  // namespace

TEST_CASE("verilator --lint-only -Wall says nothing of any unit") {
  if (have("verilator")) check_silent("verilator --lint-only -Wall -y . {}.v");
}

TEST_CASE("iverilog -Wall -g2005 says nothing of any unit") {
  if (have("iverilog")) check_silent("iverilog -Wall -g2005 -y . -o sim {}.v");
}

// Verilator's -Wall has looked for them already.
TEST_CASE("yosys makes neither latches nor loops of any unit") {
  if (!have("yosys")) return;
  for (const Dut& d : in_turn(all_duts(1), 12)) {
    const Scratch folder;
    write_dut(folder, d);
    const Ran ran =
        run(folder.path(), fmt::format("yosys -q -p 'read_verilog *.v; hierarchy -check "
                                       "-top {}; proc; flatten; opt_clean; check -assert; "
                                       "select -assert-none t:$dlatch t:$adlatch t:$dff'",
                                       d.name));
    CAPTURE(d.files.front().text);
    CHECK(ran.output == "");
    CHECK(ran.status == 0);
  }
}
