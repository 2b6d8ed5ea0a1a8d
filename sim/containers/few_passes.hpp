#pragma once
#include <algorithm>
#include <cstring>

#include "block_kernels.hpp"
#include "block_scale.hpp"

// Scales of groups of floats by a rule alone, and what their elements are rounded from: a class for
// each step that scales numbers. `find` gives false where a group needs more than the rule; it may
// write most_lanes past `most`. Groups of one number are the columns of several rows: `spread` has
// their factors side by side, once for each of the rows that follow each other in memory.
namespace widthwise::containers {

// What there is is doubled: few copies, and long ones.
template <class T>
void repeat(T* x, std::size_t n, std::size_t times) {
  const std::size_t all = n * times;
  for (std::size_t there = n; there < all; there *= 2)
    std::copy_n(x, std::min(there, all - there), x + there);
}

// What bounds the numbers that elements are rounded from.
struct FewBounds {
  float largest;  // of the elements
  Borders borders;
  bool small_is_zero;
};

class PowersOfTwo {
 public:
  bool find(const BlockScaler& scaler, const float* most, std::size_t n, std::byte* scales) {
    return power_factors(most, n, scaler.turns(), reinterpret_cast<std::uint8_t*>(scales), by_);
  }
  void spread(std::size_t n, std::size_t times) { repeat(by_, n, times); }
  std::size_t apply(const float* x, std::size_t n, std::size_t group, const FewBounds& b,
                    float* v) const {
    return multiply_counted(x, by_, n, group, b.small_is_zero, b.largest, v);
  }

 private:
  float by_[most_groups];
};

class SmallDivisors {
 public:
  bool find(const BlockScaler& scaler, float* most, std::size_t n, std::byte* scales) {
    auto* codes = reinterpret_cast<std::uint8_t*>(scales);
    const bool whole = scaler.small_divisors(most, n, codes);
    by_ = scaler.small_table(codes);
    return whole;
  }
  void spread(std::size_t n, std::size_t times) {
    std::copy_n(by_.index, n, codes_);
    for (std::size_t i = 0; i < n; ++i) reciprocals_[i] = by_.reciprocal[codes_[i]];
    repeat(codes_, n, times);
    repeat(reciprocals_, n, times);
    by_ = {by_.divisor, reciprocals_, codes_};
  }
  std::size_t apply(const float* x, std::size_t n, std::size_t group, const FewBounds& b,
                    float* v) const {
    return divide_counted_to_odd(x, by_, n, group, b.borders, b.largest, v);
  }

 private:
  Divisors by_;
  std::uint8_t codes_[most_groups];
  float reciprocals_[most_groups];
};

// Reciprocals of single steps, whose products are as the machine rounds them.
class SingleFactors {
 public:
  bool find(const BlockScaler& scaler, const float* most, std::size_t n, std::byte* scales) {
    return scaler.single_factors(most, n, reinterpret_cast<std::uint8_t*>(scales), by_);
  }
  void spread(std::size_t n, std::size_t times) { repeat(by_, n, times); }
  std::size_t apply(const float* x, std::size_t n, std::size_t group, const FewBounds& b,
                    float* v) const {
    return multiply_counted(x, by_, n, group, true, b.largest, v);
  }

 private:
  float by_[most_groups];
};

class WideDivisors {
 public:
  bool find(const BlockScaler& scaler, const float* most, std::size_t n, std::byte* scales) {
    const bool whole = scaler.wide_divisors(most, n, by_);
    std::memcpy(scales, by_, n * sizeof(float));
    return whole;
  }
  void spread(std::size_t n, std::size_t times) { repeat(by_, n, times); }
  std::size_t apply(const float* x, std::size_t n, std::size_t group, const FewBounds& b,
                    float* v) const {
    return divide_counted(x, by_, n, group, b.largest, v);
  }

 private:
  float by_[most_groups];
};

}  // namespace widthwise::containers
