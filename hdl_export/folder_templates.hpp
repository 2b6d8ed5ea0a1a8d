#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// The files of folder/, in whose text @NAMES@ of capitals stand for what a design has there.
std::span<const File> folder_templates();

using Values = std::vector<std::pair<std::string_view, std::string>>;
std::string filled(std::string_view file, const Values& values);

}  // namespace widthwise::hdl
