// lib's generator of random bits (widthwise/random.hpp) in lanes: the same words, a vector of
// counters at a time. Rows of integers under lib's own template run at a quarter of this pace.
// Compiled once for every instruction set, within the kernels of engines.
#if defined(WIDTHWISE_ENGINE_PHILOX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ENGINE_PHILOX_INL
#undef WIDTHWISE_ENGINE_PHILOX_INL
#else
#define WIDTHWISE_ENGINE_PHILOX_INL
#endif

#include <hwy/highway.h>

#include "widthwise/random.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// philox() for vectors of counters, side by side; each word in the low half of a lane.
class Philox {
 public:
  using Lanes = hn::ScalableTag<std::uint64_t>;
  using H = hn::Vec<Lanes>;

  explicit Philox(std::uint64_t seed) : keys_(seed) {}

  // The counters of some outputs' roundings, of one call.
  static HWY_INLINE void count(H index, std::uint64_t call, Slot slot, H (&c)[4]) {
    const Lanes d;
    c[0] = index;
    c[1] = hn::ShiftRight<32>(c[0]);
    c[2] = hn::Set(d, static_cast<std::uint32_t>(call));
    c[3] = hn::Set(d, static_cast<std::uint32_t>(slot));
  }

  template <std::size_t n>
  HWY_INLINE void operator()(H (&c)[n][4]) const {
    const Lanes d;
    for (const auto& key : keys_.of_round)
      for (auto& x : c) {
        const H p = times(x[0], 0xD2511F53), r = times(x[2], 0xCD9E8D57);
        x[0] = hn::Xor3(hn::ShiftRight<32>(r), x[1], hn::Set(d, key[0]));
        x[2] = hn::Xor3(hn::ShiftRight<32>(p), x[3], hn::Set(d, key[1]));
        x[1] = r, x[3] = p;
      }
  }

 private:
  static HWY_INLINE H times(H x, std::uint32_t y) {
#if HWY_TARGET == HWY_SCALAR
    return hn::Mul(hn::And(x, hn::Set(Lanes(), 0xffffffff)), hn::Set(Lanes(), y));
#else
    const hn::Repartition<std::uint32_t, Lanes> words;
    return hn::MulEven(hn::BitCast(words, x), hn::Set(words, y));
#endif
  }

  PhiloxKeys keys_;
};

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
