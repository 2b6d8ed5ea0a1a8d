#pragma once
#include "device.hpp"

namespace widthwise::cuda {

// The GPU of that index, opened once. Throws where there is none, saying why.
Device& gpu(int index);

// The index of the GPU that an address is of.
int gpu_of_address(const void* at);

}  // namespace widthwise::cuda
