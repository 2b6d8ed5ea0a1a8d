#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fixed.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "sim/engine/plain.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::lanes {
namespace {

// Fewer steps than these between two looks at sums cost more than they save.
constexpr std::size_t least_unwrapped = 8;

// The largest magnitude of a format's numbers; of floats a bound.
double largest_magnitude(const Format& f) {
  if (!f.is_fixed()) return std::ldexp(1.0, static_cast<int>(f.emax() + 1));
  const double whole = std::ldexp(1.0, f.frac_bits);
  return std::ldexp(f.is_signed() ? whole : whole - 1, static_cast<int>(f.least_digit()));
}

Overflow overflow_of(const Round& r) {
  return r.overflow == Overflow::ieee ? r.fmt.overflow : r.overflow;
}

bool wraps(const Round& r) { return overflow_of(r) == Overflow::wrap; }
// A result that wraps is told modulo 2^this.
std::int64_t top_bit(const Round& r) { return r.fmt.least_digit() + r.fmt.width(); }

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

// Modes that ask for a number's sign.
bool by_magnitude(RoundingMode mode) {
  using enum RoundingMode;
  return mode == raz || mode == rtz || mode == rna || mode == rnz;
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
  if (how == Overflow::wrap || (!f.wraps() && how != Overflow::zero)) return {};
  return fmt::format("{} = {} neither saturates nor wraps", where, to_string(f));
}

// What wraps is left unwrapped for a while: no end of another format may see it, nor a rounding by
// its sign.
std::string unfit_wraps(const Unit& u) {
  if (rounds_fixed_products(u) && wraps(*u.product.round) &&
      (!wraps(u.out) || top_bit(u.out) > top_bit(*u.product.round)))
    return "product.round wraps at a digit at which out does not";
  const LosingMode mode = sum_mode(u);
  if (!wraps(u.out) || !mode || !by_magnitude(mode->mode)) return {};
  return fmt::format("out wraps and loses digits by {}", to_string(*mode));
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
  if (std::string why = unfit_wraps(u); !why.empty()) return why;
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

// The largest magnitude of what is added to a sum.
double largest_addend(const Unit& u) {
  const double product = largest_magnitude(u.a.fmt) * largest_magnitude(u.b.fmt);
  if (!rounds_fixed_products(u)) return product;
  const Round& r = *u.product.round;
  const Range e = range(r);
  if (!wraps(r)) return std::max(-e.least, e.most);
  return product + std::ldexp(1.0, static_cast<int>(r.fmt.least_digit()));
}

// Steps after which sums that wrap, and products, are sure to lie beside their middles still.
std::size_t steps_unwrapped(const Carrier& carrier, const Unit& u) {
  if (top_bit(u.out) + carrier.digits >= carrier.emax) return 0;
  const auto room = [&](const Format& f) {
    return std::ldexp(1.0, carrier.digits - 2 + static_cast<int>(f.least_digit()));
  };
  const double addend = largest_addend(u);
  if (rounds_fixed_products(u) && addend > room(u.product.round->fmt)) return 0;
  const double digit = std::ldexp(1.0, static_cast<int>(u.out.fmt.least_digit()));
  const double left = room(u.out.fmt) - std::ldexp(digit, u.out.fmt.width());
  return static_cast<std::size_t>(std::clamp(left / (addend + digit), 0.0, 1e6));
}

FixedAnswer fixed_in(const Carrier& carrier, const Unit& u) {
  const auto refuse = [&](const std::string& why) {
    return FixedAnswer{std::nullopt, fmt::format("{} lanes: {}", carrier.name, why)};
  };
  if (const std::string why = unplaced(carrier, u); !why.empty()) return refuse(why);
  if (const std::string why = unfit_roundings(u); !why.empty()) return refuse(why);
  const LosingMode product = product_mode(u), sum = sum_mode(u);
  FixedPlan z{.carrier = carrier, .steps = {.rounds_products = rounds_fixed_products(u)}};
  if (wraps(u.out)) {
    z.unwrapped = steps_unwrapped(carrier, u);
    if (*z.unwrapped < least_unwrapped) return refuse("sums that wrap have no room to grow");
  }
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
  z.by_magnitude = by_magnitude(mode);
}

template <class T>
FixedPlace<T> place(const Carrier& carrier, const Round& r, const LosingMode& mode) {
  FixedPlace<T> z{};
  z.digit = std::ldexp(T{1}, static_cast<int>(r.fmt.least_digit()));
  z.middle = T{1.5} * std::ldexp(z.digit, carrier.digits - 1);
  constexpr double endless = std::numeric_limits<double>::infinity();
  const Range e = wraps(r) ? Range{-endless, endless} : range(r);
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
  const auto turns = std::ldexp(T{1.5}, static_cast<int>(carrier.digits - 1 + top_bit(u.out)));
  return {place<T>(carrier, u.product.round.value_or(u.out), product_mode(u)),
          place<T>(carrier, u.out, sum_mode(u)), turns};
}
template FixedConstants<float> fixed_constants(const Carrier&, const Unit&);
template FixedConstants<double> fixed_constants(const Carrier&, const Unit&);

}  // namespace widthwise::lanes
