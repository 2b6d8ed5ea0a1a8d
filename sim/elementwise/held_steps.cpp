#include "held_steps.hpp"

#include <hwy/base.h>
#include <hwy/detect_targets.h>

#include <algorithm>
#include <array>
#include <type_traits>

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

HWY_INLINE V bytes(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
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

// Of 64 numbers the one whose byte lies here where four bytes of each are put together in lanes of
// 16: | lane | vector | place | of bytes are | vector | lane | place | of words.
constexpr int number_at(int place) { return place % 16 / 4 * 16 + place / 16 * 4 + place % 4; }

template <class Item, class Of>
constexpr auto places(Of of) {
  std::array<Item, 64 / sizeof(Item)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Item>(of(static_cast<int>(i)));
  return all;
}
alignas(64) constexpr auto odd_halves = places<std::uint16_t>([](int i) { return 2 * i + 1; });
alignas(64) constexpr auto lower_bytes = places<std::uint8_t>([](int i) {
  return 2 * number_at(i);
});
alignas(64) constexpr auto upper_bytes = places<std::uint8_t>([](int i) {
  return 2 * number_at(i) + 1;
});
alignas(64) constexpr auto fours_in_turn = places<std::uint32_t>([](int i) {
  return number_at(4 * i) / 4;
});

HWY_INLINE V vector_at(const void* from) { return _mm512_loadu_si512(from); }
HWY_INLINE V upper_halves(const std::uint32_t* words) {
  return _mm512_permutex2var_epi16(vector_at(words), vector_at(odd_halves.data()),
                                   vector_at(words + 16));
}
// Of 64 halves, in two vectors, the lower or the upper bytes.
HWY_INLINE V bytes_of(V x, const std::array<std::uint8_t, 64>& which, V y) {
  return _mm512_permutex2var_epi8(x, vector_at(which.data()), y);
}

// Upper halves of words without their sign.
HWY_INLINE V size_of(V half) { return _mm512_and_si512(half, halves(0x7fff)); }

// Of an upper half its bin, in the lower byte.
template <int pages>
class Cells {
 public:
  HWY_INLINE Cells(const HeldSteps& s, int side) : low_(halves(s.low)), high_(halves(s.high)) {
    const auto& cells = s.sides[static_cast<std::size_t>(side)].cells;
    first_ = _mm512_load_si512(cells.data());
    second_ = _mm512_load_si512(cells.data() + 32);
  }
  HWY_INLINE V operator[](V half) const {
    const V size = _mm512_min_epu16(_mm512_max_epu16(size_of(half), low_), high_);
    const V inside = _mm512_sub_epi16(size, low_);
    const V cell = at(_mm512_srli_epi16(inside, 7));
    const V left_out = _mm512_and_si512(cell, halves(15));
    return _mm512_add_epi16(_mm512_srli_epi16(cell, 4), _mm512_srlv_epi16(inside, left_out));
  }

 private:
  HWY_INLINE V at(V place) const {
    if constexpr (pages == 1) return _mm512_permutexvar_epi16(place, first_);
    return _mm512_permutex2var_epi16(first_, place, second_);
  }
  V low_, high_, first_, second_;
};

// Of bytes whose highest bit is a sign, what each side of zero has in its table.
template <int pages>
class BySign {
 public:
  HWY_INLINE BySign(const std::uint8_t* above, const std::uint8_t* below)
      : above_(above), below_(below) {}
  HWY_INLINE V operator()(V signs, V at) const {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(signs), above_[at], below_[at]);
  }
  HWY_INLINE V operator[](V step) const { return (*this)(step, step); }

 private:
  Bytes<pages> above_, below_;
};

// The step of each of 64 upper halves, without signs: of both sides of zero, or of each.
template <int pages>
class SharedSteps {
 public:
  HWY_INLINE explicit SharedSteps(const HeldSteps& s)
      : bin_(s, 0), steps_(s.sides[0].bins.data()) {}
  HWY_INLINE V at(V x, V y, V) const { return steps_[bytes_of(bin_[x], lower_bytes, bin_[y])]; }

 private:
  Cells<pages> bin_;
  Bytes<2 * pages> steps_;
};
template <int pages>
class StepsApart {
 public:
  HWY_INLINE explicit StepsApart(const HeldSteps& s)
      : above_(s, 0), below_(s, 1), steps_(s.sides[0].bins.data(), s.sides[1].bins.data()) {}
  HWY_INLINE V at(V x, V y, V signs) const {
    return steps_(signs, bytes_of(bin(x), lower_bytes, bin(y)));
  }

 private:
  HWY_INLINE V bin(V half) const {
    return _mm512_mask_blend_epi16(_mm512_movepi16_mask(half), above_[half], below_[half]);
  }
  Cells<pages> above_, below_;
  BySign<2 * pages> steps_;
};

// Upper halves without their sign: the largest and the least of some words.
struct Ends {
  V largest, least;
};

// Infinities, NaN and, where it has a step of its own, zero go word by word.
HWY_INLINE bool has_others(const HeldSteps& s, const Ends& ends) {
  return _mm512_cmpge_epu16_mask(ends.largest, halves(0x7f80)) != 0 ||
         (s.zero_apart && _mm512_testn_epi16_mask(ends.least, ends.least) != 0);
}
void climb_others(const Stairs& stairs, const std::uint32_t* words, std::size_t n,
                  std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t size = words[i] & 0x7fffffff;
    if (size >= 0x7f800000 || size == 0) codes[i] = climbed(stairs, words + i);
  }
}

// The words whose bytes these are, the lowest first, 16 to a vector.
struct Words {
  V part[4];
  HWY_INLINE Words(V first, V second, V third, V fourth) {
    const V low = _mm512_unpacklo_epi8(first, second), high = _mm512_unpackhi_epi8(first, second),
            upper_low = _mm512_unpacklo_epi8(third, fourth),
            upper_high = _mm512_unpackhi_epi8(third, fourth);
    part[0] = _mm512_unpacklo_epi16(low, upper_low);
    part[1] = _mm512_unpackhi_epi16(low, upper_low);
    part[2] = _mm512_unpacklo_epi16(high, upper_high);
    part[3] = _mm512_unpackhi_epi16(high, upper_high);
  }
};

// By its sign, which of 16 numbers lie nearer to zero than their steps.
HWY_INLINE V past(const std::uint32_t* words, V steps) {
  return _mm512_sub_epi32(_mm512_and_si512(vector_at(words), _mm512_set1_epi32(0x7fffffff)), steps);
}
HWY_INLINE __mmask64 nearer(const std::uint32_t* words, const Words& steps) {
  const V low = _mm512_packs_epi32(past(words, steps.part[0]), past(words + 16, steps.part[1])),
          high =
              _mm512_packs_epi32(past(words + 32, steps.part[2]), past(words + 48, steps.part[3]));
  return _mm512_movepi8_mask(_mm512_packs_epi16(low, high));
}

// So many times 64 words have their steps found before any is climbed: the processor has more of
// them under way where what each waits for is short.
constexpr std::size_t groups = 16;

// Of a step's byte the highest bit is its number's sign.
template <int pages, bool shared>
HWY_INLINE Ends find_steps(const HeldSteps& s, const std::uint32_t* words, std::size_t count,
                           V* step) {
  const std::conditional_t<shared, SharedSteps<pages>, StepsApart<pages>> steps(s);
  Ends ends{_mm512_setzero_si512(), halves(0x7fff)};
  for (std::size_t i = 0; i < count; ++i) {
    const V x = upper_halves(words + 64 * i), y = upper_halves(words + 64 * i + 32);
    ends.largest = _mm512_max_epu16(ends.largest, _mm512_max_epu16(size_of(x), size_of(y)));
    ends.least = _mm512_min_epu16(ends.least, _mm512_min_epu16(size_of(x), size_of(y)));
    const V signs = _mm512_and_si512(bytes_of(x, upper_bytes, y), bytes(0x80));
    step[i] = _mm512_or_si512(steps.at(x, y, signs), signs);
  }
  return ends;
}

template <int pages, bool shared>
HWY_INLINE void climb_steps(const HeldSteps& s, const std::uint32_t* words, std::size_t count,
                            const V* steps, std::uint8_t* codes) {
  const auto &above = s.sides[0], &below = s.sides[1];
  const auto word = [&](std::size_t k) {
    if constexpr (shared)
      return Bytes<pages>(above.word[k].data());
    else
      return BySign<pages>(above.word[k].data(), below.word[k].data());
  };
  const auto first = word(0), second = word(1), third = word(2), fourth = word(3);
  const auto nearer_than = [&](V step, std::size_t i) {
    return nearer(words + 64 * i, Words(first[step], second[step], third[step], fourth[step]));
  };
  const V last_above = bytes(above.last), last_below = bytes(below.last | 0x80);
  const BySign<pages> before(above.before.data(), below.before.data()),
      behind(above.behind.data(), below.behind.data());
  const V in_turn = vector_at(fours_in_turn.data());
  for (std::size_t i = 0; i < count; ++i) {
    V step = steps[i];
    const V last = _mm512_mask_blend_epi8(_mm512_movepi8_mask(step), last_above, last_below);
    for (int more = 1; more < s.in_a_bin; ++more)
      step =
          _mm512_mask_min_epu8(step, ~nearer_than(step, i), _mm512_adds_epu8(step, bytes(1)), last);
    const V code = _mm512_mask_blend_epi8(nearer_than(step, i), behind[step], before[step]);
    _mm512_storeu_si512(codes + 64 * i, _mm512_permutexvar_epi32(in_turn, code));
  }
}

template <int pages, bool shared>
std::size_t climb_vectors(const Stairs& stairs, const std::uint32_t* words, std::size_t n,
                          std::uint8_t* codes) {
  std::size_t i = 0;
  for (std::size_t count = 0; (count = std::min((n - i) / 64, groups)) > 0; i += 64 * count) {
    V step[groups];
    const Ends ends = find_steps<pages, shared>(stairs.held, words + i, count, step);
    climb_steps<pages, shared>(stairs.held, words + i, count, step, codes + i);
    if (has_others(stairs.held, ends)) climb_others(stairs, words + i, 64 * count, codes + i);
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
  const HeldSteps& s = stairs.held;
  if (s.pages == 0 || !has_vbmi()) return 0;
  const auto way = !s.shared      ? &climb_vectors<2, false>
                   : s.pages == 1 ? &climb_vectors<1, true>
                                  : &climb_vectors<2, true>;
  return way(stairs, words, n, codes);
#else
  return 0;
#endif
}

}  // namespace widthwise::elements
