#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "widthwise/sim/affine.hpp"
#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/convolution.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/engine.hpp"

// Arrays that lie in a GPU's memory, and work on them there. Addresses are the GPU's. What a call
// does is done when it returns.
namespace widthwise::cuda {

// A GPU, and where this work waits its turn: in a stream of the driver's, 0 its default one.
struct Queue {
  int gpu = 0;
  std::uintptr_t stream = 0;
};

// For whatever others do in that stream.
void wait(const Queue& queue);

// Whose memory an address is of.
int gpu_of(const void* address);

// Given back at the end.
class DeviceMemory {
 public:
  DeviceMemory(int gpu, std::size_t bytes);  // throws std::bad_alloc where there is no room
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::uintptr_t address() const { return address_; }

 private:
  int gpu_;
  std::uintptr_t address_;
};

void copy_in(const Queue& queue, void* to, const void* from, std::size_t bytes);
void copy_out(const Queue& queue, void* to, const void* from, std::size_t bytes);

// An array's axis: how many items, and how far apart they lie, in items.
struct Axis {
  std::size_t size;
  std::ptrdiff_t stride;
};
// Items of an array, of 1, 2, 4 or whole words of 8 bytes, side by side in `to`. At most 8 axes.
void gather(const Queue& queue, void* to, const void* from, int item_bytes,
            std::span<const Axis> axes);

// Codes of `width` bits, up to 64, to bytes and back, all of them there: as pack_codes and
// unpack_codes of sim do here.
void pack_codes(const Queue& queue, int width, const void* codes, std::size_t rows, std::size_t n,
                void* bytes);
void unpack_codes(const Queue& queue, int width, const void* bytes, std::size_t rows, std::size_t n,
                  void* codes);

// An operation on arrays of codes that lie there, side by side; flags, if not null, take a byte
// each. Throws std::invalid_argument where a GPU's integers do not hold the exact results.
void elementwise(const Queue& queue, Operation op, const Format& to, const Env& env,
                 std::span<const CodeArray> operands, std::size_t count, void* result,
                 std::uint8_t* flags, RandomSource random);

// The same for a * 2^n, n integers that lie there; and for comparisons, whose results are 0 or 1.
void scaleb(const Queue& queue, const Format& to, const Env& env, const CodeArray& a,
            const std::int64_t* n, std::size_t count, void* result, std::uint8_t* flags,
            RandomSource random);
void compare(const Queue& queue, Comparison how, const CodeArray& a, const CodeArray& b,
             std::size_t count, std::uint8_t* result, std::uint8_t* flags);

// The same for codes as integers of 32 or 64 bits, which stand in words of 64, and for integers of
// 8 to 64 bits, side by side, as codes.
void to_integers(const Queue& queue, IntegerType type, const Env& env, const CodeArray& a,
                 std::size_t count, std::uint64_t* result, std::uint8_t* flags,
                 RandomSource random);
void from_integers(const Queue& queue, IntegerType type, const Format& to, const Env& env,
                   const void* a, std::size_t count, void* result, std::uint8_t* flags,
                   RandomSource random);

// IEEE 754-2019, 5.7.2: the values of NumberClass; and 1 where there is a minus sign, else 0.
void classify(const Queue& queue, const CodeArray& a, std::size_t count, std::uint8_t* result);
void signs(const Queue& queue, const CodeArray& a, std::size_t count, std::uint8_t* result);

// Numbers that lie there to blocks, and what such blocks stand for. T: float or double, the
// numbers' type. Throws std::invalid_argument where a GPU's integers do not hold the elements.
template <class T>
BlockTally quantise_blocks(const Queue& queue, const BlockFormat& f, const BlockGrid& grid,
                           const BlockHow& how, const T* x, void* elements, void* scales);
template <class T>
void read_blocks(const Queue& queue, const BlockFormat& f, const BlockGrid& grid,
                 float tensor_scale, const void* elements, const void* scales, T* x);
template <class T>
double largest_magnitude(const Queue& queue, const T* x, std::size_t count);

// Affine integers' scales and zero points, of this machine, as many as the layout counts.
struct AffineNumbers {
  AffineLayout layout;
  std::span<const double> scales;
  std::span<const std::int64_t> zero_points;
};
// Numbers that lie there to codes of `bits` digits, in two's complement, and back.
template <class T>
AffineCounts quantise_affine(const Queue& queue, const AffineNumbers& numbers,
                             const AffineRule& rule, int bits, const T* x, void* codes,
                             std::uint8_t* flags, RandomSource random);
template <class T>
void dequantise_affine(const Queue& queue, const AffineNumbers& numbers, IntegerItem item, int bits,
                       const void* codes, T* x);
// The least and the largest element of each group, as the layout numbers them; NaN where there is
// one.
template <class T>
void group_ranges(const Queue& queue, const AffineLayout& layout, const T* x, std::span<T> low,
                  std::span<T> high);

// Products of matrices that lie there.
class DeviceProducts {
 public:
  DeviceProducts(int gpu, const ProductTask& task);
  void run(const MatrixProduct& p, std::uintptr_t stream) const;

 private:
  int gpu_;
  std::unique_ptr<ProductEngine> engine_;
};

// Running results of a product that lies there: those of output (i, j) from (i * n + j) * k on.
void run_running(const Queue& queue, const Unit& unit, const MatrixProduct& p);

// Every stage of an output of a product that lies there.
std::vector<TraceRow> trace(const Queue& queue, const ProductTask& task, const MatrixProduct& p,
                            std::size_t row, std::size_t column);

// Of images that lie there. Throws std::invalid_argument as DeviceProducts does.
void convolve(const Queue& queue, const Unit& unit, const Convolution& convolution,
              const Multiplier& multiplier, const ConvolutionOperands& x);

}  // namespace widthwise::cuda
