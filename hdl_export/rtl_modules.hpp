#pragma once
#include <span>

#include "widthwise/hdl/rtl.hpp"

namespace widthwise::hdl {

// The hand-written modules of rtl/, one a file, which every exported unit instantiates.
std::span<const RtlFile> rtl_modules();

}  // namespace widthwise::hdl
