#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <sstream>

#include "tables.hpp"
#include "tests/sim/random_units.hpp"
#include "tools.hpp"
#include "widthwise/hdl/verilog.hpp"

using namespace tests;
using widthwise::hdl::Pattern;
using widthwise::hdl::verilog_defines;
using widthwise::hdl::verilog_localparams;
using widthwise::hdl::verilog_parameters;

namespace {

bool is_text(const Constant& c) { return std::holds_alternative<std::string>(c.value); }

std::string binary(int width, const std::vector<std::uint64_t>& limbs) {
  std::string digits;
  for (int i = width; i-- > 0;)
    digits += limbs[static_cast<std::size_t>(i) / 64] >> i % 64 & 1 ? '1' : '0';
  return digits;
}

// What `display` has to say of a constant, by the fragment's rules and not by its printer.
struct Displayed {
  std::string operator()(std::int64_t x) const {
    const bool fits = -0x80000000LL < x && x < 0x80000000LL;
    return fmt::format("1{} {}", binary(fits ? 32 : 64, {static_cast<std::uint64_t>(x)}), x);
  }
  std::string operator()(bool x) const { return x ? "11" : "10"; }
  std::string operator()(const Pattern& p) const { return "1" + binary(p.width, p.limbs); }
  std::string operator()(const std::string&) const { return ""; }
};

// All bits of a constant behind a one, which tells its width; integers in decimal too. (Icarus 11
// fails an assertion where $display takes a constant of more than about 4,000 bits itself.)
std::string display(const Constant& c) {
  const bool is_integer = std::holds_alternative<std::int64_t>(c.value);
  return fmt::format("    bits = {{1'b1, {0}}};\n    $display(\"{0} %0b{1}\", bits{2});\n", c.name,
                     is_integer ? " %0d" : "", is_integer ? ", " + c.name : "");
}

// A module that includes the fragment and tells every constant.
std::string telling_bench(const ConstantTable& table) {
  std::string bench =
      "module bench;\n  `include \"unit.vh\"\n  reg [4999:0] bits;\n  initial begin\n";
  for (const Constant& c : table)
    if (!is_text(c)) bench += display(c);
  return bench + "  end\nendmodule\n";
}

// Two modules of one file, each with a fragment in its body.
constexpr const char* two_modules =
    "// verilator lint_off DECLFILENAME\n"
    "module top;\n  `include \"unit.vh\"\n  inner i();\nendmodule\n"
    "module inner;\n  `include \"unit.vh\"\nendmodule\n";

void check_lint(const std::string& command) {
  int linted = 0;
  for (const std::string& unit : designs()) {
    const Scratch folder;
    write(folder / "unit.vh", verilog_localparams(table_of(unit)));
    write(folder / "top.v", two_modules);
    const Ran lint = run(folder.path(), command);
    CAPTURE(unit);
    CHECK(lint.output == "");
    CHECK(lint.status == 0);
    ++linted;
  }
  MESSAGE(linted << " designs");
  CHECK(linted >= 45);
}

// Units that nobody thought of, a module each, in one file.
void check_random_lint(const std::string& command) {
  const Scratch folder;
  random_units::Random random(11);
  std::string modules = "// verilator lint_off DECLFILENAME\n", instances;
  constexpr int count = 60;
  for (int i = 0; i < count; ++i) {
    const widthwise::Unit unit =
        i < 50 ? random_units::unit(random) : random_units::unit(random, 62, 4095);
    const std::string name = fmt::format("unit{}", i);
    const ConstantTable table = widthwise::hdl::unit_constants(unit, name);
    write(folder / (name + ".vh"), verilog_localparams(table));
    write(folder / (name + "_params.vh"), verilog_parameters(table));
    write(folder / (name + "_defs.vh"), verilog_defines(table));
    modules += fmt::format(
        "`include \"{0}_defs.vh\"\n"
        "module m_{0};\n  `include \"{0}.vh\"\nendmodule\n"
        "module p_{0} #(\n`include \"{0}_params.vh\"\n) ();\nendmodule\n",
        name);
    instances += fmt::format("  m_{0} m{0}();\n  p_{0} p{0}();\n", name);
  }
  write(folder / "top.v", modules + "module top;\n" + instances + "endmodule\n");
  const Ran lint = run(folder.path(), command);
  CHECK(lint.output == "");
  CHECK(lint.status == 0);
}

}  // namespace

TEST_CASE("the fragment stands in two modules of one file: iverilog -Wall -g2005 says nothing") {
  if (!have("iverilog")) return;
  check_lint("iverilog -Wall -g2005 -o top top.v");
  check_random_lint("iverilog -Wall -g2005 -o top top.v");
}

TEST_CASE("the fragment stands in two modules of one file: verilator -Wall says nothing") {
  if (!have("verilator")) return;
  check_lint("verilator --lint-only -Wall top.v");
  check_random_lint("verilator --lint-only -Wall top.v");
}

TEST_CASE("a linter does speak: without its lint_off the fragment has unused parameters") {
  if (!have("verilator")) return;
  const Scratch folder;
  std::string fragment = verilog_localparams(table_of("fma(e5m10, sum=e5m10)"));
  fragment.erase(fragment.find("// verilator lint_off UNUSEDPARAM\n"), 34);
  write(folder / "unit.vh", fragment);
  write(folder / "top.v", two_modules);
  const Ran lint = run(folder.path(), "verilator --lint-only -Wall top.v");
  CHECK(lint.status != 0);
  CHECK(lint.output.find("A_QNAN") != std::string::npos);
}

TEST_CASE("every constant reads back from Icarus with its value and its width") {
  if (!have("iverilog")) return;
  long told = 0;
  for (const std::string& unit : designs()) {
    CAPTURE(unit);
    const ConstantTable table = table_of(unit);
    const Scratch folder;
    write(folder / "unit.vh", verilog_localparams(table));
    write(folder / "bench.v", telling_bench(table));
    const Ran bench = run(folder.path(), "iverilog -Wall -g2005 -o bench bench.v && ./bench");
    if (bench.status != 0) {
      FAIL_CHECK(bench.output);
      continue;
    }

    std::istringstream lines(bench.output);
    for (const Constant& c : table) {
      if (is_text(c)) continue;
      std::string line;
      std::getline(lines, line);
      CHECK(line == c.name + " " + std::visit(Displayed{}, c.value));
      ++told;
    }
    std::string rest;
    CHECK_FALSE(std::getline(lines, rest));
  }
  MESSAGE(told << " constants");
  CHECK(told > 30 * 150);
}

TEST_CASE("integers past 32 bits are sized signed literals, at exactly 2^31") {
  const auto line = [](std::int64_t x) {
    const std::string text = verilog_localparams({{"s", "X", x, ""}});
    const std::size_t at = text.find("localparam ");
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(line(0x7fffffff) == "localparam integer X = 2147483647;");
  CHECK(line(-0x7fffffff) == "localparam integer X = -2147483647;");
  CHECK(line(0x80000000) == "localparam signed [63:0] X = 64'sh0000000080000000;  // = 2147483648");
  CHECK(line(-0x80000000LL) ==
        "localparam signed [63:0] X = 64'shffffffff80000000;  // = -2147483648");
  CHECK(line(INT64_MIN) ==
        "localparam signed [63:0] X = 64'sh8000000000000000;  // = -9223372036854775808");
}

TEST_CASE("the fragment is nothing but comments, blank lines and localparams, without a guard") {
  for (const std::string& unit : units()) {
    CAPTURE(unit);
    std::istringstream lines(verilog_localparams(table_of(unit)));
    long others = 0, all = 0;
    for (std::string line; std::getline(lines, line); ++all)
      others += !(line.empty() || line.starts_with("// ") || line.starts_with("localparam "));
    CHECK(others == 0);
    CHECK(all > 150);
  }
}

TEST_CASE("unit texts stand in the fragment's comments") {
  const std::string text = verilog_localparams(table_of("hopper.e4m3.f32"));
  for (const char* line :
       {"// UNIT_NAME: mac_unit\n", "// SPEC: hopper.e4m3.f32\n", "// GENERATOR: Widthwise ",
        "// DESCRIPTION: c + sum of a * b, 32 products at a time; a e4m3fn, b e4m3fn, c e8m23, "
        "result e8m23\n"})
    CHECK(text.find(line) != std::string::npos);
}
