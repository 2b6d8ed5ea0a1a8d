#pragma once
#include "device.hpp"

namespace widthwise::cuda {

// The GPU of that index, opened once. Throws where there is none, saying why.
Device& gpu(int index);

// Memory that others use, too, in streams of their own.
void* allocate_for_others(int index, std::size_t bytes);
void release_of_others(int index, void* at) noexcept;

// The index of the GPU that an address is of.
int gpu_of_address(const void* at);

}  // namespace widthwise::cuda
