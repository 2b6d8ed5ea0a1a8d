#pragma once
#include "host_device.hpp"

namespace tests {

// Those of elements.hpp, in a source of their own.
std::map<std::string, HostDevice::Body> element_kernels();

// This CPU with all kernels of the CUDA engine.
HostDevice& host_device();

}  // namespace tests
