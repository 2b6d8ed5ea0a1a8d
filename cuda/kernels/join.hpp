#pragma once
#include <bit>

#include "tensor_lane.hpp"

// How a block's sum of products and C become the next C.
namespace widthwise::cuda {

struct JoinArgs {
  int frac_bits;       // F, of the products
  int floor, c_emin;   // least exponents: of a sum and of C
  int most_exponent;   // with a larger one a product may not be a number
  std::uint32_t kept;  // bits of a sum that is truncated
  // Where C joins late: digits that the sum, C and C's grid go up to those of the join; how far
  // below its exponent C is dropped; and how many digits are left before the rounding.
  int sum_up = 0, c_up = 0, c_grid_up = 0, drop_below = 0, cut_digits = 0;
};

// A sum on its way: all terms in units of 2^(e - F).
template <class Sum>
struct Aligned {
  int e;
  Sum units;
};

// x with its sign, or NaN where it is not sure. A sum of no digits is +0 unless all of its addends
// are negative. C is one of them.
WIDTHWISE_BOTH_INLINE float next_addend(const Addend& c, bool zero, bool negative, float x,
                                        bool sure) {
  const bool minus = zero ? c.negative() : negative;
  const float next = std::bit_cast<float>(bits_of(x) | std::uint32_t{minus} << 31);
  return sure && c.is_number() ? next : std::numeric_limits<float>::quiet_NaN();
}

// C is one of the addends, aligned with the products.
template <tensor::Finish finish>
struct JoinedEarly {
  using Out = RoundingTo<finish>;
  static constexpr bool late = false;

  static WIDTHWISE_BOTH_INLINE int first_vote(const JoinArgs& g, const Addend& c) {
    return std::max(c.vote(g.c_emin), g.floor);
  }

  // 32 bits that the sum passes with C are seen by its sign.
  static WIDTHWISE_BOTH_INLINE float next(const JoinArgs& g, const Addend& c,
                                          const Aligned<std::int32_t>& sum) {
    const std::int32_t addend = c.units(sum.e - g.frac_bits);
    const auto both = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum.units) +
                                                static_cast<std::uint32_t>(addend));
    return rounded(g, c, sum.e, both, ((sum.units ^ both) & (addend ^ both)) < 0);
  }
  static WIDTHWISE_BOTH_INLINE float next(const JoinArgs& g, const Addend& c,
                                          const Aligned<std::int64_t>& sum) {
    return rounded(g, c, sum.e, sum.units + c.units(sum.e - g.frac_bits), false);
  }

 private:
  template <class Sum>
  static WIDTHWISE_BOTH_INLINE float rounded(const JoinArgs& g, const Addend& c, int e, Sum sum,
                                             bool overflow) {
    const Magnitude magnitude(sum);
    const float x = Out::rounded(magnitude.digits, e - g.frac_bits + magnitude.scale);
    const bool sure = !overflow && e <= g.most_exponent && x <= Out::most;
    return next_addend(c, sum == 0, sum < 0, std::bit_cast<float>(bits_of(x) & g.kept), sure);
  }
};

// x 2^-by, truncated. What has no say may have a larger exponent: it is 0.
WIDTHWISE_BOTH_INLINE std::int64_t cut_right(std::int64_t x, int by) {
  const auto magnitude = static_cast<std::int64_t>(static_cast<std::uint64_t>(x < 0 ? -x : x) >>
                                                   std::min(static_cast<unsigned>(by), 63u));
  return x < 0 ? -magnitude : magnitude;
}

// C is one of the addends of sums of up to 53 bits, which are truncated to binary32.
struct JoinedWide {
  using Out = RoundingTo<tensor::Finish::truncate>;

  static WIDTHWISE_BOTH_INLINE int first_vote(const JoinArgs& g, const Addend& c) {
    return JoinedEarly<tensor::Finish::truncate>::first_vote(g, c);
  }

  static WIDTHWISE_BOTH_INLINE float next(const JoinArgs& g, const Addend& c,
                                          const Aligned<std::int64_t>& sum) {
    const std::int64_t total = sum.units + cut_right(c.digits() << g.c_up, sum.e - c.exponent());
    const auto magnitude = static_cast<std::uint64_t>(total < 0 ? -total : total);
    const float x = Out::rounded(magnitude, sum.e - g.frac_bits);
    const bool sure = sum.e <= g.most_exponent && x <= Out::most;
    return next_addend(c, total == 0, total < 0, std::bit_cast<float>(bits_of(x) & g.kept), sure);
  }
};

// C joins the products' sum, or that of two groups of them: both rounded down, each at a digit of
// its own; the sum is rounded down once more and then to binary32, to nearest.
struct JoinedLate {
  using Out = NearestSingle;
  static constexpr bool late = true;

  static WIDTHWISE_BOTH_INLINE int first_vote(const JoinArgs&, const Addend&) {
    return 2 * PackedOperand::of_zero;
  }

  static WIDTHWISE_BOTH_INLINE Aligned<std::int32_t> of_groups(const Aligned<std::int32_t>& x,
                                                               const Aligned<std::int32_t>& y) {
    const int e = std::max(x.e, y.e);
    return {e, down(x.units, e - x.e) + down(y.units, e - y.e)};
  }

  static WIDTHWISE_BOTH_INLINE float next(const JoinArgs& g, const Addend& c,
                                          const Aligned<std::int32_t>& sum) {
    const int vote = c.vote(g.c_emin), e = std::max(std::max(sum.e, vote), g.floor);
    std::int64_t total = down(std::int64_t{sum.units} << g.sum_up, e - sum.e);
    if (vote >= e - g.drop_below)
      total += down(c.digits() << g.c_up, e - c.exponent()) << g.c_grid_up;
    const std::uint64_t digits = cut_down(total, g.cut_digits);
    const float x = Out::rounded(digits, e - g.frac_bits - g.sum_up);
    const bool sure = sum.e <= g.most_exponent && (total == 0 || Out::is_normal(x));
    return next_addend(c, total == 0, total < 0, x, sure);
  }

 private:
  template <class Sum>
  static WIDTHWISE_BOTH_INLINE Sum down(Sum x, int by) {
    return x >> std::min(by, static_cast<int>(8 * sizeof(Sum) - 1));
  }
  // The magnitude of x rounded down to so many digits.
  static WIDTHWISE_BOTH_INLINE std::uint64_t cut_down(std::int64_t x, int digits) {
    const auto magnitude = static_cast<std::uint64_t>(x < 0 ? -x : x);
    const int length = 64 - zeros_above(magnitude | 1);
    const std::uint64_t lost = (std::uint64_t{1} << std::max(length - digits, 0)) - 1;
    return (x < 0 ? magnitude + lost : magnitude) & ~lost;
  }
};

}  // namespace widthwise::cuda
