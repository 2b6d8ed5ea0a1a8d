#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "netlist.hpp"
#include "widthwise/hdl/rtl.hpp"

namespace widthwise::hdl {

// A port of the top module.
struct Port {
  std::string_view direction;
  Bus bus;
};

// What a top module keeps between blocks: codes, each of which needs the one before, or a register.
enum class RunningSum { none, of_codes, of_register, of_quire };
constexpr bool keeps_register(RunningSum sum) {
  return sum == RunningSum::of_register || sum == RunningSum::of_quire;
}
// Whether C comes with a sum's first block; else with its last.
constexpr bool begins_with_c(RunningSum sum) {
  return sum == RunningSum::of_codes || sum == RunningSum::of_quire;
}

// What a top module says of itself and how its body is written.
struct TopModule {
  std::string_view name;
  std::vector<std::string> comment;
  std::vector<Port> ports;
  std::function<void(Netlist&)> body;  // a stage `result` at its end
  std::vector<RtlFile> own{};          // files besides, of this module alone
  RtlPipeline pipeline{};
  RunningSum running = RunningSum::none;
  // Words that a generator in front of it draws, and the ports of both together; else none.
  std::vector<RandomPort> drawn{};
  std::vector<Port> outer_ports{};

  bool clocked() const { return pipeline || running != RunningSum::none || !drawn.empty(); }
};

// What a comment says of it.
std::string_view clocking(const TopModule& top);
// The top module's file and those of the modules below it.
std::vector<RtlFile> rtl_files(const TopModule& top);
// Its stages behind which registers may stand.
std::vector<std::string> pipeline_stages(const TopModule& top);
Timing timing(const TopModule& top);
// As taps_json has them.
std::string taps(const TopModule& top);

// The ports of what rtl() makes.
std::vector<Port> rtl_ports(const SingleOperation& operation, const RtlOptions& options);
std::vector<Port> rtl_ports(const Unit& unit, const RtlOptions& options);
std::vector<Port> rtl_ports(const BlockQuantisation& quantiser, const RtlOptions& options);
std::vector<Port> rtl_ports(const SumRequantisation& requantisation, const RtlOptions& options);
// And its taps.
std::string rtl_taps(const SingleOperation& operation, std::string_view name,
                     const RtlOptions& options);
std::string rtl_taps(const Unit& unit, std::string_view name, const RtlOptions& options);
std::string rtl_taps(const BlockQuantisation& quantiser, std::string_view name,
                     const RtlOptions& options);
std::string rtl_taps(const SumRequantisation& requantisation, std::string_view name,
                     const RtlOptions& options);

}  // namespace widthwise::hdl
