#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "widthwise/sim/dot.hpp"

// How far a unit's results lie from the exact sums of its operands' products. Exact means integers
// as large as they have to be.
namespace widthwise {

// |computed - exact|: in units of the last place that the result's format has at the exact sum, and
// relative to the sum. Infinite where one of the two is no number and the other is one.
struct Deviation {
  double ulps, relative;
};

// The exact sum of products. It has no rounding, no order and no range.
class ExactSum {
 public:
  explicit ExactSum(const Unit& unit);
  ~ExactSum();

  // Codes in the unit's formats; null: +0 for c, and 1 for the scales.
  void start(const void* c);
  void add(const void* a, const void* b, const void* scale_a, const void* scale_b);
  // result: a code of the unit's result format.
  Deviation deviation(const void* result) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Of every output of rows first … last - 1 of a product that has been run; row-major, n a row.
void deviations(const Unit& unit, const MatrixProduct& p, std::size_t first, std::size_t last,
                Deviation* result);

// The error along one dot product: what the unit makes of the first `length` products, for each of
// the lengths, against the exact sum of as many.
class ErrorGrowth {
 public:
  ErrorGrowth(const Unit& unit, std::span<const std::size_t> lengths);  // ascending
  // p: one output (m = n = 1); its k, result and flags are not looked at.
  void run(const MatrixProduct& p, Deviation* result) const;

 private:
  Unit unit_;
  std::vector<std::size_t> lengths_;
  std::vector<std::unique_ptr<ReferenceUnit>> units_;
};

}  // namespace widthwise
