#pragma once
#include <string>
#include <variant>
#include <vector>

#include "rtl_files.hpp"
#include "widthwise/hdl/export.hpp"

namespace widthwise::hdl {

// The modules of a design and the ports of the top one.
struct DesignRtl {
  std::vector<RtlFile> files;
  std::vector<Port> ports;
};

// What rtl() makes of a design. Refuses what it refuses, and options that are another design's.
DesignRtl design_rtl(const Design& design, std::string_view name, const ExportOptions& options);

}  // namespace widthwise::hdl
