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

// What a top module says of itself and how its body is written.
struct TopModule {
  std::string_view name;
  std::vector<std::string> comment;
  std::vector<Port> ports;
  std::function<void(Netlist&)> body;
  std::vector<RtlFile> own{};  // files besides, of this module alone
};

// The top module's file and those of the modules below it.
std::vector<RtlFile> rtl_files(const TopModule& top);

}  // namespace widthwise::hdl
