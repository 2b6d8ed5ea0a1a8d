#include <doctest/doctest.h>
#include <fmt/core.h>

#include "rtl_cases.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;
using widthwise::hdl::rtl;
using widthwise::hdl::RtlFile;

namespace {

void write_dut(const Scratch& folder, const Dut& d) { write_files(folder, {d}); }

// Every module's file alone, and every unit's top with what it needs: nothing is said.
void check_silent(const std::string& command) {
  int linted = 0;
  for (const Dut& d : all_duts(1)) {
    const Scratch folder;
    write_dut(folder, d);
    const Ran lint = run(folder.path(), fmt::format(fmt::runtime(command), d.name));
    CAPTURE(d.files.front().text);
    CHECK(lint.output == "");
    CHECK(lint.status == 0);
    ++linted;
  }
  CHECK(linted > 70);
}

long count_of(const std::string& report, const std::string& cell) {
  const std::size_t at = report.rfind(cell);  // the last report is the whole design's
  return at == std::string::npos ? 0 : std::stol(report.substr(at + cell.size()));
}

struct Area {
  const char* what;
  const char* top;  // ports tied to constants; names the unit `dut`
  std::vector<RtlFile> files;
  long most;
};

std::vector<Area> areas() {
  const auto multiply = [](const char* f, const char* rounding) {
    return rtl(operation(fmt::format("multiply {0} {0} -> {0} {1}", f, rounding)), "dut");
  };
  const char* mul8 =
      "module top(input [7:0] a, b, output [7:0] y);\n  wire [4:0] flags;\n"
      "  dut d (.a(a), .b(b), .y(y), .flags(flags));\nendmodule\n";
  return {
      {"e4m3fn multiplier, rne", mul8, multiply("e4m3fn", "rne"), 189},
      {"e4m3fn multiplier, all modes and flags",
       "module top(input [7:0] a, b, input [3:0] rm, output [7:0] y, output [4:0] flags);\n"
       "  dut d (.a(a), .b(b), .rm(rm), .y(y), .flags(flags));\nendmodule\n",
       multiply("e4m3fn", ""), 224},
      {"e5m2 multiplier, rne", mul8, multiply("e5m2", "rne"), 175},
      {"binary16 multiplier, rne",
       "module top(input [15:0] a, b, output [15:0] y);\n  wire [4:0] flags;\n"
       "  dut d (.a(a), .b(b), .y(y), .flags(flags));\nendmodule\n",
       multiply("binary16", "rne"), 694},
      {"dot product of four e4m3fn, all modes and flags",
       "module top(input [31:0] a, b, input [3:0] rm, output [15:0] y, output [4:0] flags);\n"
       "  dut d (.a(a), .b(b), .c(16'd0), .rm(rm), .y(y), .flags(flags));\nendmodule\n",
       rtl(widthwise::parse_unit("dot(e4m3fn, c=e5m10, out=e5m10, lanes=4, align=15:rtz)"), "dut",
           {.rounding_port = true}),
       1262},
  };
}

}  // namespace

TEST_CASE("verilator --lint-only -Wall says nothing of any unit") {
  if (have("verilator")) check_silent("verilator --lint-only -Wall -y . {}.v");
}

TEST_CASE("iverilog -Wall -g2005 says nothing of any unit") {
  if (have("iverilog")) check_silent("iverilog -Wall -g2005 -y . -o sim {}.v");
}

TEST_CASE("yosys makes neither latches nor loops of any unit") {
  if (!have("yosys")) return;
  for (const Dut& d : all_duts(1)) {
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

TEST_CASE("synth_ice40: no unit of the list is larger than its limit") {
  if (!have("yosys")) return;
  for (const Area& area : areas()) {
    const Scratch folder;
    for (const RtlFile& file : area.files) write(folder / file.name, file.text);
    write(folder / "top.v", area.top);
    const Ran ran = run(folder.path(),
                        "yosys -p 'read_verilog *.v; synth_ice40 -top top; check -assert; stat'");
    CHECK(ran.status == 0);
    const long luts = count_of(ran.output, "SB_LUT4");
    MESSAGE(fmt::format("{}: {} LUT4", area.what, luts));
    CHECK(luts > 50);
    CHECK(luts <= area.most);
  }
}

TEST_CASE("synth_xilinx takes a unit of each kind") {
  if (!have("yosys")) return;
  for (const char* text : {"mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)", "hopper.e4m3.f32"}) {
    const Scratch folder;
    for (const RtlFile& file : rtl(widthwise::parse_unit(text), "dut"))
      write(folder / file.name, file.text);
    const Ran ran =
        run(folder.path(),
            "yosys -p 'read_verilog *.v; synth_xilinx -noiopad -top dut; check -assert; stat'");
    CHECK(ran.status == 0);
    CHECK(count_of(ran.output, "LUT6 ") > 20);
  }
}
