#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.hpp"
#include "sim/engine/numbers.hpp"

// What lanes, wherever they are, have to know of formats and operands: constants of the sequences,
// and for how long no sum overflows.
namespace widthwise::lanes {

template <class T>
T two_to(std::int64_t e) {
  return std::ldexp(T{1}, static_cast<int>(e));
}

// The largest magnitude that may meet an S = 2^(D - p) without passing the carrier's end.
inline double room(const Carrier& carrier, const Format& f) {
  return std::ldexp(1.0, static_cast<int>(carrier.emax - (carrier.digits - f.precision()) - 2));
}

// The format's largest number, or what of it the carrier's digits hold; beyond all numbers where
// not even a double has its exponent.
inline double largest(const Format& f, const Carrier& carrier) {
  if (f.emax() > in_double.emax) return std::numeric_limits<double>::infinity();
  if (f.precision() <= carrier.digits) return Codec<double>(f).largest();
  return std::ldexp(2 - std::ldexp(1.0, 1 - carrier.digits), static_cast<int>(f.emax()));
}

// The least number whose rounding to nearest even is not flushed: 2^emin, or what goes there, on
// the format's own grid or on the finer one below that if exponents had no end.
template <class T>
T least_kept(const Round& r) {
  const std::int64_t emin = r.fmt.emin();
  const T normal = two_to<T>(emin);
  switch (r.tininess) {
    case Tininess::before_rounding: return normal;
    case Tininess::after_rounding: return normal - two_to<T>(emin - r.fmt.precision() - 1);
    case Tininess::as_delivered: return normal - two_to<T>(emin - r.fmt.precision());
  }
  return normal;
}

// Below which a rounding flushes, of the numbers that the kernels look at: results where the
// carrier cuts off digits, twice the exact numbers where the machine rounds them, sums apart that
// are exact where they are tiny, and else what is not yet rounded.
template <class T>
T flush_below(const Plan& plan, const Round& r, bool twice) {
  if (!r.fmt.ftz) return T{0};
  if (plan.add == Add::cut) return two_to<T>(r.fmt.emin() + plan.scale);
  if (plan.add == Add::native) return two_to<T>(r.fmt.emin() + twice);
  return least_kept<T>(r);
}

template <class T>
Constants<T> constants(const Plan& plan, const Unit& u) {
  Constants<T> z{};
  const auto fill = [&](const Format& f, T& up, T& least) {
    const int spread = plan.carrier.digits - f.precision();
    up = two_to<T>(spread);
    least = T{1.5} * two_to<T>(f.emin() + spread);
  };
  if (plan.multiply == Multiply::rounded || plan.multiply == Multiply::wide)
    fill(u.product.round->fmt, z.product_up, z.product_least);
  if (plan.add != Add::native) fill(u.out.fmt, z.sum_up, z.sum_least);
  if (u.product.round) z.product_cut = plan.carrier.digits - u.product.round->fmt.precision();
  z.sum_cut = plan.carrier.digits - u.out.fmt.precision();
  z.random_bits = static_cast<std::uint16_t>(plan.random_bits);
  z.mode = plan.mode;
  if (u.product.round) z.product_flush = flush_below<T>(plan, *u.product.round, true);
  z.sum_flush = flush_below<T>(plan, u.out, plan.multiply == Multiply::exact);
  return z;
}

// What a number rounded to f may have become, in any mode.
inline double rounded(double x, const Format& f) {
  return x * (1 + std::ldexp(2.0, -f.precision())) +
         std::ldexp(1.0, static_cast<int>(f.least_digit()));
}

// How often a tile has to look at its sums, and what they may be then, so that none overflows in
// between (docs/exactness.md, 4).
struct Watch {
  std::size_t interval = 0;  // 0: the tile is not for the lanes
  double limit = 0;
};

// Largest magnitudes that the formats and the carrier allow.
class Bounds {
 public:
  template <class T>
  Bounds(const Plan& plan, const Unit& u, const Codec<T>& out)
      : product_(u.product.round ? std::optional(u.product.round->fmt) : std::nullopt),
        sum_(u.out.fmt),
        most_sum_(std::min(out.largest(), room(plan.carrier, sum_))) {
    if (!product_) return;
    most_a_ = room(plan.carrier, *product_);
    most_product_ = std::min(largest(*product_, plan.carrier), most_a_);
  }

  // For factors of at most these magnitudes.
  Watch watch(double a, double b) const {
    double bound = a * b;
    if (product_) {
      bound = rounded(bound, *product_);
      if (a > most_a_ || bound > most_product_) return {};
    }
    for (const std::size_t interval : {16, 4, 1}) {
      const auto n = static_cast<double>(interval);
      const double growth = std::pow(1 + std::ldexp(2.0, -sum_.precision()), n);
      const double limit = (most_sum_ / growth - n * rounded(bound, sum_)) * (1 - 1e-6);
      if (limit > (interval > 1 ? most_sum_ / 2 : 0)) return {interval, limit};
    }
    return {};
  }

 private:
  std::optional<Format> product_;  // that products are rounded to
  Format sum_;
  double most_sum_, most_a_ = 0, most_product_ = 0;
};

}  // namespace widthwise::lanes
