#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "block_kernels.hpp"
#include "scale_steps.hpp"
#include "widthwise/sim/blocks.hpp"

// The scales of many blocks, by the steps of one.
namespace widthwise::containers {

// E4M3 that saturates, whose codes above zero are a scale's.
inline constexpr Format small_scales = [] {
  Format f = e4m3fn;
  f.overflow = Overflow::max;
  return f;
}();

class BlockScaler {
 public:
  BlockScaler(const BlockFormat& f, const BlockHow& how);

  const ScaleSteps& steps() const { return steps_; }  // of one block
  double least() const { return min_; }               // of the element's numbers

  // Of each block, from its largest magnitude; one that is no number is a block's that holds NaN or
  // infinity, whose scale is NaN.
  void find(std::span<const double> amax, BlockScale* found) const;

  // The rule in one pass with the products, for blocks that need no more than it.
  PowerTurns turns() const;

  // The scales of groups of floats in few passes, and what their numbers are divided or multiplied
  // by: codes of one byte that are the divisors' index, or of four bytes. False where a block needs
  // more. There is room for most_lanes more of `most`.
  bool has_few_steps() const;
  bool small_divisors(float* most, std::size_t count, std::uint8_t* codes) const;
  bool single_factors(const float* most, std::size_t count, std::uint8_t* codes, float* by) const;
  bool wide_divisors(const float* most, std::size_t count, float* scales) const;
  Divisors small_table(const std::uint8_t* codes) const {
    return {divisor_.data(), reciprocal_.data(), codes};
  }

 private:
  void find_small(std::span<const double> amax, BlockScale* found) const;
  void small_codes(const float* wanted, std::size_t count, std::uint8_t* codes) const;

  ScaleSteps steps_;
  double min_;                         // the element's least number
  std::optional<Elementwise> small_;   // to E4M3
  std::array<double, 128> divisor_;    // what each code of it is, 1 for that of a block of zeros
  std::array<float, 128> reciprocal_;  // of those, or what single steps multiply by
};

}  // namespace widthwise::containers
