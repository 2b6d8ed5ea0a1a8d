// lib's generator of random bits (widthwise/random.hpp) in lanes: the same words, a vector of
// counters at a time.
// Compiled once for every instruction set, within the kernels of engines.
#if defined(WIDTHWISE_ENGINE_PHILOX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ENGINE_PHILOX_INL
#undef WIDTHWISE_ENGINE_PHILOX_INL
#else
#define WIDTHWISE_ENGINE_PHILOX_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <iterator>

#include "widthwise/random.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// philox() for vectors of counters, side by side; each word in the low half of a lane.
class Philox {
 public:
  using Lanes = hn::ScalableTag<std::uint64_t>;
  using H = hn::Vec<Lanes>;

  explicit Philox(std::uint64_t seed) {
    const PhiloxKeys keys(seed);
    std::copy(&keys.of_round[0][0], &keys.of_round[0][0] + 2 * rounds, &keys_[0][0]);
  }

  // The counters of some outputs' roundings, of one call.
  static HWY_INLINE void count(H index, std::uint64_t call, Slot slot, H (&c)[4]) {
    const Lanes d;
    c[0] = index;
    c[1] = hn::ShiftRight<32>(c[0]);
    c[2] = hn::Set(d, static_cast<std::uint32_t>(call));
    c[3] = hn::Set(d, static_cast<std::uint32_t>(slot));
  }

  // Of counters that have rounds behind them, the rest, or all but the last `ahead`.
  template <std::size_t n>
  HWY_INLINE void operator()(H (&c)[n][4], std::size_t behind = 0, std::size_t ahead = 0) const {
    const Lanes d;
    for (std::size_t round = behind; round < rounds - ahead; ++round)
      for (auto& x : c) {
        const auto& key = keys_[round];
        const H p = times(x[0], of_first), r = times(x[2], of_third);
        x[0] = hn::Xor3(hn::ShiftRight<32>(r), x[1], hn::Set(d, key[0]));
        x[2] = hn::Xor3(hn::ShiftRight<32>(p), x[3], hn::Set(d, key[1]));
        x[1] = r, x[3] = p;
      }
  }

  // What two rounds make of some outputs, whatever the call, and of a call, whatever the outputs:
  // of indices that have one upper half.
  struct Outputs {
    H r_high, r, p;
    HWY_INLINE Outputs() {}  // an implied one GCC compiles for the least machine
    HWY_INLINE Outputs(H high, H low, H product) : r_high(high), r(low), p(product) {}
  };
  struct Call {
    H r, p_high, p;
  };
  HWY_INLINE Outputs outputs(H index, Slot slot) const {
    const Lanes d;
    const auto& key = keys_;
    const H p = times(index, of_first), to_third = hn::Set(d, static_cast<std::uint32_t>(slot));
    const H r = times(hn::Xor3(hn::ShiftRight<32>(p), to_third, hn::Set(d, key[0][1])), of_third);
    return {hn::Xor(hn::ShiftRight<32>(r), hn::Set(d, key[1][0])), r,
            hn::Xor(p, hn::Set(d, key[1][1]))};
  }
  HWY_INLINE Call call(std::uint64_t index, std::uint64_t number) const {
    const Lanes d;
    const std::uint64_t r = std::uint64_t{of_third} * static_cast<std::uint32_t>(number);
    const std::uint64_t p = of_first * ((index ^ r) >> 32 ^ keys_[0][0]);
    return {hn::Set(d, r), hn::Set(d, p >> 32), hn::Set(d, p)};
  }
  // Their counters, with two rounds behind them.
  static HWY_INLINE void count(const Outputs& x, const Call& call, H (&c)[4]) {
    c[0] = hn::Xor(x.r_high, call.r);
    c[1] = x.r;
    c[2] = hn::Xor(x.p, call.p_high);
    c[3] = call.p;
  }

#if HWY_TARGET != HWY_SCALAR
  using Words = hn::Vec<hn::Repartition<std::uint32_t, Lanes>>;
  // The words of two vectors of counters, those of `low` first, that all rounds but the last lie
  // behind.
  HWY_INLINE void finish(const H (&low)[4], const H (&high)[4], Words (&words)[4]) const {
    const hn::Repartition<std::uint32_t, Lanes> dw;
    const auto& key = keys_[rounds - 1];
    const auto lower = [&](H a, H b) {
      return hn::ConcatEven(dw, hn::BitCast(dw, b), hn::BitCast(dw, a));
    };
    const auto upper = [&](H a, H b) {
      return hn::ConcatOdd(dw, hn::BitCast(dw, b), hn::BitCast(dw, a));
    };
    const auto set = [&](std::uint64_t x) { return hn::Set(dw, static_cast<std::uint32_t>(x)); };
    const H p[] = {times(low[0], of_first), times(high[0], of_first)};
    const H r[] = {times(low[2], of_third), times(high[2], of_third)};
    words[0] = hn::Xor3(upper(r[0], r[1]), lower(low[1], high[1]), set(key[0]));
    words[1] = lower(r[0], r[1]);
    words[2] = hn::Xor3(upper(p[0], p[1]), lower(low[3], high[3]), set(key[1]));
    words[3] = lower(p[0], p[1]);
  }
#endif

 private:
  static constexpr std::uint32_t of_first = 0xD2511F53, of_third = 0xCD9E8D57;

  static HWY_INLINE H times(H x, std::uint32_t y) {
#if HWY_TARGET == HWY_SCALAR
    return hn::Mul(hn::And(x, hn::Set(Lanes(), 0xffffffff)), hn::Set(Lanes(), y));
#else
    const hn::Repartition<std::uint32_t, Lanes> words;
    return hn::MulEven(hn::BitCast(words, x), hn::Set(words, y));
#endif
  }

  static constexpr std::size_t rounds = std::size(PhiloxKeys(0).of_round);
  std::uint64_t keys_[rounds][2];  // as wide as the lanes: loaded in one go
};

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
