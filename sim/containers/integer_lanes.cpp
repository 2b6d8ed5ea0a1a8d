#include "integer_lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/containers/integer_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::integer_product::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::CappedTag<std::int32_t, 16>;
using I = hn::Vec<Ints>;

// The sum of both products of each lane's pairs, modulo 2^32.
HWY_INLINE I pairs_product(I a, I b) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  return I{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
  return I{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
  return I{_mm_madd_epi16(a.raw, b.raw)};
#else
  const I high = hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b));
  const auto low = [](I x) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(x)); };
  return hn::Add(high, hn::Mul(low(a), low(b)));
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
#define WIDTHWISE_HAS_QUADS 1
// AVX-512 VNNI's, which Highway's targets for AVX-512 do without.
HWY_INLINE I quads_added(I sum, I a, I b) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}
#else
#define WIDTHWISE_HAS_QUADS 0
#endif

// What the products of each lane's words add, modulo 2^32.
template <bool quads>
HWY_INLINE I added(I sum, I a, I b) {
#if WIDTHWISE_HAS_QUADS
  if constexpr (quads) return quads_added(sum, a, b);
#endif
  return hn::Add(sum, pairs_product(a, b));
}

template <bool quads, std::size_t rows, std::size_t vectors>
HWY_INLINE void multiply(const std::int32_t* a, std::size_t a_stride, const std::int32_t* panel,
                         std::size_t words, std::int32_t* c) {
  const Ints d;
  const std::size_t width = hn::Lanes(d);
  I sum[rows][vectors];
  for (auto& of_row : sum)
    for (I& s : of_row) s = hn::Zero(d);
  for (std::size_t k = 0; k < words; ++k) {
    I b[vectors];
    for (std::size_t v = 0; v < vectors; ++v)
      b[v] = hn::LoadU(d, panel + k * panel_columns + v * width);
    for (std::size_t r = 0; r < rows; ++r) {
      const I of_a = hn::Set(d, a[r * a_stride + k]);
      for (std::size_t v = 0; v < vectors; ++v) sum[r][v] = added<quads>(sum[r][v], of_a, b[v]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t v = 0; v < vectors; ++v)
      hn::StoreU(sum[r][v], d, c + r * panel_columns + v * width);
}

template <bool quads>
void tile(const std::int32_t* a, std::size_t a_stride, std::size_t rows, const std::int32_t* panel,
          std::size_t words, std::int32_t* c) {
  constexpr std::size_t vectors = 2;
  const std::size_t step = vectors * hn::Lanes(Ints());
  for (std::size_t at = 0; at < panel_columns; at += step) {
    if (rows == tile_rows) {
      multiply<quads, tile_rows, vectors>(a, a_stride, panel + at, words, c + at);
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r)
      multiply<quads, 1, vectors>(a + r * a_stride, a_stride, panel + at, words,
                                  c + r * panel_columns + at);
  }
}

Tile chosen_tile(bool bytes) {
#if WIDTHWISE_HAS_QUADS
  if (bytes && __builtin_cpu_supports("avx512vnni")) return {4, &tile<true>};
#endif
  static_cast<void>(bytes);
  return {2, &tile<false>};
}
#undef WIDTHWISE_HAS_QUADS

}  // namespace widthwise::integer_product::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::integer_product {

HWY_EXPORT(chosen_tile);
Tile tile_kernel(bool bytes) { return HWY_DYNAMIC_DISPATCH(chosen_tile)(bytes); }

}  // namespace widthwise::integer_product
#endif
