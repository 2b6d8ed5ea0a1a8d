#pragma once
#include "device.hpp"

// pack_codes and unpack_codes of sim/blocks.hpp, of codes and bytes that lie on a device.
namespace widthwise::cuda {

void pack_codes(Device& device, int width, const void* codes, std::size_t rows, std::size_t n,
                void* bytes);
void unpack_codes(Device& device, int width, const void* bytes, std::size_t rows, std::size_t n,
                  void* codes);

}  // namespace widthwise::cuda
