#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

// The functions of NVIDIA's driver that the engine calls, found in its library when the program
// runs: nothing is linked. Types and numbers are those of the CUDA driver API's reference manual.
namespace widthwise::cuda {

enum class Status : int { success = 0, out_of_memory = 2, invalid_handle = 400 };
enum class DeviceAttribute : int {
  clock_khz = 13,
  multiprocessor_count = 16,
  memory_clock_khz = 36,
  capability_major = 75,
  capability_minor = 76,
  has_pools = 115
};
enum class PoolAttribute : int { release_threshold = 4 };
enum class PointerAttribute : int { device_ordinal = 9 };
enum class LinkInput : int { ptx = 1, fatbin = 2 };
enum class JitOption : int { error_log = 5, error_log_bytes = 6 };

using DeviceHandle = int;
using Address = std::uintptr_t;
using Context = struct ContextOfDriver*;
using Module = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Pool = struct PoolOfDriver*;
using Stream = struct StreamOfDriver*;
using Link = struct LinkOfDriver*;

struct Driver {
  Status (*init)(unsigned flags);
  Status (*version)(int*);
  Status (*device_count)(int*);
  Status (*device)(DeviceHandle*, int index);
  Status (*device_name)(char*, int bytes, DeviceHandle);
  Status (*device_attribute)(int*, DeviceAttribute, DeviceHandle);
  Status (*pointer_attribute)(void* value, PointerAttribute, Address);
  Status (*retain_context)(Context*, DeviceHandle);
  Status (*push_context)(Context);
  Status (*pop_context)(Context*);
  Status (*synchronize)(Stream);
  Status (*load_module)(Module*, const void* image);
  Status (*function)(Function*, Module, const char* name);
  Status (*memory)(std::size_t* free, std::size_t* all);
  Status (*allocate)(Address*, std::size_t bytes);
  Status (*release)(Address);
  Status (*default_pool)(Pool*, DeviceHandle);
  Status (*pool_attribute)(Pool, PoolAttribute, void* value);
  Status (*set_pool)(Pool, PoolAttribute, const void* value);
  Status (*allocate_in_stream)(Address*, std::size_t bytes, Stream);
  Status (*release_in_stream)(Address, Stream);
  Status (*copy_in)(Address to, const void* from, std::size_t bytes, Stream);
  Status (*copy_out)(void* to, Address from, std::size_t bytes, Stream);
  Status (*copy_within)(Address to, Address from, std::size_t bytes, Stream);
  Status (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                   void** arguments, void** extra);
  Status (*link)(unsigned options, JitOption*, void** values, Link*);
  Status (*link_add)(Link, LinkInput, void* data, std::size_t bytes, const char* name,
                     unsigned options, JitOption*, void** values);
  Status (*link_complete)(Link, void** image, std::size_t* bytes);
  Status (*link_destroy)(Link);
  Status (*error_name)(Status, const char**);
  Status (*error_text)(Status, const char**);
};

// Null where it cannot be used: then the other one says why, in words.
const Driver* driver();
const std::string& why_no_driver();

// There was no room, for what is said.
class OutOfMemory final : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string words) : words_(std::move(words)) {}
  const char* what() const noexcept override { return words_.c_str(); }

 private:
  std::string words_;
};

// Throws where the driver did not succeed, saying what was being done: OutOfMemory of memory,
// std::invalid_argument where the stream that was named is none.
void expect(Status status, const std::string& doing);

// A thread's work in a context, for as long as this lives: whatever other libraries had there, they
// find again.
class InContext {
 public:
  InContext(Context context, const std::string& doing) {
    expect(driver()->push_context(context), doing);
  }
  ~InContext() {
    Context left = nullptr;
    driver()->pop_context(&left);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
};

}  // namespace widthwise::cuda
