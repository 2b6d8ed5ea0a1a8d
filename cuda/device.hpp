#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

// What runs kernels on memory of its own: a GPU, or in tests the CPU.
namespace widthwise::cuda {

// A kernel by the source it was compiled from and its own name.
struct Kernel {
  const char* source;
  const char* name;
  std::string with{};  // C++ of functions that it calls, compiled and linked when it is launched
};

// One that is built for floats and for doubles.
template <class T>
Kernel kernel_of(const char* source, const char* of_floats, const char* of_doubles) {
  return {source, sizeof(T) == sizeof(float) ? of_floats : of_doubles};
}

struct Grid {
  static constexpr std::size_t most_blocks = 65535;            // along y or z
  static constexpr std::size_t most_lines = most_blocks * 32;  // no tile has fewer rows than 32
  std::size_t blocks_x, blocks_y;
  std::size_t threads;  // of a block
  std::size_t blocks_z = 1;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  virtual std::size_t free_bytes() const = 0;
  virtual std::size_t processors() const = 0;  // that run blocks side by side

  // Empty, or why kernels cannot be had with that C++: no compiler, or its own words.
  virtual std::string why_not_with(const std::string& source) const = 0;

  // Addresses of the device, for this thread's work. Throws std::bad_alloc where there is no room.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* at) noexcept = 0;
  virtual void copy_in(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_within(void* to, const void* from, std::size_t bytes) = 0;

  // The kernel takes one argument, by value. Work of a thread is done in order: whoever needs what
  // a kernel makes copies it out, or waits.
  virtual void launch(const Kernel& kernel, const Grid& grid, const void* argument) = 0;

  // Where this thread's copies and launches wait their turn from now on: in a stream of the
  // driver's. 0 is its default one.
  virtual void use_stream(std::uintptr_t stream) = 0;
  // For all that was begun in that stream.
  virtual void wait() = 0;
};

// A thread's work in a stream, for as long as this lives.
class InStream {
 public:
  InStream(Device& device, std::uintptr_t stream) : device_(device) { device.use_stream(stream); }
  ~InStream() { device_.use_stream(0); }
  InStream(const InStream&) = delete;
  InStream& operator=(const InStream&) = delete;

 private:
  Device& device_;
};

// A thread some of `count` items.
void launch_each(Device& device, const Kernel& kernel, std::size_t count, const void* argument);

// Memory of a device, given back at the end.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t bytes)
      : device_(&device), at_(bytes ? device.allocate(bytes) : nullptr) {}
  Buffer(Buffer&& other) noexcept
      : device_(other.device_), at_(std::exchange(other.at_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(device_, other.device_), std::swap(at_, other.at_);
    return *this;
  }
  ~Buffer() {
    if (at_) device_->release(at_);
  }

  template <class T = void>
  T* at() const {
    return static_cast<T*>(at_);
  }

 private:
  Device* device_ = nullptr;
  void* at_ = nullptr;
};

// Items copied to the device.
template <class T>
Buffer copied_in(Device& device, std::span<const T> items) {
  Buffer buffer(device, items.size_bytes());
  if (!items.empty()) device.copy_in(buffer.at(), items.data(), items.size_bytes());
  return buffer;
}

}  // namespace widthwise::cuda
