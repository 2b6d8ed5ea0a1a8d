#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>

#include "cuda/device.hpp"
#include "widthwise/sim/multipliers.hpp"

// A device that is this CPU: kernels are run by their own bodies, and memory taken and given back
// is counted.
namespace tests {

class HostDevice final : public widthwise::cuda::Device {
 public:
  using Body = std::function<void(const void* argument, const widthwise::cuda::Grid&)>;

  explicit HostDevice(std::map<std::string, Body> kernels) : kernels_(std::move(kernels)) {}

  // What sources stand for, as if they had been compiled, and the one linked with the kernel.
  std::map<std::string, widthwise::TextProduct::Function*> compiled;
  widthwise::TextProduct::Function* linked = nullptr;

  std::size_t memory = std::size_t{1} << 28;  // in all
  std::size_t taken = 0, most_taken = 0, launches = 0;
  std::size_t copied = 0;  // bytes, in or out
  std::size_t most_layers = 0;
  std::uintptr_t stream = 0;

  std::string name() const override { return "this CPU"; }
  std::size_t free_bytes() const override { return memory - taken; }
  std::size_t processors() const override { return 1; }

  std::string why_not_with(const std::string& source) const override {
    return compiled.contains(source) ? "" : "this CPU compiles nothing";
  }

  void* allocate(std::size_t bytes) override {
    if (bytes > free_bytes()) throw std::bad_alloc();
    void* at = ::operator new (bytes, std::align_val_t{256});
    std::memset(at, 0xa5, bytes);  // whoever reads what nobody wrote shall notice
    sizes_[at] = bytes;
    taken += bytes;
    most_taken = std::max(most_taken, taken);
    return at;
  }
  void release(void* at) noexcept override {
    taken -= sizes_[at];
    sizes_.erase(at);
    ::operator delete (at, std::align_val_t{256});
  }
  void copy_in(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy_out(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void launch(const widthwise::cuda::Kernel& kernel, const widthwise::cuda::Grid& grid,
              const void* argument) override {
    if (std::max(grid.blocks_y, grid.blocks_z) > grid.most_blocks || grid.threads > 1024)
      throw std::runtime_error(kernel.name + std::string(": no GPU has such a grid"));
    ++launches;
    most_layers = std::max(most_layers, grid.blocks_z);
    linked = kernel.with.empty() ? nullptr : compiled.at(kernel.with);
    kernels_.at(kernel.name)(argument, grid);
  }
  void use_stream(std::uintptr_t handle) override { stream = handle; }
  void wait() override {}

 private:
  void copy(void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    copied += bytes;
  }

  std::map<std::string, Body> kernels_;
  std::map<void*, std::size_t> sizes_;
};

// A kernel whose threads need nothing of one another.
template <class Work>
HostDevice::Body each_thread() {
  return [](const void* argument, const widthwise::cuda::Grid& grid) {
    const Work& work = *static_cast<const Work*>(argument);
    const std::size_t threads = grid.blocks_x * grid.threads;
    for (std::size_t thread = threads; thread-- > 0;) work.run(thread, threads);
  };
}

}  // namespace tests
