#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "real.hpp"
#include "widthwise/format.hpp"

namespace widthwise::mpfr {

using Limbs = std::span<const std::uint64_t>;

mpz_class integer(Limbs limbs);
std::vector<std::uint64_t> limbs(const mpz_class& n, int bits);

// Of a code, its sign among them.
inline int code_bits(const Format& f) {
  if (f.is_table()) return f.table->width;
  return (f.is_float() ? f.exp_bits : 0) + f.frac_bits + (f.is_signed() ? 1 : 0);
}

// A code's value. Operands of a format with daz read subnormals as zero.
struct Decoded {
  mpz_class code;
  Scaled value;
  bool signalling = false;
  bool subnormal = false;
  Exponent field_exponent = 0;  // what aligners see: a subnormal's is the least normal number's
};
Decoded decode(const Format& f, Limbs code);

// The landmarks of a float: where the specials are and where the numbers end.
struct Landmarks {
  explicit Landmarks(const Format& f);

  mpz_class sign, largest, infinity, nan;  // codes; magnitudes but for nan and sign
  bool has_infinity, has_nan;
  bool steps_at_zero;     // exponent field 0 is an ordinary binade: no subnormals
  Exponent least_binade;  // exponent of the lowest binade's leading digit
  bool keeps_negative_zero;
};

// The positive finite number sig * 2^exp as a magnitude; sig has at most precision digits.
mpz_class magnitude_code(const Format& f, mpz_class sig, Exponent exp);
// The reverse, for a magnitude that is finite and not zero.
struct Significand {
  mpz_class sig;
  Exponent exp;
};
Significand significand(const Format& f, const mpz_class& magnitude);

}  // namespace widthwise::mpfr
