#pragma once
#include <bit>
#include <limits>
#include <type_traits>

#include "widthwise/rounder.hpp"
#include "widthwise/sim/codes.hpp"

// Codes as numbers of a carrier (float or double) and back: all that is the same for every element.
namespace widthwise::elements {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

// The carrier as a format; its bits are the codes.
template <class T>
inline constexpr Format carrier_format = sizeof(T) == 4 ? binary32 : binary64;
template <class T>
inline constexpr Layout<std::uint64_t> carrier{carrier_format<T>};
template <class T>
inline constexpr int carrier_digits = carrier_format<T>.precision();

template <class T>
constexpr Bits<T> lane(std::uint64_t x) {
  return static_cast<Bits<T>>(x);
}
template <class T>
constexpr T power_of_two(std::int64_t e) {
  const Format& f = carrier_format<T>;
  return std::bit_cast<T>(lane<T>(static_cast<std::uint64_t>(e + f.bias) << f.frac_bits));
}

// What slides a magnitude's fields to the carrier's places also changes the bias.
template <class T>
constexpr Bits<T> rebias(const Format& f) {
  const auto fields = static_cast<std::uint64_t>(carrier_format<T>.bias - f.bias);
  return lane<T>(fields << carrier_format<T>.frac_bits);
}

template <class T>
struct Decoding {
  using B = Bits<T>;
  bool ieee;   // infinities and NaN as the carrier's, nothing else unusual
  bool half;   // binary16: many machines read it themselves
  bool cut;    // the carrier's own, but for digits that are cut off
  bool small;  // of 8 bits, and binary16 holds the numbers / scale
  T scale = 1;
  int bytes, up, sign_up;  // of an item; from the format's places to the carrier's
  B magnitude_mask, code_mask, rebias;
  B bottom, bottom_kept;  // magnitudes below are no normal numbers; mask: 0 reads them as zero
  T least_normal;
  B infinity, first_nan, minus_nan;  // where there are any, else what no code reaches
  B quiet_bit, quiet_nan;            // NaN of the carrier, for formats whose NaNs do not signal
  B above;                           // from the format's top exponent field to the carrier's
  B sign;                            // the carrier's, 0 for unsigned formats

  explicit Decoding(const Format& f) {
    const Layout<std::uint64_t> from(f);
    const Layout<std::uint64_t>& own = carrier<T>;
    ieee = f.nan == NanCodes::ieee && f.inf == InfCodes::ieee && f.has_nan() && !f.daz &&
           !f.all_normal();
    half = f.is_signed() && ieee && f.exp_bits == 5 && f.frac_bits == 10 && f.bias == binary16.bias;
    cut = f.is_signed() && ieee && f.exp_bits == own.format.exp_bits && f.bias == own.format.bias;
    bytes = item_bytes(f.width());
    const std::int64_t e = binary16.bias - f.bias;
    small = bytes == 1 && (f.exp_bits < binary16.exp_bits || (ieee && f.exp_bits == 5)) &&
            !f.all_normal() && !f.daz && e <= carrier_format<T>.emax();
    if (small) scale = power_of_two<T>(e);
    up = own.format.frac_bits - f.frac_bits;
    sign_up = own.format.magnitude_bits() - f.magnitude_bits();
    magnitude_mask = lane<T>(from.magnitude_mask);
    code_mask = lane<T>(from.magnitude_mask | from.sign);
    rebias = elements::rebias<T>(f);
    const bool slides = !f.daz && f.emin() == own.emin;  // subnormals are the carrier's
    bottom = f.all_normal() ? B{f.zero} : slides ? B{0} : lane<T>(from.hidden);
    // Not the sign: what is 0 after a subtraction has one when the machine rounds down.
    bottom_kept = f.daz || f.all_normal() ? B{0} : lane<T>(own.magnitude_mask);
    least_normal = power_of_two<T>(f.emin());
    infinity = lane<T>(from.infinity);
    first_nan = lane<T>(from.first_nan);
    minus_nan = f.nan == NanCodes::sign_alone ? lane<T>(from.sign) : B{-1};
    quiet_bit = lane<T>(from.quiet_bit);
    quiet_nan = lane<T>(own.infinity | 1 | (from.quiet_bit ? 0 : own.quiet_bit));
    above = lane<T>(
        (static_cast<std::uint64_t>(own.top_field - from.top_field) << own.format.frac_bits) -
        static_cast<std::uint64_t>(rebias));
    sign = f.is_signed() ? lane<T>(own.sign) : B{0};
  }
};

// Modes that the machine helps with, in formats without whims.
enum class Quick : std::uint8_t { none, to_even, ties_away, toward_zero, by_sign };

// Where a rounding's random bits go: how far up, whether their last one is taken off again for
// ties, and whether digits that a subnormal has not are jammed into its last one.
struct RandomPlaces {
  int shift;
  bool ties, jams;
};

// Rounding goes by way of the code in a format of the same exponents and as many digits as the
// carrier has: `drop` digits are then cut off whatever the exponent (docs/exactness.md).
template <class T>
struct Encoding {
  using B = Bits<T>;
  using Pair = B[2];  // for positive and for negative numbers
  int bytes, drop;
  B rebias, normal;     // long codes from `normal` on are normal numbers
  bool has_subnormals;  // that are not the carrier's own
  T least_normal;
  Pair increment, odd_increment;  // what is added to the digits dropped, before
  bool by_parity;
  B parity_cap;  // one digit alone: 0 in the subnormal range, else odd
  Pair tiny_increment;
  Tininess tininess;
  bool has_gap;  // between 0 and `least`; numbers past `away_past` leave 0
  B least, least_magnitude;
  Pair away_past;
  bool flushes;
  B hidden, sign, max_finite;
  bool is_signed, has_zero, signed_zero;
  Pair over, infinite, infinite_flags, zero;
  B nan, nan_flags;
  bool one_way, mirrored;  // overflow, infinity and NaN are one code; the first two are
  bool half;               // binary16 to nearest even: many machines write it themselves
  Quick quick;
  bool packs;                   // and fits the lanes of lane_pack-inl.hpp
  T half_normal, half_quantum;  // powers of two: the first's last digit is a subnormal's

  RandomPlaces places(const Rounding& r) const {
    return {drop - r.random_bits, r.variant == StochasticVariant::even,
            r.variant != StochasticVariant::plain};
  }

  Encoding(const Format& f, const Env& env) {
    const Rounder<std::uint64_t> to(f, env);
    bytes = item_bytes(f.width());
    drop = carrier_digits<T> - f.precision();
    rebias = elements::rebias<T>(f);
    normal = B{1} << carrier_format<T>.frac_bits;
    has_subnormals = !f.all_normal() && f.emin() != carrier<T>.emin;
    least_normal = power_of_two<T>(f.emin());
    set_rounding(to);
    set_gap(to);
    set_specials(to);
    set_quick(to);
  }

 private:
  static constexpr std::uint64_t cut(const Rounder<std::uint64_t>& to, int row, int digits) {
    return to.increment[row] >> (to.drop - digits);
  }
  void set_rounding(const Rounder<std::uint64_t>& to) {
    // The one digit of a normal number is odd; all are normal without subnormals.
    const int even_row = to.precision == 1 && to.layout.all_normal && !to.even_code;
    for (int negative : {0, 1}) {
      increment[negative] = lane<T>(cut(to, 2 * negative + even_row, drop));
      odd_increment[negative] = lane<T>(cut(to, 2 * negative + 1, drop));
      tiny_increment[negative] = lane<T>(cut(to, 2 * negative + 1, drop - 1));
    }
    by_parity = increment[0] != odd_increment[0] || increment[1] != odd_increment[1];
    parity_cap = to.precision == 1 && !to.even_code ? normal : std::numeric_limits<B>::max();
    tininess = to.env.tininess;
  }
  // 0 counts as even, and half of the gap as a tie.
  void set_gap(const Rounder<std::uint64_t>& to) {
    const Format& f = to.layout.format;
    has_gap = f.all_normal();
    least_magnitude = B{f.zero};
    least = least_magnitude << drop;
    for (int negative : {0, 1}) {
      const int ups = to.rule.table >> 8 * negative;  // bit 2 * guard + sticky
      const B nothing = -rebias, half = least - normal;
      away_past[negative] = !f.zero || ups & 2 ? nothing
                            : ups & 4          ? half - 1
                            : ups & 8          ? half
                                               : std::numeric_limits<B>::max();
    }
  }
  void set_specials(const Rounder<std::uint64_t>& to) {
    const Format& f = to.layout.format;
    flushes = f.ftz && !f.all_normal();
    hidden = lane<T>(to.layout.hidden);
    sign = lane<T>(to.layout.sign);
    is_signed = f.is_signed(), has_zero = f.zero, signed_zero = to.keeps_zero_sign;
    max_finite = lane<T>(to.layout.max_finite);
    for (int negative : {0, 1}) {
      const auto infinity = delivered_infinity(to, Mask<std::uint64_t>(negative));
      over[negative] = lane<T>(overflowed(to, Mask<std::uint64_t>(negative)));
      infinite[negative] = lane<T>(infinity.code);
      infinite_flags[negative] = static_cast<B>(infinity.flags);
      zero[negative] = lane<T>(delivered_zero(to, Mask<std::uint64_t>(negative)).code);
    }
    nan = lane<T>(to.nan_code), nan_flags = f.has_nan() ? B{0} : B{invalid};
  }
  void set_quick(const Rounder<std::uint64_t>& to) {
    const Format& f = to.layout.format;
    mirrored = over[0] == infinite[0] && over[1] == infinite[1] && over[1] == (over[0] | sign) &&
               over[0] - max_finite <= 1;
    one_way = over[0] == nan && over[1] == nan && infinite[0] == nan && infinite[1] == nan &&
              rebias >= normal;
    half_normal = power_of_two<T>(f.emin() + drop);
    half_quantum = half_normal * power_of_two<T>(-carrier_digits<T>);
    const bool usual = !has_gap && f.is_signed() && !f.ftz && f.precision() > 1;
    quick = usual ? quick_by(to.rule.rounding.mode) : Quick::none;
    packs =
        quick != Quick::none &&
        (!has_subnormals || (f.frac_bits <= 13 && f.emax() + drop + 2 <= carrier_format<T>.emax()));
    half = quick == Quick::to_even && mirrored && f.has_inf() && f.overflow == Overflow::ieee &&
           Decoding<T>(f).half;
  }
  static constexpr Quick quick_by(RoundingMode mode) {
    switch (mode) {
      case RoundingMode::rne: return Quick::to_even;
      case RoundingMode::rna: return Quick::ties_away;
      case RoundingMode::rtz: return Quick::toward_zero;
      case RoundingMode::rdn:
      case RoundingMode::rup: return Quick::by_sign;
      default: return Quick::none;
    }
  }
};

}  // namespace widthwise::elements
