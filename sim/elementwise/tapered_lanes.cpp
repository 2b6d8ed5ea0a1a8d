#include "tapered_lanes.hpp"

#include <algorithm>

#include "lane_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/tapered_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/for_lanes-inl.hpp"
#include "small_integers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using widthwise::HWY_NAMESPACE::for_lanes;

constexpr int fraction = 23;  // digits behind the first of a float

// How an exponent is spelt behind the sign, and in how many bits.
template <class I>
struct Spelt {
  I bits, length;
};

//   | 1 1 … 1 0 | es exponent bits |    exponents from 0 on
//   | 0 0 … 0 1 |                       below
//
// An exponent past width regimes is as good as one: both round to the ends.
template <class D, class I>
HWY_INLINE Spelt<I> posit_exponent(D di, const TaperedShape& f, I unbound) {
  const auto one = hn::Set(di, 1), none = hn::Zero(di);
  const auto far = hn::Set(di, std::int64_t{f.width - 1} << f.es);
  const auto exponent = hn::Max(hn::Neg(far), hn::Min(unbound, far));
  const auto regime = hn::ShiftRightSame(exponent, f.es);
  const auto rest = hn::Sub(exponent, hn::ShiftLeftSame(regime, f.es));
  const auto below = hn::Lt(regime, none);
  const auto length = hn::IfThenElse(below, hn::Sub(one, regime), hn::Add(regime, hn::Set(di, 2)));
  const auto ones = hn::Sub(hn::Shl(one, hn::IfThenElse(below, none, length)), hn::Set(di, 2));
  const auto run = hn::IfThenElse(below, one, ones);
  return {hn::Or(hn::ShiftLeftSame(run, f.es), rest), hn::Add(length, hn::Set(di, f.es))};
}

//   | 1 | r     | r bits of exponent + 1 behind its leading one |    exponents from 0 on
//   | 0 | 7 - r | those of -exponent, inverted                  |    below
template <class D, class I>
HWY_INLINE Spelt<I> takum_exponent(D di, I exponent) {
  const auto one = hn::Set(di, 1), none = hn::Zero(di);
  const auto below = hn::Lt(exponent, none);
  const auto size = hn::IfThenElse(below, hn::Neg(exponent), hn::Add(exponent, one));
  const auto r = leading_place(di, size);
  const auto power = hn::Shl(one, r);
  const auto inverted = hn::IfThenElseZero(below, hn::Sub(power, one));
  const auto low = hn::Xor(hn::Xor(size, power), inverted);
  const auto head = hn::IfThenElse(below, hn::Sub(hn::Set(di, 7), r), hn::Add(hn::Set(di, 8), r));
  return {hn::Or(hn::Shl(head, r), low), hn::Add(r, hn::Set(di, 4))};
}

// The bits behind the sign, as many as fill 63, from a magnitude in double:
//
//   | exponent | 23 of fraction | 0 …
template <class D, class V>
HWY_INLINE auto pattern(D, const TaperedShape& f, V magnitude) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(di, magnitude);
  const auto exponent = hn::Sub(hn::ShiftRight<52>(bits), hn::Set(di, 1023));
  const auto spelt = f.takum ? takum_exponent(di, exponent) : posit_exponent(di, f, exponent);
  const auto digits =
      hn::And(hn::ShiftRight<52 - fraction>(bits), hn::Set(di, (std::int64_t{1} << fraction) - 1));
  const auto whole = hn::Or(hn::ShiftLeft<fraction>(spelt.bits), digits);
  const auto room = hn::Sub(hn::Set(di, 63 - fraction), spelt.length);
  return hn::BitCast(du, hn::Shl(whole, room));
}

// What carries out of the dropped bits where they round away: half of a unit, less one where a tie
// stays; or random bits at their top, with half of the last one's unit, which a tie may not reach.
template <class D>
HWY_INLINE auto increment(D du, const TaperedShape& f, int dropped, hn::Vec<D> kept,
                          const std::uint64_t* bits, std::size_t i) {
  const auto one = hn::Set(du, 1);
  if (!f.rounding.stochastic()) {
    const auto half = hn::Set(du, (std::uint64_t{1} << (dropped - 1)) - 1);
    return hn::Add(half, hn::And(kept, one));
  }
  const int shift = dropped - f.rounding.random_bits;
  const auto drawn = hn::LoadU(du, bits + i);
  auto up = hn::ShiftLeftSame(drawn, shift);
  if (f.rounding.variant != StochasticVariant::plain)
    up = hn::Add(up, hn::Set(du, std::uint64_t{1} << (shift - 1)));
  if (f.rounding.variant == StochasticVariant::even) up = hn::Sub(up, hn::And(drawn, one));
  return up;
}

// What is kept of a float's magnitude, all of it or its upper part, that is rounded to the nearest
// posit's (docs/exactness.md, 70): unbiased, its bits end as a posit's do, behind the regime in the
// place of a run. The longer that is, the more of them are dropped.
template <class I>
struct Kept {
  I whole, dropped, head;  // head: what the run spells, less what the regime does in `whole`
};

template <class D>
HWY_INLINE auto lanes_word(D d, int exponent, int less) {
  constexpr int digits = sizeof(hn::TFromD<D>) == sizeof(float) ? fraction : 8;
  return hn::Set(d, static_cast<hn::TFromD<D>>(((127 + exponent) << digits) - less));
}

template <class D, class V>
HWY_INLINE auto nearest_posit(D d, const TaperedShape& f, V magnitude) {
  const hn::RebindToSigned<D> di;
  using Lane = hn::TFromD<decltype(di)>;
  const auto all = [&](int x) HWY_ATTR { return hn::Set(di, static_cast<Lane>(x)); };
  constexpr int digits = sizeof(Lane) == sizeof(float) ? fraction : 8;
  const int above = digits + f.es, far = (f.width - 2) << f.es;
  const auto held = hn::Min(hn::Max(magnitude, lanes_word(d, -far, 0)), lanes_word(d, far, 1));
  const auto whole = hn::BitCast(di, hn::Sub(held, lanes_word(d, 0, 0)));
  const auto regime = hn::ShiftRightSame(whole, above), below = hn::BroadcastSignBit(regime);
  const auto run = hn::Xor(regime, below);  // less one
  const int first = above + 3 - f.width;
  const auto dropped = hn::Add(run, all(first)), half = hn::Shl(all(1 << (first - 1)), run);
  const auto spelt = hn::Shl(hn::Add(run, all(2)), hn::Sub(all(f.width - 3), run));
  const auto head = hn::IfVecThenElse(below, spelt, hn::Sub(all(1 << (f.width - 1)), spelt));
  const auto even = hn::AndNot(hn::Add(head, hn::Shr(whole, dropped)), all(1));
  const auto kept = hn::Shr(hn::Sub(hn::Add(whole, half), even), dropped);
  return Kept<hn::Vec<decltype(di)>>{kept, dropped, head};
}

// Codes of magnitudes and signs.
template <class D, class V, class S>
HWY_INLINE V nearest_code(D d, const TaperedShape& f, V magnitude, S negative, V infinity) {
  const auto kept = nearest_posit(d, f, magnitude);
  const auto nearest = hn::Add(kept.head, kept.whole);
  const V turned = hn::BitCast(d, hn::Sub(hn::Xor(nearest, negative), negative));
  const V number = hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), turned);
  const auto all = [&](unsigned x) HWY_ATTR { return hn::Set(d, static_cast<hn::TFromD<D>>(x)); };
  const unsigned nar = 1U << (f.width - 1);
  return hn::And(hn::IfThenElse(hn::Lt(magnitude, infinity), number, all(nar)), all(2 * nar - 1));
}

// As many as fill vectors, and how many that were: Highway shifts one lane of 32 bits by what lies
// in two.
template <class Code>
std::size_t posits(const TaperedShape& shape, const float* x, std::size_t n, Code* codes) {
  const TaperedShape f = shape;  // which codes may not overwrite
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<Code, decltype(d)> dc;
  const auto* words = reinterpret_cast<const std::uint32_t*>(x);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::LoadU(d, words + i);
    const auto negative =
        hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<decltype(d)>(), bits));
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
    const auto code = nearest_code(d, f, magnitude, negative, hn::Set(d, 0x7f800000));
    if constexpr (sizeof(Code) == sizeof(float))
      hn::StoreU(code, dc, codes + i);
    else
      hn::StoreU(hn::TruncateTo(dc, code), dc, codes + i);
  }
  return i;
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// Of 8 bits, in words of 16: a float's upper half but for the sign, and whether anything is below.
std::size_t short_posits(const TaperedShape& shape, const float* x, std::size_t n,
                         std::uint8_t* codes) {
  const TaperedShape f = shape;
  const hn::ScalableTag<std::uint16_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> dc;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(x);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto first = hn::LoadU(d, halves + 2 * i), second = hn::LoadU(d, halves + 2 * i + lanes);
    const auto upper = hn::ConcatOdd(d, second, first), lower = hn::ConcatEven(d, second, first);
    const auto negative = hn::BroadcastSignBit(hn::BitCast(di, upper));
    const auto magnitude = hn::Or(hn::Add(upper, upper), hn::Min(lower, hn::Set(d, 1)));
    const auto code = nearest_code(d, f, magnitude, negative, hn::Set(d, 0xff00));
    hn::StoreU(hn::TruncateTo(dc, code), dc, codes + i);
  }
  return i;
}
#endif

template <class Code>
std::size_t quickly(const TaperedShape& f, const float* x, std::size_t n, Code* codes) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(Code) == 1) return short_posits(f, x, n, codes);
#endif
  return posits(f, x, n, codes);
}

// The nearest posits as floats, of whole vectors.
void values(const TaperedShape& shape, const float* x, std::size_t n, float* y) {
  const TaperedShape f = shape;
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RebindToFloat<decltype(d)> floats;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto bits = hn::BitCast(d, hn::LoadU(floats, x + i));
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
    const auto kept = nearest_posit(d, f, magnitude);
    const auto word =
        hn::Add(hn::BitCast(d, hn::Shl(kept.whole, kept.dropped)), lanes_word(d, 0, 0));
    const auto signed_word = hn::Or(word, hn::Xor(bits, magnitude));
    const auto number = hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), signed_word);
    const auto finite = hn::Lt(magnitude, hn::Set(d, 0x7f800000));
    const auto found = hn::IfThenElse(finite, number, hn::Set(d, 0x7fc00000));
    hn::StoreU(hn::BitCast(floats, found), floats, y + i);
  }
}

template <class Code>
void tapered(const TaperedShape& shape, const float* x, const std::uint64_t* bits, std::size_t n,
             Code* codes) {
  const TaperedShape f = shape;      // which codes may not overwrite
  const int dropped = 64 - f.width;  // of the 63 bits
  const std::size_t done = f.in_words ? quickly(f, x, n, codes) : 0;
  for_lanes(hn::ScalableTag<double>(), n - done, [&](auto d, std::size_t at) HWY_ATTR {
    const std::size_t i = done + at;
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<Code, decltype(d)> dc;
    const auto a = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), x + i));
    const auto p = pattern(d, f, hn::Abs(a));
    const auto one = hn::Set(du, 1), most = hn::Set(du, (std::uint64_t{1} << (f.width - 1)) - 1);
    const auto kept = hn::ShiftRightSame(p, dropped);
    const auto rest = hn::And(p, hn::Set(du, (std::uint64_t{1} << dropped) - 1));
    const auto up =
        hn::ShiftRightSame(hn::Add(rest, increment(du, f, dropped, kept, bits, i)), dropped);
    const auto held = hn::Min(hn::Max(hn::Add(kept, up), one), most);
    const auto negative = hn::RebindMask(du, hn::Lt(a, hn::Zero(d)));
    const auto code = hn::IfThenElse(negative, hn::Sub(hn::Zero(du), held), held);
    const auto zero = hn::RebindMask(du, hn::Eq(a, hn::Zero(d)));
    const auto finite = hn::RebindMask(du, hn::IsFinite(a));
    const auto nar = hn::Set(du, std::uint64_t{1} << (f.width - 1));
    const auto all = hn::Set(du, (std::uint64_t{2} << (f.width - 1)) - 1);
    const auto found = hn::IfThenElse(finite, hn::IfThenZeroElse(zero, hn::And(code, all)), nar);
    hn::StoreU(hn::TruncateTo(dc, found), dc, codes + i);
  });
}

void bytes_of(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
              std::uint8_t* codes) {
  tapered(f, x, bits, n, codes);
}
void halves_of(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
               std::uint16_t* codes) {
  tapered(f, x, bits, n, codes);
}
void words_of(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
              std::uint32_t* codes) {
  tapered(f, x, bits, n, codes);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(bytes_of);
HWY_EXPORT(halves_of);
HWY_EXPORT(words_of);
HWY_EXPORT(values);

void to_tapered(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
                std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(bytes_of)(f, x, bits, n, codes);
}
void to_tapered(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
                std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(halves_of)(f, x, bits, n, codes);
}
void to_tapered(const TaperedShape& f, const float* x, const std::uint64_t* bits, std::size_t n,
                std::uint32_t* codes) {
  HWY_DYNAMIC_DISPATCH(words_of)(f, x, bits, n, codes);
}

void to_posit_values(const TaperedShape& f, const float* x, std::size_t n, float* y) {
  const std::size_t whole = n / padding * padding;
  HWY_DYNAMIC_DISPATCH(values)(f, x, whole, y);
  if (whole == n) return;
  float rest[padding] = {};
  std::copy(x + whole, x + n, rest);
  HWY_DYNAMIC_DISPATCH(values)(f, rest, padding, rest);
  std::copy_n(rest, n - whole, y + whole);
}

}  // namespace widthwise::elements
#endif
