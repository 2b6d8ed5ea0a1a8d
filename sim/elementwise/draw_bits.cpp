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

template <std::size_t n>
HWY_INLINE void draw(const Philox& philox, int k, std::uint64_t first, std::uint64_t* bits) {
  const Philox::Lanes d;
  H c[n][4];
  for (std::size_t i = 0; i < n; ++i)
    Philox::count(hn::Iota(d, first + i * hn::Lanes(d)), 0, Slot::out, c[i]);
  philox(c);
  for (std::size_t i = 0; i < n; ++i)
    hn::StoreU(field(k, c[i][0], c[i][1]), d, bits + i * hn::Lanes(d));
}

void draw_all(int k, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint64_t* bits) {
  const Philox philox(seed);
  const std::size_t lanes = hn::Lanes(Philox::Lanes());
  std::size_t i = 0;
  for (; i + at_once * lanes <= n; i += at_once * lanes)
    draw<at_once>(philox, k, first + i, bits + i);
  for (; i < n; i += lanes) {
    HWY_ALIGN std::uint64_t last[HWY_MAX_BYTES / sizeof(std::uint64_t)];
    draw<1>(philox, k, first + i, last);
    std::copy_n(last, std::min(lanes, n - i), bits + i);
  }
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
