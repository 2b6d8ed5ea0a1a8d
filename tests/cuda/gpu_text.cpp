#include "gpu_text.hpp"

#include <vector>

#include "cuda/driver.hpp"

namespace tests {

using namespace widthwise;

int compute_capability() {
  using cuda::DeviceAttribute;
  cuda::DeviceHandle device = 0;
  cuda::expect(cuda::driver()->device(&device, 0), "GPU 0");
  const auto ask = [&](DeviceAttribute attribute) {
    int x = 0;
    cuda::expect(cuda::driver()->device_attribute(&x, attribute, device), "GPU 0");
    return x;
  };
  return 10 * ask(DeviceAttribute::capability_major) + ask(DeviceAttribute::capability_minor);
}

void launch_text(const std::string& ptx, const char* what, std::span<void* const> operands,
                 unsigned blocks, unsigned threads) {
  const cuda::Driver& driver = *cuda::driver();
  cuda::Context context = nullptr;
  cuda::expect(driver.retain_context(&context, 0), "GPU 0");
  const cuda::InContext in(context, "GPU 0");
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  cuda::expect(driver.load_module(&module, ptx.c_str()), what);
  cuda::expect(driver.function(&function, module, "tensor_core"), what);
  std::vector<void*> at(operands.begin(), operands.end()), arguments;
  for (void*& operand : at) arguments.push_back(&operand);
  cuda::expect(
      driver.launch(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments.data(), nullptr),
      what);
  cuda::expect(driver.synchronize(nullptr), what);
}

}  // namespace tests
