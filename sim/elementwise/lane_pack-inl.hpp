// Included once for each instruction set, after <hwy/foreach_target.h>.
#if defined(WIDTHWISE_LANE_PACK) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_LANE_PACK
#undef WIDTHWISE_LANE_PACK
#else
#define WIDTHWISE_LANE_PACK
#endif

#include <algorithm>

#include "lane_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

// What rounds a magnitude whose low digits are then cut off, whatever its exponent.
template <class T, Quick quick>
HWY_INLINE I<T> quick_increment(const Encoding<T>& to, I<T> absolute, I<T> negative) {
  I<T> up = all<T>(to.increment[0]);
  if constexpr (quick == Quick::to_even)
    up = hn::Add(up, hn::And(hn::ShiftRightSame(absolute, to.drop), all<T>(1)));
  if constexpr (quick == Quick::by_sign) up = by_sign<T>(negative, to.increment);
  return up;
}

#if HWY_TARGET != HWY_SCALAR

// Lanes of the width of codes: what is left to do there costs a half or a quarter.
template <class Item>
using Narrow = hn::Repartition<std::make_signed_t<Item>, Integers<float>>;
template <class Item>
using Items = hn::Vec<Narrow<Item>>;
using Words = Narrow<std::uint16_t>;

// Saturated, and in the order of 128-bit blocks: four of a, four of b.
HWY_INLINE hn::Vec<Words> words_of(I<float> a, I<float> b) {
  return hn::ReorderDemote2To(Words(), a, b);
}
HWY_INLINE Items<std::uint8_t> bytes_of(hn::Vec<Words> a, hn::Vec<Words> b) {
  using Bytes = Narrow<std::uint8_t>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return hn::Vec<Bytes>{_mm512_packs_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::Vec<Bytes>{_mm256_packs_epi16(a.raw, b.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  return hn::Vec<Bytes>{_mm_packs_epi16(a.raw, b.raw)};
#else
  const hn::Half<Bytes> half;
  return hn::Combine(Bytes(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// The larger of two magnitudes, with the sign of x, which is no NaN.
template <Quick>
HWY_INLINE V<float> at_least(V<float> x, V<float> least) {
  return V<float>{_mm512_range_ps(x.raw, least.raw, 0b00'11)};
}
// The smaller of two magnitudes. For a NaN, which may not signal, that of `most`.
template <Quick>
HWY_INLINE V<float> at_most(V<float> x, V<float> most) {
  return V<float>{_mm512_range_ps(x.raw, most.raw, 0b10'10)};
}
template <Quick>
HWY_INLINE V<float> as_rounded(V<float> x) {
  return x;
}
#else
// Without an instruction for magnitudes signs go first, but where they decide the rounding.
template <Quick quick>
HWY_INLINE V<float> as_rounded(V<float> x) {
  return quick == Quick::by_sign ? x : hn::Abs(x);
}
template <Quick quick>
HWY_INLINE V<float> at_least(V<float> x, V<float> least) {
  if constexpr (quick != Quick::by_sign) return hn::Max(x, least);
  return hn::CopySignToAbs(hn::Max(hn::Abs(x), least), x);
}
template <Quick quick>
HWY_INLINE V<float> at_most(V<float> x, V<float> most) {
  const V<float> magnitude = quick == Quick::by_sign ? hn::Abs(x) : x;
  return number<float>(hn::Min(bits<float>(magnitude), bits<float>(most)));
}
#endif

// Where the 32-bit pieces of `vectors` vectors lie after packing.
template <int vectors>
HWY_INLINE auto packed_places() {
  const hn::Repartition<std::uint32_t, Integers<float>> d;
  constexpr int piece = 4 / vectors;  // pieces of a block of each vector
  const int blocks = static_cast<int>(hn::Lanes(d)) / 4, row = piece * blocks;
  std::int32_t from[padding];
  for (int i = 0; i < 4 * blocks; ++i)
    from[i] = 4 * (i % row / piece) + piece * (i / row) + i % piece;
  return hn::SetTableIndices(d, from);
}

// Codes as they lie after packing, in memory's order.
template <class Item, class Places>
HWY_INLINE void store_in_order(Items<Item> codes, const Places& places, Item* items) {
  const Narrow<Item> d;
  const hn::Repartition<std::uint32_t, Narrow<Item>> pieces;
  const auto in_order = hn::TableLookupLanes(hn::BitCast(pieces, codes), places);
  hn::StoreU(hn::BitCast(d, in_order), d, reinterpret_cast<std::make_signed_t<Item>*>(items));
}

// Floats to codes of 8 or 16 bits, quickly (docs/exactness.md, 45). Codes are less by half the
// range of their lanes until they are signed, so that saturation keeps what is too large apart.
template <Quick quick, bool aligned, class Item>
class Packer {
 public:
  static constexpr int vectors = 4 / sizeof(Item);
  const std::size_t elements = vectors * hn::Lanes(Numbers<float>());

  explicit Packer(const Encoding<float>& to) : drop_(to.drop), places_(packed_places<vectors>()) {
    const int fraction = carrier_format<float>.frac_bits - to.drop;
    left_ = aligned ? std::max(0, 7 - fraction) : 0;
    half_range_ = !aligned ? 0 : sizeof(Item) == 1 ? 0x80 : 0x8000 >> left_;
    const std::int32_t field = (std::bit_cast<std::int32_t>(to.least_normal) >> 23) + to.drop;
    sign_down_ = std::countl_zero(static_cast<Item>(to.sign));
    zero_word_ = (field << (fraction + left_)) + (half_range_ << left_);
    // The fraction of an aligned number lies in the lower half of its lane, the exponent above 7
    // digits of the upper.
    weights_ = (std::int32_t{1} << std::max(0, fraction - 7) << 16) | std::int32_t{1} << left_;
    raise_ = power_of_two<float>(to.drop);
    half_digit_ = power_of_two<float>(-fraction - 1);
  }

  // False, and nothing stored, where infinities or NaN are left to `encode`.
  HWY_INLINE bool pack(const Encoding<float>& to, const float* numbers, Item* items) const {
    const Narrow<Item> d;
    Block x;
    for (int j = 0; j < vectors; ++j)
      x[j] = hn::LoadU(Numbers<float>(), numbers + j * hn::Lanes(Numbers<float>()));
    const Items<Item> level = levels(to, x), sign = signs(x);
    const auto over = hn::Gt(level, all_items(to.max_finite - half_range_));
    Items<Item> code = signed_code(to, level, sign);
    if (!to.signed_zero)
      code = hn::IfThenElse(hn::Eq(level, all_items(-half_range_)), hn::Zero(d), code);
    if (to.one_way) {
      code = hn::IfThenElse(over, all_items(to.nan), code);
    } else if (!hn::AllFalse(d, over)) {
      if (!all_finite(x)) return false;
      const Items<Item> negative = hn::BroadcastSignBit(sign);
      const Items<Item> turn = hn::And(negative, all_items(to.over[0] ^ to.over[1]));
      code = hn::IfThenElse(over, hn::Xor(all_items(to.over[0]), turn), code);
    }
    store_in_order<Item>(code, places_, items);
    return true;
  }

 private:
  using Block = V<float>[vectors];
  using Places = decltype(packed_places<vectors>());

  static HWY_INLINE Items<Item> all_items(std::int32_t x) {
    return hn::Set(Narrow<Item>(), static_cast<std::make_signed_t<Item>>(x));
  }
  static HWY_INLINE bool all_finite(const Block& x) {
    const Integers<float> d;
    I<float> most = hn::Zero(d);
    for (const V<float>& y : x) most = hn::Max(most, bits<float>(hn::Abs(y)));
    return hn::AllTrue(d, hn::Lt(most, all<float>(lane<float>(carrier<float>.infinity))));
  }

  // The digits of a level below the sign are the code's.
  HWY_INLINE Items<Item> signed_code(const Encoding<float>& to, Items<Item> level,
                                     Items<Item> sign) const {
    if (sign_down_ > 0)
      sign =
          hn::BitCast(Narrow<Item>(), hn::ShiftRightSame(hn::BitCast(Words(), sign), sign_down_));
    const Items<Item> digits = all_items(to.sign - 1);
    const Items<Item> code = hn::Or(hn::And(level, digits), hn::AndNot(digits, sign));
    return sign_down_ > 0 ? hn::And(code, all_items(2 * to.sign - 1)) : code;
  }

  // Saturation keeps signs.
  static HWY_INLINE Items<Item> signs(const Block& x) {
    const auto pair = [&](int j) { return words_of(bits<float>(x[j]), bits<float>(x[j + 1])); };
    if constexpr (sizeof(Item) == 1)
      return bytes_of(pair(0), pair(2));
    else
      return pair(0);
  }
  HWY_INLINE Items<Item> levels(const Encoding<float>& to, const Block& x) const {
    const auto pair = [&](int j) { return words_of(word(to, x[j]), word(to, x[j + 1])); };
    if constexpr (sizeof(Item) == 1) {
      const auto zero = hn::Set(Words(), static_cast<std::int16_t>(zero_word_));
      const auto cut = [&](auto words) { return hn::ShiftRightSame(hn::Sub(words, zero), left_); };
      return bytes_of(cut(pair(0)), cut(pair(2)));
    } else {
      return hn::ShiftRightSame(pair(0), left_);
    }
  }
  HWY_INLINE I<float> word(const Encoding<float>& to, V<float> x) const {
    return aligned ? sum_word(to, x) : cut_word(to, x);
  }

  // x + 2^drop 2^e, where 2^e <= |x| is a power of two, or 2^emin if that is more: the sum's last
  // digit is the code's.
  HWY_INLINE I<float> sum_word(const Encoding<float>& to, V<float> number_or_nan) const {
    const Numbers<float> d;
    const V<float> x = as_rounded<quick>(number_or_nan);
    const V<float> exponent = number<float>(all<float>(lane<float>(~carrier<float>.fraction_mask)));
    const V<float> unit = at_least<quick>(hn::And(x, exponent), hn::Set(d, to.least_normal));
    V<float> y = x;
    if constexpr (quick == Quick::ties_away) y = hn::MulAdd(unit, hn::Set(d, half_digit_), y);
    // A NaN's payload could be taken for a code's digits.
    const V<float> infinity = number<float>(all<float>(lane<float>(carrier<float>.infinity)));
    const V<float> sum = at_most<quick>(hn::MulAdd(unit, hn::Set(d, raise_), y), infinity);
    const auto weights = hn::BitCast(Words(), all<float>(weights_));
    const I<float> none = hn::Zero(Integers<float>());
    I<float> odd = none;  // on Arm these two are halves, and pairs are added last
    const I<float> even = hn::ReorderWidenMulAccumulate(
        Integers<float>(), hn::BitCast(Words(), sum), weights, none, odd);
    const I<float> z = hn::RearrangeToOddPlusEven(even, odd);
    return sizeof(Item) > 1 ? hn::Sub(z, all<float>(zero_word_)) : z;
  }

  // Of the carrier's exponents: digits are cut off.
  HWY_INLINE I<float> cut_word(const Encoding<float>& to, V<float> x) const {
    const I<float> infinity = all<float>(lane<float>(carrier<float>.infinity));
    const I<float> absolute = hn::Min(bits<float>(hn::Abs(x)), infinity);
    const I<float> negative = hn::BroadcastSignBit(bits<float>(x));
    const I<float> up = quick_increment<float, quick>(to, absolute, negative);
    return hn::ShiftRightSame(hn::Add(absolute, up), drop_);
  }

  int drop_, left_, sign_down_;  // digits cut off; digits that a word has below its code
  std::int32_t half_range_, zero_word_, weights_;
  float raise_, half_digit_;
  Places places_;
};

#endif

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
