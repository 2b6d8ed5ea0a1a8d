#include "affine_lanes.hpp"

#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/containers/affine_lanes.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::affine::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Doubles = hn::ScalableTag<double>;
using Half = hn::Rebind<float, Doubles>;
using F = hn::Vec<Floats>;
using I = hn::Vec<Ints>;
using D = hn::Vec<Doubles>;
using Words = hn::RebindToUnsigned<Floats>;
using W = hn::Vec<Words>;

// Of a run with one scale, or the next ones of a run with one each.
template <bool each, class Tag>
HWY_INLINE hn::Vec<Tag> lanes(Tag d, const hn::TFromD<Tag>* x, std::size_t i) {
  if constexpr (each) return hn::LoadU(d, x + i);
  return hn::Set(d, *x);
}

// x / s in double, rounded, of both halves of a vector: NaN as it is, what is far as that.
template <bool each>
HWY_INLINE F by_division(const Scales& s, F x, std::size_t i) {
  const Doubles dd;
  const Half half;
  const auto rounded = [&](hn::Vec<Half> part, std::size_t at) {
    const D y = hn::Div(hn::PromoteTo(dd, part), lanes<each>(dd, s.scale, at));
    const D near =
        hn::IfThenElse(hn::IsNaN(y), y, hn::Min(hn::Max(y, hn::Set(dd, -far)), hn::Set(dd, far)));
    return hn::DemoteTo(half, hn::Round(near));
  };
#if HWY_TARGET == HWY_SCALAR
  return rounded(x, i);
#else
  const auto low = rounded(hn::LowerHalf(half, x), i);
  const auto high = rounded(hn::UpperHalf(half, x), i + hn::Lanes(dd));
  return hn::Combine(Floats(), high, low);
#endif
}

// Numbers to ask memory for beforehand: the machine by itself asks for fewer.
inline constexpr std::size_t ahead = 1024;

// Codes of up to 8 bits in fixed point: of y + z - qmin + 1/2 so many digits behind the point, and
// `margin` added. They are the words of floats between 512 and 1024, less that of `start` - 1/2.
inline constexpr int behind = 14;
inline constexpr std::uint32_t margin = HWY_NATIVE_FMA ? 0 : 1, digits = (1U << behind) - 1;
inline constexpr float start = 640;
inline constexpr std::uint32_t first_word = std::bit_cast<std::uint32_t>(start - 0.5f) - margin;

HWY_INLINE void store_codes(const W (&words)[1], std::int64_t qmin, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, Words> bytes;
  const auto code = hn::TruncateTo(bytes, hn::ShiftRight<behind>(words[0]));
  hn::StoreU(hn::Add(code, hn::Set(bytes, static_cast<std::uint8_t>(qmin))), bytes, to);
}

#if HWY_TARGET == HWY_SCALAR
constexpr std::size_t together = 1;  // vectors whose codes fill one of bytes
#else
constexpr std::size_t together = 4;

// Four vectors' codes side by side: first those of a place in one word, then as they are within 16
// bytes, then these in order.
HWY_INLINE void store_codes(const W (&words)[together], std::int64_t qmin, std::uint8_t* to) {
  const hn::Repartition<std::uint8_t, Words> bytes;
  const hn::Repartition<std::uint16_t, Words> pairs;
  const auto pair = [&](W upper, W lower) HWY_ATTR {
    return hn::BitCast(pairs, hn::OddEven(hn::BitCast(bytes, upper), hn::BitCast(bytes, lower)));
  };
  const auto lower = pair(hn::ShiftRight<behind - 8>(words[1]), hn::ShiftRight<behind>(words[0])),
             upper =
                 pair(hn::ShiftLeft<24 - behind>(words[3]), hn::ShiftLeft<16 - behind>(words[2]));
  alignas(16) static constexpr std::uint8_t turned[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                          2, 6, 10, 14, 3, 7, 11, 15};
  const auto fours = hn::TableLookupBytes(hn::BitCast(bytes, hn::OddEven(upper, lower)),
                                          hn::LoadDup128(bytes, turned));
  std::int32_t from[padding];
  const std::size_t blocks = hn::Lanes(Words()) / 4;
  for (std::size_t i = 0; i < hn::Lanes(Words()); ++i)
    from[i] = static_cast<std::int32_t>(i % blocks * 4 + i / blocks);
  const auto in_order =
      hn::TableLookupLanes(hn::BitCast(Words(), fours), hn::SetTableIndices(Words(), from));
  const auto least = hn::Set(bytes, static_cast<std::uint8_t>(qmin));
  hn::StoreU(hn::Add(hn::BitCast(bytes, in_order), least), bytes, to);
}
#endif

// Of a vector with numbers that lie near a tie or past the range, or are NaN.
template <bool each>
HWY_NOINLINE W settled(const Scales& s, const AffineRule& rule, const float* x, std::size_t i,
                       W word, AffineCounts& counts) {
  const Floats d;
  const Ints di;
  const Words du;
  const F v = hn::LoadU(d, x + i);
  const auto doubtful = hn::Lt(hn::And(word, hn::Set(du, digits)), hn::Set(du, 2 * margin + 1));
  if (hn::AllFalse(du, doubtful) && hn::AllFalse(d, hn::IsNaN(v))) {
    const auto first = static_cast<std::int32_t>(first_word),
               count = static_cast<std::int32_t>(rule.qmax - rule.qmin + 1);
    const I bits = hn::BitCast(di, hn::Add(word, hn::Set(du, first_word)));
    const I kept =
        hn::Min(hn::Max(bits, hn::Set(di, first)), hn::Set(di, first + (count << behind) - 1));
    counts.clamped += hn::CountTrue(di, hn::Ne(kept, bits));
    return hn::BitCast(du, hn::Sub(kept, hn::Set(di, first)));
  }
  const F low = hn::Set(d, static_cast<float>(rule.qmin)),
          high = hn::Set(d, static_cast<float>(rule.qmax)), q = by_division<each>(s, v, i);
  const F code = hn::Add(hn::IfThenZeroElse(hn::IsNaN(q), q), lanes<each>(d, s.zero32, i));
  const F kept = hn::Min(hn::Max(code, low), high);
  counts.nan += hn::CountTrue(d, hn::IsNaN(q));
  counts.clamped += hn::CountTrue(d, hn::Ne(kept, code));
  return hn::ShiftLeft<behind>(hn::BitCast(du, hn::ConvertTo(di, hn::Sub(kept, low))));
}

template <bool each>
AffineCounts quick(const Scales& s, const AffineRule& rule, const float* x, std::size_t n,
                   std::uint8_t* to) {
  const Floats d;
  const Words du;
  const auto count = static_cast<std::uint32_t>(rule.qmax - rule.qmin + 1);
  const F origin = hn::Set(d, start - static_cast<float>(rule.qmin));
  F reciprocal = lanes<each>(d, s.reciprocal, 0);
  F zero = hn::Add(origin, lanes<each>(d, s.zero32, 0));
  const W past = hn::Set(du, count << behind), fraction = hn::Set(du, digits),
          near = hn::Set(du, 2 * margin);
  AffineCounts counts;
  const auto code = [&](auto& words, std::size_t i) HWY_ATTR {
    W most = hn::Zero(du), nearest = fraction;
    std::size_t at = i;
    for (W& word : words) {
      hwy::Prefetch(x + at + ahead);
      if constexpr (each) {
        reciprocal = lanes<each>(d, s.reciprocal, at);
        zero = hn::Add(origin, lanes<each>(d, s.zero32, at));
      }
      const F sum = hn::MulAdd(hn::LoadU(d, x + at), reciprocal, zero);
      word = hn::Sub(hn::BitCast(du, sum), hn::Set(du, first_word));
      most = hn::Max(most, word);
      nearest = hn::Min(nearest, hn::And(word, fraction));
      at += hn::Lanes(d);
    }
    const auto sure = [&](W largest, W least) HWY_ATTR {
      return hn::AllTrue(du, hn::And(hn::Lt(largest, past), hn::Gt(least, near)));
    };
    if (HWY_UNLIKELY(!sure(most, nearest))) {
      at = i;
      for (W& word : words) {
        if (!sure(word, hn::And(word, fraction)))
          word = settled<each>(s, rule, x, at, word, counts);
        at += hn::Lanes(d);
      }
    }
    store_codes(words, rule.qmin, to + i);
  };
  std::size_t i = 0;
  for (; i + together * hn::Lanes(d) <= n; i += together * hn::Lanes(d)) {
    W words[together];
    code(words, i);
  }
  for (; i < n; i += hn::Lanes(d)) {
    W words[1];
    code(words, i);
  }
  return counts;
}

// Integers in the order of the floats whose words they are, and back: below zero all digits but the
// sign are turned over. NaN lies past the infinities.
template <class Word>
constexpr Word turned(Word word, Word sign) {
  return word ^ (sign & 0x7fffffff);
}
std::int32_t order_of(float x) {
  const auto word = std::bit_cast<std::int32_t>(x);
  return turned(word, word >> 31);
}
float of_order(std::int32_t order) { return std::bit_cast<float>(turned(order, order >> 31)); }

// The least and the largest of an array, and those before; NaN where there is one. Two at a time,
// for each minimum waits for the one before.
FloatRange range(const float* x, std::size_t n, FloatRange before) {
  const Ints di;
  const std::size_t width = hn::Lanes(di);
  const auto orders = [di](const float* at) {
    const I word = hn::LoadU(di, reinterpret_cast<const std::int32_t*>(at));
    return hn::Xor(word, hn::And(hn::ShiftRight<31>(word), hn::Set(di, 0x7fffffff)));
  };
  std::int32_t least = order_of(before.low), most = order_of(before.high);
  I low[2] = {hn::Set(di, least), hn::Set(di, least)};
  I high[2] = {hn::Set(di, most), hn::Set(di, most)};
  std::size_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width)
    for (std::size_t r = 0; r < 2; ++r) {
      hwy::Prefetch(x + i + r * width + ahead);
      const I order = orders(x + i + r * width);
      low[r] = hn::Min(low[r], order), high[r] = hn::Max(high[r], order);
    }
  least = hn::GetLane(hn::MinOfLanes(di, hn::Min(low[0], low[1])));
  most = hn::GetLane(hn::MaxOfLanes(di, hn::Max(high[0], high[1])));
  for (; i < n; ++i) {
    const std::int32_t order = order_of(x[i]);
    least = order < least ? order : least, most = order > most ? order : most;
  }
  const bool ordered = order_of(-HUGE_VALF) <= least && most <= order_of(HUGE_VALF);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  return ordered ? FloatRange{of_order(least), of_order(most)} : FloatRange{nan, nan};
}

// How far a quotient lies from where the mode changes its mind: a tie, or an integer.
template <bool nearest>
HWY_INLINE D from_border(D y) {
  const Doubles d;
  const D to_integer = hn::Abs(hn::Sub(y, hn::Round(y)));
  if constexpr (nearest) return hn::Abs(hn::Sub(to_integer, hn::Set(d, 0.5)));
  return to_integer;
}

HWY_INLINE D promoted(const float* x) {
  const Half half;
  return hn::PromoteTo(Doubles(), hn::LoadU(half, x));
}
HWY_INLINE D promoted(const double* x) { return hn::LoadU(Doubles(), x); }

// Codes, and which of them are sure.
HWY_INLINE void keep(D codes, hn::Mask<Doubles> sure, std::size_t i, Rounded& to) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  hn::StoreU(codes, d, to.code + i);
  hn::StoreU(hn::BitCast(di, hn::VecFromMask(d, sure)), di, to.sure + i);
}

// `exact`, by the machine's quotient: right where that is no border, and at one where no two
// operands have a quotient between it and its neighbours (short_quotients).
template <bool each, class Value, RoundingMode mode>
bool divide(const Scales& s, bool short_quotients, const Value* x, std::size_t n, Rounded& to) {
  using enum RoundingMode;
  const Doubles d;
  const D most = hn::Set(d, 0x1p40), share = hn::Set(d, 0x1p-50);
  const bool vouched = short_quotients && mode != rna;
  bool all_sure = true;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const D y = hn::Div(promoted(x + i), lanes<each>(d, s.scale, i));
    const D q = mode == rdn   ? hn::Floor(y)
                : mode == rup ? hn::Ceil(y)
                : mode == rtz ? hn::Trunc(y)
                              : hn::Round(y);
    auto sure = hn::Lt(hn::Abs(y), most);  // no NaN
    if (!vouched)
      sure = hn::And(sure, hn::Gt(from_border<is_nearest(mode)>(y), hn::Mul(hn::Abs(y), share)));
    keep(hn::Add(q, lanes<each>(d, s.zero, i)), sure, i, to);
    all_sure &= hn::AllTrue(d, sure);
  }
  return all_sure;
}

// Engines' quotients in binary32, to nearest even.
template <bool each, AffineArithmetic how>
bool engine(const Scales& s, const float* x, std::size_t n, Rounded& to) {
  using enum AffineArithmetic;
  const Doubles d;
  const Half half;
  bool all_sure = true;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(half, x + i);
    const auto by = lanes<each>(half, how == onnx ? s.scale32 : s.reciprocal, i);
    const auto y = how == onnx    ? hn::Div(v, by)
                   : how == torch ? hn::Mul(v, by)
                                  : hn::MulAdd(v, by, lanes<each>(half, s.zero32, i));
    D code = hn::Round(hn::PromoteTo(d, y));
    if (how != torch_legacy) code = hn::Add(code, lanes<each>(d, s.zero, i));
    const auto sure = hn::Lt(hn::Abs(code), hn::Set(d, 0x1p40));
    keep(code, sure, i, to);
    all_sure &= hn::AllTrue(d, sure);
  }
  return all_sure;
}

template <bool each, class Value>
bool careful_run(const Scales& s, const AffineRule& rule, bool short_quotients, const Value* x,
                 std::size_t n, Rounded& to) {
  using enum RoundingMode;
  if constexpr (sizeof(Value) == 4) {
    using enum AffineArithmetic;
    if (rule.arithmetic == onnx) return engine<each, onnx>(s, x, n, to);
    if (rule.arithmetic == torch) return engine<each, torch>(s, x, n, to);
#if HWY_NATIVE_FMA
    if (rule.arithmetic == torch_legacy) return engine<each, torch_legacy>(s, x, n, to);
#endif
  }
  switch (rule.rounding.mode) {
    case rne: return divide<each, Value, rne>(s, short_quotients, x, n, to);
    case rdn: return divide<each, Value, rdn>(s, short_quotients, x, n, to);
    case rup: return divide<each, Value, rup>(s, short_quotients, x, n, to);
    case rtz: return divide<each, Value, rtz>(s, short_quotients, x, n, to);
    default: return divide<each, Value, rna>(s, short_quotients, x, n, to);  // off its ties alike
  }
}

template <class Value>
bool careful(const Scales& s, const AffineRule& rule, bool short_quotients, const Value* x,
             std::size_t n, Rounded& to) {
  return s.each ? careful_run<true, Value>(s, rule, short_quotients, x, n, to)
                : careful_run<false, Value>(s, rule, short_quotients, x, n, to);
}

// Integers of up to 32 bits, signed or not, as words.
HWY_INLINE hn::Vec<hn::Rebind<std::uint32_t, Doubles>> words_of(D codes, bool is_signed) {
  const Doubles d;
  const hn::Rebind<std::int32_t, Doubles> ints;
  const hn::Rebind<std::uint32_t, Doubles> words;
  if (is_signed) return hn::BitCast(words, hn::DemoteTo(ints, codes));
  const auto moved = hn::DemoteTo(ints, hn::Sub(codes, hn::Set(d, 0x1p31)));
  return hn::Xor(hn::BitCast(words, moved), hn::Set(words, 0x80000000));
}

template <class Item>
std::uint64_t pack_items(const AffineRule& rule, const double* codes, std::size_t n, Item* to) {
  const Doubles d;
  const hn::Rebind<Item, Doubles> items;
  const D low = hn::Set(d, static_cast<double>(rule.qmin)),
          high = hn::Set(d, static_cast<double>(rule.qmax));
  std::uint64_t past = 0;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const D code = hn::LoadU(d, codes + i);
    const D kept = hn::Min(hn::Max(code, low), high);
    past += hn::CountTrue(d, hn::Ne(kept, code));
    const auto words = words_of(kept, rule.item.is_signed);
    if constexpr (sizeof(Item) == 4)
      hn::StoreU(words, items, to + i);
    else
      hn::StoreU(hn::TruncateTo(items, words), items, to + i);
  }
  for (; i < n; ++i) {
    const double kept = codes[i] < hn::GetLane(low)    ? hn::GetLane(low)
                        : codes[i] > hn::GetLane(high) ? hn::GetLane(high)
                                                       : codes[i];
    past += kept != codes[i];
    to[i] = static_cast<Item>(static_cast<std::int64_t>(kept));
  }
  return past;
}

std::uint64_t pack(const AffineRule& rule, const double* codes, std::size_t n, void* to) {
  switch (rule.item.bytes) {
    case 1: return pack_items(rule, codes, n, static_cast<std::uint8_t*>(to));
    case 2: return pack_items(rule, codes, n, static_cast<std::uint16_t*>(to));
    default: return pack_items(rule, codes, n, static_cast<std::uint32_t*>(to));
  }
}

// HWY_EXPORT takes no templates.
auto careful_floats() { return &careful<float>; }
auto careful_doubles() { return &careful<double>; }
bool fuses() { return HWY_NATIVE_FMA; }
Quick quick_codes(bool each) { return each ? &quick<true> : &quick<false>; }
auto float_range() { return &range; }
auto packing() { return &pack; }
std::size_t lanes_of_floats() { return hn::Lanes(Floats()); }

}  // namespace widthwise::affine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::affine {

HWY_EXPORT(careful_floats);
HWY_EXPORT(careful_doubles);
HWY_EXPORT(fuses);
HWY_EXPORT(quick_codes);
HWY_EXPORT(float_range);
HWY_EXPORT(packing);
HWY_EXPORT(lanes_of_floats);

template <>
Careful<float> careful_kernel<float>() {
  return HWY_DYNAMIC_DISPATCH(careful_floats)();
}
template <>
Careful<double> careful_kernel<double>() {
  return HWY_DYNAMIC_DISPATCH(careful_doubles)();
}
bool lanes_fuse() { return HWY_DYNAMIC_DISPATCH(fuses)(); }
Quick quick_kernel(bool each) { return HWY_DYNAMIC_DISPATCH(quick_codes)(each); }
std::size_t float_lanes() { return HWY_DYNAMIC_DISPATCH(lanes_of_floats)(); }
Pack pack_kernel() { return HWY_DYNAMIC_DISPATCH(packing)(); }
RangeKernel range_kernel() { return HWY_DYNAMIC_DISPATCH(float_range)(); }

}  // namespace widthwise::affine
#endif
