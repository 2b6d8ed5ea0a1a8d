#include "arithmetic.hpp"

#include <algorithm>

namespace widthwise::mpfr {
namespace {

// An addend further below than this shows only by its sign and its presence, whatever the
// precision; so far down it may stay without changing any result.
constexpr Exponent out_of_sight = Exponent{1} << 40;

void set_exponent(Scaled& v, Exponent e) {
  if (is_number(v)) mpfr_set_exp(v.x, static_cast<mpfr_exp_t>(std::max(e, -out_of_sight)));
}

// The higher of two leading digits, where both or one of them exist.
Exponent origin(const Scaled& a, Exponent a_scale, const Scaled& b, Exponent b_scale) {
  if (!is_number(a)) return b_scale;
  return is_number(b) ? std::max(a_scale, b_scale) : a_scale;
}

Exponent meet(Scaled& a, Scaled& b) {
  const Exponent o = origin(a, a.scale, b, b.scale);
  set_exponent(a, a.scale - o);
  set_exponent(b, b.scale - o);
  return o;
}

}  // namespace

Computation sum(Scaled a, Scaled b) {
  const Exponent o = meet(a, b);
  return {[a, b](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_add(z, a.x, b.x, rnd); }, o};
}

Computation difference(Scaled a, Scaled b) {
  const Exponent o = meet(a, b);
  return {[a, b](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_sub(z, a.x, b.x, rnd); }, o};
}

Computation product(const Scaled& a, const Scaled& b) {
  return {[a, b](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_mul(z, a.x, b.x, rnd); },
          a.scale + b.scale};
}

Computation quotient(const Scaled& a, const Scaled& b) {
  return {[a, b](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_div(z, a.x, b.x, rnd); },
          a.scale - b.scale};
}

// The exponents' difference is shared between both, for it may be 2^63. An operand less than half
// the divisor is its own remainder, however much less.
Computation remainder(Scaled a, Scaled b) {
  Exponent o = 0;
  if (is_number(a) && is_number(b)) {
    const Exponent above = std::max<Exponent>(a.scale - b.scale, -8), half = above / 2;
    set_exponent(a, above - half);
    mpfr_set_exp(b.x, static_cast<mpfr_exp_t>(-half));
    o = a.scale - (above - half);
  } else {
    o = a.scale;
  }
  return {[a, b](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_remainder(z, a.x, b.x, rnd); }, o};
}

Computation square_root(Scaled a) {
  const Exponent odd = a.scale & 1;
  set_exponent(a, odd);
  return {[a](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_sqrt(z, a.x, rnd); }, (a.scale - odd) / 2};
}

Computation multiply_add(Scaled a, const Scaled& b, Scaled c) {
  const bool both = is_number(a) && is_number(b);
  const Exponent of_product = a.scale + b.scale;
  const Exponent o = origin(both ? a : Scaled{}, of_product, c, c.scale);
  if (both) set_exponent(a, of_product - o);
  set_exponent(c, c.scale - o);
  return {[a, b, c](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_fma(z, a.x, b.x, c.x, rnd); }, o};
}

Computation itself(const Scaled& a) {
  return {[a](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_set(z, a.x, rnd); }, a.scale};
}

}  // namespace widthwise::mpfr
