#pragma once
#include <vector>

#include "deliver.hpp"

namespace widthwise::mpfr {

// The sum of numbers that may lie further apart than MPFR's exponents reach. Empty where the sum
// is zero, whose sign only the caller can know; addends that are zero are left out.
class ExactSum {
 public:
  explicit ExactSum(std::vector<Scaled> addends);

  bool is_zero() const { return zero_; }
  bool is_negative() const { return negative_; }
  // Correctly rounded by mpfr_sum. Only while the sum lives.
  Computation computation() const;

 private:
  int into(mpfr_ptr z, mpfr_rnd_t rnd) const;
  void close_gaps(std::vector<Scaled> addends);
  void find_result();

  // Addends between which no gap is wider than any precision move together.
  struct Cluster {
    Exponent lowest;  // exponent of the last digit, as moved
    Exponent moved;   // what to add to get the true exponent
  };
  std::vector<Real> terms_;
  std::vector<Cluster> clusters_;
  Exponent scale_ = 0;
  bool zero_ = true, negative_ = false;
};

}  // namespace widthwise::mpfr
