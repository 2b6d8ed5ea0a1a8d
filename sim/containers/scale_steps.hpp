#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "to_odd.hpp"

// How the largest magnitude of a block becomes its scale, one block at a time, exactly. Plain data
// and constexpr: threads of a GPU take it as it is.
namespace widthwise::containers {

// A block's scale as it is stored, and as its numbers meet it: those are multiplied by `by` where
// scales are powers of two, and by single steps, else divided.
struct BlockScale {
  std::uint32_t code;
  double by;
};

inline constexpr std::uint64_t hidden_one = std::uint64_t{1} << 52;  // of 53 digits

struct Split {
  std::int64_t exponent;
  std::uint64_t significand;
};

// Of a positive number.
constexpr Split split(double x) {
  const bool subnormal = x < std::numeric_limits<double>::min();
  const auto bits = std::bit_cast<std::uint64_t>(subnormal ? x * 0x1p64 : x);
  return {static_cast<std::int64_t>(bits >> 52) - (subnormal ? 1023 + 64 : 1023),
          (bits & (hidden_one - 1)) | hidden_one};
}

constexpr double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// x / y, rounded to odd. These are templates because std::fma is no constexpr function.
template <class T>
constexpr T quotient(T x, T y) {
  const T q = x / y;
  return to_odd(q, std::fma(-q, y, x));
}

template <class T>
constexpr T power_above(T s) {
  int exponent = 0;
  const T fraction = std::frexp(s, &exponent);
  return std::ldexp(T{1}, exponent - (fraction == T{0.5}));
}

// What a code of E4M3 without a sign stands for.
constexpr double small_value(std::uint32_t code) {
  const std::int64_t field = code >> 3;
  const double digits = static_cast<double>((code & 7) + (field ? 8 : 0));
  return code >= 0x7f ? std::numeric_limits<double>::quiet_NaN()
                      : digits * power_of_two((field ? field : 1) - 10);
}

struct ScaleSteps {
  enum class Kind : std::uint8_t { power, small_float, stepwise, wide };

  Kind kind;
  bool flush, pow2;
  int bytes;         // of a scale's code
  std::int64_t top;  // of the scale's exponents; -top is the least
  double max;        // the element's largest number
  float tensor_scale;
  std::int64_t emax = 0;  // floor(log2 max)
  // floor(log2 amax) is one more where amax's significand, of 53 digits, is `up` or more, and one
  // less where it is below `down`.
  std::uint64_t up = 2 * hidden_one, down = 0;

  // That of a block that holds NaN or infinity.
  constexpr std::uint32_t nan() const { return static_cast<std::uint32_t>(2 * top + 1); }

  constexpr BlockScale of_exponent(std::int64_t exponent) const {
    return {static_cast<std::uint32_t>(exponent + top), power_of_two(-exponent)};
  }
  // One exponent more, where the format has one.
  constexpr bool raise(BlockScale& s) const {
    if (static_cast<std::int64_t>(s.code) >= 2 * top) return false;
    s = of_exponent(static_cast<std::int64_t>(s.code) + 1 - top);
    return true;
  }

  constexpr BlockScale power(double amax) const {
    constexpr double least_normal = 0x1p-126;
    if (!(amax <= std::numeric_limits<double>::max())) return {nan(), 0};
    if (amax == 0) return of_exponent(-top);
    if (flush && amax < least_normal) return {0, 0};
    const auto [exponent, significand] = split(amax);
    const std::int64_t e = exponent - emax + (significand >= up) - (significand < down);
    return of_exponent(std::clamp(e, -top, top));
  }

  template <class T>  // as quotient is
  constexpr BlockScale wide(T amax) const {
    auto s = static_cast<float>(quotient(amax, max));
    if (s == 0) s = 1;
    if (pow2) s = power_above(s);
    return {std::bit_cast<std::uint32_t>(s), static_cast<double>(s)};
  }

  // What a code of E4M3 is rounded from, saturating: amax / (max S) to odd, by whoever divides so;
  // or torchao's steps, each in binary32, for block scales of 2^-6 and more.
  constexpr double divisor() const { return max * static_cast<double>(tensor_scale); }
  static constexpr float stepwise_least = 0x1p-6F, stepwise_most = 448;
  constexpr float stepwise(double amax) const {
    const float t = static_cast<float>(amax) / static_cast<float>(max) / tensor_scale;
    return std::clamp(t, stepwise_least, stepwise_most);
  }
  // With the code that it became: at least the least one, so that no element of such a block is
  // divided by 0; of torchao's steps the reciprocal, which is multiplied.
  constexpr BlockScale small(std::uint32_t code, double amax) const {
    if (kind == Kind::stepwise)
      return {code,
              static_cast<double>(1.0F / tensor_scale / static_cast<float>(small_value(code)))};
    const std::uint32_t b = amax == 0 ? 0 : std::max<std::uint32_t>(code, 1);
    return {b, amax == 0 ? 1 : value(b)};
  }

  // What an element is times, exactly: the scale of such a code, and the tensor's.
  constexpr double value(std::uint32_t code) const {
    if (top > 0)
      return code == nan() ? std::numeric_limits<double>::quiet_NaN()
                           : power_of_two(static_cast<std::int64_t>(code) - top);
    if (bytes == 4) return static_cast<double>(std::bit_cast<float>(code));
    return small_value(code & 0x7f) * static_cast<double>(tensor_scale);
  }
};

}  // namespace widthwise::containers
