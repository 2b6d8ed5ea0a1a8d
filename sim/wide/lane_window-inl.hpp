// Exact sums of any number of products in eight lanes, in windows of limbs that follow the largest
// of them (docs/exactness.md, 54). Included by lane_kernel.cpp alone.
namespace widthwise::wide {
namespace {

// A sum of numbers of W limbs: one limb more below, and one above for carries. Limbs have signs,
// and more than 52 bits, until they are carried.
template <int W>
struct Window {
  V limb[W + 2];
  V exponent;     // of a number that stands as high as it may
  V tails;        // as in limbs of 64 bits: the sum is so many units of limb 0 more, at most
  V plus, minus;  // ~0: some number, zeros among them, has that sign

  HWY_INLINE void note(V sign) {
    minus = either(minus, sign);
    plus = _mm512_ternarylogic_epi64(plus, sign, sign, 0xf3);  // plus | ~sign
  }
};

template <int W>
HWY_INLINE void carry(Window<W>& w) {
  for (int i = 0; i <= W; ++i) {
    w.limb[i + 1] = _mm512_add_epi64(w.limb[i + 1], _mm512_srai_epi64(w.limb[i], 52));
    w.limb[i] = low_limb(w.limb[i]);
  }
}

// The first number stands so far below the highest place, lest a larger one moves it at once.
constexpr Limb headroom = 12;

template <int W>
HWY_INLINE void clear(Window<W>& w, V exponent) {
  for (V& limb : w.limb) limb = _mm512_setzero_si512();
  w.exponent = exponent;
  w.tails = w.plus = w.minus = _mm512_setzero_si512();
}

// Up, by whole limbs, until numbers of that exponent have room.
template <int W>
HWY_NOINLINE Window<W> raised(Window<W> w, V exponent) {
  const auto lower = [&] { return _mm512_cmplt_epi64_mask(w.exponent, exponent); };
  const V start = _mm512_add_epi64(exponent, all(headroom));
  V any = w.tails;
  for (const V limb : w.limb) any = either(any, limb);
  w.exponent = _mm512_mask_mov_epi64(w.exponent, lower() & ~nonzero(any), start);
  for (int times = 0; times < W + 2; ++times) {
    const __mmask8 which = lower();
    if (!which) return w;
    carry(w);
    const __mmask8 falls = nonzero(w.limb[0]);  // old tails come to less than one
    w.tails = _mm512_mask_add_epi64(w.tails, which & falls, w.tails, all(1));
    for (int i = 0; i < W + 2; ++i) {
      const V above = i <= W ? w.limb[i + 1] : _mm512_setzero_si512();
      w.limb[i] = _mm512_mask_mov_epi64(w.limb[i], which, above);
    }
    w.exponent = _mm512_mask_add_epi64(w.exponent, which, w.exponent, all(52));
  }
  w.exponent = _mm512_mask_mov_epi64(w.exponent, lower(), start);  // of 0 or -1 it makes no odds
  return w;
}

// A number where it stands in a window, and whether a digit has fallen off.
template <int W>
struct Placed {
  Number<W + 1> x;
  V fallen;
};
template <int W>
HWY_INLINE Placed<W> with_limb_below(const Number<W>& x) {
  Placed<W> z{{}, _mm512_setzero_si512()};
  z.x.limb[0] = _mm512_setzero_si512();
  for (int i = 0; i < W; ++i) z.x.limb[i + 1] = x.limb[i];
  z.x.exponent = x.exponent, z.x.sign = x.sign;
  return z;
}
template <int W>
HWY_INLINE void shift_down(Number<W>& x, V bits) {
  const V up = _mm512_sub_epi64(all(52), bits);
  for (int i = 0; i < W; ++i) {
    x.limb[i] = _mm512_srlv_epi64(x.limb[i], bits);
    if (i + 1 < W) x.limb[i] = joined(x.limb[i], _mm512_sllv_epi64(x.limb[i + 1], up));
  }
}
template <int W>
HWY_NOINLINE Placed<W> placed_far(Number<W> x, V apart) {
  Placed<W> z = with_limb_below(x);
  const Aligning<W + 1> a = skip_limbs<W + 1>({z.x, apart, z.fallen});
  const V rest = _mm512_sllv_epi64(a.x.limb[0], _mm512_sub_epi64(all(64), a.apart));
  z = {a.x, either(a.fallen, rest)};
  shift_down(z.x, a.apart);
  return z;
}

// Of a number no higher than the highest place.
template <int W>
HWY_INLINE Placed<W> placed(const Window<W>& w, const Number<W>& x) {
  const V apart = _mm512_maskz_sub_epi64(nonzero(x.limb[W - 1]), w.exponent, x.exponent);
  if (_mm512_cmpgt_epu64_mask(apart, all(51))) [[unlikely]]
    return placed_far(x, apart);
  Placed<W> z = with_limb_below(x);
  shift_down(z.x, apart);
  return z;
}

// What is far has tails and is asked for them here alone, not after `placed`: of every term that
// took a third of the time.
template <int W>
HWY_INLINE void add(Window<W>& w, const Number<W>& x) {
  w.note(x.sign);
  const __mmask8 some = nonzero(x.limb[W - 1]);
  if (_mm512_mask_cmpgt_epi64_mask(some, x.exponent, w.exponent)) [[unlikely]]
    w = raised(w, with_exponent_of_zero(x.exponent, some));
  const __mmask8 minus = lanes_of(x.sign);
  const V apart = _mm512_maskz_sub_epi64(some, w.exponent, x.exponent);
  Placed<W> y;
  if (_mm512_cmpgt_epu64_mask(apart, all(51))) [[unlikely]] {
    y = placed_far(x, apart);
    const __mmask8 falls = nonzero(y.fallen);
    w.tails = _mm512_mask_add_epi64(w.tails, falls, w.tails, all(1));
    w.limb[0] = _mm512_mask_sub_epi64(w.limb[0], falls & minus, w.limb[0], all(1));
  } else {
    y = with_limb_below(x);
    shift_down(y.x, apart);
  }
  for (int i = 0; i <= W; ++i) {
    const V sum = _mm512_add_epi64(w.limb[i], y.x.limb[i]);
    w.limb[i] = _mm512_mask_sub_epi64(sum, minus, w.limb[i], y.x.limb[i]);
  }
}

// Where terms are cut: below limb `first`, which the window's place is chosen for.
struct CutAt {
  int first;
  V above;  // the window's exponent, from the largest one of the terms
  V table;  // of lib's rule

  HWY_INLINE CutAt(const Cut& cut, int digits) : table(all(cut.rule.table)) {
    const int below_place = 2 * digits + 51 - (cut.places + 1);  // of the digit that is kept last
    first = below_place / 52;
    above = all(static_cast<Limb>(1 + below_place % 52));
  }
};

template <int W>
HWY_INLINE void add_cut(Window<W>& w, const Number<W>& x, const CutAt& cut) {
  w.note(x.sign);
  Placed<W> y = placed(w, x);
  V head = _mm512_setzero_si512(), kept = head;
  for (int i = 0; i < W; ++i) {
    if (i + 1 < cut.first) y.fallen = either(y.fallen, y.x.limb[i]);
    if (i + 1 == cut.first) head = y.x.limb[i], kept = y.x.limb[i + 1];
  }
  const V sticky = either(y.fallen, _mm512_and_si512(head, all(limb_mask >> 1)));
  V row = _mm512_maskz_mov_epi64(nonzero(sticky), all(1));  // of the table
  row = either(row, _mm512_slli_epi64(_mm512_srli_epi64(head, 51), 1));
  row = either(row, _mm512_and_si512(_mm512_slli_epi64(kept, 2), all(4)));
  row = either(row, _mm512_and_si512(x.sign, all(8)));
  const V away = _mm512_and_si512(_mm512_srlv_epi64(cut.table, row), all(1));
  const __mmask8 minus = lanes_of(x.sign);
  for (int i = 1; i <= W; ++i) {
    if (i < cut.first) continue;
    const V term = i == cut.first ? _mm512_add_epi64(y.x.limb[i], away) : y.x.limb[i];
    const V sum = _mm512_add_epi64(w.limb[i], term);
    w.limb[i] = _mm512_mask_sub_epi64(sum, minus, w.limb[i], term);
  }
}

// The magnitude of a sum, and the lanes where what is not there could change it in limb 1.
template <int W>
struct Magnitude {
  Number<W + 2> x;
  __mmask8 unsure;
};
template <int W>
HWY_NOINLINE Magnitude<W> without_tails(Magnitude<W> z, V tails) {
  V* const limb = z.x.limb;
  const __mmask8 some = nonzero(tails);
  limb[0] = _mm512_mask_sub_epi64(limb[0], lanes_of(z.x.sign), limb[0], tails);
  for (int i = 0; i <= W; ++i) {
    limb[i + 1] = _mm512_add_epi64(limb[i + 1], _mm512_srai_epi64(limb[i], 52));
    limb[i] = low_limb(limb[i]);
  }
  const V end = _mm512_add_epi64(limb[0], tails);
  z.unsure = some & _mm512_cmpgt_epu64_mask(end, all(limb_mask + 1));
  limb[0] = _mm512_mask_or_epi64(limb[0], some, limb[0], all(1));
  return z;
}
// Where limbs above the highest one are in use: one down, jammed.
template <int W>
HWY_NOINLINE Number<W + 2> lowered(Number<W + 2> x, __mmask8 which) {
  const V jam = _mm512_maskz_mov_epi64(nonzero(x.limb[0]), all(1));
  for (int i = 0; i < W + 2; ++i) {
    const V above = i <= W ? x.limb[i + 1] : _mm512_setzero_si512();
    x.limb[i] = _mm512_mask_mov_epi64(x.limb[i], which, above);
  }
  x.limb[0] = _mm512_mask_or_epi64(x.limb[0], which, x.limb[0], jam);
  x.exponent = _mm512_mask_add_epi64(x.exponent, which, x.exponent, all(52));
  return x;
}

template <int W>
HWY_INLINE Magnitude<W> magnitude(Window<W>& w) {
  carry(w);
  Magnitude<W> z;
  for (int i = 0; i < W + 2; ++i) z.x.limb[i] = w.limb[i];
  z.x.exponent = w.exponent, z.x.sign = _mm512_setzero_si512();
  z.x = negate(z.x, lanes_of(w.limb[W + 1]));
  z.unsure = 0;
  if (nonzero(w.tails)) [[unlikely]]
    z = without_tails(z, w.tails);
  return z;
}

// The leading digits of a sum, as a number of W limbs, jammed; and the lanes where they are unsure:
// their sum has tails, and is farther than `room` below the highest place.
template <int W>
struct Total {
  Number<W> x;
  __mmask8 unsure;
};
template <int W>
HWY_INLINE Total<W> total(const Places& at, Window<W>& w, int room, V sign_of_zero) {
  Magnitude<W> m = magnitude(w);
  const __mmask8 high = nonzero(m.x.limb[W + 1]) | _mm512_cmpge_epu64_mask(m.x.limb[W], at.past);
  if (high) [[unlikely]]
    m.x = lowered<W>(m.x, high);
  Number<W + 1> y;
  for (int i = 0; i <= W; ++i) y.limb[i] = m.x.limb[i];
  y.exponent = m.x.exponent, y.sign = m.x.sign;
  normalise<true>(at, y);

  Total<W> z;
  for (int i = 0; i < W; ++i) z.x.limb[i] = y.limb[i + 1];
  z.x.limb[0] = _mm512_mask_or_epi64(z.x.limb[0], nonzero(y.limb[0]), z.x.limb[0], all(1));
  z.x.exponent = y.exponent;
  const V mixed = _mm512_and_si512(sign_of_zero, _mm512_and_si512(w.plus, w.minus));
  const V of_zero = either(_mm512_andnot_si512(w.plus, w.minus), mixed);
  z.x.sign = _mm512_mask_mov_epi64(of_zero, nonzero(z.x.limb[W - 1]), y.sign);
  const V least = _mm512_sub_epi64(w.exponent, all(static_cast<Limb>(room)));
  z.unsure = m.unsure | _mm512_mask_cmplt_epi64_mask(nonzero(w.tails), y.exponent, least);
  return z;
}

}  // namespace
}  // namespace widthwise::wide
