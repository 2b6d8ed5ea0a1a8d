#include <cmath>

#include "lane_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/lane_decode.cpp"
#include <hwy/foreach_target.h>

#include "lane_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

template <class T, class Item>
HWY_INLINE I<T> load(const Item* items) {
  const Integers<T> d;
  if constexpr (sizeof(Item) == sizeof(T)) {
    return hn::LoadU(d, reinterpret_cast<const Bits<T>*>(items));
  } else {
    const auto narrow = hn::LoadU(hn::Rebind<Item, Integers<T>>(), items);
    if constexpr (sizeof(T) == 4) {
      return hn::PromoteTo(d, narrow);
    } else {
      const hn::Rebind<std::uint32_t, Integers<T>> half;
      const hn::RebindToUnsigned<Integers<T>> whole;
      if constexpr (sizeof(Item) == 4)
        return hn::BitCast(d, hn::PromoteTo(whole, narrow));
      else
        return hn::BitCast(d, hn::PromoteTo(whole, hn::PromoteTo(half, narrow)));
    }
  }
}

// A subnormal's fraction goes below the hidden one of the least normal number, which is then taken
// off. Infinities and NaN are the top exponent field's, or are looked for.
template <class T, bool ieee, class Item>
void decode(const Decoding<T>& format, const void* codes, std::size_t n, T* numbers) {
  const Decoding<T> f = format;  // a copy of ours, which no store can change
  const Numbers<T> d;
  const V<T> least = hn::Set(d, f.least_normal);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const I<T> code = load<T>(static_cast<const Item*>(codes) + i);
    const I<T> magnitude = hn::And(code, all<T>(f.magnitude_mask));
    const I<T> slid = hn::ShiftLeftSame(magnitude, f.up);
    const I<T> low = bits<T>(hn::Sub(number<T>(hn::Or(slid, bits<T>(least))), least));
    const I<T> kept = hn::And(low, all<T>(f.bottom_kept));
    const I<T> sign = hn::And(hn::ShiftLeftSame(code, f.sign_up), all<T>(f.sign));
    I<T> x = hn::Add(slid, all<T>(f.rebias));
    if constexpr (ieee) {
      const auto special = hn::Gt(magnitude, all<T>(f.infinity - 1));
      x = hn::Add(x, hn::IfThenElseZero(special, all<T>(f.above)));
      x = hn::IfThenElse(hn::Lt(magnitude, all<T>(f.bottom)), kept, x);
    } else {
      x = hn::IfThenElse(hn::Lt(magnitude, all<T>(f.bottom)), kept, x);
      x = hn::IfThenElse(hn::Eq(magnitude, all<T>(f.infinity)),
                         all<T>(lane<T>(carrier<T>.infinity)), x);
      const I<T> quiet = hn::ShiftLeftSame(hn::And(code, all<T>(f.quiet_bit)), f.up);
      const I<T> nan = hn::Or(quiet, all<T>(f.quiet_nan));
      x = hn::IfThenElse(hn::Gt(magnitude, all<T>(f.first_nan - 1)), nan, x);
      const I<T> whole = hn::And(code, all<T>(f.code_mask));
      x = hn::IfThenElse(hn::Eq(whole, all<T>(f.minus_nan)), nan, x);
    }
    hn::StoreU(number<T>(hn::Or(x, sign)), d, numbers + i);
  }
}

#if WIDTHWISE_HAS_HALF
// A signalling NaN becomes quiet on the way.
void decode_half(const Decoding<float>&, const void* codes, std::size_t n, float* numbers) {
  const Numbers<float> d;
  const auto* items = static_cast<const hwy::float16_t*>(codes);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(HalfNumbers(), items + i)), d, numbers + i);
}

// Codes of a byte, their fields slid to binary16's places, whose subnormals then are the format's.
template <class D>
HWY_INLINE hn::Vec<D> slid_to_half(const Decoding<float>& f, D d, const std::uint8_t* codes) {
  const auto all = [d](std::int64_t x) { return hn::Set(d, static_cast<std::int16_t>(x)); };
  const int down = carrier_format<float>.frac_bits - binary16.frac_bits;
  const Layout<std::uint64_t> half(binary16);
  const auto item = hn::LoadU(hn::Rebind<std::uint8_t, D>(), codes);
  const auto code = hn::And(hn::PromoteTo(d, item), all(f.code_mask));
  const auto magnitude = hn::And(code, all(f.magnitude_mask));
  const auto infinity = all(static_cast<std::int64_t>(half.infinity));
  const auto nan = all(static_cast<std::int64_t>(half.nan_code));
  auto x = hn::ShiftLeftSame(magnitude, f.up - down);
  x = hn::IfThenElse(hn::Eq(magnitude, all(f.infinity)), infinity, x);
  x = hn::IfThenElse(hn::Gt(magnitude, all(f.first_nan - 1)), nan, x);
  x = hn::IfThenElse(hn::Eq(code, all(f.minus_nan)), nan, x);
  return hn::Or(x, hn::And(hn::ShiftLeftSame(code, f.sign_up - 16), all(f.sign >> 16)));
}

// Two vectors of floats are one of halves.
void decode_small(const Decoding<float>& format, const void* codes, std::size_t n, float* numbers) {
  const Decoding<float> f = format;
  const Numbers<float> d;
  const hn::Rebind<std::int16_t, Numbers<float>> one;
  const hn::Repartition<std::int16_t, Numbers<float>> two;
  const auto* items = static_cast<const std::uint8_t*>(codes);
  const hn::Vec<Numbers<float>> scale = hn::Set(d, f.scale);
  const auto put = [&](hn::Vec<decltype(one)> halves, std::size_t at) {
    const auto number = hn::PromoteTo(d, hn::BitCast(HalfNumbers(), halves));
    hn::StoreU(hn::Mul(number, scale), d, numbers + at);
  };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto x = slid_to_half(f, two, items + i);
    put(hn::LowerHalf(one, x), i);
    put(hn::UpperHalf(one, x), i + lanes);
  }
  for (; i < n; i += lanes) put(slid_to_half(f, one, items + i), i);
}
#endif

// The carrier's own fields.
template <class T, class Item>
void decode_cut(const Decoding<T>& f, const void* codes, std::size_t n, T* numbers) {
  const Numbers<T> d;
  const int up = f.up;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const I<T> code = load<T>(static_cast<const Item*>(codes) + i);
    hn::StoreU(number<T>(hn::ShiftLeftSame(code, up)), d, numbers + i);
  }
}

// As floats beyond the largest one are: infinite only if they were.
void settle_overflow(const double* from, std::size_t n, float* numbers) {
  using Floats = std::numeric_limits<float>;
  for (std::size_t i = 0; i < n; ++i)
    if (std::abs(from[i]) > double{Floats::max()})
      numbers[i] = std::copysign(std::isinf(from[i]) ? Floats::infinity() : Floats::max(),
                                 static_cast<float>(std::copysign(1.0, from[i])));
}

// Digits below a float's are cut off to odd (docs/exactness.md, 46). What overflows does so as the
// machine or Highway like, and is settled afterwards.
void decode_double(const Decoding<float>&, const void* codes, std::size_t n, float* numbers) {
  const Numbers<double> d;
  const hn::Rebind<float, Numbers<double>> floats;
  const hn::Rebind<std::int32_t, Numbers<double>> narrow;
  const I<double> below = all<double>((std::int64_t{1} << 29) - 1);
  const auto largest = hn::BitCast(narrow, hn::Set(floats, std::numeric_limits<float>::max()));
  auto most = hn::Zero(narrow);
  const auto* items = static_cast<const double*>(codes);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const I<double> x = bits<double>(hn::LoadU(d, items + i));
    const I<double> lost = hn::Add(hn::And(x, below), below);  // carries where any digit is 1
    const auto y = hn::DemoteTo(floats, number<double>(hn::AndNot(below, hn::Or(x, lost))));
    most = hn::Max(most, hn::BitCast(narrow, hn::Abs(y)));
    hn::StoreU(y, floats, numbers + i);
  }
  if (!hn::AllTrue(narrow, hn::Lt(most, largest))) settle_overflow(items, n, numbers);
}

template <class T, class Item>
typename Kernels<T>::Decode decoder(const Decoding<T>& f) {
  if (f.cut) return &decode_cut<T, Item>;
  return f.ieee ? &decode<T, true, Item> : &decode<T, false, Item>;
}
template <class T>
typename Kernels<T>::Decode choose_decode(const Decoding<T>& f, [[maybe_unused]] bool flags) {
#if WIDTHWISE_HAS_HALF
  if constexpr (sizeof(T) == 4)
    if (!flags && (f.half || f.small)) return f.half ? &decode_half : &decode_small;
#endif
  switch (f.bytes) {
    case 1: return decoder<T, std::uint8_t>(f);
    case 2: return decoder<T, std::uint16_t>(f);
    default: return decoder<T, std::uint32_t>(f);
  }
}

// HWY_EXPORT takes no templates.
auto double_to_odd() { return &decode_double; }
auto float_decode(const Decoding<float>& f, bool flags) { return choose_decode<float>(f, flags); }
auto double_decode(const Decoding<double>& f, bool flags) {
  return choose_decode<double>(f, flags);
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(double_to_odd);
HWY_EXPORT(float_decode);
HWY_EXPORT(double_decode);

Kernels<float>::Decode odd_kernel() { return HWY_DYNAMIC_DISPATCH(double_to_odd)(); }
template <>
Kernels<float>::Decode decode_kernel<float>(const Decoding<float>& f, bool flags) {
  return HWY_DYNAMIC_DISPATCH(float_decode)(f, flags);
}
template <>
Kernels<double>::Decode decode_kernel<double>(const Decoding<double>& f, bool flags) {
  return HWY_DYNAMIC_DISPATCH(double_decode)(f, flags);
}

}  // namespace widthwise::elements
#endif
