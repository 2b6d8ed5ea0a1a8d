#include "lane_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/lane_random.cpp"
#include <hwy/foreach_target.h>

#include "lane_finish-inl.hpp"
#include "random_words-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

// Without subnormals that have to be cut there is nothing to jam.
template <class T, class Item>
void encode_randomly(const Encoding<T>& format, const RandomPlaces& places, const T* numbers,
                     const std::uint64_t* bits, std::size_t n, void* codes) {
  const Encoding<T> to = format;
  const Numbers<T> d;
  const V<T> least = hn::Set(d, to.least_normal);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V<T> x = hn::LoadU(d, numbers + i), absolute = hn::Abs(x);
    const I<T> a = elements::HWY_NAMESPACE::bits<T>(absolute),
               negative = hn::BroadcastSignBit(elements::HWY_NAMESPACE::bits<T>(x)),
               drawn = hn::BitCast(Integers<T>(), random_words(d, bits + i));
    I<T> long_code = hn::Sub(a, all<T>(to.rebias));
    if (to.has_subnormals) {
      const I<T> low = random_subnormal<T>(places, absolute, least);
      long_code = hn::IfThenElse(hn::Lt(long_code, all<T>(to.normal)), low, long_code);
    }
    const I<T> up = random_increment<T>(to, places, drawn);
    const I<T> code = hn::ShiftRightSame(hn::Add(long_code, up), to.drop);
    store<T>(finished<T>(to, code, a, negative), static_cast<Item*>(codes) + i);
  }
}

template <class T>
RandomEncode<T> choose_random(int bytes) {
  switch (bytes) {
    case 1: return &encode_randomly<T, std::uint8_t>;
    case 2: return &encode_randomly<T, std::uint16_t>;
    default: return &encode_randomly<T, std::uint32_t>;
  }
}

// HWY_EXPORT takes no templates.
auto float_random(int bytes) { return choose_random<float>(bytes); }
auto double_random(int bytes) { return choose_random<double>(bytes); }

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(float_random);
HWY_EXPORT(double_random);

template <>
RandomEncode<float> random_kernel<float>(int bytes) {
  return HWY_DYNAMIC_DISPATCH(float_random)(bytes);
}
template <>
RandomEncode<double> random_kernel<double>(int bytes) {
  return HWY_DYNAMIC_DISPATCH(double_random)(bytes);
}

}  // namespace widthwise::elements
#endif
