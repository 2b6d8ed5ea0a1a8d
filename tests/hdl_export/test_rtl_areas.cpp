#include <doctest/doctest.h>
#include <fmt/core.h>

#include "areas.hpp"
#include "tools.hpp"
#include "turns.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;
using widthwise::hdl::rtl;

namespace {

void check_area(const std::string& what, const Area& area, long lut4) {
  CAPTURE(what);
  MESSAGE(fmt::format("{}: {} LUT4, depth {}, {} LUT6", what, area.lut4, area.depth, area.lut6));
  CHECK(area.lut4 > 20);
  CHECK(area.lut4 <= lut4);
}

// To nearest even, flags not looked at.
Area multiplier(const char* format) {
  const widthwise::Format f = widthwise::parse_format(format);
  auto files = rtl(widthwise::SingleOperation{widthwise::Operation::multiply, {f, f}, f}, "dut");
  files.push_back({"top.v", fmt::format("module top(input [{0}:0] a, b, output [{0}:0] y);\n"
                                        "  dut d (.a(a), .b(b), .y(y), .flags());\nendmodule\n",
                                        f.width() - 1)});
  return measured(files, "top");
}

}  // namespace

// What a sketch of these modules took. Yosys takes a minute for the larger ones: with --long.
TEST_CASE("multipliers to nearest even and a dot product are no larger than the sketch's") {
  if (!have("yosys")) return;
  check_area("e4m3fn multiplier", multiplier("e4m3fn"), 189);
  check_area("e5m2 multiplier", multiplier("e5m2"), 175);
  if (!is_long()) return;
  check_area("binary16 multiplier", multiplier("binary16"), 694);
  auto dot = rtl(widthwise::parse_unit("dot(e4m3fn, c=e5m10, out=e5m10, lanes=4, align=15:rtz)"),
                 "dut", {.rounding_port = true});
  dot.push_back(
      {"top.v",
       "module top(input [31:0] a, b, input [3:0] rm, output [15:0] y, output [4:0] flags);\n"
       "  dut d (.a(a), .b(b), .c(16'd0), .rm(rm), .y(y), .flags(flags));\nendmodule\n"});
  check_area("dot product of four e4m3fn, all modes and flags", measured(dot, "top"), 1262);
}

// Measuring all of them takes an hour, so they may lag behind a change of the modules, a little.
TEST_CASE("rows of docs/hdl_areas.md are what Yosys says, to a tenth") {
  if (!have("yosys")) return;
  const auto areas = areas_of(read("docs/hdl_areas.md"));
  CHECK(areas.size() >= 10);
  CHECK(areas.at("multiply e4m3fn").lut4 <= 224);  // the sketch's
  const auto near = [](long is, long was) { return is <= was * 11 / 10 && was <= is * 11 / 10; };
  std::vector<std::string> rows = in_turn<std::string>({"multiply e4m3fn", "add e2m1fn"}, 2);
  if (is_long()) rows.push_back("fma e2m1fn");
  for (const std::string& row : rows) {
    const Area was = areas.at(row), is = measured(row_files(row), "dut");
    CAPTURE(row);
    CHECK(near(is.lut4, was.lut4));
    CHECK(near(is.depth, was.depth));
    CHECK(near(is.lut6, was.lut6));
  }
}

TEST_CASE("a page's table is written as it was read") {
  const std::string page = read("docs/hdl_areas.md");
  CHECK(with_areas(page, areas_of(page)) == page);
}
