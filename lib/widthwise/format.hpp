#pragma once
#include <cstdint>

namespace widthwise {

// Which codes are NaN. The one place this is written down (docs/semantics.md, F1).
enum class NanCodes : std::uint8_t {
  ieee,           // exponent field all ones, fraction not 0 (fraction 0 too where inf is none)
  all_ones,       // exponent and fraction all ones, of either sign (OCP OFP8 E4M3, OCP MX E8M0)
  negative_zero,  // the code of -0, and no other (fnuz, P3109 signed)
  none,           // every code is a number (OCP MX FP6, FP4)
};

// Which codes are infinite.
enum class InfCodes : std::uint8_t {
  ieee,  // exponent field all ones, fraction 0
  none,
  top,  // the highest code of each sign that is not NaN (P3109 extended)
};

// What a result too large for its format becomes; a code the format lacks falls through to
// infinity, then NaN, then the largest finite number.
enum class Overflow : std::uint8_t {
  ieee,
  inf,
  max,
  nan,
  satfinite,  // the largest finite number, of an infinite operand too (OCP, ONNX, CUDA)
};

// A binary floating-point format, as data. Runtime value and template argument alike.
//
//   | sign 0..1 | exponent exp_bits | fraction frac_bits |
//
// The code without its sign is called the magnitude: magnitudes order like the numbers they code.
struct Format {
  int exp_bits;
  int frac_bits;
  std::int64_t bias;  // exponent field - bias = exponent of a normal number
  bool is_signed = true;
  NanCodes nan = NanCodes::ieee;
  InfCodes inf = InfCodes::ieee;
  bool subnormals = true;  // off: exponent field 0 with a fraction is a normal number too
  bool zero = true;        // off: so is code 0 (OCP MX E8M0)

  // Policies of whoever computes with the format; formats that differ in one count as different.
  bool daz = false;  // subnormal operands are read as zero
  bool ftz = false;  // tiny results become zero
  Overflow overflow = Overflow::ieee;

  constexpr bool operator==(const Format&) const = default;

  constexpr int precision() const { return frac_bits + 1; }
  constexpr int magnitude_bits() const { return exp_bits + frac_bits; }
  constexpr int width() const { return magnitude_bits() + is_signed; }

  // No exponent field is set aside for subnormals: field 0 has an exponent of its own.
  constexpr bool all_normal() const { return !(subnormals && zero); }
  constexpr std::int64_t emin() const { return (all_normal() ? 0 : 1) - bias; }
  constexpr std::int64_t top_field() const {
    return static_cast<std::int64_t>((std::uint64_t{1} << exp_bits) - 1);
  }
  constexpr bool has_inf() const { return inf != InfCodes::none; }
  constexpr bool has_nan() const {  // e5m0;nan=ieee has spent its only special code on infinity
    return nan != NanCodes::none && !(nan == NanCodes::ieee && has_inf() && frac_bits == 0);
  }

  // A NaN of either sign is one, whatever the fraction beside it says.
  constexpr bool has_signed_nans() const {
    return has_nan() && is_signed && nan != NanCodes::negative_zero;
  }
  // Fraction bits below the one that makes a NaN quiet may say anything.
  constexpr bool has_nan_payloads() const {
    return has_nan() && nan == NanCodes::ieee && frac_bits > 0;
  }

  // Exponent of the largest finite number.
  constexpr std::int64_t emax() const {
    const int specials = (nan == NanCodes::all_ones) + (inf == InfCodes::top);  // the top codes
    const int fields = nan == NanCodes::ieee ? 1 : frac_bits > 1 ? 0 : specials >> frac_bits;
    const std::int64_t top = top_field() - fields - bias;
    return top < emin() ? emin() : top;  // one exponent bit may leave only subnormals
  }

  // P3109's formats of every width share these; at one digit of precision they tie to the even
  // code where IEEE 754 takes the larger magnitude (docs/semantics.md, R4).
  constexpr bool is_p3109() const {
    return bias == std::int64_t{1} << (exp_bits - 1) && subnormals && zero &&
           nan == (is_signed ? NanCodes::negative_zero : NanCodes::all_ones) &&
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
                                .is_signed = false,
                                .nan = NanCodes::all_ones,
                                .inf = InfCodes::none};

// Graphcore's and AMD's 8-bit formats: the code of -0 is the only NaN.
constexpr Format fnuz_format(int exp_bits, int frac_bits, std::int64_t bias) {
  return {.exp_bits = exp_bits,
          .frac_bits = frac_bits,
          .bias = bias,
          .nan = NanCodes::negative_zero,
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
                                .is_signed = false,
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
          .is_signed = is_signed,
          .nan = is_signed ? NanCodes::negative_zero : NanCodes::all_ones,
          .inf = extended ? InfCodes::top : InfCodes::none};
}

// Limits (docs/semantics.md, F5).
inline constexpr int max_exp_bits = 62, max_precision = 4096;
inline constexpr std::int64_t max_exponent_magnitude = (std::int64_t{1} << 62) - 1;

}  // namespace widthwise
