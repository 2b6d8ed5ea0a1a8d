#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "side.hpp"

namespace widthwise::cuda {

// A sum of squares that neither overflows nor vanishes: those of large and of small numbers go
// apart (J. L. Blue, "A Portable Fortran Program to Find the Euclidean Norm of a Vector", 1978).
struct Squares {
  static constexpr double large = 0x1p+500, small = 0x1p-500, down = 0x1p-600, up = 0x1p+600;
  double of_large = 0, middle = 0, of_small = 0;  // times down^2, 1, up^2

  WIDTHWISE_BOTH_INLINE void add(double magnitude) {
    if (magnitude > large)
      of_large += (magnitude * down) * (magnitude * down);
    else if (magnitude < small)
      of_small += (magnitude * up) * (magnitude * up);
    else
      middle += magnitude * magnitude;
  }
  WIDTHWISE_BOTH_INLINE void join(const Squares& other) {
    of_large += other.of_large, middle += other.middle, of_small += other.of_small;
  }
  double root() const {
    if (of_large > 0) return std::sqrt(of_large + middle * down * down) / down;
    if (middle > 0) return std::sqrt(middle + of_small / up / up);
    return std::sqrt(of_small) / up;
  }
};

// What the metrics of a sweep are made of, of |computed - exact|. Where one of both is no number
// that is infinite, of a result that is 0 too, but 0 where both are one infinity.
struct ErrorSums {
  double largest = 0, total = 0;                    // of the errors
  double largest_relative = 0, total_relative = 0;  // to the exact result, where that is not 0
  Squares errors, exacts;
  std::uint64_t outputs = 0, not_zero = 0, right = 0, not_finite = 0;

  static WIDTHWISE_BOTH_INLINE double error_of(double computed, double exact) {
    if (computed == exact) return 0;
    const bool numbers = std::isfinite(computed) && std::isfinite(exact);
    return numbers ? std::fabs(computed - exact) : std::numeric_limits<double>::infinity();
  }

  WIDTHWISE_BOTH_INLINE void add(double computed, double exact) {
    const double error = error_of(computed, exact), magnitude = std::fabs(exact);
    ++outputs;
    not_finite += !std::isfinite(computed);
    right += error == 0;
    largest = std::fmax(largest, error), total += error;
    errors.add(error);
    if (std::isfinite(exact)) exacts.add(magnitude);
    if (magnitude == 0 && !std::isinf(error)) return;
    const double relative = std::isinf(error) ? error : error / magnitude;
    ++not_zero;
    largest_relative = std::fmax(largest_relative, relative);
    total_relative += relative;
  }
  WIDTHWISE_BOTH_INLINE void join(const ErrorSums& other) {
    largest = std::fmax(largest, other.largest), total += other.total;
    largest_relative = std::fmax(largest_relative, other.largest_relative);
    total_relative += other.total_relative;
    errors.join(other.errors), exacts.join(other.exacts);
    outputs += other.outputs, not_zero += other.not_zero;
    right += other.right, not_finite += other.not_finite;
  }
};

}  // namespace widthwise::cuda
