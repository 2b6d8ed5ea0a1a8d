#pragma once
#include <gmpxx.h>
#include <mpfr.h>

// MPFR and GMP numbers with owners. Not installed: what uses it sees mpfr_oracle.hpp.
namespace widthwise::mpfr {

// Wide enough for sums of a few exponents of 62 bits each.
__extension__ typedef __int128 Exponent;

// 2^n.
inline mpz_class power(Exponent n) { return mpz_class(1) << static_cast<mp_bitcnt_t>(n); }

class Real {
 public:
  Real() : Real(53) {}
  explicit Real(mpfr_prec_t precision) { mpfr_init2(x_, precision < 1 ? 1 : precision); }
  Real(const Real& other) : Real(mpfr_get_prec(other.x_)) { mpfr_set(x_, other.x_, MPFR_RNDZ); }
  Real(Real&& other) noexcept : Real(1) { mpfr_swap(x_, other.x_); }
  Real& operator=(Real other) noexcept {
    mpfr_swap(x_, other.x_);
    return *this;
  }
  ~Real() { mpfr_clear(x_); }

  operator mpfr_ptr() { return x_; }
  operator mpfr_srcptr() const { return x_; }

 private:
  mpfr_t x_;
};

// MPFR's exponent range and flags belong to the thread: widened here, given back at the end.
class WidestRange {
 public:
  WidestRange() : emin_(mpfr_get_emin()), emax_(mpfr_get_emax()), flags_(mpfr_flags_save()) {
    widen();
  }
  ~WidestRange() {
    mpfr_set_emin(emin_);
    mpfr_set_emax(emax_);
    mpfr_flags_restore(flags_, MPFR_FLAGS_ALL);
  }
  WidestRange(const WidestRange&) = delete;
  WidestRange& operator=(const WidestRange&) = delete;

  static void widen() {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_clear_flags();
  }

 private:
  mpfr_exp_t emin_, emax_;
  mpfr_flags_t flags_;
};

// x * 2^scale; x lies in [1/2, 1) in magnitude unless it is zero, infinite or NaN.
struct Scaled {
  Real x;
  Exponent scale = 0;
};

inline bool is_number(const Scaled& v) { return mpfr_regular_p(static_cast<mpfr_srcptr>(v.x)); }
inline bool is_zero(const Scaled& v) { return mpfr_zero_p(static_cast<mpfr_srcptr>(v.x)); }
inline bool is_infinite(const Scaled& v) { return mpfr_inf_p(static_cast<mpfr_srcptr>(v.x)); }
inline bool is_nan(const Scaled& v) { return mpfr_nan_p(static_cast<mpfr_srcptr>(v.x)); }
inline bool is_negative(const Scaled& v) { return mpfr_signbit(static_cast<mpfr_srcptr>(v.x)); }

// Moves x's own exponent into the scale.
inline Scaled normalised(Scaled v) {
  if (!is_number(v)) return v;
  v.scale += mpfr_get_exp(v.x);
  mpfr_set_exp(v.x, 0);
  return v;
}

}  // namespace widthwise::mpfr
