#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "widthwise/sim/affine.hpp"

// Products of integer matrices with zero points, summed in 32 bits (docs/semantics.md, A4).
namespace widthwise {

// Sums that leave 32 bits.
enum class SumOverflow : std::uint8_t { wrap, saturate };

// A matrix of integers at any strides, in elements.
struct IntegerMatrix {
  const void* data = nullptr;
  std::ptrdiff_t row = 0, column = 0;
  IntegerItem item{};
};

// c(i, j) = bias(j) + sum over k of (a(i, k) - zero_a(i)) (b(k, j) - zero_b(j)).
struct IntegerProduct {
  std::size_t m = 0, n = 0, k = 0;
  IntegerMatrix a, b;
  std::vector<std::int64_t> zero_a, zero_b;  // one each, or m and n
  const std::int32_t* bias = nullptr;        // n, or none
  SumOverflow overflow = SumOverflow::wrap;
  // Products of codes are added in pairs along k, each sum saturating in 16 bits; zero points are
  // folded in at the end (x86's vpmaddubsw).
  bool saturated_pairs = false;
};

// Made ready once: rows may then be computed in any order, and by several threads.
class PreparedIntegers {
 public:
  explicit PreparedIntegers(const IntegerProduct& p);

  // Rows [first, first + count) of c, at their places: n sums a row.
  void run(std::size_t first, std::size_t count, std::int32_t* c) const;

 private:
  void make_panels();
  template <class Code, std::size_t together>
  void lay_panels();
  template <class Code>
  std::uint32_t lay_row(std::size_t row, Code* codes) const;
  std::size_t words_of_k() const;
  void by_steps(std::size_t row, std::int32_t* c) const;
  template <class Wide>
  void in_steps(std::size_t row, std::int32_t* c) const;
  void by_panels(std::size_t first, std::size_t count, std::int32_t* c) const;
  void by_columns(std::size_t row, std::int32_t* c) const;

  IntegerProduct p_;
  bool quick_;
  std::size_t together_ = 2;           // codes of k in a word
  int up_a_ = 0, up_b_ = 0;            // what codes of panels are more than the codes
  std::vector<std::int32_t> panels_;   // b by words of several codes along k
  std::vector<std::uint32_t> b_sums_;  // of each column, modulo 2^32
  std::vector<std::int64_t> b_;        // row-major, where there are no panels
};

}  // namespace widthwise
