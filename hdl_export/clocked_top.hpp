#pragma once
#include <string>
#include <vector>

#include "rtl_files.hpp"

// What a top module has around its body where registers lie between the stages.
namespace widthwise::hdl {

// The stages behind which a register stands, as often as one does.
std::vector<std::string> named(const TopModule& top);
std::vector<std::string> pipeline_stages(const Netlist& netlist);
// Refuses names that are no stage's.
void check_pipeline(const TopModule& top, const Netlist& netlist);

std::string pipe_parameters(const TopModule& top, const Netlist& netlist);

inline constexpr std::string_view handshake_ports =
    "  input  wire clk, rst,\n  input  wire in_valid,\n  output wire in_ready,\n"
    "  output wire out_valid,\n  input  wire out_ready,\n";
std::string handshake(const TopModule& top, const Netlist& netlist);

}  // namespace widthwise::hdl
