#include "chance_lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/chance_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "random_words-inl.hpp"
#include "sim/engine/for_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using widthwise::HWY_NAMESPACE::for_lanes;

template <class D>
HWY_INLINE auto places(D, const std::uint8_t* codes) {
  const hn::Rebind<std::int32_t, D> words;
  return hn::PromoteTo(hn::RebindToSigned<D>(),
                       hn::PromoteTo(words, hn::LoadU(hn::Rebind<std::uint8_t, D>(), codes)));
}

void choices(const Chances& chances, const float* x, const std::uint8_t* near,
             const std::uint8_t* far, const std::uint64_t* bits, std::size_t n,
             std::uint8_t* codes) {
  const Chances c = chances;
  for_lanes(hn::ScalableTag<double>(), n, [&](auto d, std::size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    const auto from = places(d, near + i), to = places(d, far + i);
    const auto here = hn::GatherIndex(d, c.values, from), there = hn::GatherIndex(d, c.values, to);
    const auto number = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), x + i));
    const auto whole = hn::Set(d, c.whole), gap = hn::Abs(hn::Sub(there, here));
    const auto reaches = hn::Sub(hn::Set(d, c.whole - c.less), load_bits(d, bits + i));
    auto behind = hn::Sub(number, here), least = hn::Mul(reaches, gap);
    if (c.around_zero) {
      // Across zero |number| + |here| may not fit a double: |here| goes to the other side.
      const auto crosses = hn::Lt(hn::Mul(here, there), hn::Zero(d));
      behind = hn::IfThenElse(crosses, number, behind);
      least = hn::Sub(least, hn::IfThenElseZero(crosses, hn::Mul(whole, hn::Abs(here))));
    }
    const auto away = hn::Ge(hn::Mul(hn::Abs(behind), whole), least);
    const auto code = hn::IfThenElse(hn::RebindMask(di, away), to, from);
    hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(du, code)), bytes, codes + i);
  });
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(choices);

void choose(const Chances& chances, const float* x, const std::uint8_t* near,
            const std::uint8_t* far, const std::uint64_t* bits, std::size_t n,
            std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(choices)(chances, x, near, far, bits, n, codes);
}

}  // namespace widthwise::elements
#endif
