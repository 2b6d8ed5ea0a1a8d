#pragma once
#include "cuda/kernels/values.hpp"
#include "sim/containers/affine_code.hpp"
#include "sim/elementwise/apply.hpp"

// Affine integers on threads: the definition's codes, an element a thread, and the ranges of
// groups.
namespace widthwise::cuda {

// The scales and zero points of an array, by the layout's numbers.
struct AffineSteps {
  AffineLayout layout;
  const double* scale;
  const std::int64_t* zero;
};

template <class T>
struct AffineCodes {
  AffineSteps steps;
  AffineRule rule;
  const T* x;
  RandomSource random;
  std::uint64_t mask;  // of a code's digits
  void* codes;
  std::uint8_t* flags;                 // where they are wanted
  unsigned long long *clamped, *nans;  // elements past the range; NaN

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    unsigned long long outside = 0, none = 0;
    for (std::size_t i = thread; i < steps.layout.size(); i += threads) {
      const std::size_t at = steps.layout.scale_of(i);
      const double number = x[i], s = steps.scale[at];
      const affine::Code c = affine::code_of(rule, number, s, steps.zero[at], random, i);
      outside += c.sum < rule.qmin || c.sum > rule.qmax;
      none += c.nan;
      const std::int64_t code = lesser(greater(c.sum, rule.qmin), rule.qmax);
      store_code(static_cast<std::byte*>(codes) + i * rule.item.bytes, rule.item.bytes,
                 static_cast<std::uint64_t>(code) & mask);
      if (flags) flags[i] = affine::flags_of(rule, number, s, steps.zero[at], c);
    }
    add_to(clamped, outside);
    add_to(nans, none);
  }
};

// s (q - z), rounded once to T.
template <class T>
struct AffineValues {
  AffineSteps steps;
  IntegerItem item;
  int above;  // digits of a word that a code leaves
  const void* codes;
  T* x;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < steps.layout.size(); i += threads) {
      const std::size_t at = steps.layout.scale_of(i);
      const auto* code = static_cast<const std::byte*>(codes) + i * item.bytes;
      const std::uint64_t word = load_code<std::uint64_t>(code, item.bytes) << above;
      const std::int64_t q = item.is_signed ? static_cast<std::int64_t>(word) >> above
                                            : static_cast<std::int64_t>(word >> above);
      x[i] = affine::dequantised<T>(static_cast<double>(q), static_cast<double>(steps.zero[at]),
                                    steps.scale[at])
                 .value;
    }
  }
};

// Floats as integers that order alike, and back. NaN is the largest of all.
template <class T>
constexpr unsigned long long order_of(T x) {
  constexpr BitsOf<T> sign = BitsOf<T>{1} << (8 * sizeof(T) - 1);
  const auto bits = std::bit_cast<BitsOf<T>>(x);
  if (x != x) return static_cast<BitsOf<T>>(~BitsOf<T>{});
  return static_cast<BitsOf<T>>(bits & sign ? ~bits : bits | sign);
}
template <class T>
constexpr T in_order(unsigned long long order) {
  constexpr BitsOf<T> sign = BitsOf<T>{1} << (8 * sizeof(T) - 1);
  const auto bits = static_cast<BitsOf<T>>(order);
  if (bits == static_cast<BitsOf<T>>(~BitsOf<T>{})) return std::numeric_limits<T>::quiet_NaN();
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits & sign ? bits ^ sign : ~bits));
}

// The largest element of each group, and the largest of their negatives, both as such integers.
template <class T>
struct GroupRanges {
  AffineLayout layout;
  const T* x;
  unsigned long long *low, *high;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    Range all{};
    std::size_t group = 0;
    for (std::size_t i = thread; i < layout.size(); i += threads) {
      const std::size_t at = layout.scale_of(i);
      if (at != group) {
        raise(group, all);
        group = at, all = {};
      }
      const unsigned long long below = order_of(-x[i]), above = order_of(x[i]);
      if (below > all.low) all.low = below;
      if (above > all.high) all.high = above;
    }
    raise(group, all);
  }

 private:
  struct Range {
    unsigned long long low, high;
  };
  WIDTHWISE_BOTH_INLINE void raise(std::size_t group, const Range& all) const {
    raise_to(&low[group], all.low);
    raise_to(&high[group], all.high);
  }
};

// All that are built, by name: KERNEL(name, Work).
#define WIDTHWISE_AFFINE_KERNELS(KERNEL)             \
  KERNEL(affine_codes_single, AffineCodes<float>)    \
  KERNEL(affine_codes_double, AffineCodes<double>)   \
  KERNEL(affine_values_single, AffineValues<float>)  \
  KERNEL(affine_values_double, AffineValues<double>) \
  KERNEL(group_ranges_single, GroupRanges<float>)    \
  KERNEL(group_ranges_double, GroupRanges<double>)

}  // namespace widthwise::cuda
