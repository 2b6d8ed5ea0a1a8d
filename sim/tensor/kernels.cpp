#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/tensor/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/truncated-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using V = hn::Vec<Floats>;
using I = hn::Vec<Ints>;
using Bits = hn::RebindToUnsigned<Floats>;
using B = hn::Vec<Bits>;

using widthwise::HWY_NAMESPACE::truncated;

// Exponents stand where a float's do: e as e 2^23.
HWY_INLINE I in_place(std::int32_t e) { return hn::Set(Ints(), e * (1 << 23)); }
// 2^n of such an n, at least -126 and at most 127.
HWY_INLINE V power_of_two(I n) { return hn::BitCast(Floats(), hn::Add(n, in_place(127))); }
// 1 / x for such a power: the exponent fields of both sum to 254. 2^127 has none and becomes 0.
HWY_INLINE V reciprocal_power(V x) {
  return hn::BitCast(Floats(), hn::Sub(in_place(254), hn::BitCast(Ints(), x)));
}

// The exponent with which C votes. A zero has none; only to binary16's products might it matter.
template <Finish finish>
HWY_INLINE I exponent_of_c(V c, const Constants& z) {
  const Ints di;
  const I field = hn::And(hn::BitCast(di, c), hn::Set(di, 0x7f800000));
  const I e = hn::Max(hn::Sub(field, in_place(127)), in_place(z.c_emin));
  if constexpr (finish == Finish::truncate) return e;
  return hn::IfThenElse(hn::Eq(field, hn::Zero(di)), in_place(z.floor), e);
}

// |total| as a float, cut to 24 digits. Its 25th digit, if it has one, lies 24 places below its
// first; without that one, to nearest is toward zero.
HWY_INLINE V leading_digits(I magnitude) {
  const hn::RebindToUnsigned<Ints> du;
  const auto m = hn::BitCast(du, magnitude);
  const auto cut = hn::AndNot(hn::ShiftRight<24>(m), m);
  return hn::Abs(hn::ConvertTo(Floats(), hn::BitCast(Ints(), cut)));  // 2^31 comes as -2^31
}

// To 11 digits but none below 2^-24, ties to even, up to a sign: added to 3/2 * 2^13 times the
// power of two that x begins with, x ends where its 11th digit is.
HWY_INLINE V to_eleven_digits(V x) {
  const Floats d;
  const Ints di;
  const I exponent = hn::And(hn::BitCast(di, x), hn::Set(di, 0x7f800000));
  const I held = hn::Max(exponent, in_place(127 - 14));
  const V c = hn::Mul(hn::BitCast(d, held), hn::Set(d, 0x1.8p13f));
  return hn::Sub(hn::Add(x, c), c);
}

// total * unit rounded, without its sign.
template <Finish finish>
HWY_INLINE V rounded(I total, V unit, const Constants& z) {
  const Floats d;
  const Ints di;
  const I magnitude = hn::Abs(total);
  V x = leading_digits(magnitude);
  if constexpr (finish == Finish::truncate) {
    const V kept = hn::BitCast(d, hn::Set(di, static_cast<std::int32_t>(z.kept)));
    return hn::Mul(hn::And(x, kept), unit);
  }
  const auto lost = hn::Ne(truncated(x), magnitude);  // to odd
  x = hn::IfThenElse(hn::RebindMask(d, lost), hn::Or(x, hn::BitCast(d, hn::Set(di, 1))), x);
  return to_eleven_digits(hn::Mul(x, unit));
}

// A number with the sum's sign; of a zero that of -0 where it may be, for C is -0 in telling bits.
HWY_INLINE V sign_of_sum(I total, V c, const Constants& z) {
  const Ints di;
  const I minus = hn::Set(di, std::numeric_limits<std::int32_t>::min());
  const I both = hn::Or(hn::And(hn::BitCast(di, c), hn::Set(di, z.c_telling)), total);
  return hn::BitCast(Floats(), hn::IfThenElse(hn::Eq(both, minus), minus, total));
}

// What a tile has met on its way.
struct Watch {
  I overflow;  // negative where a sum passed int32
  B sum;       // largest magnitude of a sum, as bits; past 2^115, to binary16, those of -NaN
  I product;   // largest exponent sum
  I scale;     // largest scale of a sum of products, as bits
};

// The largest exponent sum of one block for every output of the tile.
template <class Exponent>
HWY_INLINE void largest_exponents(const Tile<Exponent>& t, std::size_t k, std::size_t lanes,
                                  Exponent* to) {
  const hn::ScalableTag<Exponent> d;
  for (std::size_t column = 0; column < t.columns; column += hn::Lanes(d)) {
    hn::Vec<decltype(d)> most[tile_rows];
    for (auto& m : most) m = hn::Set(d, std::numeric_limits<Exponent>::min());
    for (std::size_t i = k; i < k + lanes; ++i) {
      const auto b = hn::LoadU(d, t.b_exponent + i * tile_columns + column);
      for (std::size_t r = 0; r < tile_rows; ++r)
        most[r] = hn::Max(most[r], hn::Add(b, hn::Set(d, t.a_exponent[r * t.a_stride + i])));
    }
    for (std::size_t r = 0; r < tile_rows; ++r)
      hn::StoreU(most[r], d, to + r * tile_columns + column);
  }
}

// One block onto `rows` rows of `vectors` vectors of sums.
template <Finish finish, class Exponent, int rows, int vectors>
struct Corner {
  const Tile<Exponent>& t;
  const Constants& z;
  const Exponent* exponents;
  std::size_t row, column;
  V scale[rows][vectors]{};  // 2^(F - E)
  I total[rows][vectors]{};

  HWY_INLINE std::size_t at(int r, int v) const {
    return (row + r) * tile_columns + column + v * hn::Lanes(Floats());
  }
  HWY_INLINE I exponent_of_products(std::size_t output) const {
    const hn::Rebind<Exponent, Floats> d;
    return hn::PromoteTo(Ints(), hn::LoadU(d, exponents + output));
  }

  HWY_INLINE void align_c() {
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) {
        const V c = hn::LoadU(Floats(), t.sum + at(r, v));
        const I of_products = hn::Max(exponent_of_products(at(r, v)), hn::Set(Ints(), z.floor));
        const I e = hn::Max(hn::ShiftLeft<23>(of_products), exponent_of_c<finish>(c, z));
        scale[r][v] = power_of_two(hn::Sub(in_place(z.frac_bits), e));
        total[r][v] = truncated(hn::Mul(c, scale[r][v]));
      }
  }
  // Products first to last of all, as many as int32 holds the sum of.
  HWY_INLINE void add_products(std::size_t first, std::size_t last, Watch& watch) {
    I sum[rows][vectors];
    for (auto& of_row : sum)
      for (I& s : of_row) s = hn::Zero(Ints());
    for (std::size_t i = first; i < last; ++i) {
      V b[vectors];
      for (int v = 0; v < vectors; ++v)
        b[v] = hn::LoadU(Floats(), t.b + i * tile_columns + column + v * hn::Lanes(Floats()));
      for (int r = 0; r < rows; ++r) {
        const V a = hn::Set(Floats(), t.a[(row + r) * t.a_stride + i]);
        for (int v = 0; v < vectors; ++v)
          sum[r][v] = hn::Add(sum[r][v], truncated(hn::Mul(hn::Mul(a, b[v]), scale[r][v])));
      }
    }
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) join(total[r][v], sum[r][v], watch);
  }
  HWY_INLINE void join(I& sum, I further, Watch& watch) const {
    const I both = hn::Add(sum, further);
    if (z.may_overflow)
      watch.overflow = hn::Or(watch.overflow, hn::And(hn::Xor(sum, both), hn::Xor(further, both)));
    sum = both;
  }
  HWY_INLINE void deliver(Watch& watch) const {
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) deliver(at(r, v), scale[r][v], total[r][v], watch);
  }
  // Where no product was met, C stays.
  HWY_INLINE void deliver(std::size_t output, V scale_here, I sum, Watch& watch) const {
    const Floats d;
    const Ints di;
    const V c = hn::LoadU(d, t.sum + output);
    const V x = rounded<finish>(sum, reciprocal_power(scale_here), z);
    watch.sum = hn::Max(watch.sum, hn::BitCast(Bits(), x));
    V sign = hn::BitCast(d, sum);
    if constexpr (finish == Finish::nearest) sign = sign_of_sum(sum, c, z);
    V result = hn::CopySignToAbs(x, sign);
    const I of_products = exponent_of_products(output);
    const auto met = hn::Gt(of_products, hn::Set(di, z.least - 1));
    if constexpr (finish == Finish::truncate) {
      const V c_kept = hn::BitCast(d, hn::Set(di, static_cast<std::int32_t>(z.c_kept)));
      result = hn::IfThenElse(hn::RebindMask(d, met), result, hn::And(c, c_kept));
    }
    if constexpr (sizeof(Exponent) > 1) {
      watch.product = hn::Max(watch.product, of_products);
      const I bits = hn::BitCast(di, scale_here);
      watch.scale = hn::Max(watch.scale, hn::IfThenElseZero(met, bits));
    }
    hn::StoreU(result, d, t.sum + output);
  }

  HWY_INLINE void add_block(std::size_t k, Watch& watch) {
    align_c();
    for (std::size_t i = k; i < k + z.lanes; i += z.chunk)
      add_products(i, std::min(k + z.lanes, i + z.chunk), watch);
    deliver(watch);
  }
};

HWY_INLINE bool at_most(I x, std::int64_t limit) {
  return hn::AllTrue(Ints(), hn::Lt(x, hn::Set(Ints(), static_cast<std::int32_t>(limit) + 1)));
}

template <Finish finish, class Exponent>
bool tile(const Tile<Exponent>& t, const Constants& z) {
  const Floats d;
  const Ints di;
  constexpr bool many = HWY_MAX_BYTES == 64 || HWY_TARGET == HWY_NEON;  // 32 registers, not 16
  constexpr int rows = many ? 4 : 2, vectors = 2;
  Watch watch{hn::Zero(di), hn::Zero(Bits()), hn::Zero(di), hn::Zero(di)};
  alignas(64) Exponent exponents[tile_rows * tile_columns];
  for (std::size_t k = 0; k < t.k; k += z.lanes) {
    largest_exponents(t, k, z.lanes, exponents);
    for (std::size_t row = 0; row < tile_rows; row += rows)
      for (std::size_t column = 0; column < t.columns; column += vectors * hn::Lanes(d))
        Corner<finish, Exponent, rows, vectors>{t, z, exponents, row, column}.add_block(k, watch);
  }
  const std::int64_t scale_field = 127 + z.frac_bits - least_exponent(z.frac_bits);
  const B past = hn::Set(Bits(), static_cast<std::uint32_t>(z.largest) + 1);
  return hn::AllTrue(Bits(), hn::Lt(watch.sum, past)) && at_most(watch.product, most_exponent) &&
         at_most(watch.scale, scale_field << 23) &&
         hn::AllTrue(di, hn::Gt(watch.overflow, hn::Set(di, -1)));
}

template <class Exponent>
Kernel<Exponent> choose(Finish finish) {
  return finish == Finish::truncate ? &tile<Finish::truncate, Exponent>
                                    : &tile<Finish::nearest, Exponent>;
}

template <class Exponent>
void exponents_of(const float* numbers, std::size_t n, std::int32_t emin, Exponent* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t absolute = std::bit_cast<std::uint32_t>(numbers[i]) & 0x7fffffff;
    const std::int32_t e = std::max(static_cast<std::int32_t>(absolute >> 23) - 127, emin);
    out[i] = absolute == 0 ? of_zero<Exponent> : static_cast<Exponent>(e);
  }
}

// Whole vectors: a line of a tile has room for them.
void add_to_halves(const float* addends, std::size_t n, float* sums) {
  const Floats d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V sum = hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, addends + i));
    const V x = to_eleven_digits(hn::Abs(sum));
    const auto held = hn::Le(x, hn::Set(d, 65504.0f));
    hn::StoreU(hn::CopySignToAbs(hn::IfThenElse(held, x, hn::Inf(d)), sum), d, sums + i);
  }
}

Kernel<std::int8_t> choose_narrow(Finish finish) { return choose<std::int8_t>(finish); }
Kernel<std::int16_t> choose_wide(Finish finish) { return choose<std::int16_t>(finish); }
FieldExponents<std::int8_t> narrow_exponents() { return &exponents_of<std::int8_t>; }
FieldExponents<std::int16_t> wide_exponents() { return &exponents_of<std::int16_t>; }
AddHalves half_addition() { return &add_to_halves; }
const char* name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace widthwise::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::tensor {

HWY_EXPORT(choose_narrow);
HWY_EXPORT(choose_wide);
HWY_EXPORT(narrow_exponents);
HWY_EXPORT(wide_exponents);
HWY_EXPORT(half_addition);
HWY_EXPORT(name);

template <>
Kernel<std::int8_t> kernel<std::int8_t>(Finish finish) {
  return HWY_DYNAMIC_DISPATCH(choose_narrow)(finish);
}
template <>
Kernel<std::int16_t> kernel<std::int16_t>(Finish finish) {
  return HWY_DYNAMIC_DISPATCH(choose_wide)(finish);
}
template <>
FieldExponents<std::int8_t> field_exponents<std::int8_t>() {
  return HWY_DYNAMIC_DISPATCH(narrow_exponents)();
}
template <>
FieldExponents<std::int16_t> field_exponents<std::int16_t>() {
  return HWY_DYNAMIC_DISPATCH(wide_exponents)();
}
AddHalves add_halves() { return HWY_DYNAMIC_DISPATCH(half_addition)(); }
const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }

}  // namespace widthwise::tensor
#endif
