#pragma once
#include <cstdint>

#include "widthwise/table.hpp"

namespace widthwise {

// How a code spells its sign.
enum class Sign : std::uint8_t {
  none,        // every code is 0 or more; of a table its values have the signs
  magnitude,   // the top bit, beside a magnitude
  complement,  // codes are integers in two's complement, and order as such
};

// How the bits beside the sign spell an exponent: the number system.
enum class Exponent : std::uint8_t {
  field,   // floats: a field of exp_bits
  none,    // fixed point: all bits are digits
  regime,  // posits: a run of equal bits, then exp_bits bits
  takum,   // takums: how many bits of exponent follow, then these
  listed,  // a table of values: a code says which
};

// Which codes are NaN. The one place this is written down (docs/semantics.md, F1).
enum class NanCodes : std::uint8_t {
  ieee,        // exponent field all ones, fraction not 0 (fraction 0 too where inf is none)
  all_ones,    // exponent and fraction all ones, of either sign (OCP OFP8 E4M3, OCP MX E8M0)
  sign_alone,  // the sign bit and nothing else, and no other (fnuz, P3109 signed, a posit's NaR)
  none,        // every code is a number (OCP MX FP6, FP4)
  listed,      // the one that a table names
};

// Which codes are infinite.
enum class InfCodes : std::uint8_t {
  ieee,  // exponent field all ones, fraction 0
  none,
  top,  // the highest code of each sign that is not NaN (P3109 extended)
};

// What a result too large for its format becomes; a code the format lacks falls through to
// infinity, then NaN, then the largest finite number. The last five are fixed point's.
enum class Overflow : std::uint8_t {
  ieee,  // of other systems than floats: saturation
  inf,
  max,
  nan,
  satfinite,  // the largest finite number, of an infinite operand too (OCP, ONNX, CUDA)
  symmetric,  // the ends +-(2^(W-1) - 1): the least number has no mirror (AP_SAT_SYM)
  zero,       // AP_SAT_ZERO
  wrap,       // the low bits (AP_WRAP)
  wrap_sm,    // the lowest deleted bit becomes the sign; where it changes, all bits invert
  keep_sign,  // the sign, and the low bits beside it
};

// A format of numbers, as data. Runtime value and template argument alike.
//
//   | sign 0..1 | exponent exp_bits | fraction frac_bits |    floats
//   | sign 0..1 | frac_bits                              |    fixed point, posits, takums
//   | table->width                                       |    tables
//
// The code without its sign is called the magnitude: magnitudes order like the numbers they code.
// Where codes are complements the magnitude is that of the integer, and may be 2^frac_bits.
struct Format {
  int exp_bits;  // posits: es
  int frac_bits;
  std::int64_t bias;  // exponent field - bias = exponent of a normal number; see least_digit
  Sign sign = Sign::magnitude;
  Exponent exponent = Exponent::field;
  NanCodes nan = NanCodes::ieee;
  InfCodes inf = InfCodes::ieee;
  bool subnormals = true;  // off: exponent field 0 with a fraction is a normal number too
  bool zero = true;        // off: so is code 0 (OCP MX E8M0)

  // Policies of whoever computes with the format; formats that differ in one count as different.
  bool daz = false;  // subnormal operands are read as zero
  bool ftz = false;  // tiny results become zero
  Overflow overflow = Overflow::ieee;

  const Table* table = nullptr;  // where the exponent is listed

  constexpr bool operator==(const Format&) const = default;

  constexpr int precision() const { return frac_bits + 1; }
  constexpr bool is_signed() const { return sign != Sign::none; }
  // Every engine, kernel and export that asks for fields is for these.
  constexpr bool is_float() const {
    return exponent == Exponent::field && sign != Sign::complement;
  }
  constexpr bool is_fixed() const { return exponent == Exponent::none; }
  constexpr bool is_posit() const { return exponent == Exponent::regime; }
  // Rounded on its pattern, never to 0 or past its ends, and with NaR for all that is no number.
  constexpr bool is_tapered() const { return is_posit() || exponent == Exponent::takum; }

  // Its codes are looked up, one value at a time.
  constexpr bool is_table() const { return exponent == Exponent::listed; }

  // Delivers the low digits of what is out of range, however far above them the others begin.
  constexpr bool wraps() const {
    return is_fixed() && (overflow == Overflow::wrap || overflow == Overflow::wrap_sm ||
                          overflow == Overflow::keep_sign);
  }

  constexpr int magnitude_bits() const {
    if (is_table()) return table->width;
    return exponent == Exponent::field ? exp_bits + frac_bits : frac_bits;
  }
  constexpr int width() const { return magnitude_bits() + is_signed(); }

  // No exponent field is set aside for subnormals: field 0 has an exponent of its own.
  constexpr bool all_normal() const { return !(subnormals && zero); }
  constexpr std::int64_t emin() const { return (all_normal() ? 0 : 1) - bias; }
  // Weight of the lowest digit that any number has.
  constexpr std::int64_t least_digit() const { return emin() - frac_bits; }
  constexpr std::int64_t top_field() const {
    return static_cast<std::int64_t>((std::uint64_t{1} << exp_bits) - 1);
  }
  constexpr bool has_inf() const { return inf != InfCodes::none; }
  constexpr bool has_nan() const {  // e5m0;nan=ieee has spent its only special code on infinity
    return nan != NanCodes::none && !(nan == NanCodes::ieee && has_inf() && frac_bits == 0);
  }

  // A NaN of either sign is one, whatever the fraction beside it says.
  constexpr bool has_signed_nans() const {
    return has_nan() && is_signed() && nan != NanCodes::sign_alone;
  }
  // Fraction bits below the one that makes a NaN quiet may say anything.
  constexpr bool has_nan_payloads() const {
    return has_nan() && nan == NanCodes::ieee && frac_bits > 0;
  }

  // Exponent of the largest finite number.
  constexpr std::int64_t emax() const {
    switch (exponent) {
      case Exponent::field: return field_emax();
      case Exponent::none: return least_digit() + frac_bits - !is_signed();
      case Exponent::regime: return static_cast<std::int64_t>(frac_bits - 1) << exp_bits;
      case Exponent::takum: return 254;
      case Exponent::listed: return table->top;
    }
    return 0;
  }
  constexpr std::int64_t field_emax() const {
    const int specials = (nan == NanCodes::all_ones) + (inf == InfCodes::top);  // the top codes
    const int fields = nan == NanCodes::ieee ? 1 : frac_bits > 1 ? 0 : specials >> frac_bits;
    const std::int64_t top = top_field() - fields - bias;
    return top < emin() ? emin() : top;  // one exponent bit may leave only subnormals
  }
  // Significand digits that a number may have.
  constexpr int digits() const {
    switch (exponent) {
      case Exponent::field: return precision();
      case Exponent::none: return width();
      case Exponent::regime: return frac_bits - 1 - exp_bits > 1 ? frac_bits - 1 - exp_bits : 1;
      case Exponent::takum: return frac_bits > 4 ? frac_bits - 3 : 1;
      case Exponent::listed: return table->digits;
    }
    return 0;
  }
  // Digits of an exact result that decide its rounding, but for what is dropped.
  constexpr int rounding_digits() const { return is_table() ? table->spread : precision(); }

  // P3109's formats of every width share these; at one digit of precision they tie to the even
  // code where IEEE 754 takes the larger magnitude (docs/semantics.md, R4).
  constexpr bool is_p3109() const {
    if (!is_float()) return false;
    return bias == std::int64_t{1} << (exp_bits - 1) && subnormals && zero &&
           nan == (is_signed() ? NanCodes::sign_alone : NanCodes::all_ones) &&
           inf != InfCodes::ieee;
  }
};

constexpr std::int64_t ieee_bias(int exp_bits) { return (std::int64_t{1} << exp_bits >> 1) - 1; }

// IEEE 754-2019, 3.4: infinities, NaNs and subnormals, the bias in the middle.
constexpr Format ieee_format(int exp_bits, int frac_bits) {
  return {.exp_bits = exp_bits, .frac_bits = frac_bits, .bias = ieee_bias(exp_bits)};
}

inline constexpr Format binary16 = ieee_format(5, 10);
inline constexpr Format bfloat16 = ieee_format(8, 7);
inline constexpr Format tf32 = ieee_format(8, 10);
inline constexpr Format binary32 = ieee_format(8, 23);
inline constexpr Format binary64 = ieee_format(11, 52);
inline constexpr Format binary128 = ieee_format(15, 112);
inline constexpr Format binary256 = ieee_format(19, 236);

// OCP OFP8 1.0. E5M2 is IEEE-like; E4M3 has no infinity, S.1111.111 is NaN, 448 the largest.
inline constexpr Format e5m2 = ieee_format(5, 2);
inline constexpr Format e4m3 = ieee_format(4, 3);  // IEEE-like, as ml_dtypes spells it
inline constexpr Format e3m4 = ieee_format(3, 4);
inline constexpr Format e4m3fn{
    .exp_bits = 4, .frac_bits = 3, .bias = 7, .nan = NanCodes::all_ones, .inf = InfCodes::none};
// NVFP4's block scale: E4M3 without its sign.
inline constexpr Format ue4m3fn{.exp_bits = 4,
                                .frac_bits = 3,
                                .bias = 7,
                                .sign = Sign::none,
                                .nan = NanCodes::all_ones,
                                .inf = InfCodes::none};

// Graphcore's and AMD's 8-bit formats: the code of -0 is the only NaN.
constexpr Format fnuz_format(int exp_bits, int frac_bits, std::int64_t bias) {
  return {.exp_bits = exp_bits,
          .frac_bits = frac_bits,
          .bias = bias,
          .nan = NanCodes::sign_alone,
          .inf = InfCodes::none};
}
inline constexpr Format e4m3fnuz = fnuz_format(4, 3, 8);
inline constexpr Format e5m2fnuz = fnuz_format(5, 2, 16);
inline constexpr Format e4m3b11fnuz = fnuz_format(4, 3, 11);

// OCP MX 1.0: elements without specials, and the scale, a power of two or NaN.
constexpr Format finite_format(int exp_bits, int frac_bits) {
  return {.exp_bits = exp_bits,
          .frac_bits = frac_bits,
          .bias = ieee_bias(exp_bits),
          .nan = NanCodes::none,
          .inf = InfCodes::none};
}
inline constexpr Format e2m1fn = finite_format(2, 1);
inline constexpr Format e2m3fn = finite_format(2, 3);
inline constexpr Format e3m2fn = finite_format(3, 2);
inline constexpr Format e8m0fnu{.exp_bits = 8,
                                .frac_bits = 0,
                                .bias = 127,
                                .sign = Sign::none,
                                .nan = NanCodes::all_ones,
                                .inf = InfCodes::none,
                                .subnormals = false,
                                .zero = false};

// P3109 binary<width>p<precision>: signed or unsigned, extended (with infinities) or finite.
constexpr Format p3109_format(int width, int precision, bool is_signed, bool extended) {
  const int exp_bits = width - precision + !is_signed;
  return {.exp_bits = exp_bits,
          .frac_bits = precision - 1,
          .bias = std::int64_t{1} << (exp_bits - 1),
          .sign = is_signed ? Sign::magnitude : Sign::none,
          .nan = is_signed ? NanCodes::sign_alone : NanCodes::all_ones,
          .inf = extended ? InfCodes::top : InfCodes::none};
}

// Fixed point: integers n of `width` bits that stand for n 2^-fraction. Read as a float it is one
// without an exponent field, whose numbers are all subnormals.
constexpr Format fixed_format(int width, std::int64_t fraction, bool is_signed) {
  const int bits = width - is_signed;
  return {.exp_bits = 0,
          .frac_bits = bits,
          .bias = fraction + 1 - bits,
          .sign = is_signed ? Sign::complement : Sign::none,
          .exponent = Exponent::none,
          .nan = NanCodes::none,
          .inf = InfCodes::none};
}

// Codes in two's complement, 10...0 of them NaR; least_digit is that of the least number.
constexpr Format tapered_format(Exponent exponent, int width, int es, std::int64_t least_digit) {
  return {.exp_bits = es,
          .frac_bits = width - 1,
          .bias = 1 - (least_digit + width - 1),
          .sign = Sign::complement,
          .exponent = exponent,
          .nan = NanCodes::sign_alone,
          .inf = InfCodes::none};
}

// The Posit Standard (2022) has es = 2.
constexpr Format posit_format(int width, int es) {
  return tapered_format(Exponent::regime, width, es, -(static_cast<std::int64_t>(width - 2) << es));
}

// L. Hunhold, "Beating Posits at Their Own Game: Takum Arithmetic" (2024), the linear ones. Their
// eleven bits of sign, direction and exponent are read as if zeros followed the last bit.
constexpr Format takum_format(int width) {
  return tapered_format(Exponent::takum, width, 0, -255 - (width > 12 ? width - 12 : 0));
}

// The significands' last digit is that of the longest; code 0 need not be zero.
constexpr Format table_format(const Table& t) {
  const bool zero = t.has_zero && t.zero == 0;
  return {.exp_bits = 0,
          .frac_bits = t.digits - 1,
          .bias = (zero ? 1 : 0) - (t.least_digit + t.digits - 1),
          .sign = Sign::none,
          .exponent = Exponent::listed,
          .nan = t.has_nan ? NanCodes::listed : NanCodes::none,
          .inf = InfCodes::none,
          .zero = zero,
          .table = &t};
}

// Limits (docs/semantics.md, F5).
inline constexpr int max_exp_bits = 62, max_precision = 4096;
inline constexpr int max_table_width = 16;
inline constexpr int min_tapered_width = 3, max_tapered_width = 64, max_es = 4;
inline constexpr std::int64_t max_exponent_magnitude = (std::int64_t{1} << 62) - 1;

}  // namespace widthwise
