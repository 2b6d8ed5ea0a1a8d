// Random bits alone, for roundings of elements; compiled as kernel.inl is.
#include "row_kernels.hpp"

#ifndef WIDTHWISE_ROWS_PATH
#define WIDTHWISE_ROWS_PATH baseline
#endif

#include <hwy/highway.h>

#include "sim/integers/dice-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

HWY_INLINE Word pair_at(const PhiloxKeys& keys, Word index) {
  const Spaced none(0), slot(static_cast<std::uint64_t>(Slot::out));
  const auto words = philox<Spaced>({Spaced(index), Spaced(index >> 32), none, slot}, keys);
  return (words[0].word & Word(0xffffffff)) | words[1].word << 32;
}

// Local, as the functions of the other kernels are.
static void draw_pairs(std::uint64_t seed, std::uint64_t first, std::size_t n,
                       std::uint64_t* pairs) {
  const PhiloxKeys keys(seed);
  const hn::ScalableTag<std::uint64_t> d;
  HWY_ALIGN std::uint64_t last[row_items];
  for (std::size_t i = 0; i < n; i += row_items) {
    const Word pair = pair_at(keys, Word(hn::Add(hn::Iota(d, 0), hn::Set(d, first + i))));
    const std::size_t left = n - i;
    hn::StoreU(pair.v, d, left < row_items ? last : pairs + i);
    if (left < row_items)
      for (std::size_t j = 0; j < left; ++j) pairs[i + j] = last[j];
  }
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace widthwise::rows::WIDTHWISE_ROWS_PATH {
Draw kernel_draw() { return &HWY_NAMESPACE::draw_pairs; }
}  // namespace widthwise::rows::WIDTHWISE_ROWS_PATH
