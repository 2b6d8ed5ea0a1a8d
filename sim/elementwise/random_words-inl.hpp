// Random bits of elements, in words of 64, as lanes. Included once for each instruction set, after
// <hwy/foreach_target.h>.
#if defined(WIDTHWISE_RANDOM_WORDS) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_RANDOM_WORDS
#undef WIDTHWISE_RANDOM_WORDS
#else
#define WIDTHWISE_RANDOM_WORDS
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

// The lanes' own integers are 64 bits, or 32: then what is above is 0.
template <class D>
HWY_INLINE auto random_words(D, const std::uint64_t* bits) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> d;
  using Lane = hn::TFromD<decltype(d)>;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<Lane>(*bits));
#else
  if constexpr (sizeof(Lane) == sizeof(std::uint64_t)) {
    return hn::LoadU(d, bits);
  } else if constexpr (hn::MaxLanes(decltype(d)()) == 1) {
    return hn::Set(d, static_cast<Lane>(*bits));
  } else {
    const hn::Repartition<std::uint64_t, decltype(d)> pairs;
    const auto low = hn::LoadU(pairs, bits), high = hn::LoadU(pairs, bits + hn::Lanes(pairs));
    return hn::ConcatEven(d, hn::BitCast(d, high), hn::BitCast(d, low));
  }
#endif
}

// Words of at most 52 bits, or where lanes are floats of at most 22, as numbers.
template <class D>
HWY_INLINE auto load_bits(D d, const std::uint64_t* bits) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<D>(), random_words(d, bits)));
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
