#include "half_kernels.hpp"

#include <hwy/base.h>

#include <type_traits>

#include "sim/engine/tile_rows.hpp"

// Clang 14 has the intrinsics only where everything is compiled for such a machine.
#if HWY_ARCH_X86_64 && HWY_COMPILER_GCC_ACTUAL >= 1200
#include <immintrin.h>

// Highway 1.0 has no word for arithmetic in binary16, so these are the machine's own intrinsics,
// compiled for it whatever the rest is compiled for, and used where the machine has them.
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512fp16")
namespace widthwise::lanes {
namespace {

// By rounding modes of its own, as the machine numbers them.
template <int to_sum>
struct Fused {
  static HWY_INLINE __m512h step(__m512h a, __m512h b, __m512h sum) {
    return _mm512_fmadd_round_ph(a, b, sum, to_sum | _MM_FROUND_NO_EXC);
  }
};
template <int to_product, int to_sum>
struct Apart {
  static HWY_INLINE __m512h step(__m512h a, __m512h b, __m512h sum) {
    const __m512h product = _mm512_mul_round_ph(a, b, to_product | _MM_FROUND_NO_EXC);
    return _mm512_add_round_ph(sum, product, to_sum | _MM_FROUND_NO_EXC);
  }
};

// All sums of the tile stay in registers.
template <class Step>
void tile(const HalfTile& t) {
  constexpr std::size_t lanes = 32, vectors = half_columns / lanes;
  __m512h sum[tile_rows][vectors];
  for (std::size_t r = 0; r < tile_rows; ++r)
    for (std::size_t v = 0; v < vectors; ++v)
      sum[r][v] = _mm512_loadu_ph(t.sum + r * half_columns + v * lanes);
  for (std::size_t i = 0; i < t.k; ++i) {
    __m512h b[vectors];
    for (std::size_t v = 0; v < vectors; ++v)
      b[v] = _mm512_loadu_ph(t.b + i * half_columns + v * lanes);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      const __m512h a = _mm512_castsi512_ph(_mm512_set1_epi32(static_cast<int>(t.a[r * t.k + i])));
      for (std::size_t v = 0; v < vectors; ++v) sum[r][v] = Step::step(a, b[v], sum[r][v]);
    }
  }
  for (std::size_t r = 0; r < tile_rows; ++r)
    for (std::size_t v = 0; v < vectors; ++v)
      _mm512_storeu_ph(t.sum + r * half_columns + v * lanes, sum[r][v]);
}

// f(std::integral_constant) of the machine's number for a mode.
template <class F>
HalfKernel with_mode(RoundingMode mode, const F& f) {
  switch (mode) {
    case RoundingMode::rdn: return f(std::integral_constant<int, _MM_FROUND_TO_NEG_INF>());
    case RoundingMode::rup: return f(std::integral_constant<int, _MM_FROUND_TO_POS_INF>());
    case RoundingMode::rtz: return f(std::integral_constant<int, _MM_FROUND_TO_ZERO>());
    default: return f(std::integral_constant<int, _MM_FROUND_TO_NEAREST_INT>());
  }
}

}  // namespace
}  // namespace widthwise::lanes
HWY_POP_ATTRIBUTES

namespace widthwise::lanes {

HalfKernel half_kernel(const HalfPlan& plan) {
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512fp16")) return nullptr;
  return with_mode(plan.sum, [&](auto sum) -> HalfKernel {
    if (!plan.product) return &tile<Fused<sum()>>;
    return with_mode(*plan.product,
                     [&](auto product) -> HalfKernel { return &tile<Apart<product(), sum()>>; });
  });
}

}  // namespace widthwise::lanes

#else

namespace widthwise::lanes {

HalfKernel half_kernel(const HalfPlan&) { return nullptr; }

}  // namespace widthwise::lanes

#endif
