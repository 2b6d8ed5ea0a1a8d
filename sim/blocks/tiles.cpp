#include "tiles.hpp"

#include <cmath>

#include "slots.hpp"

namespace widthwise::blocks {
namespace {

// A sum of two of the machine's floats is rounded so, but for the flushing.
bool is_machine_addition(const Slot& s) {
  return s.machine && !s.plus_zero && s.first_frac_bits < 0 && s.signed_zero;
}

bool has_subnormals_in_floats(const Operand& x) {
  return x.subnormals == Flush::keep && x.fmt.emin() >= -float_reach;
}

std::int64_t last_digit(const Format& f) { return f.emin() - f.frac_bits; }

bool are_floats(const Format& f) {
  return f.precision() <= float_digits && last_digit(f) >= last_digit(binary32) &&
         f.emax() <= binary32.emax();
}

// How a sum is aligned whose digits all of a tile's lanes have in view.
bool is_window(const SumRule& s, RoundingMode mode, int frac_bits) {
  return s.aligned == Aligned::window && s.order == Order::fused && s.mode == mode &&
         s.frac_bits == frac_bits && s.least_power <= std::ldexp(1.0, -late_reach);
}

}  // namespace

std::int64_t product_digits(const Unit& u) {
  std::int64_t digits = u.a.fmt.precision() + u.b.fmt.precision();
  if (u.a.keep_frac) digits += *u.a.keep_frac - u.a.fmt.frac_bits;
  if (u.b.keep_frac) digits += *u.b.keep_frac - u.b.fmt.frac_bits;
  return digits;
}

bool exact_tile(const Rules& r) {
  return r.narrow_span >= 0 && r.out.machine && r.out.random_bits == 0 &&
         r.out.first_frac_bits < 0 && r.out.flush == Flush::keep && !r.promote &&
         r.compensation == Compensation::none;
}

bool float_tree(const Rules& r, const Unit& u) {
  const auto in_floats = [](const Format& f) { return f.precision() <= float_digits; };
  if (!are_floats(u.c.fmt)) return false;
  const bool subnormal_terms = last_digit(u.a.fmt) + last_digit(u.b.fmt) < binary32.emin() &&
                               (has_subnormals_in_floats(u.a) || has_subnormals_in_floats(u.b));
  const auto flushes = [](const std::optional<Slot>& s) { return s && s->flush != Flush::keep; };
  if (subnormal_terms && (flushes(r.product) || flushes(r.group.node))) return false;
  if (!in_floats(u.a.fmt) || !in_floats(u.b.fmt) || u.scale || r.normalised || r.votes)
    return false;
  if (r.product ? !is_machine_addition(*r.product) : product_digits(u) > float_digits) return false;
  return (r.lanes == 2 || r.lanes == 4 || r.lanes == 8) && r.group_count == 1 &&
         r.group.order == Order::pairwise_tree && r.group.aligned == Aligned::pair &&
         r.group.node && is_machine_addition(*r.group.node) && r.c_level == CLevel::late &&
         r.late.aligned == Aligned::pair && !r.late.node && is_machine_addition(r.out);
}

bool late_tile(const Rules& r, const Unit& u) {
  using enum RoundingMode;
  const auto frac_bits = [](const Operand& x) { return x.keep_frac.value_or(x.fmt.frac_bits); };
  const auto largest = [&](const Operand& x) {
    return 2 - std::ldexp(1.0, -static_cast<int>(frac_bits(x)));
  };
  // With them C is 2^29 units, and never less than 2^25 when digits below a unit are jammed.
  const double most = std::ldexp(largest(u.a) * largest(u.b), late_frac_bits);
  if (static_cast<double>(r.lanes) * most > 0x1p30 - 0x1p26) return false;
  const bool groups = r.group_count == 1 || (r.group_count == 2 && is_window(r.block, rdn, 24));
  return r.quick && r.chunk > 0 && is_window(r.group, rtz, late_frac_bits) && groups && !u.scale &&
         r.c_level == CLevel::late && is_window(r.late, rdn, 32) && r.late.frac_bits_of_c == 24 &&
         r.late.drop_c_below <= 0x1p-25 && u.c.fmt.precision() <= float_digits && r.out.machine &&
         r.out.first_frac_bits == 31 && r.out.first_mode == rdn && !r.out.plus_zero &&
         r.out.signed_zero && r.out.flush == Flush::keep && !r.promote &&
         r.compensation == Compensation::none;
}

bool machine_compensation(const Rules& r, const Unit& u) {
  const auto rounds = [&](const Slot& s) {
    return s.own ? !s.by_hand : is_machine_addition(s) && s.flush == Flush::keep;
  };
  if (r.compensation == Compensation::none || u.scale || r.overflow_at > 0 || !rounds(r.out))
    return false;
  if (r.product && (!rounds(*r.product) || r.product->own != r.out.own)) return false;
  if (r.out.own) return !r.long_products;
  // Digits that are dropped may round a number up past the largest float.
  const auto are_singles = [](const Operand& x) { return are_floats(x.fmt) && !x.keep_frac; };
  return are_singles(u.a) && are_singles(u.b) && are_singles(u.c) &&
         (r.product || product_digits(u) <= float_digits);
}

}  // namespace widthwise::blocks
