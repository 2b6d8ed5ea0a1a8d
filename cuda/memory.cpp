#include "widthwise/cuda/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "affine.hpp"
#include "blocks.hpp"
#include "convolution.hpp"
#include "elements.hpp"
#include "gpu_device.hpp"
#include "packing.hpp"
#include "product.hpp"
#include "running.hpp"
#include "trace.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

// Work on a GPU in its turn, which is over when this returns.
template <class Work>
void in_turn(const Queue& queue, const Work& work) {
  Device& device = gpu(queue.gpu);
  const InStream in(device, queue.stream);
  work(device);
  device.wait();
}

// The caller's own random bits lie in this machine's memory.
void check_drawn(const RandomSource& random) {
  if (random.given)
    throw std::invalid_argument("random: a GPU draws by seed; compute with one's own bits here");
}

}  // namespace

void wait(const Queue& queue) {
  in_turn(queue, [](Device&) {});
}

int gpu_of(const void* address) { return gpu_of_address(address); }

DeviceMemory::DeviceMemory(int index, std::size_t bytes)
    : gpu_(index),
      address_(bytes ? reinterpret_cast<std::uintptr_t>(allocate_for_others(index, bytes)) : 0) {}
DeviceMemory::~DeviceMemory() {
  if (address_) release_of_others(gpu_, reinterpret_cast<void*>(address_));
}

void copy_in(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  in_turn(queue, [&](Device& device) { device.copy_in(to, from, bytes); });
}

void copy_out(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  in_turn(queue, [&](Device& device) { device.copy_out(to, from, bytes); });
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
  const bool lie_so =
      items.count() > 0 && std::all_of(items.axes, items.axes + axes.size(),
                                       [](const MoveItems::Axis& x) { return x.from == x.to; });
  in_turn(queue, [&](Device& device) {
    if (lie_so)
      device.copy_within(to, from, items.count() * static_cast<std::size_t>(item_bytes));
    else
      move_items(device, items);
  });
}

void pack_codes(const Queue& queue, int width, const void* codes, std::size_t rows, std::size_t n,
                void* bytes) {
  in_turn(queue, [&](Device& device) { pack_codes(device, width, codes, rows, n, bytes); });
}

void unpack_codes(const Queue& queue, int width, const void* bytes, std::size_t rows, std::size_t n,
                  void* codes) {
  in_turn(queue, [&](Device& device) { unpack_codes(device, width, bytes, rows, n, codes); });
}

void elementwise(const Queue& queue, Operation op, const Format& to, const Env& env,
                 std::span<const CodeArray> operands, std::size_t count, void* result,
                 std::uint8_t* flags, RandomSource random) {
  check_drawn(random);
  std::vector<Format> formats;
  std::vector<const void*> codes;
  for (const CodeArray& x : operands) formats.push_back(x.format), codes.push_back(x.data);
  in_turn(queue, [&](Device& device) {
    DeviceElementwise(device, op, to, env, formats, flags != nullptr)
        .run(codes, count, result, flags, random);
  });
}

void scaleb(const Queue& queue, const Format& to, const Env& env, const CodeArray& a,
            const std::int64_t* n, std::size_t count, void* result, std::uint8_t* flags,
            RandomSource random) {
  check_drawn(random);
  in_turn(queue,
          [&](Device& device) { scaleb(device, to, env, a, n, count, result, flags, random); });
}

void to_integers(const Queue& queue, IntegerType type, const Env& env, const CodeArray& a,
                 std::size_t count, std::uint64_t* result, std::uint8_t* flags,
                 RandomSource random) {
  check_drawn(random);
  in_turn(queue,
          [&](Device& device) { to_integers(device, type, env, a, count, result, flags, random); });
}

void from_integers(const Queue& queue, IntegerType type, const Format& to, const Env& env,
                   const void* a, std::size_t count, void* result, std::uint8_t* flags,
                   RandomSource random) {
  check_drawn(random);
  in_turn(queue, [&](Device& device) {
    from_integers(device, type, to, env, a, count, result, flags, random);
  });
}

void compare(const Queue& queue, Comparison how, const CodeArray& a, const CodeArray& b,
             std::size_t count, std::uint8_t* result, std::uint8_t* flags) {
  in_turn(queue, [&](Device& device) { compare(device, how, a, b, count, result, flags); });
}

void classify(const Queue& queue, const CodeArray& a, std::size_t count, std::uint8_t* result) {
  in_turn(queue, [&](Device& device) { classify(device, a, count, result); });
}

void signs(const Queue& queue, const CodeArray& a, std::size_t count, std::uint8_t* result) {
  in_turn(queue, [&](Device& device) { signs(device, a, count, result); });
}

template <class T>
BlockTally quantise_blocks(const Queue& queue, const BlockFormat& f, const BlockGrid& grid,
                           const BlockHow& how, const T* x, void* elements, void* scales) {
  BlockTally tally;
  in_turn(queue, [&](Device& device) {
    tally = quantise_blocks(device, f, grid, how, x, elements, scales);
  });
  return tally;
}
template <class T>
void read_blocks(const Queue& queue, const BlockFormat& f, const BlockGrid& grid,
                 float tensor_scale, const void* elements, const void* scales, T* x) {
  in_turn(queue,
          [&](Device& device) { read_blocks(device, f, grid, tensor_scale, elements, scales, x); });
}
template <class T>
double largest_magnitude(const Queue& queue, const T* x, std::size_t count) {
  double most = 0;
  in_turn(queue, [&](Device& device) { most = largest_magnitude(device, x, count); });
  return most;
}

template <class T>
AffineCounts quantise_affine(const Queue& queue, const AffineNumbers& numbers,
                             const AffineRule& rule, int bits, const T* x, void* codes,
                             std::uint8_t* flags, RandomSource random) {
  check_drawn(random);
  AffineCounts counts;
  in_turn(queue, [&](Device& device) {
    counts = quantise_affine(device, numbers, rule, bits, x, codes, flags, random);
  });
  return counts;
}
template <class T>
void dequantise_affine(const Queue& queue, const AffineNumbers& numbers, IntegerItem item, int bits,
                       const void* codes, T* x) {
  in_turn(queue, [&](Device& device) { dequantise_affine(device, numbers, item, bits, codes, x); });
}
template <class T>
void group_ranges(const Queue& queue, const AffineLayout& layout, const T* x, std::span<T> low,
                  std::span<T> high) {
  in_turn(queue, [&](Device& device) { group_ranges(device, layout, x, low, high); });
}

#define WIDTHWISE_NUMBERS_OF(T)                                                                \
  template BlockTally quantise_blocks(const Queue&, const BlockFormat&, const BlockGrid&,      \
                                      const BlockHow&, const T*, void*, void*);                \
  template void read_blocks(const Queue&, const BlockFormat&, const BlockGrid&, float,         \
                            const void*, const void*, T*);                                     \
  template double largest_magnitude(const Queue&, const T*, std::size_t);                      \
  template AffineCounts quantise_affine(const Queue&, const AffineNumbers&, const AffineRule&, \
                                        int, const T*, void*, std::uint8_t*, RandomSource);    \
  template void dequantise_affine(const Queue&, const AffineNumbers&, IntegerItem, int,        \
                                  const void*, T*);                                            \
  template void group_ranges(const Queue&, const AffineLayout&, const T*, std::span<T>,        \
                             std::span<T>);
WIDTHWISE_NUMBERS_OF(float)
WIDTHWISE_NUMBERS_OF(double)
#undef WIDTHWISE_NUMBERS_OF

namespace {

// Throws where a GPU does not take a task, with its reason.
void check_taken(const ProductTask& task, Device& device) {
  const Opinion answer = opinion(task, "cuda", device);
  if (answer.takes) return;
  throw std::invalid_argument(
      fmt::format("{} does not take unit {}: {}; bring the operands here, where other engines do",
                  device.name(), said(task.unit), said(answer.reason)));
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
  in_turn(queue, [&](Device& device) {
    check_taken({unit, p.k}, device);
    run_running(device, unit, p);
  });
}

std::vector<TraceRow> trace(const Queue& queue, const ProductTask& task, const MatrixProduct& p,
                            std::size_t row, std::size_t column) {
  std::vector<TraceRow> rows;
  in_turn(queue, [&](Device& device) {
    check_taken(task, device);
    rows = trace(device, task, p, row, column);
  });
  return rows;
}

void convolve(const Queue& queue, const Unit& unit, const Convolution& convolution,
              const Multiplier& multiplier, const ConvolutionOperands& x) {
  check(convolution);
  in_turn(queue, [&](Device& device) {
    check_taken({unit, convolution.length(), x.flags != nullptr, multiplier}, device);
    DeviceConvolution(device, unit, convolution, x.flags != nullptr, multiplier).run(x);
  });
}

}  // namespace widthwise::cuda
