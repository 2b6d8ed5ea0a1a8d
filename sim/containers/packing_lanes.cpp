#include "packing_lanes.hpp"

#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/containers/packing_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::containers::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
std::size_t pack_vectors(const EightCodes&, const std::byte*, std::size_t, std::byte*,
                         std::size_t) {
  return 0;
}
std::size_t unpack_vectors(const EightCodes&, const std::byte*, std::size_t, std::byte*,
                           std::size_t) {
  return 0;
}
#else

using Words = hn::ScalableTag<std::uint64_t>;
using Bytes = hn::Repartition<std::uint8_t, Words>;
constexpr std::size_t block = 16;  // bytes among which they can be moved: two words

// Blocks of a vector from or to places that lie a step apart.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::uint8_t* bytes, std::size_t step) {
  if constexpr (hn::MaxLanes(D()) == block) {
    return hn::LoadU(d, bytes);
  } else {
    const hn::Half<D> half;
    const std::size_t upper = hn::Lanes(half) / block * step;
    return hn::Combine(d, load_blocks(half, bytes + upper, step), load_blocks(half, bytes, step));
  }
}
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, std::uint8_t* bytes, std::size_t step) {
  if constexpr (hn::MaxLanes(D()) == block) {
    hn::StoreU(v, d, bytes);
  } else {
    const hn::Half<D> half;
    const std::size_t upper = hn::Lanes(half) / block * step;
    store_blocks(half, hn::LowerHalf(half, v), bytes, step);
    store_blocks(half, hn::UpperHalf(half, v), bytes + upper, step);
  }
}

// f(first code, first byte) for vectors of codes whose last block of bytes ends within the room.
template <class F>
HWY_INLINE std::size_t for_vectors(std::size_t width, std::size_t n, std::size_t room, const F& f) {
  const std::size_t lanes = hn::Lanes(Bytes()), step = lanes / 8 * width;
  std::size_t i = 0;
  for (std::size_t at = 0; i + lanes <= n && at + step - 2 * width + block <= room; at += step) {
    f(i, at);
    i += lanes;
  }
  return i;
}

std::size_t pack_vectors(const EightCodes& eight, const std::byte* codes, std::size_t n,
                         std::byte* bytes, std::size_t room) {
  const Words d;
  const Bytes db;
  std::array<std::uint8_t, block> from{};
  for (std::size_t j = 0; j < 2 * eight.width; ++j)
    from[j] = static_cast<std::uint8_t>(j < eight.width ? j : 8 + j - eight.width);
  const auto places = hn::LoadDup128(db, from.data());
  return for_vectors(eight.width, n, room, [&](std::size_t i, std::size_t at) HWY_ATTR {
    auto x = hn::BitCast(d, hn::LoadU(db, reinterpret_cast<const std::uint8_t*>(codes) + i));
    for (int k = 0; k < 3; ++k) {
      const auto even = hn::Set(d, eight.even[k]);
      x = hn::Or(hn::And(x, even), hn::ShiftRightSame(hn::AndNot(even, x), eight.gap[k]));
    }
    store_blocks(db, hn::TableLookupBytes(hn::BitCast(db, x), places),
                 reinterpret_cast<std::uint8_t*>(bytes) + at, 2 * eight.width);
  });
}

std::size_t unpack_vectors(const EightCodes& eight, const std::byte* bytes, std::size_t room,
                           std::byte* codes, std::size_t n) {
  constexpr std::uint8_t none = 0x80;
  const Words d;
  const Bytes db;
  std::array<std::uint8_t, block> from;
  for (std::size_t j = 0; j < block; ++j)
    from[j] = j % 8 < eight.width ? static_cast<std::uint8_t>(j / 8 * eight.width + j % 8) : none;
  const auto places = hn::LoadDup128(db, from.data());
  return for_vectors(eight.width, n, room, [&](std::size_t i, std::size_t at) HWY_ATTR {
    const auto packed =
        load_blocks(db, reinterpret_cast<const std::uint8_t*>(bytes) + at, 2 * eight.width);
    auto x = hn::BitCast(d, hn::TableLookupBytesOr0(packed, places));
    for (int k = 2; k >= 0; --k) {
      const auto even = hn::Set(d, eight.even[k]);
      x = hn::Or(hn::And(x, even), hn::ShiftLeftSame(hn::AndNot(even, x), eight.gap[k]));
    }
    hn::StoreU(hn::BitCast(db, x), db, reinterpret_cast<std::uint8_t*>(codes) + i);
  });
}
#endif

}  // namespace widthwise::containers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::containers {

HWY_EXPORT(pack_vectors);
HWY_EXPORT(unpack_vectors);

std::size_t pack_vectors(const EightCodes& eight, const std::byte* codes, std::size_t n,
                         std::byte* bytes, std::size_t room) {
  return HWY_DYNAMIC_DISPATCH(pack_vectors)(eight, codes, n, bytes, room);
}
std::size_t unpack_vectors(const EightCodes& eight, const std::byte* bytes, std::size_t room,
                           std::byte* codes, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(unpack_vectors)(eight, bytes, room, codes, n);
}

}  // namespace widthwise::containers
#endif
