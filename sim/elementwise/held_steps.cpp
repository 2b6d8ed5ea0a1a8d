#include "held_steps.hpp"

#include <hwy/base.h>
#include <hwy/detect_targets.h>

#include <algorithm>
#include <array>

// Where AVX-512 is not to be compiled for, this is not.
#define WIDTHWISE_VBMI (HWY_ARCH_X86_64 && !(HWY_DISABLED_TARGETS & HWY_AVX3))

#if WIDTHWISE_VBMI
// GCC 12 takes the undefined operands inside its own intrinsics for ours (its bug 105593).
HWY_DIAGNOSTICS(push)
#if HWY_COMPILER_GCC_ACTUAL
HWY_DIAGNOSTICS(ignored "-Wuninitialized")
HWY_DIAGNOSTICS(ignored "-Wmaybe-uninitialized")
#endif
#include <immintrin.h>

// Highway 1.0 has this instruction set as AVX3_DL, whose TruncateTo of words to bytes is wrong.
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vbmi")

namespace widthwise::elements {
namespace {

using V = __m512i;  // 64 bytes, or 32 halves

HWY_INLINE V halves(int x) { return _mm512_set1_epi16(static_cast<short>(x)); }

// A table of 64 bytes a page, up to four; of a place as many lower bits count as that has.
template <int pages>
class Bytes {
 public:
  HWY_INLINE explicit Bytes(const std::uint8_t* entries) {
    for (int i = 0; i < pages; ++i) part_[i] = _mm512_load_si512(entries + 64 * i);
  }
  HWY_INLINE V operator[](V at) const {
    if constexpr (pages == 1) return _mm512_permutexvar_epi8(at, part_[0]);
    if constexpr (pages == 2) return of_two(0, at);
    if constexpr (pages == 4)
      return _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), of_two(0, at), of_two(2, at));
  }

 private:
  HWY_INLINE V of_two(int i, V at) const {
    return _mm512_permutex2var_epi8(part_[i], at, part_[i + 1]);
  }
  V part_[pages];
};

// Every other place.
template <class Item>
constexpr auto evens() {
  std::array<Item, 64 / sizeof(Item)> places{};
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<Item>(2 * i);
  return places;
}
alignas(64) constexpr auto even_halves = evens<std::uint16_t>();
alignas(64) constexpr auto even_bytes = evens<std::uint8_t>();

// Lower and upper parts of the items of two vectors.
struct Parts {
  V lower, upper;
};
HWY_INLINE Parts halves_of(V x, V y) {
  const V even = _mm512_load_si512(even_halves.data()), odd = _mm512_add_epi16(even, halves(1));
  return {_mm512_permutex2var_epi16(x, even, y), _mm512_permutex2var_epi16(x, odd, y)};
}
HWY_INLINE Parts bytes_of(V x, V y) {
  const V even = _mm512_load_si512(even_bytes.data()),
          odd = _mm512_add_epi8(even, _mm512_set1_epi8(1));
  return {_mm512_permutex2var_epi8(x, even, y), _mm512_permutex2var_epi8(x, odd, y)};
}

// Upper halves of words without their sign.
HWY_INLINE V size_of(V half) { return _mm512_and_si512(half, halves(0x7fff)); }

// Of an upper half its bin.
template <int pages>
class Cells {
 public:
  HWY_INLINE explicit Cells(const HeldSteps& s) : low_(halves(s.low)), high_(halves(s.high)) {
    for (int i = 0; i < count; ++i) part_[i] = _mm512_load_si512(s.cells.data() + 32 * i);
  }
  HWY_INLINE V operator[](V half) const {
    const V size = size_of(half);
    const V inside = _mm512_sub_epi16(_mm512_min_epu16(_mm512_max_epu16(size, low_), high_), low_);
    const V side = _mm512_and_si512(_mm512_srli_epi16(half, pages > 1 ? 9 : 10),
                                    halves(HeldSteps::exponents(pages)));
    const V cell = at(_mm512_or_si512(_mm512_srli_epi16(inside, 7), side));
    const V left_out = _mm512_and_si512(cell, halves(15));
    return _mm512_add_epi16(_mm512_srli_epi16(cell, 4), _mm512_srlv_epi16(inside, left_out));
  }

 private:
  static constexpr int count = pages > 1 ? 4 : 2;
  HWY_INLINE V at(V place) const {
    const V low = _mm512_permutex2var_epi16(part_[0], place, part_[1]);
    if constexpr (pages == 1) return low;
    const V high = _mm512_permutex2var_epi16(part_[2 % count], place, part_[3 % count]);
    return _mm512_mask_blend_epi16(_mm512_test_epi16_mask(place, halves(64)), low, high);
  }
  V part_[count], low_, high_;
};

// The step that a bin names: two tables of bins where one page of steps is not enough.
template <int pages>
class Bins {
 public:
  HWY_INLINE explicit Bins(const std::uint8_t* bins) : first_(bins), second_(bins + 256) {}
  HWY_INLINE V operator[](Parts bin) const {
    if constexpr (pages == 1) return first_[bin.lower];
    const auto second = _mm512_test_epi8_mask(bin.upper, _mm512_set1_epi8(1));
    return _mm512_mask_blend_epi8(second, first_[bin.lower], second_[bin.lower]);
  }

 private:
  Bytes<pages == 1 ? 2 : 4> first_, second_;
};

// Which of 64 numbers, in bytes that begin with the lowest, lie below others.
using Below = __mmask64;
HWY_INLINE Below or_above(Below below, V part, V other) {
  return _mm512_cmplt_epu8_mask(part, other) | _mm512_mask_cmpeq_epu8_mask(below, part, other);
}

HWY_INLINE V without_sign(V upper_bytes) {
  return _mm512_and_si512(upper_bytes, _mm512_set1_epi8(0x7f));
}

// Infinity or NaN, by such halves.
HWY_INLINE bool has_no_number(V size) { return _mm512_cmpge_epu16_mask(size, halves(0x7f80)) != 0; }

// The codes of infinities and NaN, which have no step.
void climb_no_numbers(const Stairs& stairs, const std::uint32_t* words, std::size_t n,
                      std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i)
    if ((words[i] & 0x7fffffff) >= 0x7f800000) codes[i] = climbed(stairs, words + i);
}

// 64 words' halves.
struct Words {
  Parts x, y;
  HWY_INLINE explicit Words(const std::uint32_t* words)
      : x(halves_of(at(words, 0), at(words, 1))), y(halves_of(at(words, 2), at(words, 3))) {}

 private:
  static HWY_INLINE V at(const std::uint32_t* words, int part) {
    return _mm512_loadu_si512(words + 16 * part);
  }
};

// So many times 64 words have their steps found before any is climbed: the processor has more of
// them under way where what each waits for is short.
constexpr std::size_t groups = 16;

// Delivers the largest upper halves without their sign, too.
template <int pages>
HWY_INLINE V find_steps(const HeldSteps& s, const std::uint32_t* words, std::size_t count,
                        V* step) {
  const Cells<pages> bin(s);
  const Bins<pages> steps(s.bins.data());
  V largest = _mm512_setzero_si512();
  for (std::size_t i = 0; i < count; ++i) {
    const Words w(words + 64 * i);
    largest = _mm512_max_epu16(largest, _mm512_max_epu16(size_of(w.x.upper), size_of(w.y.upper)));
    step[i] = steps[bytes_of(bin[w.x.upper], bin[w.y.upper])];
  }
  return largest;
}

template <int pages>
HWY_INLINE void climb_steps(const HeldSteps& s, const std::uint32_t* words, std::size_t count,
                            const V* step_of, std::uint8_t* codes) {
  const Bytes<pages> first(s.word[0].data()), second(s.word[1].data()), third(s.word[2].data()),
      fourth(s.word[3].data()), before(s.before.data()), behind(s.behind.data());
  for (std::size_t i = 0; i < count; ++i) {
    const Words w(words + 64 * i);
    const V step = step_of[i];
    const Parts low = bytes_of(w.x.lower, w.y.lower), high = bytes_of(w.x.upper, w.y.upper);
    Below below = _mm512_cmplt_epu8_mask(low.lower, first[step]);
    below = or_above(below, low.upper, second[step]);
    below = or_above(below, high.lower, third[step]);
    below = or_above(below, without_sign(high.upper), fourth[step]);
    const V code = _mm512_mask_blend_epi8(below, behind[step], before[step]);
    _mm512_storeu_si512(codes + 64 * i, code);
  }
}

template <int pages>
std::size_t climb_vectors(const Stairs& stairs, const std::uint32_t* words, std::size_t n,
                          std::uint8_t* codes) {
  std::size_t i = 0;
  for (std::size_t count = 0; (count = std::min((n - i) / 64, groups)) > 0; i += 64 * count) {
    V step[groups];
    const V largest = find_steps<pages>(stairs.held, words + i, count, step);
    climb_steps<pages>(stairs.held, words + i, count, step, codes + i);
    if (has_no_number(largest)) climb_no_numbers(stairs, words + i, 64 * count, codes + i);
  }
  return i;
}

bool has_vbmi() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vbmi");
}

}  // namespace
}  // namespace widthwise::elements
HWY_POP_ATTRIBUTES
HWY_DIAGNOSTICS(pop)
#endif

namespace widthwise::elements {

std::size_t climb_held([[maybe_unused]] const Stairs& stairs,
                       [[maybe_unused]] const std::uint32_t* words, [[maybe_unused]] std::size_t n,
                       [[maybe_unused]] std::uint8_t* codes) {
#if WIDTHWISE_VBMI
  if (stairs.held.pages == 0 || !has_vbmi()) return 0;
  return stairs.held.pages == 1 ? climb_vectors<1>(stairs, words, n, codes)
                                : climb_vectors<4>(stairs, words, n, codes);
#else
  return 0;
#endif
}

}  // namespace widthwise::elements
