#pragma once
#include <string>
#include <variant>
#include <vector>

#include "dataflow.hpp"
#include "widthwise/hdl/export.hpp"

namespace widthwise::hdl {

// The modules of a design, and of the top one the ports, but for those of its clock.
struct DesignRtl {
  std::vector<RtlFile> files;
  std::vector<Port> ports;
  std::vector<RandomPort> random;  // those that take random bits, or would without a generator
  Timing timing;
  std::vector<std::string> stages;  // behind which registers may stand
  bool clocked;
  RunningSum running = RunningSum::none;
  Multiplier multiply{};  // in place of the exact product
  std::string taps{};     // as taps_json has them

  bool generator() const { return find_port(ports, "seed") != nullptr; }
};

// What rtl() makes of a design. Refuses what it refuses, and options that are another design's.
DesignRtl design_rtl(const Design& design, std::string_view name, const ExportOptions& options);

}  // namespace widthwise::hdl
