#pragma once
#include <string_view>

// The golden model's sources, which Meson puts into the library: an export carries them along.
namespace widthwise::hdl {

extern const std::string_view model_header;  // model/widthwise_model.h
extern const std::string_view vpi_source;    // model/widthwise_vpi.c

}  // namespace widthwise::hdl
