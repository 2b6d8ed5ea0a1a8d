#include "driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace widthwise::cuda {
namespace {

// Older drivers load nothing of what the compiler of the kernels wrote.
constexpr int least_version = WIDTHWISE_CUDA_VERSION;

struct Search {
  Driver driver{};
  std::string why_not;

  Search() { why_not = find(); }

 private:
  // Empty, or why there is none.
  std::string find() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library_) return fmt::format("there is no NVIDIA driver: {}", dlerror());
    resolve();
    if (missing_) return fmt::format("the NVIDIA driver is too old: it has no {}", missing_);
    if (const Status status = driver.init(0); status != Status::success) {
      const char* text = nullptr;
      driver.error_text(status, &text);
      return fmt::format("the NVIDIA driver does not start: {}", text ? text : "unknown error");
    }
    int version = 0, count = 0;
    driver.version(&version);
    if (version < least_version)
      return fmt::format("the NVIDIA driver is too old: it knows CUDA {}.{}, and {}.{} is needed",
                         version / 1000, version % 1000 / 10, least_version / 1000,
                         least_version % 1000 / 10);
    driver.device_count(&count);
    return count > 0 ? "" : "there is an NVIDIA driver, but no GPU that it sees";
  }

  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
    if (!function && !missing_) missing_ = name;
  }
  // By their newest names: those without _v2 are of 32-bit days.
  void resolve() {
    find(driver.init, "cuInit");
    find(driver.version, "cuDriverGetVersion");
    find(driver.device_count, "cuDeviceGetCount");
    find(driver.device, "cuDeviceGet");
    find(driver.device_name, "cuDeviceGetName");
    find(driver.device_attribute, "cuDeviceGetAttribute");
    find(driver.pointer_attribute, "cuPointerGetAttribute");
    find(driver.retain_context, "cuDevicePrimaryCtxRetain");
    find(driver.push_context, "cuCtxPushCurrent_v2");
    find(driver.pop_context, "cuCtxPopCurrent_v2");
    find(driver.synchronize, "cuStreamSynchronize");
    find(driver.load_module, "cuModuleLoadData");
    find(driver.function, "cuModuleGetFunction");
    find(driver.memory, "cuMemGetInfo_v2");
    find(driver.allocate, "cuMemAlloc_v2");
    find(driver.release, "cuMemFree_v2");
    find(driver.default_pool, "cuDeviceGetDefaultMemPool");
    find(driver.pool_attribute, "cuMemPoolGetAttribute");
    find(driver.set_pool, "cuMemPoolSetAttribute");
    find(driver.allocate_in_stream, "cuMemAllocAsync");
    find(driver.release_in_stream, "cuMemFreeAsync");
    find(driver.copy_in, "cuMemcpyHtoDAsync_v2");
    find(driver.copy_out, "cuMemcpyDtoHAsync_v2");
    find(driver.copy_within, "cuMemcpyDtoDAsync_v2");
    find(driver.launch, "cuLaunchKernel");
    find(driver.link, "cuLinkCreate_v2");
    find(driver.link_add, "cuLinkAddData_v2");
    find(driver.link_complete, "cuLinkComplete");
    find(driver.link_destroy, "cuLinkDestroy");
    find(driver.error_name, "cuGetErrorName");
    find(driver.error_text, "cuGetErrorString");
  }

  void* library_ = nullptr;
  const char* missing_ = nullptr;
};

const Search& search() {
  static const Search found;
  return found;
}

}  // namespace

const Driver* driver() { return search().why_not.empty() ? &search().driver : nullptr; }
const std::string& why_no_driver() { return search().why_not; }

void expect(Status status, const std::string& doing) {
  if (status == Status::success) return;
  const char *name = nullptr, *text = nullptr;
  driver()->error_name(status, &name);
  driver()->error_text(status, &text);
  const std::string words = fmt::format("{}: {} ({}); engine = 'auto' computes the same on the CPU",
                                        doing, text ? text : "unknown error", name ? name : "?");
  if (status == Status::out_of_memory) throw OutOfMemory(words);
  if (status == Status::invalid_handle)
    throw std::invalid_argument(fmt::format(
        "{}: the stream that was named is none of that GPU's ({})", doing, name ? name : "?"));
  throw std::runtime_error(words);
}

}  // namespace widthwise::cuda
