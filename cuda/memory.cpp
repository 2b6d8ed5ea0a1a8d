#include "widthwise/cuda/memory.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "convolution.hpp"
#include "elements.hpp"
#include "gpu_device.hpp"
#include "product.hpp"
#include "running.hpp"
#include "trace.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {

void wait(const Queue& queue) {
  const InStream in(gpu(queue.gpu), queue.stream);
  gpu(queue.gpu).wait();
}

int gpu_of(const void* address) { return gpu_of_address(address); }

DeviceMemory::DeviceMemory(int index, std::size_t bytes)
    : gpu_(index),
      address_(bytes ? reinterpret_cast<std::uintptr_t>(allocate_for_others(index, bytes)) : 0) {}
DeviceMemory::~DeviceMemory() {
  if (address_) release_of_others(gpu_, reinterpret_cast<void*>(address_));
}

void copy_in(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  const InStream in(gpu(queue.gpu), queue.stream);
  gpu(queue.gpu).copy_in(to, from, bytes);
}

void copy_out(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  const InStream in(gpu(queue.gpu), queue.stream);
  gpu(queue.gpu).copy_out(to, from, bytes);
}

void gather(const Queue& queue, void* to, const void* from, int item_bytes,
            std::span<const Axis> axes) {
  if (axes.size() > MoveItems::most_axes)
    throw std::invalid_argument(
        fmt::format("an array of {} axes is not gathered on a GPU; of {} at most it is",
                    axes.size(), MoveItems::most_axes));
  MoveItems items{static_cast<const std::byte*>(from),
                  static_cast<std::byte*>(to),
                  item_bytes,
                  static_cast<int>(axes.size()),
                  {}};
  std::ptrdiff_t dense = 1;
  for (std::size_t i = axes.size(); i-- > 0; dense *= static_cast<std::ptrdiff_t>(axes[i].size))
    items.axes[i] = {axes[i].size, axes[i].stride, dense};
  const InStream in(gpu(queue.gpu), queue.stream);
  move_items(gpu(queue.gpu), items);
  gpu(queue.gpu).wait();
}

void elementwise(const Queue& queue, Operation op, const Format& to, const Env& env,
                 std::span<const CodeArray> operands, std::size_t count, void* result,
                 std::uint8_t* flags, RandomSource random) {
  std::vector<Format> formats;
  std::vector<const void*> codes;
  for (const CodeArray& x : operands) formats.push_back(x.format), codes.push_back(x.data);
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  DeviceElementwise(device, op, to, env, formats, flags != nullptr)
      .run(codes, count, result, flags, random);
  device.wait();
}

void scaleb(const Queue& queue, const Format& to, const Env& env, const CodeArray& a,
            const std::int64_t* n, std::size_t count, void* result, std::uint8_t* flags,
            RandomSource random) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  scaleb(device, to, env, a, n, count, result, flags, random);
  device.wait();
}

void compare(const Queue& queue, Comparison how, const CodeArray& a, const CodeArray& b,
             std::size_t count, std::uint8_t* result, std::uint8_t* flags) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  compare(device, how, a, b, count, result, flags);
  device.wait();
}

void classify(const Queue& queue, const CodeArray& a, std::size_t count, std::uint8_t* result) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  classify(device, a, count, result);
  device.wait();
}

void signs(const Queue& queue, const CodeArray& a, std::size_t count, std::uint8_t* result) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  signs(device, a, count, result);
  device.wait();
}

namespace {

// Throws where a GPU does not take a task, with its reason.
void check_taken(const ProductTask& task, Device& device) {
  const Opinion said = opinion(task, "cuda", device);
  if (said.takes) return;
  throw std::invalid_argument(
      fmt::format("{} does not take unit {}: {}; bring the operands here, where other engines do",
                  device.name(), to_string(task.unit), said.reason));
}

}  // namespace

DeviceProducts::DeviceProducts(int index, const ProductTask& task) : gpu_(index) {
  check_taken(task, gpu(index));
  engine_ = make(task, gpu(index), Memory::device);
}

void DeviceProducts::run(const MatrixProduct& p, std::uintptr_t stream) const {
  const InStream in(gpu(gpu_), stream);
  engine_->run(p, 0, p.m);
  gpu(gpu_).wait();
}

void run_running(const Queue& queue, const Unit& unit, const MatrixProduct& p) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  check_taken({unit, p.k}, device);
  run_running(device, unit, p);
  device.wait();
}

std::vector<TraceRow> trace(const Queue& queue, const Unit& unit, const MatrixProduct& p,
                            std::size_t row, std::size_t column) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  check_taken({unit, p.k}, device);
  return trace(device, unit, p, row, column);
}

void convolve(const Queue& queue, const Unit& unit, const Convolution& convolution,
              const Multiplier& multiplier, const ConvolutionOperands& x) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  check(convolution);
  check_taken({unit, convolution.length(), x.flags != nullptr, multiplier}, device);
  DeviceConvolution(device, unit, convolution, x.flags != nullptr, multiplier).run(x);
  device.wait();
}

}  // namespace widthwise::cuda
