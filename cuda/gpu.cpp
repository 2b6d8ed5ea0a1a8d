#include "widthwise/cuda/gpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

#include "driver.hpp"
#include "fatbins.hpp"
#include "gpu_device.hpp"
#include "linker.hpp"
#include "nvrtc.hpp"
#include "product.hpp"

namespace widthwise::cuda {
namespace {

std::string name_of(DeviceHandle device) {
  char name[256] = "";
  expect(driver()->device_name(name, sizeof name, device), "asking for a GPU's name");
  return name;
}

int attribute_of(DeviceHandle device, DeviceAttribute attribute) {
  int x = 0;
  expect(driver()->device_attribute(&x, attribute, device), "asking what a GPU can do");
  return x;
}

// Of this thread: where its work waits its turn, and what was launched and not yet waited for.
thread_local Stream stream = nullptr;
thread_local std::string launched;

// Memory that is given back is kept for the next to ask, up to so many bytes at least.
constexpr std::uint64_t kept_bytes = std::uint64_t{1} << 30;

// The pool is the process's, and others may want it to keep more.
void keep_memory(DeviceHandle device, const std::string& name) {
  Pool pool = nullptr;
  std::uint64_t kept = 0;
  expect(driver()->default_pool(&pool, device), name);
  expect(driver()->pool_attribute(pool, PoolAttribute::release_threshold, &kept), name);
  if (kept < kept_bytes)
    expect(driver()->set_pool(pool, PoolAttribute::release_threshold, &kept_bytes), name);
}

// One GPU. Its context is the one that all of a process share.
class Gpu final : public Device {
 public:
  explicit Gpu(int index) {
    expect(driver()->device(&device_, index), fmt::format("GPU {}", index));
    name_ = fmt::format("GPU {} ({})", index, name_of(device_));
    expect(driver()->retain_context(&context_, device_), name_ + ", opening it");
    has_pools_ = attribute_of(device_, DeviceAttribute::has_pools) != 0 && pools_give();
    if (has_pools_) keep_memory(device_, name_);
  }

  std::string name() const override { return name_; }
  std::size_t free_bytes() const override {
    std::size_t free = 0, all = 0;
    const InContext in(context_, name_);
    expect(driver()->memory(&free, &all), name_ + ", asking for its memory");
    return free;
  }
  std::size_t processors() const override {
    return static_cast<std::size_t>(attribute_of(device_, DeviceAttribute::multiprocessor_count));
  }

  std::string why_not_with(const std::string& source) const override {
    return ptx_of(source).why_not;
  }

  // Without pools that give any (some virtual GPUs) memory is taken and given back while all else
  // waits.
  void* allocate(std::size_t bytes) override {
    if (!has_pools_) return allocate_for_others(bytes);
    Address at = 0;
    watched(taking(bytes), [&] { return driver()->allocate_in_stream(&at, bytes, stream); });
    return reinterpret_cast<void*>(at);
  }
  void release(void* at) noexcept override {
    if (!has_pools_) return release_of_others(at);
    entered([&] { driver()->release_in_stream(reinterpret_cast<Address>(at), stream); });
  }
  // The index of the GPU that an address is of, this one or another.
  int whose(const void* at) const {
    int index = 0;
    const InContext in(context_, name_);
    expect(driver()->pointer_attribute(&index, PointerAttribute::device_ordinal,
                                       reinterpret_cast<Address>(at)),
           fmt::format("asking whose memory {} is", at));
    return index;
  }

  // For others, whose streams are not known: it is given back when all of them are through.
  void* allocate_for_others(std::size_t bytes) {
    Address at = 0;
    watched(taking(bytes), [&] { return driver()->allocate(&at, bytes); });
    return reinterpret_cast<void*>(at);
  }
  void release_of_others(void* at) noexcept {
    entered([&] { driver()->release(reinterpret_cast<Address>(at)); });
  }
  void copy_in(void* to, const void* from, std::size_t bytes) override {
    watched(fmt::format("{}{}, copying {} bytes to it", name_, launched, bytes),
            [&] { return driver()->copy_in(reinterpret_cast<Address>(to), from, bytes, stream); });
    wait();
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    watched(fmt::format("{}{}, copying {} bytes from it", name_, launched, bytes),
            [&] { return driver()->copy_out(to, reinterpret_cast<Address>(from), bytes, stream); });
    wait();
  }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    watched(fmt::format("{}{}, copying {} bytes within it", name_, launched, bytes), [&] {
      return driver()->copy_within(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from),
                                   bytes, stream);
    });
  }

  void launch(const Kernel& kernel, const Grid& grid, const void* argument) override {
    const std::string which =
        fmt::format(", kernel {} of {} x {} x {} blocks of {} threads", kernel.name, grid.blocks_x,
                    grid.blocks_y, grid.blocks_z, grid.threads);
    if (!launched.ends_with(which)) launched += which;
    void* arguments[] = {const_cast<void*>(argument)};
    const auto count = [](std::size_t n) { return static_cast<unsigned>(n); };
    watched(name_ + which, [&] {
      return driver()->launch(function(kernel), count(grid.blocks_x), count(grid.blocks_y),
                              count(grid.blocks_z), count(grid.threads), 1, 1, 0, stream, arguments,
                              nullptr);
    });
  }
  void use_stream(std::uintptr_t handle) override { stream = reinterpret_cast<Stream>(handle); }
  void wait() override {
    watched(name_ + std::exchange(launched, {}), [&] { return driver()->synchronize(stream); });
  }

  // What went wrong before, if anything did: the driver then does nothing more for this process.
  std::string trouble() const {
    const std::scoped_lock lock(mutex_);
    return trouble_;
  }

 private:
  // What a GPU says that it has may be refused when it is asked for.
  bool pools_give() const {
    const InContext in(context_, name_);
    Address at = 0;
    const Status status = driver()->allocate_in_stream(&at, 1, nullptr);
    if (status == Status::success) driver()->release_in_stream(at, nullptr);
    return status == Status::success || status == Status::out_of_memory;
  }
  std::string taking(std::size_t bytes) const {
    return fmt::format("{}, taking {} bytes", name_, bytes);
  }

  // What goes wrong is kept. It may have gone wrong in what was launched before, which is named.
  template <class Work>
  void watched(const std::string& doing, const Work& work) {
    try {
      const InContext in(context_, name_);
      expect(work(), doing);
    } catch (const std::runtime_error& error) {
      const std::scoped_lock lock(mutex_);
      trouble_ = error.what();
      throw;
    }
  }

  // Of what is given back when nothing may be thrown.
  template <class Work>
  void entered(const Work& work) noexcept {
    Context left = nullptr;
    if (driver()->push_context(context_) != Status::success) return;
    work();
    driver()->pop_context(&left);
  }

  Function function(const Kernel& kernel) {
    const std::scoped_lock lock(mutex_);
    Function& f = functions_[kernel.name + kernel.with];
    if (!f)
      expect(driver()->function(&f, module(kernel), kernel.name),
             fmt::format("{}, kernel {}", name_, kernel.name));
    return f;
  }
  Module module(const Kernel& kernel) {
    Module& m = modules_[kernel.source + kernel.with];
    const std::string doing = fmt::format("{}, loading the kernels of {}", name_, kernel.source);
    if (!m && kernel.with.empty())
      expect(driver()->load_module(&m, fatbin(kernel.source).data()), doing);
    else if (!m)
      m = linked(fatbin(kernel.source), ptx_of(kernel.with).ptx, doing);
    return m;
  }

  DeviceHandle device_ = 0;
  Context context_ = nullptr;
  bool has_pools_ = false;
  std::string name_, trouble_;
  mutable std::mutex mutex_;
  std::map<std::string, Module> modules_;
  std::map<std::string, Function> functions_;
};

// The oldest that the kernels are compiled for, by their compute capability.
constexpr int oldest_major = 8;

void look_at(int index, Gpus& found) {
  DeviceHandle device = 0;
  expect(driver()->device(&device, index), fmt::format("GPU {}", index));
  const int major = attribute_of(device, DeviceAttribute::capability_major),
            minor = attribute_of(device, DeviceAttribute::capability_minor);
  found.names.push_back(name_of(device));
  found.why_not.push_back(
      major >= oldest_major
          ? ""
          : fmt::format("GPU {} ({}) is of compute capability {}.{}, and {}.0 is needed", index,
                        found.names.back(), major, minor, oldest_major));
}

Gpus look() {
  if (!driver()) return {{}, {}, why_no_driver()};
  if (!why_no_kernels().empty()) return {{}, {}, why_no_kernels()};
  Gpus found;
  int count = 0;
  driver()->device_count(&count);
  try {
    for (int i = 0; i < count; ++i) look_at(i, found);
  } catch (const std::exception& error) {
    return {{}, {}, error.what()};
  }
  if (std::ranges::none_of(found.why_not, &std::string::empty)) found.why_none = found.why_not[0];
  return found;
}

// Opened once.
Gpu& opened_gpu(int index) {
  static std::mutex mutex;
  static std::map<int, Gpu> opened;
  const auto count = static_cast<int>(gpus().names.size());
  if (!gpus().why_none.empty()) throw std::runtime_error("no GPU can be used: " + gpus().why_none);
  if (index < 0 || index >= count)
    throw std::invalid_argument(
        fmt::format("device = {}: there are {} GPUs here, numbered from 0", index, count));
  if (const std::string& why = gpus().why_not[static_cast<std::size_t>(index)]; !why.empty())
    throw std::invalid_argument(fmt::format("device = {}: {}", index, why));
  const std::scoped_lock lock(mutex);
  return opened.try_emplace(index, index).first->second;
}

// What the engine says, in the process that found the GPU: the driver works in none of its
// children. Who cannot be opened, as others have all of its memory, takes nothing.
Opinion opinion_of_gpu(const ProductTask& task, const std::string& name, int index, pid_t owner) {
  if (getpid() != owner)
    return {name, false, "a GPU that was found before a fork cannot be used after it", 0};
  try {
    const Gpu& there = opened_gpu(index);
    if (const std::string trouble = there.trouble(); !trouble.empty())
      return {name, false, "an earlier failure: " + trouble, 0};
    return opinion(task, name, there);
  } catch (const std::exception& error) {
    return {name, false, error.what(), 0};
  }
}

// "cuda", and of further GPUs "cuda:1" and so on.
std::vector<Engine> engines_of_gpus() {
  const Gpus& found = gpus();
  const pid_t owner = getpid();
  if (found.names.empty()) return {{"cuda", true, true, {}, {}, found.why_none}};
  std::vector<Engine> engines;
  for (int i = 0; i < static_cast<int>(found.names.size()); ++i) {
    const std::string name = i == 0 ? "cuda" : fmt::format("cuda:{}", i);
    engines.push_back(
        {name, true, true,
         [=](const ProductTask& task) { return opinion_of_gpu(task, name, i, owner); },
         [=](const ProductTask& task) { return make(task, gpu(i)); },
         found.why_not[static_cast<std::size_t>(i)]});
  }
  return engines;
}

}  // namespace

const Gpus& gpus() {
  static const Gpus found = look();
  return found;
}

Device& gpu(int index) { return opened_gpu(index); }

void* allocate_for_others(int index, std::size_t bytes) {
  return opened_gpu(index).allocate_for_others(bytes);
}
void release_of_others(int index, void* at) noexcept { opened_gpu(index).release_of_others(at); }

int gpu_of_address(const void* at) {
  const auto usable = std::ranges::find_if(gpus().why_not, &std::string::empty);
  return opened_gpu(static_cast<int>(usable - gpus().why_not.begin())).whose(at);
}

void offer_engine() {
  static std::once_flag once;
  std::call_once(once, [] { add_engines(&engines_of_gpus); });
}

}  // namespace widthwise::cuda
