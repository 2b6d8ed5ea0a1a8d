#pragma once
#include <string_view>

namespace widthwise::cuda {

// The kernels of one source, compiled for every GPU that is known and as PTX for newer ones.
const void* fatbin(std::string_view source);

}  // namespace widthwise::cuda
