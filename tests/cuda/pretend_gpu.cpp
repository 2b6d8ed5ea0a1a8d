#include "host_kernels.hpp"

// Makes of fake_driver.cpp a GPU that computes: by the kernels' own bodies, on this CPU, whatever
// the calling thread does to subnormals.
namespace tests {

void run_kernel(const char* name, std::size_t blocks_x, std::size_t blocks_y, std::size_t blocks_z,
                std::size_t threads, const void* argument) {
  const widthwise::MachineRounding set(widthwise::RoundingMode::rne);
  host_device().launch({"", name}, {blocks_x, blocks_y, threads, blocks_z}, argument);
}

}  // namespace tests
