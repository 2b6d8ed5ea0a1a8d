#include "draw_bits.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/draw_bits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using widthwise::HWY_NAMESPACE::Philox;
using H = Philox::H;

constexpr std::size_t at_once = 4;  // counters side by side hide a product's latency

// A rounding's bits out of its call's first two words, as RandomField cuts them.
HWY_INLINE H field(int k, H first, H second) {
  const Philox::Lanes d;
  const H word = hn::And(first, hn::Set(d, 0xffffffff));
  if (k <= 16) return hn::ShiftRightSame(hn::And(word, hn::Set(d, 0xffff)), 16 - k);
  if (k <= 32) return hn::ShiftRightSame(word, 32 - k);
  const H high = hn::And(second, hn::Set(d, 0xffffffff));
  return hn::Or(hn::ShiftLeftSame(high, k - 32), hn::ShiftRightSame(word, 64 - k));
}

// `call`: what two rounds make of the call, where all indices have one upper half.
template <bool one_half, std::size_t n>
HWY_INLINE void draw(const Philox& philox, const Philox::Call& call, int k, std::uint64_t first,
                     std::uint64_t* bits) {
  const Philox::Lanes d;
  H c[n][4];
  for (std::size_t i = 0; i < n; ++i) {
    const H index = hn::Iota(d, first + i * hn::Lanes(d));
    if constexpr (one_half)
      Philox::count(philox.outputs(index, Slot::out), call, c[i]);
    else
      Philox::count(index, 0, Slot::out, c[i]);
  }
  philox(c, one_half ? 2 : 0);
  for (std::size_t i = 0; i < n; ++i)
    hn::StoreU(field(k, c[i][0], c[i][1]), d, bits + i * hn::Lanes(d));
}

template <bool one_half>
void draw_in(int k, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint64_t* bits) {
  const Philox philox(seed);
  const Philox::Call call = philox.call(first, 0);
  const std::size_t lanes = hn::Lanes(Philox::Lanes());
  std::size_t i = 0;
  for (; i + at_once * lanes <= n; i += at_once * lanes)
    draw<one_half, at_once>(philox, call, k, first + i, bits + i);
  for (; i < n; i += lanes) {
    HWY_ALIGN std::uint64_t last[HWY_MAX_BYTES / sizeof(std::uint64_t)];
    draw<one_half, 1>(philox, call, k, first + i, last);
    std::copy_n(last, std::min(lanes, n - i), bits + i);
  }
}

void draw_all(int k, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint64_t* bits) {
  const bool one_half = first >> 32 == (first + n + HWY_MAX_BYTES) >> 32;
  return one_half ? draw_in<true>(k, seed, first, n, bits)
                  : draw_in<false>(k, seed, first, n, bits);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(draw_all);

void draw_bits(int k, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint64_t* bits) {
  HWY_DYNAMIC_DISPATCH(draw_all)(k, seed, first, n, bits);
}

const std::uint64_t* random_bits(const Rounding& rounding, const RandomSource& source,
                                 std::size_t first, std::size_t n, std::uint64_t* room) {
  if (!rounding.stochastic()) return nullptr;
  if (source.given) return source.given + source.first_index + first;
  draw_bits(rounding.random_bits, source.seed, source.first_index + first, n, room);
  return room;
}

}  // namespace widthwise::elements
#endif
