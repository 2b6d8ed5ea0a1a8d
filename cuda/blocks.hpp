#pragma once
#include "device.hpp"
#include "widthwise/sim/blocks.hpp"

// Blocks of numbers that lie on a device: sim's BlockQuantiser and BlockReader there. All addresses
// are the device's. T is float or double, the numbers' type.
namespace widthwise::cuda {

// Throws std::invalid_argument where the CPU does, or where a device has not the elements' format.
template <class T>
BlockTally quantise_blocks(Device& device, const BlockFormat& f, const BlockGrid& grid,
                           const BlockHow& how, const T* x, void* elements, void* scales);

template <class T>
void read_blocks(Device& device, const BlockFormat& f, const BlockGrid& grid, float tensor_scale,
                 const void* elements, const void* scales, T* x);

template <class T>
double largest_magnitude(Device& device, const T* x, std::size_t count);

}  // namespace widthwise::cuda
