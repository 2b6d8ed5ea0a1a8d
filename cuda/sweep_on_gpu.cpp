#include "gpu_device.hpp"
#include "sweep.hpp"

std::unique_ptr<widthwise::cuda::Sweep> widthwise::cuda::sweep_on_gpu(int index,
                                                                      const SweepValues& values) {
  return std::make_unique<DeviceSweep>(gpu(index), values);
}
