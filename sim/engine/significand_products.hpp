#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "widthwise/sim/dot.hpp"

namespace widthwise {

// A user's multiplier at work. Products of short significands are remembered where there will be
// many, those of others asked for each time.
class SignificandProducts {
 public:
  SignificandProducts(Multiplier multiply, int digits_a, int digits_b);

  // So many products more are to come. Safe beside calls of row.
  void expect(std::size_t count) const;

  // What a makes with each of n others. A factor of 0 stands for none (a zero, an infinity or NaN,
  // which multiply without significands) and makes 1.
  void row(std::uint64_t a, const std::uint64_t* b, std::size_t n, double* products) const;

 private:
  static constexpr int most_digits = 22;  // of two factors: 16 MB

  double asked(std::uint64_t a, std::uint64_t b) const;

  Multiplier multiply_;
  int digits_a_, digits_b_;
  // Of a and b at a * 2^digits_b + b: 1 more than the product; 0 if nobody has asked.
  using Known = std::atomic<std::uint32_t>;
  mutable std::atomic<std::size_t> expected_ = 0;  // so far
  mutable std::once_flag once_;
  mutable std::vector<Known> memory_;
  mutable std::atomic<Known*> known_ = nullptr;  // the memory, when it is there
};

}  // namespace widthwise
