#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

// A driver without a GPU, as libcuda.so.1: memory is this process's, and kernels do nothing unless
// pretend_gpu.cpp is linked to it. What is wrong with it is in FAKE_DRIVER. For
// tests/python/test_gpu_driver.py and test_device.py.
namespace tests {
__attribute__((weak)) void run_kernel(const char* name, std::size_t blocks_x, std::size_t blocks_y,
                                      std::size_t blocks_z, std::size_t threads,
                                      const void* argument);
}

namespace {

bool wrong(const char* what) {
  const char* told = std::getenv("FAKE_DRIVER");
  return told && std::strcmp(told, what) == 0;
}
bool launched = false;
thread_local std::vector<void*> contexts;
void* const no_stream = reinterpret_cast<void*>(13);
constexpr int success = 0, out_of_memory = 2, no_device = 100, no_context = 201, no_image = 209,
              invalid_handle = 400, not_found = 500, illegal_address = 700, not_supported = 801;

// What was given to the linker, for other tools to look at: in the folder FAKE_DRIVER_KEEPS.
void keep(const char* name, const void* data, std::size_t bytes) {
  const char* folder = std::getenv("FAKE_DRIVER_KEEPS");
  if (!folder) return;
  std::FILE* file = std::fopen((std::string(folder) + "/" + name).c_str(), "wb");
  std::fwrite(data, 1, bytes, file);
  std::fclose(file);
}
// The caller's, which are to stay where they are for as long as the link lives.
struct Link {
  void** values;
};

}  // namespace

extern "C" {

int cuInit(unsigned) { return wrong("init") ? no_device : success; }
int cuDriverGetVersion(int* version) {
  const char* as_new_as = std::getenv("FAKE_DRIVER_CUDA");  // as a version, or 13.0
  *version = wrong("old") ? 12040 : as_new_as ? std::atoi(as_new_as) : 13000;
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = wrong("none") ? 0 : 2;
  return success;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return success;
}
int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Imaginary 1");
  return success;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  constexpr int capability_major = 75, has_pools = 115;
  const bool old = wrong("ancient") || (wrong("mixed") && device == 0);
  *value = attribute == capability_major ? (old ? 7 : 9) : 4;
  if (attribute == has_pools) *value = !wrong("pools");
  return success;
}
int cuPointerGetAttribute(void* value, int, void*) {
  *static_cast<int*>(value) = 0;
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  static int any[2];
  *context = &any[device];
  return wrong("full") ? out_of_memory : success;
}
int cuCtxPushCurrent_v2(void* context) {
  contexts.push_back(context);
  return success;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = contexts.back();
  contexts.pop_back();
  return success;
}
int cuStreamSynchronize(void*) {
  if (contexts.empty()) return no_context;
  return std::exchange(launched, false) && wrong("launch") ? illegal_address : success;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return success;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  static std::set<std::string> names;
  *function = const_cast<char*>(names.insert(name).first->c_str());
  return success;
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  *free = *all = std::size_t{1} << 30;
  return success;
}
int cuMemAlloc_v2(void** at, std::size_t bytes) {
  if (contexts.empty()) return no_context;
  if (wrong("memory")) return out_of_memory;
  *at = std::calloc(1, bytes);
  return success;
}
int cuDeviceGetDefaultMemPool(void** pool, int) {
  *pool = nullptr;
  return wrong("pools") ? not_supported : success;
}
int cuMemPoolGetAttribute(void*, int, void* value) {
  std::memset(value, 0, 8);
  return success;
}
int cuMemPoolSetAttribute(void*, int, const void*) { return success; }
int cuMemAllocAsync(void** at, std::size_t bytes, void*) {
  return wrong("pools") || wrong("dry") ? not_supported : cuMemAlloc_v2(at, bytes);
}
int cuMemFree_v2(void* at) {
  std::free(at);
  return success;
}
int cuMemFreeAsync(void* at, void*) {
  return wrong("pools") || wrong("dry") ? not_supported : cuMemFree_v2(at);
}
int cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
  std::memcpy(to, from, bytes);
  return success;
}
int cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes, void* stream) {
  if (stream == no_stream) return invalid_handle;
  if (launched && wrong("late")) return illegal_address;
  std::memcpy(to, from, bytes);
  return success;
}
int cuMemcpyDtoDAsync_v2(void* to, const void* from, std::size_t bytes, void*) {
  std::memcpy(to, from, bytes);
  return success;
}
#ifndef WITHOUT_LAUNCH
int cuLaunchKernel(void* function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads, unsigned, unsigned, unsigned, void*, void** arguments,
                   void**) {
  launched = true;
  if (tests::run_kernel)
    tests::run_kernel(static_cast<const char*>(function), blocks_x, blocks_y, blocks_z, threads,
                      arguments[0]);
  return success;
}
#endif
int cuLinkCreate_v2(unsigned, int*, void** values, Link** link) {
  *link = new Link{values};
  return success;
}
int cuLinkAddData_v2(Link*, int, void* data, std::size_t bytes, const char* name, unsigned, int*,
                     void**) {
  keep(name, data, bytes);
  return success;
}
int cuLinkComplete(Link* link, void** image, std::size_t*) {
  constexpr char words[] = "imaginary words";
  if (wrong("link")) std::strcpy(static_cast<char*>(link->values[0]), words);
  link->values[1] = reinterpret_cast<void*>(wrong("link") ? sizeof words : 0);
  *image = link;
  return wrong("link") ? no_image : success;
}
int cuLinkDestroy(Link* link) {
  delete link;
  return success;
}
// NVRTC asks for a driver's own cache.
int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return not_found;
}
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_IMAGINARY";
  return success;
}
int cuGetErrorString(int, const char** text) {
  *text = "an imaginary error";
  return success;
}
}
