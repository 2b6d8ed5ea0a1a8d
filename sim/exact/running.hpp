#pragma once
#include <memory>

#include "ending.hpp"

// Running results of units that add all of K exactly, or in a register of one last digit: the sum
// of the first elements goes on where a unit begins anew, and is rounded after every one.
namespace widthwise::exact {

class RunningSums {
 public:
  // Null where words do not take the unit's sums of k products.
  static std::unique_ptr<const RunningSums> of(const Unit& unit, std::size_t k, bool flags);

  RunningSums(const Unit& unit, const Plan& plan, std::size_t k)
      : unit_(unit),
        k_(k),
        a_(unit.a, unit.scale, false),
        b_(unit.b, unit.scale, false),
        ending_(unit, plan) {}

  // Rows first … last - 1; results and flags of output (i, j) from (i * n + j) * k on.
  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const;

 private:
  using Items = std::vector<Item>;  // along k

  Items row(const MatrixProduct& p, std::size_t i) const;
  Items column(const MatrixProduct& p, std::size_t j) const;
  void output(const MatrixProduct& p, std::size_t i, std::size_t j, const Items& a,
              const Items& b) const;
  // The result of the first `length` elements.
  void by_reference(const MatrixProduct& p, std::size_t i, std::size_t j, std::size_t length) const;

  Unit unit_;
  std::size_t k_;
  Reader a_, b_;
  Ending ending_;
};

}  // namespace widthwise::exact
