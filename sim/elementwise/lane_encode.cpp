#include "lane_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/lane_encode.cpp"
#include <hwy/foreach_target.h>

#include "lane_finish-inl.hpp"
#include "lane_pack-inl.hpp"
#include "lane_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

// By the mode that the machine is in. A subnormal is rounded by adding the power of two whose last
// digit is its own.
template <class T, Quick quick, class Item>
void encode_quickly(const Encoding<T>& format, const T* numbers, std::size_t n, void* codes,
                    std::uint8_t*) {
  const Encoding<T> to = format;
  const Numbers<T> d;
  const V<T> half_normal = hn::Set(d, to.half_normal), half = hn::Set(d, to.half_quantum);
  const I<T> least = all<T>(std::bit_cast<Bits<T>>(to.least_normal));
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V<T> x = hn::LoadU(d, numbers + i);
    const I<T> absolute = bits<T>(hn::Abs(x)), negative = hn::BroadcastSignBit(bits<T>(x));
    const I<T> up = quick_increment<T, quick>(to, absolute, negative);
    I<T> code = hn::Add(hn::Sub(absolute, all<T>(to.rebias)), up);
    V<T> low = number<T>(absolute);
    if constexpr (quick == Quick::ties_away) low = hn::Add(low, half);
    if constexpr (quick == Quick::by_sign)
      low = hn::Abs(hn::Add(x, hn::Or(half_normal, hn::And(x, hn::SignBit(d)))));
    else
      low = hn::Add(low, half_normal);
    code = hn::ShiftRightSame(code, to.drop);
    if (to.has_subnormals)
      code = hn::IfThenElse(hn::Lt(absolute, least), hn::Sub(bits<T>(low), bits<T>(half_normal)),
                            code);
    store<T>(finished<T>(to, code, absolute, negative), static_cast<Item*>(codes) + i);
  }
}

template <class T>
HWY_INLINE I<T> increment(const Encoding<T>& to, I<T> long_code, I<T> negative) {
  I<T> up = by_sign<T>(negative, to.increment);
  if (to.by_parity) {
    const I<T> digits = hn::ShiftRightSame(hn::Min(long_code, all<T>(to.parity_cap)), to.drop);
    const I<T> is_odd = hn::Neg(hn::And(digits, all<T>(1)));
    up = hn::Xor(up, hn::And(is_odd, hn::Xor(up, by_sign<T>(negative, to.odd_increment))));
  }
  return up;
}

// Whether a long code is tiny, which was rounded to a code.
template <class T>
HWY_INLINE auto is_tiny(const Encoding<T>& to, I<T> long_code, I<T> code, I<T> negative) {
  I<T> bound = long_code;
  if (to.tininess == Tininess::after_rounding)
    bound = hn::Add(bound, by_sign<T>(negative, to.tiny_increment));
  if (to.tininess == Tininess::as_delivered) return hn::Lt(code, all<T>(to.hidden));
  return hn::Lt(bound, all<T>(to.normal));
}

// Whatever lib/widthwise/round.hpp does, in its order.
template <class T, bool with_flags, class Item>
void encode(const Encoding<T>& format, const T* numbers, std::size_t n, void* codes,
            std::uint8_t* flags) {
  const Encoding<T> to = format;
  const Numbers<T> d;
  const Integers<T> di;
  const I<T> none = hn::Zero(di), infinity = all<T>(lane<T>(carrier<T>.infinity));
  const V<T> least = hn::Set(d, to.least_normal);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V<T> x = hn::LoadU(d, numbers + i), absolute = hn::Abs(x);
    const I<T> a = bits<T>(absolute), negative = hn::BroadcastSignBit(bits<T>(x));

    I<T> long_code = hn::Sub(a, all<T>(to.rebias));
    if (to.has_subnormals)
      long_code = hn::IfThenElse(hn::Lt(long_code, all<T>(to.normal)),
                                 long_subnormal<T>(absolute, least), long_code);
    const I<T> rounded = hn::Add(long_code, increment<T>(to, long_code, negative));
    I<T> code = hn::ShiftRightSame(rounded, to.drop);
    [[maybe_unused]] I<T> raised = none;
    if constexpr (with_flags) {
      const I<T> digits = hn::And(long_code, all<T>((Bits<T>{1} << to.drop) - 1));
      const I<T> tiny =
          hn::IfThenElseZero(is_tiny<T>(to, long_code, code, negative), all<T>(underflow));
      raised = hn::IfThenElse(hn::Eq(digits, none), none, hn::Or(tiny, all<T>(inexact)));
    }

    if (to.has_gap) {
      const auto up = hn::Gt(long_code, by_sign<T>(negative, to.away_past));
      const I<T> end = hn::IfThenElseZero(up, all<T>(to.least_magnitude));
      code = hn::IfThenElse(hn::Lt(long_code, all<T>(to.least)), end, code);
    }
    if constexpr (with_flags) {
      const auto over = hn::Gt(code, all<T>(to.max_finite));
      raised = hn::IfThenElse(over, all<T>(overflow | inexact), raised);
    }
    if (to.flushes) {
      // What is tiny may be too large as well, where a format has subnormals alone.
      const auto number = hn::AndNot(hn::Gt(code, all<T>(to.max_finite)), hn::Gt(code, none));
      const auto flushed = hn::And(is_tiny<T>(to, long_code, code, negative), number);
      code = hn::IfThenElse(flushed, none, code);
      if constexpr (with_flags)
        raised = hn::IfThenElse(flushed, all<T>(underflow | inexact), raised);
    }
    const auto is_zero = hn::Eq(code, none);
    code = finished<T>(to, code, a, negative);
    if (!to.is_signed) {  // numbers below zero have no code
      I<T> lost = negative;
      if (to.has_zero) lost = hn::AndNot(hn::VecFromMask(di, is_zero), lost);
      code = hn::IfThenElse(hn::MaskFromVec(lost), all<T>(to.nan), code);
      if constexpr (with_flags)
        raised = hn::IfThenElse(hn::MaskFromVec(lost), all<T>(invalid), raised);
    }
    if (!to.has_zero) code = hn::IfThenElse(hn::Eq(a, none), by_sign<T>(negative, to.zero), code);
    store<T>(code, static_cast<Item*>(codes) + i);
    if constexpr (with_flags) {
      raised = hn::IfThenElse(hn::Eq(a, infinity), by_sign<T>(negative, to.infinite_flags), raised);
      const auto nan = hn::Gt(a, infinity);
      const auto loud = hn::Lt(a, all<T>(lane<T>(carrier<T>.nan_code)));
      const I<T> of_nan = hn::IfThenElse(loud, all<T>(invalid), all<T>(to.nan_flags));
      store<T>(hn::IfThenElse(nan, of_nan, raised), flags + i);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// A block of vectors at a time; those with infinities or NaN as `encode` does.
template <Quick quick, bool aligned, class Item>
void encode_packed(const Encoding<float>& format, const float* numbers, std::size_t n, void* codes,
                   std::uint8_t*) {
  const Encoding<float> to = format;
  const Packer<quick, aligned, Item> packer(to);
  Item* items = static_cast<Item*>(codes);
  for (std::size_t i = 0; i < n; i += packer.elements)
    if (!packer.pack(to, numbers + i, items + i))
      encode<float, false, Item>(to, numbers + i, packer.elements, items + i, nullptr);
}
#endif

// The carrier is the result's format: only NaN changes.
template <class T, bool with_flags>
void encode_carrier(const Encoding<T>&, const T* numbers, std::size_t n, void* codes,
                    std::uint8_t* flags) {
  const Numbers<T> d;
  const Integers<T> di;
  const I<T> infinity = all<T>(lane<T>(carrier<T>.infinity));
  const I<T> quiet = all<T>(lane<T>(carrier<T>.nan_code));
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V<T> x = hn::LoadU(d, numbers + i);
    const I<T> a = bits<T>(hn::Abs(x));
    const auto nan = hn::Gt(a, infinity);
    hn::StoreU(hn::IfThenElse(nan, quiet, bits<T>(x)), di, static_cast<Bits<T>*>(codes) + i);
    if constexpr (with_flags) {
      const I<T> loud = hn::IfThenElseZero(hn::Lt(a, quiet), all<T>(invalid));
      store<T>(hn::IfThenElseZero(nan, loud), flags + i);
    }
  }
}

#if WIDTHWISE_HAS_HALF
void encode_half(const Encoding<float>& to, const float* numbers, std::size_t n, void* codes,
                 std::uint8_t*) {
  const Numbers<float> d;
  const hn::Rebind<std::int16_t, Numbers<float>> di;
  const auto infinity = hn::Set(di, static_cast<std::int16_t>(to.infinite[0]));
  const auto nan = hn::Set(di, static_cast<std::int16_t>(to.nan));
  const auto magnitude = hn::Set(di, std::int16_t{0x7fff});
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto code = hn::BitCast(di, hn::DemoteTo(HalfNumbers(), hn::LoadU(d, numbers + i)));
    const auto is_nan = hn::Gt(hn::And(code, magnitude), infinity);
    hn::StoreU(hn::IfThenElse(is_nan, nan, code), di, static_cast<std::int16_t*>(codes) + i);
  }
}
#endif

template <class T, Quick quick, class Item>
typename Kernels<T>::Encode quick_encoder([[maybe_unused]] const Encoding<T>& to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4 && sizeof(Item) <= 2)
    if (to.packs)
      return to.has_subnormals ? &encode_packed<quick, true, Item>
                               : &encode_packed<quick, false, Item>;
#endif
  return &encode_quickly<T, quick, Item>;
}
template <class T, class Item>
typename Kernels<T>::Encode encoder(const Encoding<T>& to, bool flags) {
  if (flags) return &encode<T, true, Item>;
  switch (to.quick) {
    case Quick::none: return &encode<T, false, Item>;
    case Quick::to_even: return quick_encoder<T, Quick::to_even, Item>(to);
    case Quick::ties_away: return quick_encoder<T, Quick::ties_away, Item>(to);
    case Quick::toward_zero: return quick_encoder<T, Quick::toward_zero, Item>(to);
    case Quick::by_sign: return quick_encoder<T, Quick::by_sign, Item>(to);
  }
  return nullptr;
}
template <class T>
typename Kernels<T>::Encode choose_encode(const Encoding<T>& to, bool flags) {
#if WIDTHWISE_HAS_HALF
  if constexpr (sizeof(T) == 4)
    if (to.half && !flags) return &encode_half;
#endif
  switch (to.bytes) {
    case 1: return encoder<T, std::uint8_t>(to, flags);
    case 2: return encoder<T, std::uint16_t>(to, flags);
    default: return encoder<T, std::uint32_t>(to, flags);
  }
}
template <class T>
typename Kernels<T>::Encode choose_carrier(bool flags) {
  return flags ? &encode_carrier<T, true> : &encode_carrier<T, false>;
}

// HWY_EXPORT takes no templates.
auto float_encode(const Encoding<float>& to, bool flags) { return choose_encode<float>(to, flags); }
auto double_encode(const Encoding<double>& to, bool flags) {
  return choose_encode<double>(to, flags);
}
auto float_carrier(bool flags) { return choose_carrier<float>(flags); }
auto double_carrier(bool flags) { return choose_carrier<double>(flags); }

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(float_encode);
HWY_EXPORT(double_encode);
HWY_EXPORT(float_carrier);
HWY_EXPORT(double_carrier);

template <>
Kernels<float>::Encode encode_kernel<float>(const Encoding<float>& to, bool flags) {
  return HWY_DYNAMIC_DISPATCH(float_encode)(to, flags);
}
template <>
Kernels<double>::Encode encode_kernel<double>(const Encoding<double>& to, bool flags) {
  return HWY_DYNAMIC_DISPATCH(double_encode)(to, flags);
}
template <>
Kernels<float>::Encode carrier_kernel<float>(bool flags) {
  return HWY_DYNAMIC_DISPATCH(float_carrier)(flags);
}
template <>
Kernels<double>::Encode carrier_kernel<double>(bool flags) {
  return HWY_DYNAMIC_DISPATCH(double_carrier)(flags);
}

}  // namespace widthwise::elements
#endif
