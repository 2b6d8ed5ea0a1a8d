#pragma once
#include "device.hpp"
#include "sim/elementwise/way.hpp"

namespace widthwise::cuda {

// Conversions of binary32, binary64, binary16 and bfloat16 to formats of at most 16 bits, without
// flags, a few instructions an element (docs/exactness.md, 34). Null where a condition fails.
ElementwiseWay quantise_way(const ElementTask& task, Device& device);

// And of formats of at most 16 bits to binary32 and binary64.
ElementwiseWay dequantise_way(const ElementTask& task, Device& device);

// Sums, products and both fused, of formats of at most 16 bits, all of them of one or of two bytes.
ElementwiseWay fuse_way(const ElementTask& task, Device& device);

}  // namespace widthwise::cuda
