#pragma once
#include <cstddef>
#include <memory>

#include "widthwise/sim/dot.hpp"

// How far a unit's results lie from the exact sums of its operands' products. Exact means integers
// as large as they have to be.
namespace widthwise {

// How far two numbers are apart: as magnitudes, in units of the last place that a format has at an
// exact sum (of posits, takums and tables in the distance of the numbers on either side of it), and
// relative to that; and as it is. Infinite where one of the two is no number and the
// other is one. Each figure is exact until it becomes a double, and right to three units of its
// last place; the first two stay within a double's range where the numbers do not.
struct Difference {
  double ulps, relative, error;
};

// computed - exact, measured by the exact sum.
struct Deviation : Difference {
  double exact;      // the sum
  double magnitude;  // the sum of the terms' magnitudes
  double condition;  // magnitude / |exact|: what rounding the operands may be magnified by
};

// The exact sum of products. It has no rounding, no order and no range.
class ExactSum {
 public:
  explicit ExactSum(const Unit& unit);
  ExactSum(ExactSum&&) noexcept;
  ~ExactSum();

  // Codes in the unit's formats; null: +0 for c, and 1 for the scales.
  void start(const void* c);
  // From here on codes are in this unit's formats; what has been added stays.
  void read(const Unit& unit);
  void add(const void* a, const void* b, const void* scale_a, const void* scale_b);
  // This - other, measured by other in places of a format. Infinite where one of them is; NaN where
  // one is NaN; 0 between like infinities.
  Difference minus(const ExactSum& other, const Format& f) const;
  // A code of that format - this, measured by an exact sum: this, or another.
  Difference error(const Format& f, const void* result, const ExactSum& measure) const;
  // Of a code of that format.
  Deviation deviation(const Format& f, const void* result) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Of every output of rows first … last - 1 of a product that has been run; row-major, n a row.
void deviations(const Unit& unit, const MatrixProduct& p, std::size_t first, std::size_t last,
                Deviation* result);

// Adds products first … last - 1 of a product's one output (m = n = 1).
void add_products(ExactSum& sum, const Unit& unit, const MatrixProduct& p, std::size_t first,
                  std::size_t last);

}  // namespace widthwise
