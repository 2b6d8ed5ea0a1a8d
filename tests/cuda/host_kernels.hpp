#pragma once
#include "host_device.hpp"

namespace tests {

// This CPU with all kernels of the CUDA engine.
HostDevice& host_device();

}  // namespace tests
