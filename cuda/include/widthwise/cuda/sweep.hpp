#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "widthwise/rounding.hpp"
#include "widthwise/unit.hpp"

// One matrix product by many units on a GPU, and how far each strays from the exact one.
namespace widthwise::cuda {

// What is multiplied, row-major: a (m, k), b (k, n); and the exact results (m, n). Each unit rounds
// a and b to its own formats first.
struct SweepValues {
  std::size_t m, k, n;
  const double *a, *b, *exact;
  Rounding rounding;
};

// Of |computed - exact| over all outputs whose exact result is a number; relative to that where it
// is not 0. Infinite where one was computed to be infinite or NaN; NaN where there are no outputs.
struct ErrorMetrics {
  double max_abs, mean_abs, max_rel, mean_rel;
  double rel_norm;    // the root of the errors' squares to that of the exact outputs'
  double exact;       // the share of all outputs that are right
  double not_finite;  // how many outputs are infinite or NaN
};

// Why a unit cannot be swept on a GPU; empty if it can.
std::string why_no_sweep(const Unit& unit, std::size_t k);

// The values stay there from one call to the next.
class Sweep {
 public:
  virtual ~Sweep() = default;
  // Of each unit; many at once are faster than one by one.
  virtual std::vector<ErrorMetrics> run(std::span<const Unit> units, std::uint64_t seed) const = 0;
};
// Throws std::bad_alloc where the GPU has no room for the values.
std::unique_ptr<Sweep> sweep_on_gpu(int gpu, const SweepValues& values);

}  // namespace widthwise::cuda
