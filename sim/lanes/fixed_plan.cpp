#include <fmt/format.h>

#include <cmath>

#include "fixed.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "sim/engine/plain.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::lanes {
namespace {

// The largest magnitude of a format's numbers; of floats a bound.
double largest_magnitude(const Format& f) {
  if (!f.is_fixed()) return std::ldexp(1.0, static_cast<int>(f.emax() + 1));
  const double whole = std::ldexp(1.0, f.frac_bits);
  return std::ldexp(f.is_signed() ? whole : whole - 1, static_cast<int>(f.least_digit()));
}

Overflow overflow_of(const Round& r) {
  return r.overflow == Overflow::ieee ? r.fmt.overflow : r.overflow;
}

// The least and the largest result of a rounding to fixed point that saturates.
struct Range {
  double least, most;
};
Range range(const Round& r) {
  const double digit = std::ldexp(1.0, static_cast<int>(r.fmt.least_digit()));
  const double whole = std::ldexp(digit, r.fmt.frac_bits), most = whole - digit;
  if (!r.fmt.is_signed()) return {0, most};
  return {overflow_of(r) == Overflow::symmetric ? -most : -whole, most};
}

// Whether product.round changes any product: else the sum takes products as they are.
bool rounds_fixed_products(const Unit& u) {
  if (!u.product.round) return false;
  const double most = largest_magnitude(u.a.fmt) * largest_magnitude(u.b.fmt);
  const double least = u.a.fmt.is_signed() || u.b.fmt.is_signed() ? -most : 0;
  const Range e = range(*u.product.round);
  return product_last(u) < u.product.round->fmt.least_digit() || most > e.most || least < e.least;
}

// The lowest digit of what is added to a sum.
std::int64_t addend_last(const Unit& u) {
  return rounds_fixed_products(u) ? u.product.round->fmt.least_digit() : product_last(u);
}

// By which mode products and sums lose digits; none where they lose none.
using LosingMode = std::optional<Rounding>;
LosingMode product_mode(const Unit& u) {
  const bool loses =
      rounds_fixed_products(u) && product_last(u) < u.product.round->fmt.least_digit();
  return loses ? LosingMode(u.product.round->rm) : std::nullopt;
}
LosingMode sum_mode(const Unit& u) {
  return addend_last(u) < u.out.fmt.least_digit() ? LosingMode(u.out.rm) : std::nullopt;
}

std::string unfit_operand(const char* where, const Operand& x) {
  if (!x.fmt.is_fixed()) return unlike_a_float(where, x);
  const bool plain = is_plain(x) && !x.fmt.daz;
  return plain ? "" : fmt::format("{} is conditioned before use", where);
}

std::string unfit_fixed(const char* where, const Round& r) {
  if (!r.fmt.is_fixed()) return fmt::format("{} = {} is not fixed point", where, to_string(r.fmt));
  const Round plain{.fmt = r.fmt, .rm = r.rm, .overflow = r.overflow, .tininess = r.tininess};
  return r == plain && !r.fmt.daz && !r.fmt.ftz
             ? ""
             : fmt::format("{} does more than round to its format", where);
}

std::string unclamped(const char* where, const Round& r) {
  const Overflow how = overflow_of(r);
  Format f = r.fmt;
  f.overflow = how;
  if (!f.wraps() && how != Overflow::zero) return {};
  return fmt::format("{} = {} does not saturate", where, to_string(f));
}

std::string unfit_mode(const char* where, const LosingMode& mode) {
  if (!mode || (!mode->stochastic() && mode->mode != RoundingMode::odd)) return {};
  return fmt::format("{} loses digits by {}", where, to_string(*mode));
}

// Once the formats are the carrier's.
std::string unfit_roundings(const Unit& u) {
  if (rounds_fixed_products(u))
    if (std::string why = unclamped("product.round", *u.product.round); !why.empty()) return why;
  if (std::string why = unclamped("out", u.out); !why.empty()) return why;
  if (std::string why = unfit_mode("product.round", product_mode(u)); !why.empty()) return why;
  return unfit_mode("out", sum_mode(u));
}

// Numbers of fixed point lie beside 3/2 2^(D - 1) of its digits, with a digit to spare on either
// side; 2^lsb and 2^(D + lsb) are numbers of the carrier, and so is half of the one.
bool has_place(const Carrier& carrier, const Format& f) {
  return f.width() <= carrier.digits - 2 && f.least_digit() > carrier.emin &&
         f.least_digit() + carrier.digits < carrier.emax;
}
std::string unplaced(const Carrier& carrier, const Unit& u) {
  const Format& product = u.product.round ? u.product.round->fmt : u.out.fmt;
  for (const Format* f : {&u.a.fmt, &u.b.fmt, &u.c.fmt, &product, &u.out.fmt})
    if (!(f->is_fixed() ? has_place(carrier, *f) : held(carrier, *f)))
      return fmt::format("{} has too many digits or too large exponents", to_string(*f));
  return {};
}

// Whether what a rounding loses of a product is a number of the carrier, by which it is corrected.
bool shows_loss(const Carrier& carrier, const Unit& u, const Format& to) {
  return product_last(u) >= carrier.emin && to.least_digit() - product_last(u) <= carrier.digits;
}

// One mode of the machine's for both roundings. Sums lie beside a positive number, whose rounding
// toward zero is down: that mode is none of these.
std::optional<RoundingMode> one_mode(const LosingMode& product, const LosingMode& sum) {
  const Rounding mode = product ? *product : sum.value_or(Rounding());
  const bool own = is_machine_mode(mode) && mode.mode != RoundingMode::rtz;
  return own && (!sum || *sum == mode) ? std::optional(mode.mode) : std::nullopt;
}

FixedAnswer fixed_in(const Carrier& carrier, const Unit& u) {
  const auto refuse = [&](const std::string& why) {
    return FixedAnswer{std::nullopt, fmt::format("{} lanes: {}", carrier.name, why)};
  };
  if (const std::string why = unplaced(carrier, u); !why.empty()) return refuse(why);
  if (const std::string why = unfit_roundings(u); !why.empty()) return refuse(why);
  const LosingMode product = product_mode(u), sum = sum_mode(u);
  FixedPlan z{.carrier = carrier, .steps = {.rounds_products = rounds_fixed_products(u)}};
  if (const auto machine = one_mode(product, sum)) {
    z.machine = *machine;
  } else {
    const auto corrected = [](const LosingMode& m) { return m && *m != Rounding(); };
    z.steps.corrects_sums = corrected(sum);
    z.steps.corrects_products = corrected(product) || (product && z.steps.corrects_sums);
    const bool fused = z.steps.corrects_sums && !z.steps.rounds_products;
    if ((z.steps.corrects_products && !shows_loss(carrier, u, u.product.round->fmt)) ||
        (fused && !shows_loss(carrier, u, u.out.fmt)))
      return refuse("what a product loses has too many digits, or too low ones");
  }
  return {z, fmt::format("{} lanes: every rounding is at a fixed place of {} digits", carrier.name,
                         carrier.digits)};
}

// The mode as a correction of rounding to nearest even, in units of the last digit (Place in
// kernels.cpp).
template <class T>
void correct(RoundingMode mode, FixedPlace<T>& z) {
  using enum RoundingMode;
  const T never = z.digit, tie = std::nextafter(z.digit / 2, T{0});
  z.up = never, z.down = -never;
  if (mode == rup || mode == raz) z.up = 0;
  if (mode == rdn || mode == rtz) z.down = 0;
  if (mode == rna || mode == rnp || mode == rno) z.up = tie;
  if (mode == rnz || mode == rnm || mode == rno) z.down = -tie;
  z.by_magnitude = mode == raz || mode == rtz || mode == rna || mode == rnz;
}

template <class T>
FixedPlace<T> place(const Carrier& carrier, const Round& r, const LosingMode& mode) {
  FixedPlace<T> z{};
  z.digit = std::ldexp(T{1}, static_cast<int>(r.fmt.least_digit()));
  z.middle = T{1.5} * std::ldexp(z.digit, carrier.digits - 1);
  const Range e = range(r);
  z.least = z.middle + static_cast<T>(e.least), z.most = z.middle + static_cast<T>(e.most);
  correct(mode.value_or(Rounding()).mode, z);
  return z;
}

}  // namespace

FixedAnswer plan_in_fixed(const Unit& u) {
  const std::string why = unlike_a_chain(u, unfit_operand, unfit_fixed);
  if (!why.empty()) return {std::nullopt, why};
  FixedAnswer narrow = fixed_in(in_float, u);
  return narrow.plan ? narrow : fixed_in(in_double, u);
}

template <class T>
FixedConstants<T> fixed_constants(const Carrier& carrier, const Unit& u) {
  return {place<T>(carrier, u.product.round.value_or(u.out), product_mode(u)),
          place<T>(carrier, u.out, sum_mode(u))};
}
template FixedConstants<float> fixed_constants(const Carrier&, const Unit&);
template FixedConstants<double> fixed_constants(const Carrier&, const Unit&);

}  // namespace widthwise::lanes
