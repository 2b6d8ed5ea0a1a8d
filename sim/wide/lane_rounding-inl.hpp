// One rounding of eight numbers side by side (docs/exactness.md, 15). Included by lane_kernel.cpp
// alone, within its own attributes.
namespace widthwise::wide {
namespace {

// The mode, as lib's table, by which a rounding's cut digits go up.
constexpr std::uint16_t cut_table(const RoundingRule& rule) {
  if (!rule.rounding.stochastic()) return rule.table;
  switch (rule.rounding.variant) {
    case StochasticVariant::plain: break;
    case StochasticVariant::half: return truth_table(RoundingMode::rna);
    case StochasticVariant::even: return truth_table(RoundingMode::rne);
  }
  return truth_table(RoundingMode::rtz);
}

// One of a step's roundings, in every lane. Random bits are added to the first dropped digits, and
// what is below goes up or not, by the mode, in the same sum:
//   limb 0 :  ... kept digits | x x x x x x x x | g s s s s |
//                              <- random bits -> <-  cut  ->
// Without random bits all dropped digits are cut.
struct Rounding52 {
  V first, span, last;
  bool flushes;    // subnormal results, which have lost
  V flushed;       // this
  V cut, dropped;  // how many digits; where all that are dropped stand
  V increments;  // to the cut digits: at 0, 1 of a positive number whose digit above is even, odd,
                 // at 6, 7 of a negative one
  int short_by;  // digits less than the most

  HWY_INLINE Rounding52(const RoundTo& to, const Chain& chain)
      : first(all(static_cast<Limb>(to.first))),
        span(all(to.span)),
        last(all(static_cast<Limb>(to.last))),
        flushes(to.flushes),
        flushed(all(to.flushed)),
        short_by(chain.precision - to.precision) {
    const int below = digits_below(chain);
    const auto lowest = static_cast<Limb>(below - to.rule.rounding.random_bits);
    cut = all(lowest), dropped = all((Limb{1} << below) - 1);
    const auto increment = [&](unsigned row) {
      return static_cast<long long>(increment_of(cut_table(to.rule), row, (Limb{1} << lowest) - 1));
    };
    increments =
        _mm512_setr_epi64(increment(0), increment(1), 0, 0, 0, 0, increment(2), increment(3));
  }
};

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

// At the lowest digits, of which some are dropped. Where limb 0 comes to its limit it has to carry.
HWY_INLINE void round_lowest(const Rounding52& to, V random, V sign, V& limb, V& lost) {
  const V row = _mm512_ternarylogic_epi64(all(1), _mm512_srlv_epi64(limb, to.cut), sign,
                                          0xca);  // bit 0 from the digits, others from the sign
  lost = _mm512_ternarylogic_epi64(lost, limb, to.dropped, 0xf8);
  limb = _mm512_add_epi64(_mm512_add_epi64(limb, random),
                          _mm512_permutexvar_epi64(row, to.increments));
  limb = _mm512_andnot_si512(to.dropped, limb);
}

template <int N>
struct Rounded {
  Number<N> x;
  V lost;
};
// What is rounded to fewer digits goes down, jammed, until those stand lowest, and up again, all
// lanes by as much: an eighth faster than round_at_place().
template <int N>
HWY_NOINLINE Rounded<N> round_short(const Rounding52 to, const Places at, V random, Rounded<N> z) {
  align<false>(z.x, all(static_cast<Limb>(to.short_by)));
  round_lowest(to, random, z.x.sign, z.x.limb[0], z.lost);
  const int whole = to.short_by / 52;
  const V up = all(static_cast<Limb>(to.short_by % 52)), down = _mm512_sub_epi64(all(52), up);
  for (int i = N; i-- > 0;) {
    const V here = i >= whole ? z.x.limb[i - whole] : _mm512_setzero_si512();
    const V below = i > whole ? z.x.limb[i - whole - 1] : _mm512_setzero_si512();
    const V upper = _mm512_sllv_epi64(here, up);  // the lowest limb may have come to 2^52
    z.x.limb[i] =
        _mm512_add_epi64(i + 1 < N ? low_limb(upper) : upper, _mm512_srlv_epi64(below, down));
  }
  return {carry_on(at, z.x), z.lost};
}

// As if exponents had no end. A zero stays one.
template <int N>
HWY_INLINE void round_digits(const Rounding52& to, const Places& at, V random, __mmask8 some,
                             Number<N>& x, V& lost) {
  const V limit = N > 1 ? all(Limb{1} << 52) : at.past;
  if (to.short_by > 0) [[unlikely]] {
    const Rounded<N> z = round_short<N>(to, at, random, {x, lost});
    x = z.x, lost = z.lost;
  } else {
    round_lowest(to, random, x.sign, x.limb[0], lost);
    if (_mm512_test_epi64_mask(x.limb[0], limit)) [[unlikely]]
      x = carry_on(at, x);
  }
  x.exponent = with_exponent_of_zero(x.exponent, some);
}

HWY_INLINE __mmask8 below_first(const Rounding52& to, __mmask8 some, V exponent) {
  return _mm512_mask_cmpgt_epi64_mask(some, to.first, exponent);
}

// What is subnormal is rounded at its format's last digit: it goes down by so many digits more.
template <int N>
HWY_INLINE void round_at_place(const Rounding52& to, const Places& at, V random, __mmask8 low,
                               Number<N>& x, V& lost) {
  const V below = _mm512_maskz_sub_epi64(low, to.first, x.exponent),
          down = _mm512_add_epi64(all(static_cast<Limb>(to.short_by)), below);
  align<true>(x, down);
  x.exponent = _mm512_add_epi64(x.exponent, down);
  round_lowest(to, random, x.sign, x.limb[0], lost);
  x = carry_on(at, x);
  normalise<true>(at, x);
}

template <int N>
HWY_INLINE void flush(const Rounding52& to, Rounded<N>& z) {
  const __mmask8 some = nonzero(z.x.limb[N - 1]),
                 tiny = _mm512_mask_test_epi64_mask(some, z.lost, to.flushed),
                 low = below_first(to, some, z.x.exponent) | tiny;
  for (V& limb : z.x.limb) limb = _mm512_mask_mov_epi64(limb, low, _mm512_setzero_si512());
  z.x.exponent = with_exponent_of_zero(z.x.exponent, some & ~low);
  z.lost = _mm512_mask_or_epi64(z.lost, low, z.lost, to.flushed);
}

template <int N>
struct RoundedAtEnds {
  Rounded<N> z;
  __mmask8 outside;
};
// Where some results are subnormal, or may overflow. A subnormal one is tiny unless it comes to the
// least normal number as if exponents had no end (IEEE 754-2019, 7.5).
template <int N>
HWY_NOINLINE RoundedAtEnds<N> round_at_ends(const Rounding52 to, const Places at, V random,
                                            Rounded<N> of) {
  const __mmask8 some = nonzero(of.x.limb[N - 1]), low = below_first(to, some, of.x.exponent);
  Rounded<N> z{of.x, _mm512_setzero_si512()};
  round_at_place(to, at, random, low, z.x, z.lost);

  auto tiny = static_cast<__mmask8>(low & nonzero(z.lost));
  if (tiny & ~below_first(to, tiny, z.x.exponent)) [[unlikely]] {
    Rounded<N> endless = of;
    round_digits(to, at, random, some, endless.x, endless.lost);
    tiny = below_first(to, tiny, endless.x.exponent);
  }
  z.lost = _mm512_mask_or_epi64(z.lost, tiny, z.lost, all(underflowed));
  if (to.flushes) flush(to, z);
  z.lost = either(z.lost, of.lost);
  return {z, _mm512_mask_cmpgt_epi64_mask(some, z.x.exponent, to.last)};
}

// Returns the lanes that this does not serve.
template <int N>
HWY_INLINE __mmask8 round(const Rounding52& to, const Places& at, const Limb* drawn, Number<N>& x,
                          V& lost) {
  const V random = _mm512_load_si512(drawn);
  const __mmask8 some = nonzero(x.limb[N - 1]);
  if (_mm512_mask_cmpgt_epu64_mask(some, _mm512_sub_epi64(x.exponent, to.first), to.span))
      [[unlikely]] {
    const RoundedAtEnds<N> z = round_at_ends<N>(to, at, random, {x, lost});
    x = z.z.x, lost = z.z.lost;
    return z.outside;
  }
  round_digits(to, at, random, some, x, lost);
  return 0;
}

}  // namespace
}  // namespace widthwise::wide
