#pragma once
#include <map>
#include <string>
#include <vector>

#include "widthwise/hdl/rtl.hpp"

// How large Yosys makes exported RTL, and the table of it in docs/hdl_areas.md.
namespace tests {

struct Area {
  long lut4;   // of synth_ice40
  long depth;  // cells on its longest path: LUTs, and carries one by one
  long lut6;   // of synth_xilinx without DSP blocks, LUTs of fewer inputs included
};

// Of the module `top`. Throws where Yosys fails, or finds a latch, a register or a loop.
Area measured(const std::vector<widthwise::hdl::RtlFile>& files, const std::string& top);

// What the table has rows for: "fma e5m2", "convert binary32 -> e5m2", "hopper.e4m3.f32",
// "blocks(nvfp4, a=bfloat16)".
const std::vector<std::string>& area_rows();

// A row's module, called `dut`. An operation has all modes and flags.
std::vector<widthwise::hdl::RtlFile> row_files(const std::string& row);

// The table at the end of a page. Rows that were never measured are missing.
std::map<std::string, Area> areas_of(const std::string& page);
std::string with_areas(const std::string& page, const std::map<std::string, Area>& areas);

}  // namespace tests
