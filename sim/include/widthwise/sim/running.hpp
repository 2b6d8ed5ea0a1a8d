#pragma once
#include "widthwise/sim/dot.hpp"

// Running results: what a unit delivers of the first element along k, of the first two, and so on.
namespace widthwise {

namespace exact {
class RunningSums;
}

// Whether one pass of the definition gives all of them: a unit that takes all of K at once, or
// deals out its lanes, begins anew for every length.
bool runs_in_one_pass(const Unit& u);

class RunningProducts {
 public:
  RunningProducts(const Unit& unit, std::size_t k, bool flags);
  ~RunningProducts();

  // How many passes give all results: one, or one for every length.
  std::size_t passes() const { return one_pass_ || sums_ ? 1 : k_; }

  // One pass over rows first … last - 1. Results and flags of output (i, j) lie from
  // p.output(i, j) * k on. Each is what the product of that length delivers there, random bits
  // included.
  void run(const MatrixProduct& p, std::size_t first, std::size_t last, std::size_t pass) const;

 private:
  void run_length(const MatrixProduct& p, std::size_t length, std::size_t i) const;

  Unit unit_;
  std::size_t k_;
  std::unique_ptr<ReferenceUnit> one_pass_;
  std::unique_ptr<const exact::RunningSums> sums_;  // of all of K, exact ones
};

}  // namespace widthwise
