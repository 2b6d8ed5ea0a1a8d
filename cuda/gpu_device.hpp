#pragma once
#include "device.hpp"

namespace widthwise::cuda {

// The GPU of that index, opened once. Throws where there is none, saying why.
Device& gpu(int index);

}  // namespace widthwise::cuda
