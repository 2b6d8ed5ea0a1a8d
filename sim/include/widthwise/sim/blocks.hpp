#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "widthwise/rounding.hpp"
#include "widthwise/sim/block_format.hpp"
#include "widthwise/sim/elementwise.hpp"

// Arrays of numbers to blocks and back. Elements and scales are laid out as codes.hpp says.
namespace widthwise {

// An array of outer x rows x columns, whose blocks are block_rows x block_columns; those at the
// ends may be smaller. Scales lie as outer x row blocks x column blocks.
struct BlockGrid {
  std::size_t outer, rows, columns, block_rows, block_columns;

  constexpr std::size_t row_blocks() const { return (rows + block_rows - 1) / block_rows; }
  constexpr std::size_t column_blocks() const {
    return (columns + block_columns - 1) / block_columns;
  }
  constexpr std::size_t scales() const { return outer * row_blocks() * column_blocks(); }
};

// In which steps scales that are no powers of two are found and applied.
enum class BlockSteps : std::uint8_t {
  exact,   // each result is rounded once
  single,  // in binary32, reciprocals multiplied, as torchao does it for NVFP4
};

// The largest magnitude of an array, infinite or NaN where one of its numbers is; and of each
// block, where quantising asks for them again.
struct LargestMagnitudes {
  double of_all;
  std::vector<float> of_blocks;
};
LargestMagnitudes largest_magnitudes(const BlockGrid& grid, const float* x);
LargestMagnitudes largest_magnitudes(const BlockGrid& grid, const double* x);

struct BlockHow {
  Rounding rounding;
  RandomSource random = {};  // of elements
  float tensor_scale = 1;
  BlockSteps steps = BlockSteps::exact;
  std::shared_ptr<const LargestMagnitudes> maxima = nullptr;  // of the numbers, if they are known
};

// What was found beside the codes.
struct BlockTally {
  std::uint64_t clamped = 0;           // elements past the largest of their format
  std::uint64_t special = 0;           // blocks whose scale is NaN
  std::optional<std::size_t> refused;  // the first number that is NaN or infinite, and may not be
};

// Numbers to blocks, made ready once. An array is done in panels, each by itself, in any order.
class BlockQuantiser {
 public:
  // T: float or double, the numbers' type.
  template <class T>
  static BlockQuantiser of(const BlockFormat& f, const BlockGrid& grid, const BlockHow& how);

  std::size_t panels() const;
  void run(std::size_t panel, const void* numbers, void* elements, void* scales,
           BlockTally& tally) const;

  class Work;

 private:
  explicit BlockQuantiser(std::shared_ptr<const Work> work) : work_(std::move(work)) {}
  std::shared_ptr<const Work> work_;
};

// Blocks to the numbers that they stand for: exact in double, rounded once (to nearest, ties to
// even) in float.
class BlockReader {
 public:
  template <class T>
  static BlockReader of(const BlockFormat& f, const BlockGrid& grid, float tensor_scale);

  std::size_t panels() const;
  void run(std::size_t panel, const void* elements, const void* scales, void* numbers) const;

  class Work;

 private:
  explicit BlockReader(std::shared_ptr<const Work> work) : work_(std::move(work)) {}
  std::shared_ptr<const Work> work_;
};

// The largest magnitude of n numbers; infinite or NaN where one of them is.
double largest_magnitude(const float* x, std::size_t n);
double largest_magnitude(const double* x, std::size_t n);

// Codes of `width` bits side by side, least significant bits first, and back: `rows` rows of n
// codes, each row beginning a byte.
constexpr std::size_t packed_bytes(std::size_t n, int width) {
  return (n * static_cast<std::size_t>(width) + 7) / 8;
}
void pack_codes(int width, const void* codes, std::size_t rows, std::size_t n, std::byte* bytes);
void unpack_codes(int width, const std::byte* bytes, std::size_t rows, std::size_t n, void* codes);

}  // namespace widthwise
