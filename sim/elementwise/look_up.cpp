#include "look_up.hpp"

#include <cstring>

#include "held_steps.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/look_up.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
using Halves = hn::ScalableTag<std::uint16_t>;
using H = hn::Vec<Halves>;

// A table of 64 halves a page; of a place so many lower bits count, and no others.
template <int pages>
class HeldHalves {
 public:
  HWY_INLINE explicit HeldHalves(const void* entries) {
    for (int i = 0; i < 2 * pages; ++i)
      part_[i] = hn::Load(Halves(), static_cast<const std::uint16_t*>(entries) + 32 * i);
  }
  HWY_INLINE H operator[](H at) const {
    H found[pages];
    for (int i = 0; i < pages; ++i)
      found[i] = H{_mm512_permutex2var_epi16(part_[2 * i].raw, at.raw, part_[2 * i + 1].raw)};
    for (int left = pages / 2, bit = 64; left > 0; left /= 2, bit *= 2) {
      const auto odd = hn::TestBit(at, hn::Set(Halves(), static_cast<std::uint16_t>(bit)));
      for (int i = 0; i < left; ++i) found[i] = hn::IfThenElse(odd, found[2 * i + 1], found[2 * i]);
    }
    return found[0];
  }

 private:
  H part_[2 * pages];
};
#endif

void climb(const Stairs& stairs, const std::uint32_t* words, std::size_t n, std::uint8_t* codes) {
  std::size_t i = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  i = climb_held(stairs, words, n, codes);
#endif
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const auto half = hn::Set(d, 0xffff), byte = hn::Set(d, 0xff);
  const std::size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::LoadU(d, words + i);
    const auto at = hn::BitCast(di, hn::ShiftRight<16>(x));
    const auto stair = hn::GatherIndex(d, stairs.halves.data(), at);
    const auto place = hn::ShiftRight<16>(stair), second = hn::And(hn::ShiftRight<8>(stair), byte),
               first = hn::And(stair, byte);
    const auto code = hn::IfThenElse(hn::Lt(hn::And(x, half), place), first, second);
    hn::StoreU(hn::TruncateTo(bytes, code), bytes, codes + i);
    const auto more = hn::And(hn::Ne(place, hn::Zero(d)), hn::Eq(first, second));
    if (!hn::AllFalse(d, more))
      for (std::size_t k = i; k < i + lanes; ++k) codes[k] = climbed(stairs, words + k);
  }
  for (; i < n; ++i) codes[i] = climbed(stairs, words + i);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
template <int pages>
std::size_t words_held(const ByteWords& table, const std::uint8_t* codes, std::size_t n,
                       std::uint16_t* halves) {
  const Halves d;
  const HeldHalves<pages> lower(table.lower.data()), upper(table.upper.data());
  const H used = hn::Set(d, static_cast<std::uint16_t>((1 << table.width) - 1));
  const H turn = hn::Iota(d, 0), pair = hn::ShiftRight<1>(turn);
  // Of a word the lower half, then the upper one, which comes behind all lower ones.
  const H first = hn::Add(pair, hn::ShiftLeft<5>(hn::And(turn, hn::Set(d, 1)))),
          second = hn::Add(first, hn::Set(d, 16));
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const H bytes = hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, Halves>(), codes + i));
    const H at = hn::And(bytes, used), low = lower[at], high = upper[at];
    const auto words = [&](H places) HWY_ATTR {
      return H{_mm512_permutex2var_epi16(low.raw, places.raw, high.raw)};
    };
    hn::StoreU(words(first), d, halves + 2 * i);
    hn::StoreU(words(second), d, halves + 2 * i + lanes);
  }
  return i;
}
#endif

void look_up_words(const ByteWords& table, const std::uint8_t* codes, std::size_t n, void* words) {
  std::size_t i = 0;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  auto* const halves = static_cast<std::uint16_t*>(words);
  i = table.width <= 6 ? words_held<1>(table, codes, n, halves)
                       : words_held<4>(table, codes, n, halves);
#endif
  for (; i < n; ++i) {
    const std::size_t at = codes[i] & ((1U << table.width) - 1);
    const std::uint32_t word = std::uint32_t{table.upper[at]} << 16 | table.lower[at];
    std::memcpy(static_cast<std::byte*>(words) + i * sizeof word, &word, sizeof word);
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
HWY_EXPORT(look_up_words);

void climb(const Stairs& stairs, const std::uint32_t* words, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(climb)(stairs, words, n, codes);
}

void look_up(const BytePairs& pairs, const void* results, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(look_up)(pairs, results, n, codes);
}

ByteWords::ByteWords(int code_width, const std::uint32_t* words) : width(code_width) {
  for (std::size_t i = 0; i < std::size_t{1} << width; ++i) {
    lower[i] = static_cast<std::uint16_t>(words[i]);
    upper[i] = static_cast<std::uint16_t>(words[i] >> 16);
  }
}

void look_up(const ByteWords& table, const std::uint8_t* codes, std::size_t n, void* words) {
  HWY_DYNAMIC_DISPATCH(look_up_words)(table, codes, n, words);
}

}  // namespace widthwise::elements
#endif
