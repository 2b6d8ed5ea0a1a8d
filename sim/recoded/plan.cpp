#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/engine/plain.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::recoded {
namespace {

constexpr int most_width = 64;

// A float of so many digits with numbers from 2^low to below 2^(high + 1), all of them normal. One
// of a single digit would have an infinity in the place of its NaN.
std::optional<Format> float_with(std::int64_t least_digits, std::int64_t low, std::int64_t high) {
  const std::int64_t digits = std::max<std::int64_t>(least_digits, 2);
  for (int exp_bits = 2; exp_bits + digits <= most_width; ++exp_bits) {
    const Format f = ieee_format(exp_bits, static_cast<int>(digits) - 1);
    if (f.emin() <= low && f.emax() >= high) return f;
  }
  return {};
}

// Exponents are seen beside the values: fixed point's are those of its highest digit.
bool sees_exponents(const Sum& s) { return s.align.reference == Reference::max_exponent; }
// The place of the lowest digit is seen beside the values.
bool sees_places(const Sum& s) { return s.align.reference == Reference::exact && s.width; }

std::string unlike_floats(const Unit& u) {
  for (const Sum* s : {&u.group_sum, &u.block_sum, &u.c_sum}) {
    if (sees_exponents(*s)) return "sums that align by the largest exponent";
    if (sees_places(*s)) return "a register that begins at its terms' last digit";
  }
  if (u.scale && !u.scale->fmt.is_float()) return "scales that are no floats";
  return {};
}

// Whether `out` is the unit's only rounding, of an exact sum of all products.
bool rounds_once(const Unit& u) {
  return u.lanes == 0 && !u.product.round && !u.product.overflow_to_inf_at && !u.groups &&
         !u.scale && !u.late_frac && u.c_level == CLevel::group && !has_nodes(u.group_sum) &&
         u.chain == Chain{};
}

// No magnitude is above 2^this, which is one of fixed point's with a sign, and of posits'.
std::int64_t bound(const Format& f) {
  return f.emax() + !(f.is_posit() || (f.is_fixed() && f.is_signed()));
}

// Where sums lie: multiples of 2^low, below 2^(high + 1).
struct Reach {
  std::int64_t low, high;

  std::int64_t digits() const { return high - low + 1; }
};
Reach reach_of_sums(const Unit& u, std::size_t k) {
  const std::int64_t low = std::min(product_last(u), u.c.fmt.least_digit());
  std::int64_t term = std::max(bound(u.a.fmt) + bound(u.b.fmt), bound(u.c.fmt));
  if (u.group_sum.align.reference == Reference::fixed_lsb)  // which a cut term may be raised to
    term = std::max(term, -u.group_sum.align.frac_bits);
  const std::int64_t terms = std::bit_width(k + 1);
  return {low, term + terms - 1};
}

// Binary32, from which conversions run in lanes, where it has all numbers of a float.
Format machines_own(const Format& f) {
  const bool has_all = f.precision() <= binary32.precision() && f.emin() >= binary32.emin() &&
                       f.emax() <= binary32.emax();
  return has_all ? binary32 : f;
}

// An exact sum with all its digits, or rounded to odd with digits to spare, so that a second
// rounding is the only one that counts (docs/exactness.md, 63).
std::optional<Format> held(const Round& out, const Reach& sums) {
  const Format& f = out.fmt;
  const std::int64_t looked_at = std::max(f.width(), f.rounding_digits()) + 3;
  const std::int64_t digits = f.wraps() ? sums.digits() : std::min(looked_at, sums.digits());
  const auto least = float_with(digits, sums.low, sums.high);
  return least ? std::optional(machines_own(*least)) : std::nullopt;
}

// Whether no sum of k products and C fills the register: then it is as if it had no end.
bool never_full(const Unit& u, std::size_t k) {
  if (u.lanes != 0 || !u.group_sum.width || u.group_sum.align.reference != Reference::fixed_lsb)
    return false;
  const std::int64_t top_bit = *u.group_sum.width - 1 - u.group_sum.align.frac_bits;
  return reach_of_sums(u, k).high + 1 <= top_bit;
}

// Whether the sum's register begins no higher than its terms end: as if it had no lowest digit. The
// floats that operands are written in have lower digits than any of their numbers.
bool loses_nothing(const Unit& u) {
  const Sum& s = u.group_sum;
  const std::int64_t products = product_last(u);
  return u.lanes == 0 && s.align.reference == Reference::fixed_lsb && !s.width &&
         !u.product.round && !u.scale && u.c_level == CLevel::group &&
         -s.align.frac_bits <= std::min(products, u.c.fmt.least_digit());
}

}  // namespace

std::optional<Format> float_of(const Format& f) {
  return f.is_float() ? f : float_with(f.digits(), f.least_digit(), f.emax());
}

Plan plan(const Unit& u, std::size_t k) {
  const auto unfit = [](std::string why) { return Plan{{}, {}, std::move(why)}; };
  Plan z{u, {}, unlike_floats(u)};
  if (!z.unfit.empty()) return z;
  if (has_quire(u)) {
    if (!never_full(u, k)) return unfit("a quire that so many products may fill");
    z.inner.group_sum.width.reset();
    z.inner.group_sum.overflow = RegisterOverflow::wrap;
  }
  if (loses_nothing(z.inner)) z.inner.group_sum.align = {};
  for (Operand* x : {&z.inner.a, &z.inner.b, &z.inner.c}) {
    const auto f = float_of(x->fmt);
    if (!f)
      return unfit(fmt::format("no float of 64 bits has all numbers of {}", to_string(x->fmt)));
    x->fmt = *f;
  }
  const Format* other = other_than_float(z.inner);  // what is left is rounded to
  if (!other) return z;
  if (!rounds_once(u))
    return unfit(fmt::format("roundings to {} before the last one", to_string(*other)));
  if (!is_plain(u.out) || u.out.rm.stochastic())
    return unfit("random bits, or more than a rounding to the format");
  const auto held_in = held(u.out, reach_of_sums(u, k));
  if (!held_in) return unfit("sums of more digits than a float of 64 bits has");
  z.inner.out = {.fmt = *held_in, .rm = RoundingMode::odd};
  if (const Format* f = other_than_float(z.inner))  // of nodes in sums that there are none of
    return unfit(fmt::format("{} beside operands and the result", to_string(*f)));
  z.result = u.out;
  return z;
}

}  // namespace widthwise::recoded
