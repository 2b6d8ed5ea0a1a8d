#pragma once
#include <span>
#include <string_view>

namespace widthwise::cuda {

// The kernels of one source, compiled for every GPU that is known and as PTX for newer ones.
std::span<const unsigned char> fatbin(std::string_view source);

}  // namespace widthwise::cuda
