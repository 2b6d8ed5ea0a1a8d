#include "kernels.hpp"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/exact/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::exact::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using V = hn::Vec<Doubles>;

#define WIDTHWISE_SEQUENCE HWY_INLINE
#include "sim/exact/sequences.inl"
#undef WIDTHWISE_SEQUENCE

struct Chain {
  static constexpr int levels = 1;
  HWY_INLINE explicit Chain(const Tile&) {}
  HWY_INLINE void operator()(V a, V b, V* sum) const { sum[0] = hn::MulAdd(a, b, sum[0]); }
};

struct Nearest {
  static constexpr int levels = 1;
  V rounder;
  HWY_INLINE explicit Nearest(const Tile& t) : rounder(hn::Set(Doubles(), t.rounder)) {}
  HWY_INLINE void operator()(V a, V b, V* sum) const {
    sum[0] = with_nearest(a, b, sum[0], rounder);
  }
};

struct Magnitude {
  static constexpr int levels = 1;
  V rounder, sign;
  HWY_INLINE explicit Magnitude(const Tile& t)
      : rounder(hn::Set(Doubles(), t.rounder)), sign(hn::SignBit(Doubles())) {}
  HWY_INLINE void operator()(V a, V b, V* sum) const {
    const V kept = hn::Sub(hn::MulAdd(hn::Abs(a), hn::Abs(b), rounder), rounder);
    sum[0] = hn::Add(sum[0], hn::Xor(kept, hn::And(hn::Xor(a, b), sign)));
  }
};

template <int count>
struct Split {
  static constexpr int levels = count;
  HWY_INLINE explicit Split(const Tile&) {}
  HWY_INLINE void operator()(V a, V b, V* sum) const { split<count>(a, b, sum); }
};

// `vectors` columns of vectors, `rows` rows: as many sums as the registers hold.
template <class Step, bool saturates, int rows, int vectors>
HWY_INLINE void block(const Tile& t, const Step& step, std::size_t row, std::size_t column) {
  const Doubles d;
  const std::size_t width = hn::Lanes(d);
  const V low = hn::Set(d, t.low), high = hn::Set(d, t.high);
  double* const corner = t.sum + row * tile_columns + column;
  V sum[rows][vectors][Step::levels];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      for (int l = 0; l < Step::levels; ++l)
        sum[r][v][l] = hn::LoadU(d, corner + l * tile_size + r * tile_columns + v * width);
  for (std::size_t i = 0; i < t.k; ++i) {
    V b[vectors];
    for (int v = 0; v < vectors; ++v)
      b[v] = hn::LoadU(d, t.b + i * tile_columns + column + v * width);
    for (int r = 0; r < rows; ++r) {
      const V a = hn::Set(d, t.a[(row + r) * t.a_stride + i]);
      for (int v = 0; v < vectors; ++v) {
        step(a, b[v], sum[r][v]);
        if constexpr (saturates) sum[r][v][0] = hn::Min(hn::Max(sum[r][v][0], low), high);
      }
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      for (int l = 0; l < Step::levels; ++l)
        hn::StoreU(sum[r][v][l], d, corner + l * tile_size + r * tile_columns + v * width);
}

template <class Step, bool saturates = false>
void tile(const Tile& t) {
  constexpr bool many = HWY_MAX_BYTES == 64 || HWY_TARGET == HWY_NEON;  // 32 registers, not 16
  constexpr int rows = many ? 4 : 2, vectors = std::max(1, rows >> (Step::levels - 1));
  const Step step(t);
  for (std::size_t row = 0; row < tile_rows; row += rows)
    for (std::size_t column = 0; column < tile_columns; column += vectors * hn::Lanes(Doubles()))
      block<Step, saturates, rows, vectors>(t, step, row, column);
}

Kernel choose(Sequence sequence, bool saturates) {
  switch (sequence) {
    case Sequence::chain: return saturates ? &tile<Chain, true> : &tile<Chain>;
    case Sequence::nearest: return saturates ? &tile<Nearest, true> : &tile<Nearest>;
    case Sequence::magnitude: return saturates ? &tile<Magnitude, true> : &tile<Magnitude>;
    case Sequence::two: return &tile<Split<2>>;
    case Sequence::three: return &tile<Split<3>>;
  }
  return nullptr;
}

Range range_of(const double* numbers, std::size_t n) {
  Range z;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(numbers[i]) & ~std::uint64_t{0} >> 1;
    z.most = std::max(z.most, bits);
    z.least = std::min(z.least, bits - 1);  // a zero comes last
  }
  z.least += z.least != ~std::uint64_t{0};
  return z;
}

const char* name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace widthwise::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::exact {

HWY_EXPORT(choose);
HWY_EXPORT(range_of);
HWY_EXPORT(name);

Kernel kernel(Sequence sequence, bool saturates) {
  return HWY_DYNAMIC_DISPATCH(choose)(sequence, saturates);
}
Range range(const double* numbers, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(range_of)(numbers, n);
}
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }

}  // namespace widthwise::exact
#endif
