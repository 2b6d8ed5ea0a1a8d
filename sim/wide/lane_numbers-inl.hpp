// Numbers of 52-bit limbs in eight lanes: exact products and sums. Included by lane_kernel.cpp
// alone, where the machine's own intrinsics are compiled.
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

  HWY_INLINE explicit Places(int digits, int limbs) {
    const auto t = static_cast<Limb>(digits - 1 - 52 * (limbs - 1));
    const Limb up = 62 - t, none = 64;
    top = all(t), up_to_limb = all(52 - t);
    past = all(Limb{2} << t);
    head = all(up);
    head_next = all(up >= 52 ? up - 52 : none);
    head_next_down = all(up >= 52 ? none : 52 - up);
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

// What is rare is out of line and takes numbers by value: what has an address is not held in
// registers. `far`: numbers often lie far apart or cancel, as in compensated sums, so it is in
// line: those of 113 digits take a quarter less time so, where a tree's sums take an eighth more.
template <auto function, class... Arguments>
HWY_NOINLINE auto out_of_line(Arguments... arguments) {
  return function(arguments...);
}
template <auto function, bool far, class... Arguments>
HWY_INLINE auto call(Arguments... arguments) {
  if constexpr (far)
    return function(arguments...);
  else
    return out_of_line<function>(arguments...);
}

// What is aligned, how far it still has to go down, and what fell off.
template <int N>
struct Aligning {
  Number<N> x;
  V apart, fallen;
};

// By whole limbs, where it has to go by more than one.
template <int N>
HWY_INLINE Aligning<N> skip_limbs(Aligning<N> z) {
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
template <bool far, int N>
HWY_INLINE void align(Number<N>& x, V apart) {
  V fallen = _mm512_setzero_si512();
  if (_mm512_cmpgt_epu64_mask(apart, all(51))) [[unlikely]] {
    const auto z = call<&skip_limbs<N>, far>(Aligning<N>{x, apart, fallen});
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
HWY_INLINE Number<N> negate(Number<N> x, __mmask8 which) {
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
HWY_INLINE Normalising<N> close_up(const Places at, Normalising<N> z) {
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
template <bool far, int N>
HWY_INLINE void normalise(const Places& at, Number<N>& x) {
  V zeros = short_by(at, x);
  if (_mm512_cmpgt_epi64_mask(zeros, all(51))) [[unlikely]] {
    const auto z = call<&close_up<N>, far>(at, Normalising<N>{x, zeros});
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
template <bool far = false, int N>
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
  align<far>(low, _mm512_abs_epi64(_mm512_sub_epi64(x.exponent, y.exponent)));

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
    z = call<&negate<N>, far>(z, turned);
  normalise<far>(at, z);
  // (x & y) | (differ & sign_of_zero)
  const V zero_sign = _mm512_mask_mov_epi64(x.sign, differ, sign_of_zero);
  z.sign = _mm512_mask_mov_epi64(zero_sign, nonzero(z.limb[N - 1]), z.sign);
  return z;
}

}  // namespace
}  // namespace widthwise::wide
