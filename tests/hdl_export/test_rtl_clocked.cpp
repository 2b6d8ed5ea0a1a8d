#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>

#include "rtl_cases.hpp"
#include "widthwise/sim/unit_text.hpp"

using namespace tests;
using widthwise::parse_unit;
using widthwise::hdl::RtlOptions;
using widthwise::hdl::Timing;

namespace {

// Each with the registers that the bits of its number say.
std::vector<Dut> every_choice(const Dut& d, const std::vector<std::string>& stages) {
  std::vector<Dut> all;
  for (unsigned choice = 0; choice >> stages.size() == 0; ++choice) {
    Dut one = d;
    one.module = d.name;
    one.name = fmt::format("{}_{}", d.name, choice);
    one.timing = Timing{};
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const int depth = static_cast<int>(choice >> i & 1) * (choice % 3 == 0 ? 2 : 1);
      std::string stage = stages[i];
      std::ranges::transform(stage, stage.begin(), [](unsigned char c) { return std::toupper(c); });
      one.parameters += fmt::format("{}.PIPE_{}({})", i ? ", " : "#(", stage, depth);
      one.timing->latency += depth;
    }
    one.parameters += ")";
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

TEST_CASE("every choice of registers gives the same results, in their order and time") {
  if (!have("iverilog")) return;
  Random random(12);
  auto op = operation("add e4m3fn e4m3fn -> e4m3fn");
  op.options.pipeline.emplace();
  const Dut d = thinned(dut("sum", op, aimed_tuples(op.s.read(), 200, random)), 60);
  check_all(HdlSimulator::icarus, every_choice(d, rtl_stages(op.s, op.options)));
}

namespace {

std::vector<Dut> pipelines(std::size_t vectors) {
  Random random(13);
  std::vector<Dut> duts;
  for (const char* text :
       {"multiply e5m2 e5m2 -> e5m2", "fma e5m10 e5m10 e5m10 -> e5m10", "add e8m7 e8m7 -> e8m7 sr8",
        "convert e8m23 -> e5m2", "subtract e4m3fnuz e4m3fnuz -> e4m3fnuz tininess=before",
        "fma e5m2 e5m10 e3m4 -> e5m10 nan=propagate", "add e5m10 e5m10 -> e5m10 nan=x86"})
    duts.push_back(pipelined(fmt::format("pipe{}", duts.size()), operation(text), vectors, random));
  const auto count = static_cast<int>(vectors);
  for (const char* text : {"mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)", "fma(e4m3fn, sum=e8m23)",
                           "tree(e4m3fn, fan=4, product=e5m7:rtz, node=e5m10, sum=e8m13:raz)",
                           "hopper.e4m3.f32", "cdna1.f16", "blackwell.nvfp4"})
    duts.push_back(
        pipelined(fmt::format("pipe{}", duts.size()), parse_unit(text), {}, count, random));
  for (const char* text :
       {"kulisch(e4m3fn)", "fixedacc(e4m3fn, width=16, frac=8, overflow=saturate, out=e5m10)"})
    duts.push_back(pipelined(fmt::format("pipe{}", duts.size()), parse_unit(text), {.lanes = 3},
                             count, random));
  return duts;
}

}  // namespace

TEST_CASE("a register behind every stage: operations and units of every kind, in Icarus") {
  if (have("iverilog")) check_all(HdlSimulator::icarus, in_turn(pipelines(120), 4));
}

TEST_CASE("a delay line that is one short fails, whatever passes through it") {
  if (!have("iverilog")) return;
  Random random(14);
  const Dut right = pipelined("short", parse_unit("mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)"),
                              {}, 150, random);
  CHECK(!fails(right));
  int broken = 0;
  const std::string line = ".N(PIPE_";
  const std::string& text = right.files.front().text;
  for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos; at += line.size()) {
    Dut d = right;
    d.files.front().text.replace(at, text.find(')', at) - at, ".N(0");
    CAPTURE(text.substr(at, 60));
    CHECK(fails(d));
    ++broken;
  }
  CHECK(broken > 10);
}

TEST_CASE("a pipeline of a stage that is not there is refused") {
  auto op = operation("multiply e4m3fn e4m3fn -> e4m3fn rne");
  op.options.pipeline = {"product"};
  CHECK_THROWS_WITH_AS(
      rtl(op, "dut"),
      "rtl: options.pipeline names product, and dut has no such stage; it has unpack, "
      "exact, normalise, denormalise, round, pack",
      std::invalid_argument);
  op.options.pipeline = {"exact", "round", "round"};
  CHECK(rtl_timing(op.s, op.options) == Timing{3, 0});
  op.options.pipeline.reset();
  CHECK(rtl_timing(op.s, op.options) == Timing{0, 0});
}

namespace {

struct Running {
  const char* text;
  int lanes = 0;
  bool generator = false;
};
constexpr Running running_units[] = {
    {"mac(e4m3fn, product=e5m7:rtz, sum=e8m13:rtz)"},
    {"mac(e5m10, sum=e8m13:sr8:half)"},
    {"tree(e4m3fn, fan=4, product=e5m3:sr20, node=e5m10:sr9, sum=e8m13:sr40)", 0, true},
    {"fixedacc(e4m3fn, width=16, frac=8, overflow=wrap, out=e5m4:sr12)", 2, true},
    {"fma(e5m10)"},
    {"tree(e4m3fn, fan=4, product=e5m7:rtz, node=e5m10, sum=e8m13:raz)"},
    {"ampere.f16.f32"},
    {"kulisch(e4m3fn)", 2},
    {"kulisch(e5m2, c=e5m10, out=e8m23)", 1},
    {"fixedacc(e4m3fn, width=16, frac=8, overflow=saturate, out=e5m10)", 3},
    {"fixedacc(e4m3fn, width=14, frac=6, overflow=wrap, out=e5m10)", 3},
    {"fixedacc(e4m3fn, width=12, frac=4, overflow=saturate, out=e5m10)", 1},
};

// Without registers but the state, and with one behind every stage. Sums of up to 200 blocks.
std::vector<Dut> running_duts(std::size_t sums, std::size_t longest) {
  Random random(15);
  std::vector<Dut> duts;
  for (const Running& r : running_units)
    for (const bool deep : {false, true}) {
      const widthwise::Unit unit = parse_unit(r.text);
      RtlOptions options{.lanes = r.lanes, .accumulate = true, .generator = r.generator};
      if (deep) options.pipeline = rtl_stages(unit, options);
      std::vector<std::size_t> blocks{1, 2, 1, 3, 1, longest};
      while (blocks.size() < sums) blocks.push_back(1 + random() % 8);
      duts.push_back(running_dut(fmt::format("sum{}", duts.size()), unit, blocks, random, options));
    }
  return duts;
}

}  // namespace

TEST_CASE("no tool says a word of modules with a clock, and none of them has a latch or a loop") {
  if (!have("verilator") || !have("iverilog") || !have("yosys")) return;
  std::vector<Dut> duts = running_duts(0, 1);
  for (Dut& d : pipelines(30)) duts.push_back(std::move(d));
  for (const Dut& d : in_turn(std::move(duts), 9)) {
    const Scratch folder;
    write_files(folder, {d});
    const Ran ran =
        run(folder.path(),
            fmt::format(
                "verilator --lint-only -Wall -y . {0}.v && iverilog -Wall -g2005 -y . -o s {0}.v "
                "&& yosys -q -p 'read_verilog *.v; hierarchy -check -top {0}; proc; flatten; "
                "opt_clean; check -assert; select -assert-none t:$dlatch t:$adlatch; "
                "select -assert-any t:$dffe t:$dff t:$sdffe t:$sdff'",
                d.name));
    CAPTURE(d.name);
    CHECK(ran.output == "");
    CHECK(ran.status == 0);
  }
}

TEST_CASE("running sums of codes and of wide registers, in Icarus") {
  if (have("iverilog")) check_all(HdlSimulator::icarus, in_turn(running_duts(14, 45), 6));
}

// One simulation of a few, for compiling one takes longest.
TEST_CASE("pipelines and running sums, long ones, in Verilator") {
  if (!have("verilator")) return;
  const auto taken = [](const Dut& d) {
    constexpr std::string_view names[] = {"pipe1", "pipe5", "pipe12", "sum0",
                                          "sum5",  "sum14", "sum18",  "sum21"};
    return std::ranges::find(names, d.name) != std::end(names);
  };
  std::vector<Dut> duts;
  for (const auto& all : {pipelines(1500), running_duts(150, 200)})
    std::ranges::copy_if(all, std::back_inserter(duts), taken);
  check_all(HdlSimulator::verilator, in_turn(std::move(duts), 8));
}

TEST_CASE("a running sum takes its blocks every II clocks: one for a register, LATENCY for codes") {
  const auto mac = parse_unit("mac(e5m10)"), kulisch = parse_unit("kulisch(e4m3fn)");
  RtlOptions options{.accumulate = true};
  CHECK(rtl_timing(mac, options) == Timing{1, 1});
  options.pipeline = {"product", "round"};
  CHECK(rtl_timing(mac, options) == Timing{3, 3});
  options.lanes = 4;
  CHECK(rtl_timing(kulisch, options) == Timing{3, 1});
}

TEST_CASE("a module that makes its random words makes the simulator's") {
  if (!have("iverilog")) return;
  Random random(16);
  std::vector<Dut> duts;
  for (const char* text : {"add e8m7 e8m7 -> e8m7 sr8", "convert e8m23 -> e5m2 sr17:even",
                           "multiply e5m10 e5m10 -> e5m4 sr33:half"}) {
    auto op = operation(text);
    op.options.generator = true;
    duts.push_back(thinned(
        dut(fmt::format("own{}", duts.size()), op, aimed_tuples(op.s.read(), 200, random)), 300));
    duts.back().timing = rtl_timing(op.s, op.options);
  }
  for (const char* text :
       {"mac(e4m3fn, product=e5m3:sr5, sum=e8m13:sr64)",
        "tree(e4m3fn, fan=9, product=e5m7:sr16, node=e5m10:sr32, sum=e8m7:sr33)"}) {
    const RtlOptions options{.generator = true};
    const widthwise::Unit unit = parse_unit(text);
    duts.push_back(dut(fmt::format("own{}", duts.size()), unit, 60, random, options));
    duts.back().timing = rtl_timing(unit, options);
  }
  check_all(HdlSimulator::icarus, duts);
}

TEST_CASE("random words are drawn by one generator, ten clocks a call") {
  const auto timing = [](const char* text, const RtlOptions& options) {
    return rtl_timing(parse_unit(text), options);
  };
  RtlOptions options{.generator = true};
  // Two words of different slots; nine products, eight nodes and the result of a tree.
  CHECK(timing("mac(e4m3fn, product=e5m3:sr5, sum=e8m13:sr64)", options) == Timing{21, 21});
  options.lanes = 16;  // a whole sum, whose steps are known: eight share a call
  CHECK(timing("mac(e4m3fn, product=e5m3:sr5, sum=e8m13:sr8)", options) == Timing{41, 41});
  options = {.pipeline = {{"product", "round"}}, .accumulate = true, .generator = true};
  CHECK(timing("mac(e4m3fn, sum=e8m13:sr8)", options) == Timing{14, 11});
  options.pipeline = std::vector<std::string>(15, "round");
  CHECK(timing("mac(e4m3fn, sum=e8m13:sr8)", options) == Timing{32, 16});
}

TEST_CASE("running sums that are not built are refused") {
  const auto refusal = [](const char* text, RtlOptions options) {
    options.accumulate = true;
    try {
      rtl(parse_unit(text), "dut", options);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refusal("dot(e4m3fn, align=12:rtz)", {.lanes = 4})
            .starts_with("rtl: a running sum below the largest exponent of all terms is not"));
  CHECK(refusal("hopper.e4m3.promote128", {}).starts_with("rtl: a running sum of a unit with a"));
  CHECK(refusal("mac(e5m10)", {.lanes = 4}).find("leave options.lanes out") != std::string::npos);
}

TEST_CASE("a running sum that was changed in one place fails") {
  if (!have("iverilog")) return;
  struct Change {
    std::string file, from, to;
    std::size_t unit;  // of running_units, with registers
  };
  const Change changes[] = {
      {"top.v", "assign in_ready = advance & !busy", "assign in_ready = advance", 0},
      {"top.v", "in_first ? c : ", "!in_first ? c : ", 0},
      {"top.v", "wire running = !in_first", "wire running = 1'b0", 0},
      {"top.v", "? 5'd0 : flags_kept", "? 5'd0 : 5'd0", 0},
      {"top.v", "result_valid & in_last", "result_valid | in_last", 0},
      {"top.v", ".take(advance & group_sum_valid)", ".take(advance)", 8},
      {"top.v", "assign last_c_sig = in_last", "assign last_c_sig = !in_last", 8},
      {"ww_sum.v", "first_now ? {SW{1'b0}} : total", "total", 8},
      {"ww_sum.v", "first_now ? 6'd0 : met_total", "6'd0", 7},
      {"ww_register.v", "total = start", "total = {W{1'b0}}", 8},
      {"ww_delay.v", "else if (enable)", "else", 8},
  };
  const std::vector<Dut> all = running_duts(60, 40);
  for (const Change& change : changes) {
    CAPTURE(change.from);
    Dut d = all[2 * change.unit + 1];
    const std::string name = change.file == "top.v" ? d.name + ".v" : change.file;
    const auto file = std::ranges::find(d.files, name, &widthwise::hdl::RtlFile::name);
    REQUIRE(file != d.files.end());
    const std::size_t at = file->text.find(change.from);
    REQUIRE(at != std::string::npos);
    file->text.replace(at, change.from.size(), change.to);
    CHECK(fails(d));
  }
}
