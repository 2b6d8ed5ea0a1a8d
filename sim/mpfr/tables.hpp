#pragma once
#include "deliver.hpp"

// Tables: codes that stand for values of a list, rounded by value.
namespace widthwise::mpfr {

Decoded decode_listed(const Format& f, const mpz_class& code);

Delivered listed_nan(const Format& f);
Delivered listed_infinity(const Format& f, bool negative);
// x may be zero, which a table need not have.
Delivered deliver_listed(const Target& to, const Cut& x);

// How many digits of a result decide between two values, whatever the random bits.
mpfr_prec_t listed_digits();

}  // namespace widthwise::mpfr
