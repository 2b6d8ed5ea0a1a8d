#include "kernels.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_NATIVE_FMA

// The machine's own product. Zen 4 keeps its multipliers and its adders busy side by side only
// where each multiplication reads its factor from memory; compilers would load that once for all.
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
template <class D>
HWY_INLINE hn::Vec<D> native_product(D, const float* a, hn::Vec<D> b) {
  hn::Vec<D> z;
  asm("vmulps %1%{1to16%}, %2, %0" : "=v"(z.raw) : "m"(*a), "v"(b.raw));
  return z;
}
template <class D>
HWY_INLINE hn::Vec<D> native_product(D, const double* a, hn::Vec<D> b) {
  hn::Vec<D> z;
  asm("vmulpd %1%{1to8%}, %2, %0" : "=v"(z.raw) : "m"(*a), "v"(b.raw));
  return z;
}
#else
template <class D, class T>
HWY_INLINE hn::Vec<D> native_product(D d, const T* a, hn::Vec<D> b) {
  return hn::Mul(hn::Set(d, *a), b);
}
#endif

// What comes of a number that is less than this becomes a zero, of the same sign if told.
template <bool flushes, bool signs, class V>
HWY_INLINE V flushed(V x, V number, V least) {
  if constexpr (!flushes) return x;
  const auto tiny = hn::Lt(hn::Abs(number), least);
  if constexpr (!signs) return hn::IfThenZeroElse(tiny, x);
  return hn::IfThenElse(tiny, hn::And(x, hn::SignBit(hn::DFromV<V>())), x);
}

// To nearest even, or as the machine rounds.
template <class T, Multiply multiply, Add add, bool flushes, bool small_products = true>
struct Nearest {
  static constexpr bool watched = add != Add::native;
  const hn::ScalableTag<T> d{};
  using V = hn::Vec<hn::ScalableTag<T>>;
  V product_least, up, one_less, exponent, least, product_flush, sum_flush;

  HWY_INLINE explicit Nearest(const Constants<T>& k)
      : product_least(hn::Set(d, k.product_least)),
        up(hn::Set(d, add == Add::rounded ? T{1.5} * k.sum_up : k.sum_up)),
        one_less(hn::Set(d, 1 - k.sum_up)),
        exponent(hn::Set(d, std::numeric_limits<T>::infinity())),  // all ones there, no others
        least(hn::Set(d, k.sum_least)),
        product_flush(hn::Set(d, k.product_flush)),
        sum_flush(hn::Set(d, k.sum_flush)) {}

  // One more product into a sum: the number of A at `at`, times b.
  HWY_INLINE V operator()(const Tile<T>& t, std::size_t at, V b, V sum) const {
    const V whole = added(t, at, b, sum);
    const V z = rounded_sum<add>(whole, up, one_less, exponent, least);
    if constexpr (flushes && multiply == Multiply::exact && !watched)
      return flushed<true, true>(z, added(t, at, hn::Add(b, b), hn::Add(sum, sum)), sum_flush);
    return flushed<flushes, !watched>(z, whole, sum_flush);
  }

 private:
  // The machine rounds what is subnormal at another digit than its double, which is a normal one:
  // that tells whether it stays below the least normal number whatever the exponent
  // (docs/exactness.md, 4).
  HWY_INLINE V machine_product(const T* a, V b) const {
    const V product = native_product(d, a, b);
    if constexpr (!flushes) return product;
    return flushed<true, true>(product, native_product(d, a, hn::Add(b, b)), product_flush);
  }
  HWY_INLINE V added(const Tile<T>& t, std::size_t at, V b, V sum) const {
    if constexpr (multiply == Multiply::exact) return hn::MulAdd(hn::Set(d, t.a[at]), b, sum);
    if constexpr (multiply == Multiply::odd) return fused_to_odd(hn::Set(d, t.a[at]), b, sum);
    if constexpr (multiply == Multiply::native) return hn::Add(sum, machine_product(t.a + at, b));
    const V a = hn::Set(d, t.a[at]), a_up = hn::Set(d, t.a_up[at]);
    const V product = rounded_product<small_products>(a, a_up, b, product_least);
    constexpr bool falls = flushes && small_products;
    return hn::Add(sum, flushed<falls, false>(product, hn::Mul(a, b), product_flush));
  }
};

// By the other modes.
template <class T, Multiply multiply, RoundingMode mode, bool flushes>
struct Cutting {
  static constexpr bool watched = true;
  const hn::ScalableTag<T> d{};
  using V = hn::Vec<hn::ScalableTag<T>>;
  Cut<hn::RebindToSigned<hn::ScalableTag<T>>> product_cut, sum_cut;
  V product_flush, sum_flush;

  HWY_INLINE explicit Cutting(const Constants<T>& k)
      : product_cut(k.product_cut),
        sum_cut(k.sum_cut),
        product_flush(hn::Set(d, k.product_flush)),
        sum_flush(hn::Set(d, k.sum_flush)) {}
  HWY_INLINE V operator()(const Tile<T>& t, std::size_t at, V b, V sum) const {
    const V a = hn::Set(d, t.a[at]);
    if constexpr (multiply == Multiply::exact) return rounded(hn::MulAdd(a, b, sum));
    const V product = product_cut.template by<mode>(d, hn::Mul(a, b));
    return rounded(hn::Add(sum, flushed<flushes, true>(product, product, product_flush)));
  }

 private:
  HWY_INLINE V rounded(V x) const {
    const V z = sum_cut.template by<mode>(d, x);
    return flushed<flushes, true>(z, z, sum_flush);
  }
};

// By any mode, after sums have been rounded to odd; to nearest even with their subnormals. Products
// are exact, or to nearest even.
template <class T, Multiply multiply, bool nearest>
struct Odd {
  static constexpr bool watched = true;
  const hn::ScalableTag<T> d{};
  using V = hn::Vec<hn::ScalableTag<T>>;
  V exponent, product_up, product_least, sum_up, sum_least;
  OddCut<hn::RebindToSigned<hn::ScalableTag<T>>> cut;

  HWY_INLINE explicit Odd(const Constants<T>& k)
      : exponent(hn::Set(d, std::numeric_limits<T>::infinity())),
        product_up(hn::Set(d, T{1.5} * k.product_up)),
        product_least(hn::Set(d, k.product_least)),
        sum_up(hn::Set(d, T{1.5} * k.sum_up)),
        sum_least(hn::Set(d, k.sum_least)),
        cut(k.mode, k.sum_cut) {}

  HWY_INLINE V operator()(const Tile<T>& t, std::size_t at, V b, V sum) const {
    const V x = sum_to_odd(sum, product(t, at, b));
    if constexpr (!nearest) return cut(d, x);
    return rounded_sum<Add::rounded>(x, sum_up, x, exponent, sum_least);
  }

 private:
  HWY_INLINE V product(const Tile<T>& t, std::size_t at, V b) const {
    const V a = hn::Set(d, t.a[at]);
    if constexpr (multiply == Multiply::exact) return hn::Mul(a, b);
    if constexpr (multiply == Multiply::rounded)
      return rounded_product(a, hn::Set(d, t.a_up[at]), b, product_least);
    const V x = product_to_odd(a, b);
    return rounded_sum<Add::rounded>(x, product_up, x, exponent, product_least);
  }
};

// A rounding at a fixed place, of numbers that lie beside its middle.
template <class T>
struct Place {
  const hn::ScalableTag<T> d{};
  using V = hn::Vec<hn::ScalableTag<T>>;
  V middle, least, most, digit, up, down, sign;

  HWY_INLINE explicit Place(const FixedPlace<T>& p)
      : middle(hn::Set(d, p.middle)),
        least(hn::Set(d, p.least)),
        most(hn::Set(d, p.most)),
        digit(hn::Set(d, p.digit)),
        up(hn::Set(d, p.up)),
        down(hn::Set(d, p.down)),
        sign(hn::Set(d, p.by_magnitude ? T{-0.0} : T{0})) {}

  HWY_INLINE V clamped(V x) const { return hn::Min(hn::Max(x, least), most); }
  // By its mode what was rounded to nearest even and lost `rest`.
  HWY_INLINE V corrected(V nearest, V rest) const {
    const V turn = hn::And(hn::Add(hn::Sub(nearest, middle), rest), sign);
    const V lost = hn::Xor(rest, turn);
    const V higher = hn::IfThenElseZero(hn::Gt(lost, up), digit),
            lower = hn::IfThenElseZero(hn::Lt(lost, down), digit);
    return hn::Add(nearest, hn::Xor(hn::Sub(higher, lower), turn));
  }
};

// To fixed point; sums lie beside the middle of theirs.
template <class T, bool rounds_products, bool corrects_products, bool corrects_sums>
struct Fixed {
  static constexpr bool watched = false;
  const hn::ScalableTag<T> d{};
  using V = hn::Vec<hn::ScalableTag<T>>;
  Place<T> to_product, to_sum;

  HWY_INLINE explicit Fixed(const FixedConstants<T>& k) : to_product(k.product), to_sum(k.sum) {}

  HWY_INLINE V operator()(const Tile<T>& t, std::size_t at, V b, V sum) const {
    const V a = hn::Set(d, t.a[at]);
    if constexpr (!rounds_products) return fused<corrects_sums>(to_sum, a, b, sum);
    const V product =
        hn::Sub(fused<corrects_products>(to_product, a, b, to_product.middle), to_product.middle);
    const V nearest = hn::Add(sum, product);
    if constexpr (!corrects_sums) return to_sum.clamped(nearest);
    const V rest = hn::Sub(product, hn::Sub(nearest, sum));
    return to_sum.clamped(to_sum.corrected(nearest, rest));
  }

 private:
  template <bool corrects>
  static HWY_INLINE V fused(const Place<T>& to, V a, V b, V x) {
    const V nearest = hn::MulAdd(a, b, x);
    if constexpr (!corrects) return to.clamped(nearest);
    return to.clamped(to.corrected(nearest, hn::MulAdd(a, b, hn::Sub(x, nearest))));
  }
};

// Numbers that are not 0 rounded to the nearest pattern (docs/exactness.md, 73). Unbiased, a
// double's bits end as a posit's do, behind a regime in the place of a run: the longer that run is,
// the more of them go.
struct Pattern {
  const hn::ScalableTag<double> d{};
  const hn::RebindToSigned<hn::ScalableTag<double>> di{};
  const hn::RebindToUnsigned<hn::ScalableTag<double>> du{};
  using V = hn::Vec<hn::ScalableTag<double>>;
  using I = hn::Vec<hn::RebindToSigned<hn::ScalableTag<double>>>;
  static constexpr int fraction = 52;
  int above;  // where the regime begins
  V least, most;
  I shortest, longest, last_turns;

  HWY_INLINE explicit Pattern(const PositPlace& p)
      : above(fraction + p.exponent_bits),
        least(hn::Set(d, p.least)),
        most(hn::Set(d, p.most)),
        shortest(hn::Set(di, above + 3 - p.width)),
        longest(hn::Set(di, above)),
        last_turns(hn::Set(di, p.width % 2 ? 0 : 1)) {}

  HWY_INLINE V rounded(V x) const {
    const I bias = hn::Set(di, std::int64_t{1023} << fraction), one = hn::Set(di, 1);
    const V magnitude = hn::Min(hn::Max(hn::Abs(x), least), most);
    const I whole = hn::Sub(hn::BitCast(di, magnitude), bias);
    const I regime = hn::ShiftRightSame(whole, above);
    const I dropped = hn::Add(hn::Xor(regime, hn::BroadcastSignBit(regime)), shortest);
    const auto by = hn::BitCast(du, dropped);
    // Behind the longest run stands its end, 0 above 1 and else 1, in the place of the last bit.
    const I turned = hn::IfThenElseZero(hn::Eq(dropped, longest), last_turns);
    const I odd = hn::Xor(hn::And(shifted(whole, by), one), turned);
    const I half = hn::BitCast(di, hn::Shl(hn::BitCast(du, one), hn::Sub(by, hn::Set(du, 1))));
    const I up = hn::Add(whole, hn::Add(hn::Sub(half, one), odd));
    const I kept = hn::BitCast(di, hn::Shl(hn::BitCast(du, shifted(up, by)), by));
    const V nearest = hn::BitCast(d, hn::Add(kept, bias));
    const V held = hn::IfThenElse(hn::Ge(magnitude, most), most, nearest);
    return hn::CopySign(hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), held), x);
  }

 private:
  HWY_INLINE I shifted(I x, hn::Vec<hn::RebindToUnsigned<hn::ScalableTag<double>>> by) const {
    return hn::BitCast(di, hn::Shr(hn::BitCast(du, x), by));
  }
};

struct Posits {
  static constexpr bool watched = false;
  const hn::ScalableTag<double> d{};
  using V = hn::Vec<hn::ScalableTag<double>>;
  Pattern to_product, to_sum;

  HWY_INLINE explicit Posits(const PositConstants& k) : to_product(k.product), to_sum(k.sum) {}

  HWY_INLINE V operator()(const Tile<double>& t, std::size_t at, V b, V sum) const {
    const V product = to_product.rounded(hn::Mul(hn::Set(d, t.a[at]), b));
    return to_sum.rounded(hn::Add(sum, product));
  }
};

inline constexpr int rows = tile_rows;

template <int vectors, class Step, class T>
HWY_INLINE bool block(const Tile<T>& t, const Step& step, std::size_t column) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d), width = tile_columns<T>;
  const V limit = hn::Set(d, t.limit);
  V sum[rows][vectors];
  T* const out = t.sum + column;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) sum[r][v] = hn::LoadU(d, out + r * width + v * lanes);

  for (std::size_t i = 0; i < t.k;) {
    if constexpr (Step::watched) {
      V most = hn::Zero(d);
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v) most = hn::Max(most, hn::Abs(sum[r][v]));
      if (!hn::AllTrue(d, hn::Le(most, limit))) return false;
    }
    const std::size_t end = Step::watched ? std::min(t.k, i + t.interval) : t.k;
    for (; i < end; ++i) {
      V b[vectors];
      for (int v = 0; v < vectors; ++v) b[v] = hn::LoadU(d, t.b + i * width + column + v * lanes);
      for (int r = 0; r < rows; ++r) {
        const std::size_t at = r * t.a_stride + i;
        for (int v = 0; v < vectors; ++v) sum[r][v] = step(t, at, b[v], sum[r][v]);
      }
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) hn::StoreU(sum[r][v], d, out + r * width + v * lanes);
  return true;
}

// Vectors of columns at a time: with all rows, as many sums as the registers hold, and enough to
// hide the steps' latency. Only one where that holds all that is left.
template <class T, class Step, class Needs = Constants<T>>
bool tile(const Tile<T>& t, const Needs& k) {
  constexpr int many = HWY_MAX_BYTES == 64 ? 4 : 2;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const Step step(k);
  std::size_t column = 0;
  for (; column + lanes < t.columns; column += many * lanes)
    if (!block<many>(t, step, column)) return false;
  return column >= t.columns || block<1>(t, step, column);
}

template <class T, bool flushes, RoundingMode mode>
Kernel<T> cutting(Multiply multiply) {
  return multiply == Multiply::exact ? &tile<T, Cutting<T, Multiply::exact, mode, flushes>>
                                     : &tile<T, Cutting<T, Multiply::rounded, mode, flushes>>;
}

template <class T, bool flushes, Add add>
Kernel<T> to_nearest(const Plan& plan) {
  using enum Multiply;
  if (plan.multiply == exact) return &tile<T, Nearest<T, exact, add, flushes>>;
  return plan.small_products ? &tile<T, Nearest<T, rounded, add, flushes>>
                             : &tile<T, Nearest<T, rounded, add, flushes, false>>;
}

template <class T, bool flushes>
Kernel<T> of_plan(const Plan& plan) {
  switch (plan.add) {
    case Add::native:
      return plan.multiply == Multiply::exact
                 ? &tile<T, Nearest<T, Multiply::exact, Add::native, flushes>>
                 : &tile<T, Nearest<T, Multiply::native, Add::native, flushes>>;
    case Add::normal: return to_nearest<T, flushes, Add::normal>(plan);
    case Add::rounded: return to_nearest<T, flushes, Add::rounded>(plan);
    case Add::cut:
      switch (plan.mode) {
        case RoundingMode::rdn: return cutting<T, flushes, RoundingMode::rdn>(plan.multiply);
        case RoundingMode::rup: return cutting<T, flushes, RoundingMode::rup>(plan.multiply);
        case RoundingMode::rna: return cutting<T, flushes, RoundingMode::rna>(plan.multiply);
        default: return cutting<T, flushes, RoundingMode::rtz>(plan.multiply);
      }
    case Add::random: return nullptr;  // random_kernel has those
    case Add::odd: return nullptr;     // by_way_of_odd has those
  }
  return nullptr;
}

template <class T, bool nearest>
Kernel<T> by_way_of_odd(Multiply multiply) {
  if (multiply == Multiply::exact) return &tile<T, Odd<T, Multiply::exact, nearest>>;
  if (multiply == Multiply::rounded) return &tile<T, Odd<T, Multiply::rounded, nearest>>;
  return &tile<T, Odd<T, Multiply::wide, nearest>>;
}

template <class T>
Kernel<T> choose(const Plan& plan) {
  if (plan.add == Add::odd)
    return plan.mode == RoundingMode::rne ? by_way_of_odd<T, true>(plan.multiply)
                                          : by_way_of_odd<T, false>(plan.multiply);
  if (plan.multiply == Multiply::odd)
    return own_modes ? &tile<T, Nearest<T, Multiply::odd, Add::rounded, false>> : nullptr;
  return plan.flushes ? of_plan<T, true>(plan) : of_plan<T, false>(plan);
}
template <class T>
FixedKernel<T> choose_in_fixed(const FixedSteps& s) {
  using Needs = FixedConstants<T>;
  if (!s.rounds_products)
    return s.corrects_sums ? &tile<T, Fixed<T, false, false, true>, Needs>
                           : &tile<T, Fixed<T, false, false, false>, Needs>;
  if (s.corrects_sums) return &tile<T, Fixed<T, true, true, true>, Needs>;
  return s.corrects_products ? &tile<T, Fixed<T, true, true, false>, Needs>
                             : &tile<T, Fixed<T, true, false, false>, Needs>;
}
PositKernel choose_posits() { return &tile<double, Posits, PositConstants>; }

#else

template <class T>
Kernel<T> choose(const Plan&) {
  return nullptr;
}
template <class T>
FixedKernel<T> choose_in_fixed(const FixedSteps&) {
  return nullptr;
}
PositKernel choose_posits() { return nullptr; }

#endif

Kernel<float> choose_float(const Plan& plan) { return choose<float>(plan); }
Kernel<double> choose_double(const Plan& plan) { return choose<double>(plan); }
FixedKernel<float> choose_fixed_float(const FixedSteps& s) { return choose_in_fixed<float>(s); }
FixedKernel<double> choose_fixed_double(const FixedSteps& s) { return choose_in_fixed<double>(s); }
const char* name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::lanes {

HWY_EXPORT(choose_float);
HWY_EXPORT(choose_double);
HWY_EXPORT(choose_fixed_float);
HWY_EXPORT(choose_fixed_double);
HWY_EXPORT(choose_posits);
HWY_EXPORT(name);

template <>
Kernel<float> kernel<float>(const Plan& plan) {
  return HWY_DYNAMIC_DISPATCH(choose_float)(plan);
}
template <>
Kernel<double> kernel<double>(const Plan& plan) {
  return HWY_DYNAMIC_DISPATCH(choose_double)(plan);
}
template <>
FixedKernel<float> fixed_kernel<float>(const FixedSteps& steps) {
  return HWY_DYNAMIC_DISPATCH(choose_fixed_float)(steps);
}
template <>
FixedKernel<double> fixed_kernel<double>(const FixedSteps& steps) {
  return HWY_DYNAMIC_DISPATCH(choose_fixed_double)(steps);
}
PositKernel posit_kernel() { return HWY_DYNAMIC_DISPATCH(choose_posits)(); }
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }

}  // namespace widthwise::lanes
#endif
