// Floats rounded to fewer digits, to nearest even: numbers that do not overflow, of tiles where the
// signs of zeros are not told apart (docs/exactness.md, 2). Compiled once for every instruction
// set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_FEW_DIGITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_FEW_DIGITS_INL
#undef WIDTHWISE_BLOCKS_FEW_DIGITS_INL
#else
#define WIDTHWISE_BLOCKS_FEW_DIGITS_INL
#endif

#include "sim/blocks/products-inl.hpp"
#include "sim/blocks/slots.hpp"
#include "sim/lanes/plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

using lanes::Add;
#define WIDTHWISE_SEQUENCE HWY_INLINE
#include "sim/lanes/sequences.inl"
#undef WIDTHWISE_SEQUENCE

HWY_INLINE S all(float x) { return hn::Set(Singles(), x); }
// 2^(D - p).
inline float lift(const Slot& s) { return std::ldexp(1.0f, float_digits - 1 - s.frac_bits); }

class ShortProduct {
 public:
  HWY_INLINE explicit ShortProduct(const Slot& s)
      : up_(lift(s)), least_(all(1.5f * up_ * static_cast<float>(s.least_normal))) {}
  HWY_INLINE S operator()(float a, S b) const {
    return rounded_product(all(a), all(a * up_), b, least_);
  }

 private:
  float up_;
  S least_;
};

// Multiples of the slot's last digit; of all that floats have it changes nothing.
class ShortSum {
 public:
  HWY_INLINE explicit ShortSum(const Slot& s) : up_(all(lift(s))), one_less_(all(1 - lift(s))) {}
  HWY_INLINE S operator()(S x) const { return rounded_sum<Add::normal>(x, up_, one_less_, x, x); }

 private:
  S up_, one_less_;
};

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
