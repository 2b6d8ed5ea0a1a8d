#include "tiles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/engine/plain.hpp"
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

bool are_floats(const Format& f) {
  return f.precision() <= float_digits && f.least_digit() >= binary32.least_digit() &&
         f.emax() <= binary32.emax();
}

// Floats hold all that is read of A, B and C; digits that are dropped may round a number up past
// the largest one.
bool are_single(const Unit& u) {
  const auto is = [](const Operand& x) { return are_floats(x.fmt) && !x.keep_frac; };
  return is(u.a) && is(u.b) && is(u.c);
}

// Lanes that tiles have trees of.
bool fill_a_tree(std::size_t lanes) {
  return std::has_single_bit(lanes) && lanes > 1 && lanes <= 32;
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
  const bool subnormal_terms = product_last(u) < binary32.emin() &&
                               (has_subnormals_in_floats(u.a) || has_subnormals_in_floats(u.b));
  const auto flushes = [](const std::optional<Slot>& s) { return s && s->flush != Flush::keep; };
  if (subnormal_terms && (flushes(r.product) || flushes(r.group.node))) return false;
  if (!in_floats(u.a.fmt) || !in_floats(u.b.fmt) || u.scale || r.normalised || r.votes)
    return false;
  if (r.product ? !is_machine_addition(*r.product) : product_digits(u) > float_digits) return false;
  return fill_a_tree(r.lanes) && r.group_count == 1 && r.group.order == Order::pairwise_tree &&
         r.group.aligned == Aligned::pair && r.group.node && is_machine_addition(*r.group.node) &&
         r.c_level == CLevel::late && r.late.aligned == Aligned::pair && !r.late.node &&
         is_machine_addition(r.out);
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

namespace {

// Sums of two, and products, as the machine rounds them.
bool is_machines(const Slot& s) {
  return s.own ? !s.by_hand : is_machine_addition(s) && s.flush == Flush::keep;
}
bool is_machine_compensation(const Rules& r, const Unit& u) {
  if (!is_machines(r.out)) return false;
  if (r.product && (!is_machines(*r.product) || r.product->own != r.out.own)) return false;
  if (r.out.own) return !r.long_products;
  return r.product || product_digits(u) <= float_digits;
}

// Cuts doubles to some digits, of which the last one tells odd from even, and nothing more: its
// format has all signs and subnormals.
bool is_plain_cut(const Slot& s, const Format& f) {
  return !s.own && !s.gap && s.flush == Flush::keep && !s.plus_zero && s.signed_zero &&
         s.is_signed && s.first_frac_bits < 0 && s.frac_bits == f.frac_bits && f.frac_bits > 0;
}
// To nearest even and at most so many digits that floats round to them again, subnormals included.
bool is_short(const Slot& s, const Format& f) {
  return is_plain_cut(s, f) && s.mode == RoundingMode::rne && s.random_bits == 0 && are_floats(f) &&
         2 * f.precision() + 1 <= float_digits;
}
bool has_short_products(const Rules& r, const Unit& u) {
  return r.product && is_short(*r.product, u.product.round->fmt) &&
         product_digits(u) < float_digits;
}
// Has all digits of what joins it.
bool takes(const Format& sum, int digits, std::int64_t last) {
  return digits <= sum.precision() && last >= sum.least_digit();
}
bool takes(const Format& sum, const Format& f) {
  return takes(sum, f.precision(), f.least_digit());
}
// One that begins with C as it is.
bool is_short_register(const Rules& r, const Unit& u) {
  const Format& out = u.out.fmt;
  return is_short(r.out, out) && out.precision() >= 8 && takes(out, u.c.fmt);
}

// Products are exact, which the plan has seen to, or cut.
bool has_plain_products(const Rules& r, const Unit& u) {
  return !r.product ||
         (is_plain_cut(*r.product, u.product.round->fmt) && r.product->random_bits == 0);
}
// No sum has a digit below the last one of the register's format, which is a plain cut.
bool is_any_mode_compensation(const Rules& r, const Unit& u) {
  const Format& out = u.out.fmt;
  if (!has_plain_products(r, u) || !is_plain_cut(r.out, out) || r.out.fine) return false;
  const std::int64_t of_product = r.product ? u.product.round->fmt.least_digit() : product_last(u);
  const std::int64_t watched = r.watch ? r.watch->least_digit : any_digit;
  return std::max(std::min(of_product, u.c.fmt.least_digit()), watched) >= out.least_digit();
}

bool is_exact(const Sum& s) { return s.align.reference == Reference::exact && !s.width; }
bool is_own_float(const Slot& s) { return is_machines(s) && !s.own; }
// A block is one tree, and the register joins what it comes to.
bool is_lone_tree(const Rules& r, const Unit& u) {
  return fill_a_tree(r.lanes) && r.group_count == 1 && is_exact(u.group_sum) &&
         u.group_sum.order == Order::pairwise_tree && r.group.node && u.c_level == CLevel::late &&
         is_exact(u.c_sum) && !r.late.node && r.compensation == Compensation::none;
}

// A number that a slot rounded may be larger than before.
double lifted(double x, const Slot& s, double times = 1) {
  return x * std::pow(1 + std::ldexp(1.0, -s.frac_bits - 1), times);
}
// The largest number of a slot, or less where what rounds to it would pass the end of floats.
double most_of(const Slot& s) {
  return std::min(s.largest, std::ldexp(1.0, 127 - (float_digits - 1 - s.frac_bits) - 2));
}

}  // namespace

CompensatedTile compensated_tile(const Rules& r, const Unit& u) {
  using enum CompensatedTile;
  if (r.compensation == Compensation::none || u.scale || r.overflow_at > 0) return none;
  const bool single = are_single(u);
  if (is_machine_compensation(r, u) && (r.out.own || single)) return machine;
  if (r.promote) return none;
  if (single && has_short_products(r, u)) {
    if (is_own_float(r.out)) return short_products;
    if (is_short_register(r, u) && takes(u.out.fmt, u.product.round->fmt)) return short_sums;
  }
  return is_any_mode_compensation(r, u) ? any_mode : none;
}

bool short_tree(const Rules& r, const Unit& u) {
  if (!are_single(u) || u.scale || r.normalised || r.overflow_at > 0 || r.promote ||
      !is_lone_tree(r, u))
    return false;
  const bool short_product = has_short_products(r, u);
  if (r.product ? !short_product && !is_own_float(*r.product) : product_digits(u) > float_digits)
    return false;
  const Format &node = u.group_sum.node_round->fmt, &out = u.out.fmt;
  const bool joins_node = r.product
                              ? takes(node, u.product.round->fmt)
                              : takes(node, static_cast<int>(product_digits(u)), product_last(u));
  const bool short_node = is_short(*r.group.node, node) && joins_node;
  const bool short_out = is_short_register(r, u) && takes(out, node);
  return (short_node || is_own_float(*r.group.node)) && (short_out || is_own_float(r.out));
}

TreeWatch::TreeWatch(const Rules& r, double most_product) {
  const Slot& node = *r.group.node;
  const double product = r.product ? lifted(most_product, *r.product) : most_product;
  const auto levels = static_cast<double>(std::bit_width(r.lanes) - 1);
  const double block = lifted(static_cast<double>(r.lanes) * product, node, levels);
  fits = (!r.product || most_product <= r.product->largest) && block <= most_of(node);
  if (r.out.machine) return;
  limit = most_of(r.out) / 2;
  fits = fits && block <= most_of(r.out) / 64;
}

CompensatedWatch::CompensatedWatch(const Rules& r) {
  const double most = most_of(r.out);
  most_product = most / 64, most_sum = most / 2;
  most_compensation = r.compensation == Compensation::kahan ? most / 128 : most / 2;
}

}  // namespace widthwise::blocks
