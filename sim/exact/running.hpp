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

  RunningSums(const Unit& unit, const Plan& plan, std::size_t k);

  // Rows first … last - 1; results and flags of output (i, j) from p.output(i, j) * k on.
  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const;

 private:
  // An operand's elements along k.
  struct Elements {
    const Reader& reader;
    Line codes;
    Scales scales;
    std::vector<Item> items;

    Elements(const Reader& of, const Line& from, const Scales& scaled, std::size_t k);
    Kind kind(std::size_t t) const { return reader.kind(codes, scales, t); }
  };
  Elements row(const MatrixProduct& p, std::size_t i) const;
  Elements column(const MatrixProduct& p, std::size_t j) const;
  void output(const MatrixProduct& p, std::size_t i, std::size_t j, const Elements& a,
              const Elements& b) const;
  // The result of the first `length` elements.
  void by_reference(const MatrixProduct& p, std::size_t i, std::size_t j, std::size_t length) const;

  Unit unit_;
  std::size_t k_, scaled_, bytes_;  // elements a scale; of a result
  Reader a_, b_;
  Ending ending_;
};

}  // namespace widthwise::exact
