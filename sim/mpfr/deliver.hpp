#pragma once
#include <cstdint>
#include <functional>

#include "encoding.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/unit.hpp"

namespace widthwise::mpfr {

// An exact result as something that MPFR can round to any precision: the call fills z, rounded as
// told, and returns MPFR's ternary value. The number is z * 2^scale.
struct Computation {
  std::function<int(mpfr_ptr z, mpfr_rnd_t rnd)> into;
  Exponent scale = 0;
};

// (-1)^negative * (sig + rest) * 2^exp with 0 <= rest < 1; rest is not 0 where sticky.
struct Cut {
  bool negative = false;
  mpz_class sig;
  Exponent exp = 0;
  bool sticky = false;
};

// Exponent of the leading digit, of what is not zero.
Exponent leading(const Cut& x);
// x.sig * 2^x.exp against sig * 2^exp; a sticky x is greater than its digits.
int compare(const Cut& x, const mpz_class& sig, Exponent exp);
// The leading digits of a computation; zero has sig 0. Not for infinities and NaN.
Cut cut(const Computation& c, mpfr_prec_t digits);
// A number as it is.
Cut exactly(const Scaled& v);

// A number's digits from 2^lsb up, and the fraction (part + rest) / unit of the last one that is
// dropped; 0 <= rest < 1, rest is not 0 where sticky.
struct Split {
  mpz_class kept, part, unit;
  bool sticky = false;
  bool inexact() const { return part != 0 || sticky; }
};
Split split(const Cut& x, Exponent lsb);

// Whether a magnitude moves away from zero; odd is the last digit kept.
bool moves_away(Rounding how, bool negative, bool odd, const Split& x, std::uint64_t random);

// The digits from 2^lsb up after rounding, the significand's own last digit telling ties.
mpz_class shorten(const Cut& x, Exponent lsb, Rounding how, std::uint64_t random);

struct Delivered {
  mpz_class code;
  Flags flags;
};

// How a result becomes a code. nan_bits are left to the caller; flags are those of the rounding.
struct Target {
  Round round;
  std::uint64_t random = 0;
};

// What is done past the ends: the rounding's own rule, or the format's.
Overflow policy(const Target& to);

Delivered deliver_nan(const Target& to);
Delivered deliver_infinity(const Target& to, bool negative);
Delivered deliver_zero(const Target& to, bool negative, Flags flags = 0);
// By integers: any mode, any encoding, every field of Round.
Delivered deliver_cut(const Target& to, Cut x);
// The digits of a result that decide its rounding, whatever the random bits.
Cut cut_for(const Target& to, const Computation& c);

// By MPFR's own rounding, mpfr_check_range and mpfr_subnormalize. x is a number other than zero.
bool mpfr_can_deliver(const Target& to);
Delivered deliver_natively(const Target& to, const Computation& c);

// Whichever of the two holds. mpfr_can_deliver where it can.
Delivered deliver(const Target& to, const Computation& c);

}  // namespace widthwise::mpfr
