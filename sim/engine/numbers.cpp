#include "numbers.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "halves.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/engine/numbers.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr int fraction_bits = sizeof(T) == 4 ? 23 : 52;
template <class T>
inline constexpr std::int64_t carrier_bias = sizeof(T) == 4 ? 127 : 1023;

template <class T>
HWY_INLINE T power_of_two(std::int64_t e) {
  return std::bit_cast<T>(static_cast<Bits<T>>(e + carrier_bias<T>) << fraction_bits<T>);
}

// Whether codes are the carrier's own bits.
template <class T>
HWY_INLINE bool native(const CodeLayout& f) {
  return f.frac_bits == fraction_bits<T> && f.magnitude_bits == 8 * int{sizeof(T)} - 1 &&
         f.emin == 1 - carrier_bias<T> && f.used == ~std::uint64_t{0} && !f.daz &&
         !f.nan_is_minus_zero;
}
template <class T>
HWY_INLINE std::uint64_t copy_items(const Bits<T>* codes, std::size_t n, T* out) {
  Bits<T> most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Bits<T> code = codes[i], magnitude = code << 1;
    most = magnitude > most ? magnitude : most;
    out[i] = std::bit_cast<T>(code);
  }
  return most >> 1;
}
template <class T>
HWY_INLINE void copy_back(const CodeLayout& f, const T* numbers, std::size_t n, Bits<T>* codes) {
  const Bits<T> infinity = std::bit_cast<Bits<T>>(std::numeric_limits<T>::infinity());
  const Bits<T> nan = static_cast<Bits<T>>(f.nan);
  for (std::size_t i = 0; i < n; ++i) {
    const Bits<T> bits = std::bit_cast<Bits<T>>(numbers[i]);
    codes[i] = bits << 1 > infinity << 1 ? nan : bits;
  }
}

template <class Item>
HWY_INLINE bool holds(const Item* codes, std::size_t n, Item code) {
  Item found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= static_cast<Item>(codes[i] == code);
  return found != 0;
}

// Beside 3/2 2^(D - 1) of its digits a number of fixed point has the digits of its integer.
template <class T>
HWY_INLINE T middle_of(const CodeLayout& f) {
  return T{1.5} * power_of_two<T>(f.emin - f.frac_bits + fraction_bits<T>);
}
template <class T, class Item>
HWY_INLINE std::uint64_t decode_fixed(const CodeLayout& f, const Item* codes, std::size_t n,
                                      T* out) {
  using B = Bits<T>;
  const B mask = static_cast<B>((std::uint64_t{1} << (f.magnitude_bits + f.complement)) - 1);
  const B sign = f.complement ? B{1} << f.magnitude_bits : B{0};
  const T middle = middle_of<T>(f);
  const B zero = std::bit_cast<B>(middle) - sign;
  for (std::size_t i = 0; i < n; ++i)
    out[i] = std::bit_cast<T>(zero + ((static_cast<B>(codes[i]) & mask) ^ sign)) - middle;
  return 0;
}
template <class T, class Item>
HWY_INLINE void encode_fixed(const CodeLayout& f, const T* numbers, std::size_t n, Item* codes) {
  using B = Bits<T>;
  const B mask = static_cast<B>((std::uint64_t{1} << (f.magnitude_bits + f.complement)) - 1);
  const T middle = middle_of<T>(f);
  for (std::size_t i = 0; i < n; ++i)
    codes[i] = static_cast<Item>(std::bit_cast<B>(numbers[i] + middle) & mask);
}

// The fields slide to the carrier's places; a subnormal's fraction is an integer, scaled. Plain
// loops, which the compiler turns into this target's vectors.
template <class T, class Item>
HWY_INLINE std::uint64_t decode_items(const CodeLayout& f, const Item* codes, std::size_t n,
                                      T* out) {
  if (f.fixed) return decode_fixed(f, codes, n, out);
  using B = Bits<T>;
  const int up = fraction_bits<T> - f.frac_bits, sign_up = 8 * int{sizeof(T)} - 1;
  const B mask = static_cast<B>((std::uint64_t{1} << f.magnitude_bits) - 1);
  const B used = static_cast<B>(f.used);
  const B rebias = static_cast<B>(carrier_bias<T> - f.bias) << fraction_bits<T>;
  // Where the format's subnormals are the carrier's, the fields alone do.
  const bool same = f.emin == 1 - carrier_bias<T> && !f.daz;
  const B hidden = same ? 0 : B{1} << f.frac_bits;
  const T quantum = same || f.daz ? T{0} : power_of_two<T>(f.emin - f.frac_bits);
  B most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const B code = static_cast<B>(codes[i]), whole = code & mask, magnitude = whole & used;
    most = whole > most ? whole : most;
    const B normal = (magnitude << up) + rebias;
    const T small = static_cast<T>(static_cast<std::make_signed_t<B>>(magnitude)) * quantum;
    const B low = std::bit_cast<B>(small), value = magnitude < hidden ? low : normal;
    out[i] = std::bit_cast<T>(value | (code >> f.magnitude_bits) << sign_up);
  }
  if (f.nan_is_minus_zero && holds(codes, n, static_cast<Item>(f.nan))) return ~std::uint64_t{0};
  return most;
}

template <class T, class Item>
HWY_INLINE void special_items(const CodeLayout& f, const Item* codes, std::size_t n, T* out) {
  const std::uint64_t mask = (std::uint64_t{1} << f.magnitude_bits) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t magnitude = codes[i] & mask;
    const bool is_nan = f.nan_is_minus_zero && codes[i] == f.nan;
    if (magnitude <= f.max_finite && !is_nan) continue;
    const T x = magnitude == f.infinity ? std::numeric_limits<T>::infinity()
                                        : std::numeric_limits<T>::quiet_NaN();
    out[i] = std::copysign(x, out[i]);
  }
}

template <class T, class Item>
HWY_INLINE void encode_items(const CodeLayout& f, const T* numbers, std::size_t n, Item* codes) {
  if (f.fixed) return encode_fixed(f, numbers, n, codes);
  using B = Bits<T>;
  const int down = fraction_bits<T> - f.frac_bits, sign_up = 8 * int{sizeof(T)} - 1;
  const B rebias = static_cast<B>(carrier_bias<T> - f.bias) << fraction_bits<T>;
  const bool same = f.emin == 1 - carrier_bias<T>;
  const T least_normal = same ? T{0} : power_of_two<T>(f.emin);
  const T scale = same ? T{0} : power_of_two<T>(f.frac_bits - f.emin);
  const B infinity = std::bit_cast<B>(std::numeric_limits<T>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    const B bits = std::bit_cast<B>(numbers[i]), sign = bits >> sign_up;
    const B absolute = bits & ~(B{1} << sign_up);
    const T magnitude = std::bit_cast<T>(absolute);
    const T small = magnitude < least_normal ? magnitude * scale : T{0};
    const B low = static_cast<B>(static_cast<std::make_signed_t<B>>(small));
    const B code = magnitude < least_normal ? low : (absolute - rebias) >> down;
    const B magnitude_code = absolute == infinity ? static_cast<B>(f.infinity) : code;
    const B minus = f.nan_is_minus_zero && magnitude_code == 0 ? 0 : sign;
    const B nan = static_cast<B>(f.nan), number = magnitude_code | minus << f.magnitude_bits;
    codes[i] = static_cast<Item>(absolute > infinity ? nan : number);
  }
}

template <class T>
std::uint64_t decode(const CodeLayout& f, const void* codes, int bytes, std::size_t n, T* out) {
  if (native<T>(f)) return copy_items(static_cast<const Bits<T>*>(codes), n, out);
  switch (bytes) {
    case 1: return decode_items(f, static_cast<const std::uint8_t*>(codes), n, out);
    case 2: return decode_items(f, static_cast<const std::uint16_t*>(codes), n, out);
    case 4: return decode_items(f, static_cast<const std::uint32_t*>(codes), n, out);
    default: return decode_items(f, static_cast<const std::uint64_t*>(codes), n, out);
  }
}

template <class T>
void specials(const CodeLayout& f, const void* codes, int bytes, std::size_t n, T* out) {
  switch (bytes) {
    case 1: return special_items(f, static_cast<const std::uint8_t*>(codes), n, out);
    case 2: return special_items(f, static_cast<const std::uint16_t*>(codes), n, out);
    case 4: return special_items(f, static_cast<const std::uint32_t*>(codes), n, out);
    default: return special_items(f, static_cast<const std::uint64_t*>(codes), n, out);
  }
}

template <class T>
void encode(const CodeLayout& f, const T* numbers, std::size_t n, int bytes, void* codes) {
  if (native<T>(f)) return copy_back(f, numbers, n, static_cast<Bits<T>*>(codes));
  switch (bytes) {
    case 1: return encode_items(f, numbers, n, static_cast<std::uint8_t*>(codes));
    case 2: return encode_items(f, numbers, n, static_cast<std::uint16_t*>(codes));
    case 4: return encode_items(f, numbers, n, static_cast<std::uint32_t*>(codes));
    default: return encode_items(f, numbers, n, static_cast<std::uint64_t*>(codes));
  }
}

// On the bits, for vectors have no minimum in order: those of a zero, less one, are the largest.
template <class T>
T least(const T* numbers, std::size_t n) {
  using B = Bits<T>;
  B least = std::bit_cast<B>(std::numeric_limits<T>::infinity()) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const B size = static_cast<B>(std::bit_cast<B>(numbers[i]) << 1 >> 1) - 1;
    least = size < least ? size : least;
  }
  return std::bit_cast<T>(least + 1);
}
float least_float(const float* numbers, std::size_t n) { return least(numbers, n); }
double least_double(const double* numbers, std::size_t n) { return least(numbers, n); }

void demote(const float* numbers, std::size_t n, Half* halves) {
  const hn::CappedTag<float, 8> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> to;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += lanes) {
    const std::size_t count = std::min(lanes, n - i);
    float part[8] = {};
    hwy::float16_t result[8];
    std::copy_n(numbers + i, count, part);
    hn::StoreU(hn::DemoteTo(to, hn::LoadU(d, part)), to, result);
    std::memcpy(halves + i, result, 2 * count);
  }
}

CodeLoops<float> float_loops() { return {&decode<float>, &specials<float>, &encode<float>}; }
CodeLoops<double> double_loops() { return {&decode<double>, &specials<double>, &encode<double>}; }

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise {

HWY_EXPORT(demote);
HWY_EXPORT(least_float);
HWY_EXPORT(least_double);
HWY_EXPORT(float_loops);
HWY_EXPORT(double_loops);

void to_halves(const float* numbers, std::size_t n, Half* halves) {
  HWY_DYNAMIC_DISPATCH(demote)(numbers, n, halves);
}
template <>
float least_magnitude<float>(const float* numbers, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(least_float)(numbers, n);
}
template <>
double least_magnitude<double>(const double* numbers, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(least_double)(numbers, n);
}
template <>
CodeLoops<float> code_loops<float>() {
  return HWY_DYNAMIC_DISPATCH(float_loops)();
}
template <>
CodeLoops<double> code_loops<double>() {
  return HWY_DYNAMIC_DISPATCH(double_loops)();
}

}  // namespace widthwise
#endif
