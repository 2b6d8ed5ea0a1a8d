#include <hwy/base.h>
#include <hwy/detect_targets.h>

#include <cstring>
#include <utility>

#include "draws.hpp"
#include "kernels.hpp"

// Where AVX-512 is not to be compiled for, this is not.
#define WIDTHWISE_IFMA (HWY_ARCH_X86_64 && !(HWY_DISABLED_TARGETS & HWY_AVX3))

#if WIDTHWISE_IFMA
// GCC 12 takes the undefined operands inside its own intrinsics for ours (its bug 105593).
HWY_DIAGNOSTICS(push)
#if HWY_COMPILER_GCC_ACTUAL
HWY_DIAGNOSTICS(ignored "-Wuninitialized")
HWY_DIAGNOSTICS(ignored "-Wmaybe-uninitialized")
#endif
#include <immintrin.h>

// Highway 1.0 has no word for the 52-bit multiply-add, so these are the machine's own intrinsics,
// compiled for it whatever the rest is compiled for, and used where the machine has them.
HWY_PUSH_ATTRIBUTES("avx512f,avx512dq,avx512cd,avx512ifma")
#include "lane_numbers-inl.hpp"
#include "lane_rounding-inl.hpp"
#include "lane_window-inl.hpp"

namespace widthwise::wide {
namespace {

template <int N>
HWY_INLINE Number<N> load(const Limb* from) {
  Number<N> x;
  for (int i = 0; i < N; ++i) x.limb[i] = _mm512_loadu_si512(from + 8 * i);
  x.exponent = _mm512_loadu_si512(from + 8 * N);
  x.sign = _mm512_loadu_si512(from + 8 * (N + 1));
  return x;
}
template <int N>
HWY_INLINE void store(const Number<N>& x, Limb* to) {
  for (int i = 0; i < N; ++i) _mm512_storeu_si512(to + 8 * i, x.limb[i]);
  _mm512_storeu_si512(to + 8 * N, x.exponent);
  _mm512_storeu_si512(to + 8 * (N + 1), x.sign);
}

// Calls step(k, a, b, sum, lost), which returns the lanes that it does not serve, for every step.
template <int N, class Step>
HWY_INLINE unsigned for_each_step(const Steps& s, const Step& step) {
  Number<N> sum = load<N>(s.sum);
  V lost = _mm512_loadu_si512(s.lost);
  unsigned outside = 0;
  for (std::size_t k = 0; k < s.count; ++k)
    outside |= step(k, s.a + k * (N + 2), s.b + k * std::size_t{8 * (N + 2)}, sum, lost);
  store(sum, s.sum);
  _mm512_storeu_si512(s.lost, lost);
  return outside;
}

// Of a difference of equals.
HWY_INLINE V sign_of_zero(const RoundTo& to) {
  return all(to.rule.rounding.mode == RoundingMode::rdn ? ~Limb{0} : 0);
}

template <int N>
unsigned mac(const Chain& chain, const Steps& s) {
  const Places at(lane_digits(chain), N);
  const Rounding52 to_product(*chain.product, chain), to_sum(chain.sum, chain);
  const Drawn of_product = s.draws->of(*chain.product, s), of_sum = s.draws->of(chain.sum, s);
  const V down = sign_of_zero(chain.sum);
  return for_each_step<N>(
      s, [&](std::size_t k, const Limb* a, const Limb* b, Number<N>& sum, V& lost) {
        Number<N> product = exact_product<N>(at, a, b);
        const __mmask8 outside = round(to_product, at, of_product[k], product, lost);
        sum = exact_sum(at, sum, product, down);
        return outside | round(to_sum, at, of_sum[k], sum, lost);
      });
}

// --- One operation on many rows ------------------------------------------------------------------

// Rounds exact(i) of every row.
template <int N, class Exact>
HWY_INLINE void round_rows(const RoundTo& rounding, const Places& at, const Chain& chain, Limb* z,
                           const Rows& rows, const Exact& exact) {
  const Rounding52 to(rounding, chain);
  const Drawn drawn = rows.draws->of(rounding, rows);
  for (std::size_t i = 0; i < rows.count; ++i) {
    Number<N> x = exact(i);
    V lost = _mm512_loadu_si512(rows.lost + 8 * i);
    rows.unusual[i] |= round(to, at, drawn[i], x, lost);
    _mm512_storeu_si512(rows.lost + 8 * i, lost);
    store(x, z + i * 8 * (N + 2));
  }
}
template <int N>
void multiply(const RoundTo& to, const Chain& chain, const Limb* a, std::size_t a_next,
              const Limb* b, Limb* z, const Rows& rows) {
  const Places at(lane_digits(chain), N);
  round_rows<N>(to, at, chain, z, rows,
                [&](std::size_t i) { return exact_product<N>(at, a + i * a_next, b); });
}
template <int N, bool far>
void add(const RoundTo& to, const Chain& chain, const Limb* x, const Limb* y, bool minus, Limb* z,
         const Rows& rows) {
  const Places at(lane_digits(chain), N);
  const V turned = all(minus ? ~Limb{0} : 0), down = sign_of_zero(to);
  round_rows<N>(to, at, chain, z, rows, [&](std::size_t i) {
    Number<N> other = load<N>(y + i * 8 * (N + 2));
    other.sign = _mm512_xor_si512(other.sign, turned);
    return exact_sum<far>(at, load<N>(x + i * 8 * (N + 2)), other, down);
  });
}

// Where |x| < |y|.
template <int N>
HWY_INLINE __mmask8 is_less(const Number<N>& x, const Number<N>& y) {
  __mmask8 less = _mm512_cmplt_epi64_mask(x.exponent, y.exponent),
           level = _mm512_cmpeq_epi64_mask(x.exponent, y.exponent);
  for (int i = N; i-- > 0;) {
    less |= _mm512_mask_cmplt_epu64_mask(level, x.limb[i], y.limb[i]);
    level = _mm512_mask_cmpeq_epi64_mask(level, x.limb[i], y.limb[i]);
  }
  return less;
}
template <int N>
void sort(const Limb* x, const Limb* y, Limb* large, Limb* small, std::size_t rows) {
  constexpr std::size_t words = 8 * (N + 2);
  for (std::size_t i = 0; i < rows; ++i) {
    const __mmask8 less = is_less(load<N>(x + i * words), load<N>(y + i * words));
    for (std::size_t at = i * words; at < (i + 1) * words; at += 8) {
      const V one = _mm512_loadu_si512(x + at), other = _mm512_loadu_si512(y + at);
      _mm512_storeu_si512(large + at, _mm512_mask_mov_epi64(one, less, other));
      _mm512_storeu_si512(small + at, _mm512_mask_mov_epi64(other, less, one));
    }
  }
}

// --- Fused ---------------------------------------------------------------------------------------

// All digits of a product have room in W limbs, the leading one at its upper place.
template <int N, int W>
HWY_INLINE Number<W> whole_product(const Places& at, const Limb* a, const Limb* b) {
  V column[2 * N];
  multiply_columns<N>(a, b, column);
  carry_columns<N, 0>(column);
  const V half_past = _mm512_srli_epi64(at.past, 1);
  const __mmask8 two = _mm512_test_epi64_mask(column[W - 1], half_past);
  Number<W> z;
  for (int i = 0; i < W; ++i) {
    const V below = i > 0 ? _mm512_srli_epi64(column[i - 1], 51) : _mm512_setzero_si512();
    const V up = joined(_mm512_add_epi64(column[i], column[i]), below);
    z.limb[i] = _mm512_mask_mov_epi64(up, two, column[i]);
  }
  set_product<N>(a, b, two, z);
  z.exponent = with_exponent_of_zero(z.exponent, nonzero(z.limb[W - 1]));
  return z;
}

// Between N limbs and W, whose leading places are N - 1 limbs and so many bits apart.
struct Apart {
  V bits, rest;
  HWY_INLINE explicit Apart(int digits, int limbs) {
    const auto r = static_cast<Limb>(digits - 52 * (limbs - 1));
    bits = all(r), rest = all(52 - r);
  }
};

template <int N, int W>
HWY_INLINE Number<W> widened(const Apart& apart, const Number<N>& x) {
  Number<W> z;
  for (int i = 0; i < N - 1; ++i) z.limb[i] = _mm512_setzero_si512();
  for (int i = N - 1; i < W; ++i) {
    const int j = i - (N - 1);
    const V low = j > 0 ? _mm512_srlv_epi64(x.limb[j - 1], apart.rest) : _mm512_setzero_si512();
    z.limb[i] = j < N ? joined(_mm512_sllv_epi64(x.limb[j], apart.bits), low) : low;
  }
  z.exponent = x.exponent, z.sign = x.sign;
  return z;
}

// Jammed.
template <int N, int W>
HWY_INLINE Number<N> narrowed(const Apart& apart, const Number<W>& x) {
  V fallen = low_limb(_mm512_sllv_epi64(x.limb[N - 1], apart.rest));
  for (int i = 0; i < N - 1; ++i) fallen = either(fallen, x.limb[i]);
  Number<N> z;
  for (int j = 0; j < N; ++j) {
    z.limb[j] = _mm512_srlv_epi64(x.limb[N - 1 + j], apart.bits);
    if (N + j < W) z.limb[j] = joined(z.limb[j], _mm512_sllv_epi64(x.limb[N + j], apart.rest));
  }
  z.limb[0] = _mm512_mask_or_epi64(z.limb[0], nonzero(fallen), z.limb[0], all(1));
  z.exponent = x.exponent, z.sign = x.sign;
  return z;
}

template <int N, int W>
unsigned fma(const Chain& chain, const Steps& s) {
  const int digits = lane_digits(chain);
  const Places at(digits, N), wide(2 * digits, W);
  const Apart apart(digits, N);
  const Rounding52 to_sum(chain.sum, chain);
  const Drawn drawn = s.draws->of(chain.sum, s);
  const V down = sign_of_zero(chain.sum);
  return for_each_step<N>(
      s, [&](std::size_t k, const Limb* a, const Limb* b, Number<N>& sum, V& lost) {
        const Number<W> product = whole_product<N, W>(wide, a, b);
        sum = narrowed<N>(apart, exact_sum(wide, widened<N, W>(apart, sum), product, down));
        return round(to_sum, at, drawn[k], sum, lost);
      });
}

// --- Exact sums ----------------------------------------------------------------------------------

// The largest exponent of some products, and what was largest before.
template <int N>
HWY_INLINE V largest_exponent(const Limb* a, const Limb* b, std::size_t count, V largest) {
  for (std::size_t k = 0; k < count; ++k, a += N + 2, b += std::size_t{8 * (N + 2)}) {
    if (a[N - 1] == 0) continue;
    const __mmask8 some = nonzero(_mm512_loadu_si512(b + 8 * (N - 1)));
    const V exponent = _mm512_add_epi64(all(a[N]), _mm512_loadu_si512(b + 8 * N));
    largest = _mm512_mask_max_epi64(largest, some, largest, exponent);
  }
  return largest;
}
template <int N>
void survey(const Limb* a, const Limb* b, std::size_t count, Limb* largest) {
  const V before = _mm512_loadu_si512(largest);
  _mm512_storeu_si512(largest, largest_exponent<N>(a, b, count, before));
}
// Of the sum and the products of a block that begins here.
template <int N>
HWY_INLINE V largest_of_block(const Chain& chain, const Steps& s, const Limb* a, const Limb* b,
                              const Number<N>& sum) {
  const V least = _mm512_max_epi64(sum.exponent, all(static_cast<Limb>(chain.cut->least)));
  if (chain.surveyed()) return _mm512_max_epi64(least, _mm512_loadu_si512(s.largest));
  return largest_exponent<N>(a, b, chain.block, least);
}

template <bool cut, int W>
HWY_INLINE void add_term(Window<W>& w, const Number<W>& x, const CutAt& cut_at) {
  if constexpr (cut)
    add_cut(w, x, cut_at);
  else
    add(w, x);
}

template <bool cut, int N, int W>
unsigned exact_sums(const Chain& chain, const Steps& s) {
  const int digits = lane_digits(chain);
  const Places at(digits, N), wide(2 * digits, W), window(2 * digits + 52, W + 1);
  const Apart apart(digits, N);
  const CutAt cut_at(chain.cut.value_or(Cut{RoundingRule({}), 0, 0}), digits);
  const Rounding52 to_sum(chain.sum, chain);
  const V down = sign_of_zero(chain.sum);
  const int room = digits + below_kept - 1;  // then limb 0 is below all digits that are looked at
  Window<W> w;
  static_assert(sizeof w <= 8 * window_words(N) * sizeof(Limb));
  std::memcpy(&w, s.window, sizeof w);
  std::size_t left = chain.block - s.first % chain.block;
  const unsigned outside = for_each_step<N>(s, [&](std::size_t k, const Limb* a, const Limb* b,
                                                   Number<N>& sum, V& lost) {
    if (left == chain.block) {
      if constexpr (cut)
        clear(w, _mm512_add_epi64(largest_of_block(chain, s, a, b, sum), cut_at.above));
      else
        clear(w, _mm512_add_epi64(sum.exponent, all(headroom)));
      add_term<cut>(w, widened<N, W>(apart, sum), cut_at);
    }
    add_term<cut>(w, whole_product<N, W>(wide, a, b), cut_at);
    if (--left != 0) return __mmask8{0};
    left = chain.block;
    const Total<W> z = total(window, w, room, down);
    sum = narrowed<N>(apart, z.x);
    Steps of_block = s;  // its first one, whose random bits the rounding has
    of_block.first += k + 1 - chain.block, of_block.count = 1;
    __mmask8 outside = z.unsure | round(to_sum, at, s.draws->of(chain.sum, of_block)[0], sum, lost);
    if constexpr (cut)  // its field would have a vote that its leading one has not
      outside |= below_first(to_sum, nonzero(sum.limb[N - 1]), sum.exponent);
    return outside;
  });
  carry(w);
  std::memcpy(s.window, &w, sizeof w);
  return outside;
}

// Sums of more limbs than four have no registers to spare.
template <int N>
constexpr Kernels kernels_of{&mac<N>,        &survey<N>,        &multiply<N>,
                             &add<N, false>, &add<N, (N <= 4)>, &sort<N>};
template <std::size_t... i>
Kernels choose(int limbs, std::index_sequence<i...>) {
  static constexpr Kernels kernels[] = {kernels_of<static_cast<int>(i) + 1>...};
  return kernels[limbs - 1];
}

// Products of numbers of N limbs take 2 N or one less.
enum class Fused { multiply_add, exact_sum, cut_sum };
template <Fused what, int N, int W>
constexpr Kernel fused = what == Fused::multiply_add ? &fma<N, W>
                         : what == Fused::exact_sum  ? &exact_sums<false, N, W>
                                                     : &exact_sums<true, N, W>;
template <Fused what, std::size_t... i>
Kernel choose_fused(int limbs, int product_limbs, std::index_sequence<i...>) {
  static constexpr Kernel odd[] = {fused<what, static_cast<int>(i) + 1, 2 * i + 1>...};
  static constexpr Kernel even[] = {fused<what, static_cast<int>(i) + 1, 2 * i + 2>...};
  return (product_limbs % 2 ? odd : even)[limbs - 1];
}

bool has_ifma() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512ifma");
}

}  // namespace
}  // namespace widthwise::wide
HWY_POP_ATTRIBUTES
HWY_DIAGNOSTICS(pop)
#endif

namespace widthwise::wide {

Kernels lane_kernels([[maybe_unused]] int limbs) {
#if WIDTHWISE_IFMA
  constexpr std::size_t most = (most_digits + below_kept + 51) / 52;
  if (has_ifma()) return choose(limbs, std::make_index_sequence<most>());
#endif
  return {};
}

Kernel fused_lane_kernel([[maybe_unused]] int limbs, [[maybe_unused]] const Chain& chain) {
#if WIDTHWISE_IFMA
  const int product_limbs = (2 * lane_digits(chain) + 51) / 52;
  constexpr std::make_index_sequence<most_fused_limbs> all;
  if (!has_ifma() || limbs > most_fused_limbs) return nullptr;
  if (chain.cut) return choose_fused<Fused::cut_sum>(limbs, product_limbs, all);
  if (chain.exact_sum) return choose_fused<Fused::exact_sum>(limbs, product_limbs, all);
  return choose_fused<Fused::multiply_add>(limbs, product_limbs, all);
#else
  return nullptr;
#endif
}

}  // namespace widthwise::wide
