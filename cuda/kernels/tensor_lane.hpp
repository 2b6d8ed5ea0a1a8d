#pragma once
#include <algorithm>
#include <cstddef>

#include "lane.hpp"
#include "packed_operand.hpp"
#include "sim/tensor/plan.hpp"

// One output of a tensor unit, which is one thread's: its terms, its C and how its sum is rounded.
namespace widthwise::cuda {

// The operations that a CPU has no instruction for. Tests run the same text on the CPU.
#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE int max_of_sum(int a, int b, int other) {
  return __viaddmax_s32(a, b, other);
}
// 0 where all digits go.
WIDTHWISE_BOTH_INLINE std::uint32_t shifted_right(std::uint32_t x, int by) {
  return __funnelshift_rc(x, 0, static_cast<unsigned>(by));
}
WIDTHWISE_BOTH_INLINE float truncated(std::uint32_t x) { return __uint2float_rz(x); }
WIDTHWISE_BOTH_INLINE float truncated(std::uint64_t x) { return __ull2float_rz(x); }
WIDTHWISE_BOTH_INLINE float rounded_up(std::uint32_t x) { return __uint2float_ru(x); }
WIDTHWISE_BOTH_INLINE float to_nearest(std::uint64_t x) { return __ull2float_rn(x); }
WIDTHWISE_BOTH_INLINE float truncated_product(float a, float b) { return __fmul_rz(a, b); }
#else
inline int max_of_sum(int a, int b, int other) { return std::max(a + b, other); }
inline std::uint32_t shifted_right(std::uint32_t x, int by) {
  return static_cast<unsigned>(by) > 31 ? 0 : x >> by;
}
// Of a number that is not negative.
inline float truncated(double x) {
  const auto near = static_cast<float>(x);
  return near > x ? std::bit_cast<float>(bits_of(near) - 1) : near;
}
inline float truncated(std::uint32_t x) { return truncated(static_cast<double>(x)); }
inline float truncated(std::uint64_t x) { return truncated(static_cast<double>(x)); }  // < 2^53
inline float to_nearest(std::uint64_t x) { return static_cast<float>(x); }
inline float rounded_up(std::uint32_t x) {
  const float down = truncated(x);
  return static_cast<double>(down) < x ? std::bit_cast<float>(bits_of(down) + 1) : down;
}
inline float truncated_product(float a, float b) { return truncated(static_cast<double>(a) * b); }
#endif

// 2^e for -127 < e < 128; of other e anything.
WIDTHWISE_BOTH_INLINE float power_of(int e) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

// The C of a block. NaN where the definition has to compute the output, and from then on; -0 where
// a zero may have either sign.
struct Addend {
  std::uint32_t bits;

  WIDTHWISE_BOTH_INLINE explicit Addend(float c) : bits(bits_of(c)) {}

  WIDTHWISE_BOTH_INLINE bool negative() const { return bits >> 31; }
  WIDTHWISE_BOTH_INLINE bool is_number() const { return (bits & 0x7fffffff) < 0x7f800000; }
  // What it votes for: an exact zero for nothing.
  WIDTHWISE_BOTH_INLINE int vote(int emin) const {
    return bits << 1 == 0 ? 2 * PackedOperand::of_zero : std::max(field() - 127, emin);
  }
  // In units of 2^e_unit, truncated. The significand begins at the top: it goes to the right for
  // any e_unit that is no less than its exponent - 31. (Only a zero's may be less, and it stays 0.)
  WIDTHWISE_BOTH_INLINE std::int32_t units(int e_unit) const {
    const std::uint32_t x = shifted_right(significand() << 8, e_unit + 31 - exponent());
    return negative() ? -static_cast<std::int32_t>(x) : static_cast<std::int32_t>(x);
  }
  // All of it is digits * 2^(exponent - 23).
  WIDTHWISE_BOTH_INLINE std::int64_t digits() const {
    return negative() ? -std::int64_t{significand()} : std::int64_t{significand()};
  }
  WIDTHWISE_BOTH_INLINE int exponent() const { return std::max(field(), 1) - 127; }

 private:
  WIDTHWISE_BOTH_INLINE std::uint32_t significand() const {
    return (bits & 0x7fffff) | (field() ? 0x800000 : 0);
  }
  WIDTHWISE_BOTH_INLINE int field() const { return static_cast<int>(bits >> 23 & 255); }
};

// The magnitude of a sum: digits * 2^scale. Where digits of 64 go, of less than 2^36, the last one
// becomes odd.
struct Magnitude {
  std::uint32_t digits;
  int scale;

  WIDTHWISE_BOTH_INLINE explicit Magnitude(std::int32_t sum)
      : digits(sum < 0 ? 0 - static_cast<std::uint32_t>(sum) : static_cast<std::uint32_t>(sum)),
        scale(0) {}
  WIDTHWISE_BOTH_INLINE explicit Magnitude(std::int64_t sum) {
    const auto x = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const bool wide = x >> 32 != 0;
    digits = static_cast<std::uint32_t>(wide ? x >> 4 | ((x & 15) != 0) : x);
    scale = wide ? 4 : 0;
  }
};

// digits * 2^e as the result's format has it; more than `most`, or NaN, where that may not be a
// number of the format.
template <tensor::Finish>
struct RoundingTo;

// binary32, toward zero. The product itself truncates results below the normal numbers. It goes in
// two, for 2^e may be no float; and infinity would come as the largest number.
template <>
struct RoundingTo<tensor::Finish::truncate> {
  static constexpr float largest = 0x1.fffffep127f, most = 0x1.fffffcp127f;

  template <class Digits>
  static WIDTHWISE_BOTH_INLINE float rounded(Digits digits, int e) {
    // 2^53 * 2^-250 is 0 as well, and 2^250 past the range.
    const int n = std::min(std::max(e, -250), 250), half = n >> 1;
    const float x = truncated_product(truncated(digits), power_of(half));
    return truncated_product(x, power_of(n - half));
  }
  static WIDTHWISE_BOTH_INLINE float rounded(float x) { return x; }
};

// binary16, to nearest: to odd with 24 digits, then to 11 but none below 2^-24, as
// sim/tensor/kernels.cpp does.
template <>
struct RoundingTo<tensor::Finish::nearest> {
  static constexpr float largest = 65504, most = largest;

  static WIDTHWISE_BOTH_INLINE float rounded(std::uint32_t digits, int e) {
    const float down = truncated(digits), odd = bits_of(down) & 1 ? down : rounded_up(digits);
    return rounded(hn::Mul(odd, power_of(std::min(std::max(e, -126), 127))));
  }
  // Of a number that is not negative, by way of c.
  static WIDTHWISE_BOTH_INLINE float rounded(float x) {
    const std::uint32_t exponent = std::max(bits_of(x) & 0x7f800000u, (127u - 14) << 23);
    const float c = hn::Mul(std::bit_cast<float>(exponent), 0x1.8p13f);
    return hn::Sub(hn::Add(x, c), c);
  }
};

// binary32, to nearest, where the result is a normal number.
struct NearestSingle {
  static constexpr float largest = 0x1.fffffep127f;

  static WIDTHWISE_BOTH_INLINE float rounded(std::uint64_t digits, int e) {
    const int n = std::min(std::max(e, -250), 250), half = n >> 1;
    return hn::Mul(hn::Mul(to_nearest(digits), power_of(half)), power_of(n - half));
  }
  static WIDTHWISE_BOTH_INLINE float rounded(float x) { return x; }
  static WIDTHWISE_BOTH_INLINE bool is_normal(float x) { return x > 0x1p-126f && x <= largest; }
};

}  // namespace widthwise::cuda
