#include "look_up.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/look_up.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void climb(const Stairs& stairs, const std::uint32_t* words, std::size_t n, std::uint8_t* codes) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const auto half = hn::Set(d, 0xffff), byte = hn::Set(d, 0xff);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::LoadU(d, words + i);
    const auto stair = hn::GatherIndex(d, stairs.data(), hn::BitCast(di, hn::ShiftRight<16>(x)));
    const auto below = hn::Lt(hn::And(x, half), hn::ShiftRight<16>(stair));
    const auto code = hn::And(hn::IfThenElse(below, stair, hn::ShiftRight<8>(stair)), byte);
    hn::StoreU(hn::TruncateTo(bytes, code), bytes, codes + i);
  }
  for (; i < n; ++i) {
    std::uint32_t word;
    std::memcpy(&word, words + i, sizeof word);
    const std::uint32_t stair = stairs[word >> 16];
    const bool up = (word & 0xffff) >= stair >> 16;
    codes[i] = static_cast<std::uint8_t>(up ? stair >> 8 : stair);
  }
}

void look_up(const BytePairs& pairs, const void* results, std::size_t n, std::uint8_t* codes) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const std::uint32_t first_mask = (1U << pairs.first_width) - 1,
                      second_mask = (1U << pairs.second_width) - 1;
  const auto in_first = hn::Set(d, first_mask), in_second = hn::Set(d, second_mask);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto a = hn::And(hn::PromoteTo(d, hn::LoadU(bytes, pairs.first + i)), in_first);
    const auto b = hn::And(hn::PromoteTo(d, hn::LoadU(bytes, pairs.second + i)), in_second);
    const auto place = hn::Or(a, hn::ShiftLeftSame(b, pairs.first_width));
    const auto found =
        hn::GatherOffset(d, static_cast<const std::uint32_t*>(results), hn::BitCast(di, place));
    hn::StoreU(hn::TruncateTo(bytes, hn::And(found, hn::Set(d, 0xff))), bytes, codes + i);
  }
  for (; i < n; ++i)
    codes[i] = static_cast<const std::uint8_t*>(
        results)[(pairs.first[i] & first_mask) | (pairs.second[i] & second_mask)
                                                     << pairs.first_width];
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(climb);
HWY_EXPORT(look_up);

void climb(const Stairs& stairs, const std::uint32_t* words, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(climb)(stairs, words, n, codes);
}

void look_up(const BytePairs& pairs, const void* results, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(look_up)(pairs, results, n, codes);
}

}  // namespace widthwise::elements
#endif
