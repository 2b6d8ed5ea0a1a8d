#include "clocked_top.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace widthwise::hdl {
namespace {

// All but the last, which is read behind every register.
std::vector<std::string> all_stages(const Netlist& netlist) {
  std::vector<std::string> names;
  for (const StageRegister& s : netlist.stages()) names.push_back(s.stage);
  names.pop_back();
  return names;
}

// Whether the next transaction stands in front of a stage.
std::string valid_registers(const Netlist& netlist) {
  std::string text;
  for (std::size_t i = 0; i + 1 < netlist.stages().size(); ++i) {
    const std::string& here = netlist.stages()[i].stage;
    const std::string& next = netlist.stages()[i + 1].stage;
    text += fmt::format(
        "  wire {0}_valid;\n"
        "  ww_delay #(.N({1}), .W(1)) valid_after_{2} (\n"
        "    .clk(clk), .rst(rst), .enable(advance), .d({2}_valid), .q({0}_valid));\n",
        next, netlist.depth(here), here);
  }
  return text;
}

// A block waits until the one before it has arrived in the state.
std::string busy_register(const Netlist& netlist) {
  const std::string& first = netlist.stages().front().stage;
  return fmt::format(
      "  ww_delay #(.N(1), .W(1)) waits (\n"
      "    .clk(clk), .rst(rst), .enable(advance), .d((busy | {}_valid) & !{}_valid), .q(busy));\n",
      first, netlist.kept());
}

}  // namespace

std::vector<std::string> named(const TopModule& top) {
  return top.pipeline.value_or(std::vector<std::string>{});
}

std::vector<std::string> pipeline_stages(const Netlist& netlist) {
  std::vector<std::string> names = all_stages(netlist);
  std::erase(names, netlist.kept());
  return names;
}

void check_pipeline(const TopModule& top, const Netlist& netlist) {
  const std::vector<std::string> stages = pipeline_stages(netlist);
  for (const std::string& name : named(top))
    if (std::ranges::find(stages, name) == stages.end())
      throw std::invalid_argument(
          fmt::format("rtl: options.pipeline names {}, and {} has no such stage; it has {}", name,
                      top.name, fmt::join(stages, ", ")));
}

std::string pipe_parameters(const TopModule& top, const Netlist& netlist) {
  check_pipeline(top, netlist);
  std::string text;
  for (const std::string& stage : pipeline_stages(netlist))
    text += fmt::format("{}\n  parameter integer {} = {}", text.empty() ? "" : ",",
                        netlist.depth(stage), std::ranges::count(named(top), stage));
  return fmt::format(" #({}\n)", text);
}

std::string handshake(const TopModule& top, const Netlist& netlist) {
  const bool waits = top.running == RunningSum::of_codes;
  std::string latency;
  for (const std::string& stage : all_stages(netlist))
    latency += (latency.empty() ? "" : " +\n    ") + netlist.depth(stage);
  const std::string interval = top.running == RunningSum::none
                                   ? ""
                                   : fmt::format(
                                         "  localparam integer II = {};  // clocks from one block "
                                         "of a sum to its next\n",
                                         waits ? "LATENCY" : "1");
  const std::string valid = fmt::format("  wire {}_valid = in_valid{};\n",
                                        netlist.stages().front().stage, waits ? " & !busy" : "");
  return fmt::format(
      "  // verilator lint_off UNUSEDPARAM\n"
      "  localparam integer LATENCY = {};\n{}  // verilator lint_on UNUSEDPARAM\n"
      "  wire advance = out_ready | !out_valid;\n{}  assign in_ready = advance{};\n"
      "{}{}{}",
      latency, interval, waits ? "  wire busy;\n" : "", waits ? " & !busy" : "", valid,
      valid_registers(netlist), waits ? busy_register(netlist) : "");
}

}  // namespace widthwise::hdl
