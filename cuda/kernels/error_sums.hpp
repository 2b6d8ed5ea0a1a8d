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

// What the metrics of a sweep are made of, of |computed - exact| where the exact result is a
// number. An infinity or NaN in its place is an infinite error, of a result that is 0 too.
struct ErrorSums {
  double largest = 0, total = 0;                    // of the errors
  double largest_relative = 0, total_relative = 0;  // to the exact result, where that is not 0
  Squares errors, exacts;
  std::uint64_t numbers = 0, not_zero = 0, right = 0, not_finite = 0;

  WIDTHWISE_BOTH_INLINE void add(double computed, double exact) {
    const bool finite = std::isfinite(computed);
    not_finite += !finite;
    if (!std::isfinite(exact)) return;
    const double magnitude = std::fabs(exact);
    const double error =
        finite ? std::fabs(computed - exact) : std::numeric_limits<double>::infinity();
    ++numbers;
    right += error == 0;
    largest = std::fmax(largest, error), total += error;
    errors.add(error), exacts.add(magnitude);
    if (finite && magnitude == 0) return;
    ++not_zero;
    largest_relative = std::fmax(largest_relative, error / magnitude);
    total_relative += error / magnitude;
  }
  WIDTHWISE_BOTH_INLINE void join(const ErrorSums& other) {
    largest = std::fmax(largest, other.largest), total += other.total;
    largest_relative = std::fmax(largest_relative, other.largest_relative);
    total_relative += other.total_relative;
    errors.join(other.errors), exacts.join(other.exacts);
    numbers += other.numbers, not_zero += other.not_zero;
    right += other.right, not_finite += other.not_finite;
  }
};

}  // namespace widthwise::cuda
