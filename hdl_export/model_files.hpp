#pragma once
#include <span>

#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// The golden model's header, and its calls for VPI: an export carries them along.
std::span<const File> model_files();

}  // namespace widthwise::hdl
