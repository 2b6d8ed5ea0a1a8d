#include "device.hpp"

#include <algorithm>

namespace widthwise::cuda {

void launch_each(Device& device, const Kernel& kernel, std::size_t count, const void* argument) {
  constexpr std::size_t threads = 256, blocks_of_processor = 8;
  if (count == 0) return;
  const std::size_t blocks =
      std::min((count + threads - 1) / threads, device.processors() * blocks_of_processor);
  device.launch(kernel, {blocks, 1, threads}, argument);
}

}  // namespace widthwise::cuda
