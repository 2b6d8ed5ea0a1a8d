#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "block_kernels.hpp"
#include "widthwise/sim/blocks.hpp"

// How the largest magnitude of a block becomes its scale: one block at a time, exactly.
namespace widthwise::containers {

// A block's scale as it is stored, and as its numbers meet it: those are multiplied by `by` where
// scales are powers of two, and by single steps, else divided.
struct BlockScale {
  std::uint32_t code;
  double by;
};

class BlockScaler {
 public:
  BlockScaler(const BlockFormat& f, const BlockHow& how);

  int scale_bytes() const { return scale_bytes_; }
  double largest() const { return max_; }  // of the element's numbers
  double least() const { return min_; }

  // Of each block, from its largest magnitude; one that is no number is a block's that holds NaN or
  // infinity, whose scale is NaN.
  void find(std::span<const double> amax, BlockScale* found) const;
  std::uint32_t nan() const { return static_cast<std::uint32_t>(2 * top_ + 1); }
  // One exponent more, where the format has one.
  bool raise(BlockScale& s) const;

  // The rule in one pass with the products, for blocks that need no more than it.
  PowerTurns turns() const;

  // The scales of groups of floats in few passes, and what their numbers are divided by: codes of
  // one byte that are the divisors' index, or of four bytes. False where a block needs more. There
  // is room for most_lanes more of `most`.
  bool has_few_steps() const;
  bool small_divisors(float* most, std::size_t count, std::uint8_t* codes) const;
  bool wide_divisors(const float* most, std::size_t count, float* scales) const;
  Divisors small_table(const std::uint8_t* codes) const {
    return {divisor_.data(), reciprocal_.data(), codes};
  }

  // What an element is times, exactly: the scale of such a code, and the tensor's.
  double value(std::uint32_t code) const;

 private:
  enum class Kind : std::uint8_t { power, small_float, stepwise, wide };

  BlockScale power(double amax) const;
  BlockScale wide(double amax) const;
  void find_small(std::span<const double> amax, BlockScale* found) const;
  void find_stepwise(std::span<const double> amax, BlockScale* found) const;
  void small_codes(const float* wanted, std::size_t count, std::uint8_t* codes) const;
  BlockScale of_exponent(std::int64_t exponent) const;

  Kind kind_;
  bool flush_, pow2_;
  int scale_bytes_;
  std::int64_t top_;  // of the scale's exponents; -top_ is the least
  double max_, min_;  // the element's largest and least number
  float tensor_scale_;
  std::int64_t emax_;  // floor(log2 max)
  // floor(log2 amax) is one more where amax's significand, of 53 digits, is `up` or more, and one
  // less where it is below `down`.
  std::uint64_t up_, down_;
  std::optional<Elementwise> small_;   // to E4M3
  std::array<double, 128> value_;      // what each code of it is, times the tensor's scale
  std::array<double, 128> divisor_;    // the same, 1 for the code of a block of zeros
  std::array<float, 128> reciprocal_;  // of those
};

}  // namespace widthwise::containers
