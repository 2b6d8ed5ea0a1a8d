#pragma once
#include <span>
#include <string>

#include "driver.hpp"

namespace widthwise::cuda {

// Kernels and the functions that they call, by the driver's own linker, loaded for the current GPU.
// Throws with its words.
Module linked(std::span<const unsigned char> kernels, const std::string& ptx,
              const std::string& doing);

}  // namespace widthwise::cuda
