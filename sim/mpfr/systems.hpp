#pragma once
#include "deliver.hpp"

// Fixed point, posits and takums, whose codes are integers in two's complement or without a sign,
// written from the specification of number systems alone. Tables go by tables.hpp.
namespace widthwise::mpfr {

Decoded decode_system(const Format& f, const mpz_class& code);

Delivered system_nan(const Format& f);
Delivered system_zero(const Target& to, Flags flags);
Delivered system_infinity(const Target& to, bool negative);
Delivered deliver_system(const Target& to, const Cut& x);

// Fixed point: how many digits of a result lie above the format's last one.
mpfr_prec_t digits_above(const Format& f, const Computation& c);

}  // namespace widthwise::mpfr
