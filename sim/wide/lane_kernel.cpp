#include <hwy/base.h>

#include <bit>
#include <utility>

#include "kernels.hpp"

#if HWY_ARCH_X86_64
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
namespace widthwise::wide {
namespace {

using V = __m512i;  // a word of eight numbers

constexpr Limb limb_mask = (Limb{1} << 52) - 1;

HWY_INLINE V all(Limb x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
HWY_INLINE V low_limb(V x) { return _mm512_and_si512(x, all(limb_mask)); }
HWY_INLINE V either(V x, V y) { return _mm512_or_si512(x, y); }
// The low limb of x | y.
HWY_INLINE V joined(V x, V y) { return _mm512_ternarylogic_epi64(x, y, all(limb_mask), 0xa8); }
HWY_INLINE __mmask8 nonzero(V x) { return _mm512_test_epi64_mask(x, x); }
HWY_INLINE V with_exponent_of_zero(V exponent, __mmask8 some) {
  return _mm512_mask_mov_epi64(all(static_cast<Limb>(zero_exponent)), some, exponent);
}
HWY_INLINE __mmask8 lanes_of(V sign) { return _mm512_movepi64_mask(sign); }

template <int N>
struct Number {
  V limb[N], exponent, sign;
};

// Where digits stand: the leading one at bit `top` of the highest limb.
struct Places {
  V top, up_to_limb;                  // top, and 52 - top
  V past;                             // the bit above the leading one
  V head, head_next, head_next_down;  // shifts that bring it to bit 63

  HWY_INLINE explicit Places(int precision, int limbs) {
    const auto t = static_cast<Limb>(precision + below_kept - 1 - 52 * (limbs - 1));
    const Limb up = 62 - t, none = 64;
    top = all(t), up_to_limb = all(52 - t);
    past = all(Limb{2} << t);
    head = all(up);
    head_next = all(up >= 52 ? up - 52 : none);
    head_next_down = all(up >= 52 ? none : 52 - up);
  }
};

// One of a step's roundings, in every lane.
struct Rounding52 {
  V first, span;
  V increments;  // added to the digits below the kept ones: at 0, 1 of a positive even, odd number,
                 // at 6, 7 of a negative one
  int short_by;  // digits less than the most

  HWY_INLINE Rounding52(const RoundTo& to, int most)
      : first(all(static_cast<Limb>(to.first))), span(all(to.span)), short_by(most - to.precision) {
    const auto increment = [&](bool negative, bool odd) {
      const auto away = [&](bool guard, bool sticky) {
        return goes_away(to.rule.rounding.mode, negative, odd, guard, sticky);
      };
      return away(false, true) ? 7 : away(true, false) ? 4 : away(true, true) ? 3 : 0;
    };
    increments = _mm512_setr_epi64(increment(false, false), increment(false, true), 0, 0, 0, 0,
                                   increment(true, false), increment(true, true));
  }
};

// Adds `rows` limbs of a times all of b to the columns from there on.
template <int rows, int N>
HWY_INLINE void multiply_rows(const Limb* a, const Limb* b, V* column) {
  V factor[rows], window[rows + 1];
  for (int i = 0; i < rows; ++i) factor[i] = all(a[i]), window[i] = column[i];
  for (int j = 0; j < N; ++j) {
    const V other = _mm512_loadu_si512(b + 8 * j);
    window[rows] = column[j + rows];
    for (int i = 0; i < rows; ++i) {
      window[i] = _mm512_madd52lo_epu64(window[i], factor[i], other);
      window[i + 1] = _mm512_madd52hi_epu64(window[i + 1], factor[i], other);
    }
    column[j] = window[0];
    for (int i = 0; i < rows; ++i) window[i] = window[i + 1];
  }
  for (int i = 0; i < rows; ++i) column[N + i] = window[i];
}

// Columns of 52 bits and more become limbs. Returns what fell below the upper ones, of which there
// are all but so many.
template <int N, int dropped>
HWY_INLINE V carry_columns(V* column) {
  V fallen = _mm512_setzero_si512();
  for (int i = 0; i < 2 * N - 1; ++i) {
    column[i + 1] = _mm512_add_epi64(column[i + 1], _mm512_srli_epi64(column[i], 52));
    if (i < dropped)
      fallen = either(fallen, column[i]);
    else
      column[i] = low_limb(column[i]);
  }
  return low_limb(fallen);
}

template <int N>
HWY_INLINE void multiply_columns(const Limb* a, const Limb* b, V* column) {
  for (int i = 0; i < 2 * N; ++i) column[i] = _mm512_setzero_si512();
  int row = 0;
  for (; row + 4 <= N; row += 4) multiply_rows<4, N>(a + row, b, column + row);
  if constexpr (N % 4 != 0) multiply_rows<N % 4, N>(a + row, b, column + row);
}

// Exponent and sign of a product, one more where it has its leading one above.
template <int N, int W>
HWY_INLINE void set_product(const Limb* a, const Limb* b, __mmask8 two, Number<W>& z) {
  const V sum = _mm512_add_epi64(all(a[N]), _mm512_loadu_si512(b + 8 * N));
  z.exponent = _mm512_mask_add_epi64(sum, two, sum, all(1));
  z.sign = _mm512_xor_si512(all(a[N + 1]), _mm512_loadu_si512(b + 8 * (N + 1)));
}

// Its N upper limbs, jammed.
template <int N>
HWY_INLINE Number<N> exact_product(const Places& at, const Limb* a, const Limb* b) {
  V column[2 * N];
  multiply_columns<N>(a, b, column);
  V fallen = carry_columns<N, N - 1>(column);

  // It has its leading one at twice the factors' place, or one above.
  const V head = either(_mm512_srlv_epi64(column[2 * N - 2], at.top),
                        _mm512_sllv_epi64(column[2 * N - 1], at.up_to_limb));
  const __mmask8 two = _mm512_test_epi64_mask(head, at.past);
  const V one = all(1), down = _mm512_mask_add_epi64(at.top, two, at.top, one),
          up = _mm512_sub_epi64(all(52), down);
  Number<N> z;
  for (int i = 0; i < N; ++i)
    z.limb[i] =
        joined(_mm512_srlv_epi64(column[N - 1 + i], down), _mm512_sllv_epi64(column[N + i], up));
  fallen = either(fallen, _mm512_sllv_epi64(column[N - 1], _mm512_sub_epi64(all(64), down)));
  z.limb[0] = _mm512_mask_or_epi64(z.limb[0], nonzero(fallen), z.limb[0], one);
  set_product<N>(a, b, two, z);
  return z;
}

// What is aligned, how far it still has to go down, and what fell off.
template <int N>
struct Aligning {
  Number<N> x;
  V apart, fallen;
};

// By whole limbs, where it has to go by more than one. Here and below, what is rare is out of line
// and takes numbers by value: what has an address is not held in registers.
template <int N>
HWY_NOINLINE Aligning<N> skip_limbs(Aligning<N> z) {
  constexpr int most = std::bit_ceil(static_cast<unsigned>(N) + 1) - 1;
  z.apart = _mm512_min_epu64(z.apart, all(52 * most + 51));
  for (int skip = (most + 1) / 2; skip > 0; skip /= 2) {
    const V whole = all(static_cast<Limb>(52 * skip));
    const __mmask8 far = _mm512_cmpge_epu64_mask(z.apart, whole);
    z.apart = _mm512_mask_sub_epi64(z.apart, far, z.apart, whole);
    for (int i = 0; i < N; ++i) {
      if (i < skip) z.fallen = _mm512_mask_or_epi64(z.fallen, far, z.fallen, z.x.limb[i]);
      const V above = i + skip < N ? z.x.limb[i + skip] : _mm512_setzero_si512();
      z.x.limb[i] = _mm512_mask_mov_epi64(z.x.limb[i], far, above);
    }
  }
  return z;
}

// x >> apart, jammed.
template <int N>
HWY_INLINE void align(Number<N>& x, V apart) {
  V fallen = _mm512_setzero_si512();
  if (_mm512_cmpgt_epu64_mask(apart, all(51))) [[unlikely]] {
    const Aligning<N> z = skip_limbs<N>({x, apart, fallen});
    x = z.x, apart = z.apart, fallen = z.fallen;
  }
  const V up = _mm512_sub_epi64(all(52), apart);
  fallen = either(fallen, _mm512_sllv_epi64(x.limb[0], _mm512_sub_epi64(all(64), apart)));
  for (int i = 0; i < N; ++i) {
    x.limb[i] = _mm512_srlv_epi64(x.limb[i], apart);
    if (i + 1 < N) x.limb[i] = joined(x.limb[i], _mm512_sllv_epi64(x.limb[i + 1], up));
  }
  x.limb[0] = _mm512_mask_or_epi64(x.limb[0], nonzero(fallen), x.limb[0], all(1));
}

template <int N>
HWY_NOINLINE Number<N> negate(Number<N> x, __mmask8 which) {
  V carry = _mm512_setzero_si512();
  for (int i = 0; i < N; ++i) {
    const V t = _mm512_sub_epi64(carry, x.limb[i]);
    carry = _mm512_srai_epi64(t, 52);
    x.limb[i] = _mm512_mask_mov_epi64(x.limb[i], which, i + 1 < N ? low_limb(t) : t);
  }
  x.sign = _mm512_mask_xor_epi64(x.sign, which, x.sign, all(~Limb{0}));
  return x;
}

// How far the leading one is below its place: -1 where it is above, and 52 or more if not near.
template <int N>
HWY_INLINE V short_by(const Places& at, const Number<N>& x) {
  V head = _mm512_sllv_epi64(x.limb[N - 1], at.head);
  if constexpr (N > 1) {
    const V next = x.limb[N - 2];
    head = _mm512_ternarylogic_epi64(head, _mm512_sllv_epi64(next, at.head_next),
                                     _mm512_srlv_epi64(next, at.head_next_down), 0xfe);
  }
  return _mm512_sub_epi64(_mm512_lzcnt_epi64(head), all(1));
}

// A number whose leading one is `zeros` below its place.
template <int N>
struct Normalising {
  Number<N> x;
  V zeros;
};

// Brings the leading one up by whole limbs where it is far; a zero gets its exponent.
template <int N>
HWY_NOINLINE Normalising<N> close_up(const Places at, Normalising<N> z) {
  V any = z.x.limb[0];
  for (int i = 1; i < N; ++i) any = either(any, z.x.limb[i]);
  const __mmask8 some = nonzero(any);
  for (int times = 1; times < N; ++times) {
    const auto far = static_cast<__mmask8>(some & _mm512_cmpgt_epi64_mask(z.zeros, all(51)));
    if (!far) break;
    for (int i = N; i-- > 0;) {
      const V below = i > 0 ? z.x.limb[i - 1] : _mm512_setzero_si512();
      z.x.limb[i] = _mm512_mask_mov_epi64(z.x.limb[i], far, below);
    }
    z.x.exponent = _mm512_mask_sub_epi64(z.x.exponent, far, z.x.exponent, all(52));
    z.zeros = short_by(at, z.x);
  }
  z.zeros = _mm512_maskz_mov_epi64(some, z.zeros);
  z.x.exponent = with_exponent_of_zero(z.x.exponent, some);
  return z;
}

// Both shifts are done without asking: one of eight lanes wants them every other time, and no
// processor guesses that (113 digits: 5.4 ns instead of 7.5).
template <int N>
HWY_INLINE void normalise(const Places& at, Number<N>& x) {
  V zeros = short_by(at, x);
  if (_mm512_cmpgt_epi64_mask(zeros, all(51))) [[unlikely]] {
    const Normalising<N> z = close_up<N>(at, {x, zeros});
    x = z.x, zeros = z.zeros;
  }
  x.exponent = _mm512_sub_epi64(x.exponent, zeros);

  const __mmask8 carried = lanes_of(zeros);
  const V lost = _mm512_and_si512(x.limb[0], all(1));
  for (int i = 0; i < N; ++i) {
    V half = _mm512_srli_epi64(x.limb[i], 1);
    if (i + 1 < N) half = joined(half, _mm512_slli_epi64(x.limb[i + 1], 51));
    x.limb[i] = _mm512_mask_mov_epi64(x.limb[i], carried, half);
  }
  x.limb[0] = _mm512_mask_or_epi64(x.limb[0], carried, x.limb[0], lost);

  zeros = _mm512_max_epi64(zeros, _mm512_setzero_si512());
  const V down = _mm512_sub_epi64(all(52), zeros);
  for (int i = N; i-- > 0;) {
    const V up = _mm512_sllv_epi64(x.limb[i], zeros);
    x.limb[i] = i > 0 ? joined(up, _mm512_srlv_epi64(x.limb[i - 1], down)) : low_limb(up);
  }
}

// x + y. `sign_of_zero` is that of a difference of equals.
template <int N>
HWY_INLINE Number<N> exact_sum(const Places& at, const Number<N>& x, const Number<N>& y,
                               V sign_of_zero) {
  const __mmask8 level = _mm512_cmpeq_epi64_mask(x.exponent, y.exponent);
  const auto swap =
      static_cast<__mmask8>(_mm512_cmplt_epi64_mask(x.exponent, y.exponent) |
                            _mm512_mask_cmplt_epu64_mask(level, x.limb[N - 1], y.limb[N - 1]));
  Number<N> z, low;
  for (int i = 0; i < N; ++i) {
    z.limb[i] = _mm512_mask_mov_epi64(x.limb[i], swap, y.limb[i]);
    low.limb[i] = _mm512_mask_mov_epi64(y.limb[i], swap, x.limb[i]);
  }
  z.exponent = _mm512_max_epi64(x.exponent, y.exponent);
  z.sign = _mm512_mask_mov_epi64(x.sign, swap, y.sign);
  align(low, _mm512_abs_epi64(_mm512_sub_epi64(x.exponent, y.exponent)));

  const V apart = _mm512_xor_si512(x.sign, y.sign);
  const __mmask8 differ = lanes_of(apart);
  V carry = _mm512_setzero_si512();
  for (int i = 0; i < N; ++i) {
    V t = _mm512_add_epi64(z.limb[i], low.limb[i]);
    t = _mm512_mask_sub_epi64(t, differ, z.limb[i], low.limb[i]);
    t = _mm512_add_epi64(t, carry);
    carry = _mm512_srai_epi64(t, 52);
    z.limb[i] = i + 1 < N ? low_limb(t) : t;
  }
  if (const __mmask8 turned = lanes_of(z.limb[N - 1])) [[unlikely]]
    z = negate(z, turned);
  normalise(at, z);
  // (x & y) | (differ & sign_of_zero)
  const V zero_sign = _mm512_mask_mov_epi64(x.sign, differ, sign_of_zero);
  z.sign = _mm512_mask_mov_epi64(zero_sign, nonzero(z.limb[N - 1]), z.sign);
  return z;
}

// A carry out of the lowest limb goes on.
template <int N>
HWY_NOINLINE Number<N> carry_on(const Places at, Number<N> x) {
  for (int i = 0; i + 1 < N; ++i) {
    x.limb[i + 1] = _mm512_add_epi64(x.limb[i + 1], _mm512_srli_epi64(x.limb[i], 52));
    x.limb[i] = low_limb(x.limb[i]);
  }
  const __mmask8 power = _mm512_test_epi64_mask(x.limb[N - 1], at.past);
  x.limb[N - 1] = _mm512_mask_srli_epi64(x.limb[N - 1], power, x.limb[N - 1], 1);
  x.exponent = _mm512_mask_add_epi64(x.exponent, power, x.exponent, all(1));
  return x;
}

// At the lowest digits, of which three are dropped. Where limb 0 comes to its limit it has to
// carry.
HWY_INLINE void round_lowest(const Rounding52& to, V sign, V& limb, V& lost) {
  const V dropped = all((Limb{1} << below_kept) - 1);
  const V row = _mm512_ternarylogic_epi64(all(1), _mm512_srli_epi64(limb, below_kept), sign,
                                          0xca);  // bit 0 from the digits, others from the sign
  lost = _mm512_ternarylogic_epi64(lost, limb, dropped, 0xf8);
  limb = _mm512_add_epi64(limb, _mm512_permutexvar_epi64(row, to.increments));
  limb = _mm512_andnot_si512(dropped, limb);
}

// What is rounded to fewer digits goes down, jammed, until those stand lowest, and up again.
template <int N>
struct Rounded {
  Number<N> x;
  V lost;
};
template <int N>
HWY_NOINLINE Rounded<N> round_short(const Rounding52 to, const Places at, Rounded<N> z) {
  align(z.x, all(static_cast<Limb>(to.short_by)));
  round_lowest(to, z.x.sign, z.x.limb[0], z.lost);
  for (int i = 0; i + 1 < N; ++i) {
    z.x.limb[i + 1] = _mm512_add_epi64(z.x.limb[i + 1], _mm512_srli_epi64(z.x.limb[i], 52));
    z.x.limb[i] = low_limb(z.x.limb[i]);
  }
  const int whole = to.short_by / 52;
  const V up = all(static_cast<Limb>(to.short_by % 52)), down = _mm512_sub_epi64(all(52), up);
  for (int i = N; i-- > 0;) {
    const V here = i >= whole ? z.x.limb[i - whole] : _mm512_setzero_si512();
    const V below = i > whole ? z.x.limb[i - whole - 1] : _mm512_setzero_si512();
    const V limb = either(_mm512_sllv_epi64(here, up), _mm512_srlv_epi64(below, down));
    z.x.limb[i] = i + 1 < N ? low_limb(limb) : limb;
  }
  return {carry_on(at, z.x), z.lost};
}

// Returns the lanes that this does not serve. A zero stays one.
template <int N>
HWY_INLINE __mmask8 round(const Rounding52& to, const Places& at, Number<N>& x, V& lost) {
  const __mmask8 some = nonzero(x.limb[N - 1]);
  const __mmask8 outside =
      _mm512_mask_cmpgt_epu64_mask(some, _mm512_sub_epi64(x.exponent, to.first), to.span);
  const V limit = N > 1 ? all(Limb{1} << 52) : at.past;
  if (to.short_by > 0) [[unlikely]] {
    const Rounded<N> z = round_short<N>(to, at, {x, lost});
    x = z.x, lost = z.lost;
  } else {
    round_lowest(to, x.sign, x.limb[0], lost);
    if (_mm512_test_epi64_mask(x.limb[0], limit)) [[unlikely]]
      x = carry_on(at, x);
  }
  x.exponent = with_exponent_of_zero(x.exponent, some);
  return outside;
}

// Calls step(k, sum, lost), which returns the lanes that it does not serve, for every step.
template <int N, class Step>
HWY_INLINE unsigned for_each_step(const Steps& s, const Step& step) {
  Number<N> sum;
  for (int i = 0; i < N; ++i) sum.limb[i] = _mm512_loadu_si512(s.sum + 8 * i);
  sum.exponent = _mm512_loadu_si512(s.sum + 8 * N);
  sum.sign = _mm512_loadu_si512(s.sum + 8 * (N + 1));
  V lost = _mm512_loadu_si512(s.lost);
  unsigned outside = 0;
  for (std::size_t k = 0; k < s.count; ++k)
    outside |= step(s.a + k * (N + 2), s.b + k * std::size_t{8 * (N + 2)}, sum, lost);
  for (int i = 0; i < N; ++i) _mm512_storeu_si512(s.sum + 8 * i, sum.limb[i]);
  _mm512_storeu_si512(s.sum + 8 * N, sum.exponent);
  _mm512_storeu_si512(s.sum + 8 * (N + 1), sum.sign);
  _mm512_storeu_si512(s.lost, lost);
  return outside;
}

HWY_INLINE V sign_of_zero(const Chain& chain) {
  return all(chain.sum.rule.rounding.mode == RoundingMode::rdn ? ~Limb{0} : 0);
}

template <int N>
unsigned mac(const Chain& chain, const Steps& s) {
  const Places at(chain.precision, N);
  const Rounding52 to_product(*chain.product, chain.precision), to_sum(chain.sum, chain.precision);
  const V down = sign_of_zero(chain);
  return for_each_step<N>(s, [&](const Limb* a, const Limb* b, Number<N>& sum, V& lost) {
    Number<N> product = exact_product<N>(at, a, b);
    const __mmask8 outside = round(to_product, at, product, lost);
    sum = exact_sum(at, sum, product, down);
    return outside | round(to_sum, at, sum, lost);
  });
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
  HWY_INLINE explicit Apart(int precision, int limbs) {
    const auto r = static_cast<Limb>(precision + below_kept - 52 * (limbs - 1));
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
  const Places at(chain.precision, N), wide(2 * chain.precision + below_kept, W);
  const Apart apart(chain.precision, N);
  const Rounding52 to_sum(chain.sum, chain.precision);
  const V down = sign_of_zero(chain);
  return for_each_step<N>(s, [&](const Limb* a, const Limb* b, Number<N>& sum, V& lost) {
    const Number<W> product = whole_product<N, W>(wide, a, b);
    sum = narrowed<N>(apart, exact_sum(wide, widened<N, W>(apart, sum), product, down));
    return round(to_sum, at, sum, lost);
  });
}

template <std::size_t... i>
Kernel choose(int limbs, std::index_sequence<i...>) {
  static constexpr Kernel kernels[] = {&mac<static_cast<int>(i) + 1>...};
  return kernels[limbs - 1];
}

// Products of numbers of N limbs take 2 N or one less.
template <std::size_t... i>
Kernel choose_fused(int limbs, int product_limbs, std::index_sequence<i...>) {
  static constexpr Kernel odd[] = {&fma<static_cast<int>(i) + 1, 2 * static_cast<int>(i) + 1>...};
  static constexpr Kernel even[] = {&fma<static_cast<int>(i) + 1, 2 * static_cast<int>(i) + 2>...};
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

Kernel lane_kernel([[maybe_unused]] int limbs) {
#if HWY_ARCH_X86_64
  constexpr std::size_t most = (most_digits + below_kept + 51) / 52;
  if (has_ifma()) return choose(limbs, std::make_index_sequence<most>());
#endif
  return nullptr;
}

Kernel fused_lane_kernel([[maybe_unused]] int limbs, [[maybe_unused]] int precision) {
#if HWY_ARCH_X86_64
  const int product_limbs = (2 * (precision + below_kept) + 51) / 52;
  if (has_ifma() && limbs <= most_fused_limbs)
    return choose_fused(limbs, product_limbs, std::make_index_sequence<most_fused_limbs>());
#endif
  return nullptr;
}

}  // namespace widthwise::wide
