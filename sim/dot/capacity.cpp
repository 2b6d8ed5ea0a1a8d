#include "capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "sim/unit/roundings.hpp"
#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

// Exponents of 62-bit fields and their sums over several stages pass 64 bits: bounds are computed
// in 128.
__extension__ typedef __int128 Exponent;

// Bounds on the finite terms at one point of the unit: multiples of 2^lsb, below 2^top, of at most
// `digits` significant digits, which align by an exponent e of e_min to e_max and are below
// 2^(e + above).
struct Extent {
  Exponent lsb, top, e_min, e_max, above;
  std::int64_t digits;
};

Extent extent(const Format& f) {
  const Exponent emin = f.emin();
  if (f.is_fixed())  // aligns by the highest digit there is, whatever the number
    return {f.least_digit(), emin + 1, emin, emin, 1, f.digits()};
  // Posits, takums and tables are read with as many digits as the longest number has, or their
  // code: those below the last digit that a number has, all zeros, count as well.
  if (!f.is_float()) {
    const Exponent emax = f.emax(), lowest = f.is_table() ? Exponent(f.least_digit()) : -emax - 1;
    return {f.least_digit() - Exponent(f.frac_bits), emax + 1, lowest, emax, 1, f.precision()};
  }
  const Exponent emax = Exponent(f.top_field()) - f.bias;
  return {emin - f.frac_bits, emax + 1, emin, emax, 1, f.precision()};
}

Extent extent(const Operand& op) {
  Extent x = extent(op.fmt);
  if (op.keep_frac) x.top += 1, x.e_max += 1;  // where rounding carries
  return x;
}

Extent both(const Extent& x, const Extent& y) {
  return {std::min(x.lsb, y.lsb),     std::max(x.top, y.top),     std::min(x.e_min, y.e_min),
          std::max(x.e_max, y.e_max), std::max(x.above, y.above), std::max(x.digits, y.digits)};
}

Extent times(const Extent& x, const Extent& y) {
  return {x.lsb + y.lsb,     x.top + y.top,     x.e_min + y.e_min,
          x.e_max + y.e_max, x.above + y.above, x.digits + y.digits};
}

// What an operand drops, and a supplied product may have all the same.
int dropped(const Operand& op) { return op.keep_frac ? op.fmt.frac_bits - *op.keep_frac : 0; }

Extent unrounded_products(const Unit& u, bool supplied) {
  Extent x = times(extent(u.a), extent(u.b));
  const int more = supplied ? dropped(u.a) + dropped(u.b) : 0;
  x.top += more, x.above += more;
  if (u.product.exponent == ProductExponent::normalised) x.e_min = x.lsb, x.e_max = x.top;
  return x;
}

// Group sums times their scales, by whose exponents alone they align.
Extent scaled_groups(const Extent& sum, const Format& scale) {
  const Extent scales = times(extent(scale), extent(scale));
  Extent x = times(sum, scales);
  x.e_min = scales.e_min, x.e_max = scales.e_max;
  x.above = sum.top + scales.above;
  return x;
}

// The largest magnitude a unit meets, stage by stage.
class Bound {
 public:
  void meet(Exponent bits) {
    bits_ = std::max(bits_, bits);
    here_ = std::max(here_, bits);
  }
  // The largest since this was last asked.
  std::int64_t stage() { return clamped(std::exchange(here_, 0)); }

  // A sum of n terms and perhaps one more, C; what comes out of it. If there is a `lone` one, of
  // one term, that passes no node.
  Extent sum(const Sum& s, const Extent& terms, std::int64_t n, const std::optional<Extent>& c,
             std::int64_t reach, const std::optional<LateFrac>& late = {}, bool lone = false) {
    const Extent t = c ? both(terms, *c) : terms;
    const Exponent all_digits = Exponent(n) * terms.digits + (c ? c->digits : 0);
    if (c) ++n;
    const std::int64_t carry = std::bit_width(static_cast<std::uint64_t>(n));  // n <= 2^carry
    meet(t.digits);
    if (has_nodes(s) && n > 1) return nodes(s, t, late, lone);
    Extent z = t;
    z.top += carry, z.above += carry;
    switch (s.align.reference) {
      case Reference::max_exponent: window(s.align, t, carry, late, z); break;
      case Reference::fixed_lsb: {
        const Exponent lsb = -Exponent(s.align.frac_bits);  // what a small term may round up to
        z.lsb = lsb;
        z.top = std::max(t.top, lsb) + carry;
        z.above = std::max(t.above, lsb - t.e_min) + carry;
        z.digits = clamped(z.top - z.lsb);
        break;
      }
      case Reference::exact: {
        const bool closes = reach && !s.width;
        if (!closes) z.lsb = std::min<Exponent>(z.lsb, 0);  // where zero products end
        z.digits = n == 1 ? t.digits : clamped(z.top - z.lsb);
        if (closes)  // every term and every closed gap, if no two overlap
          z.digits = std::min(z.digits + reach,
                              clamped(all_digits + Exponent(n - 1) * (reach + carry) + carry));
      }
    }
    if (s.width) meet(*s.width + 1);
    meet(Exponent(z.digits) + 2);
    return z;
  }

  std::int64_t bits() const { return clamped(bits_); }

 private:
  static std::int64_t clamped(Exponent x) {
    return x > INT64_MAX / 4 ? INT64_MAX / 4 : static_cast<std::int64_t>(x);
  }
  Extent nodes(const Sum& s, const Extent& t, const std::optional<LateFrac>& late, bool lone) {
    Sum plain = s;
    plain.node_round.reset();
    const Extent out = extent(s.node_round->fmt);
    sum(plain, both(t, out), 1, both(t, out), reach_of(*s.node_round), late);
    const Extent z = both(t, out);
    return lone ? both(z, sum(plain, t, 1, {}, 0, late)) : z;
  }
  // Terms below 2^(e + above) in units of the last digit at e - F.
  static void window(const Align& a, const Extent& t, std::int64_t carry,
                     const std::optional<LateFrac>& late, Extent& z) {
    const Exponent F = late ? std::max(late->F_sum, late->F_C) : a.frac_bits;
    const Exponent coarsest = late ? std::min(late->F_sum, late->F_C) : a.frac_bits;
    if (a.e_floor)
      z.e_min = std::max<Exponent>(t.e_min, *a.e_floor),
      z.e_max = std::max<Exponent>(t.e_max, *a.e_floor);
    z.lsb = (a.e_floor ? Exponent(*a.e_floor) : z.e_min) - F;  // a sum of zeros ends at the floor's
    z.top = std::max(t.top, z.e_max - coarsest) + carry;  // a small term may round up to one unit
    z.above = std::max(t.above, -coarsest) + carry;
    z.digits = clamped(std::max<Exponent>(F + z.above, 1));
  }
  Exponent bits_ = 0, here_ = 0;
};

// Whether the last group has one lane, and others more.
bool has_lone_lane(const GroupShape& shape, std::int64_t lanes) {
  const auto count = static_cast<std::int64_t>(shape.count),
             size = static_cast<std::int64_t>(shape.size);
  return shape.strided ? count < lanes && lanes < 2 * count : lanes % size == 1 && size > 1;
}

// Magnitudes of so many bits are rounded.
int code_digits(const Unit& u, std::int64_t magnitude_bits) {
  int digits = 64;
  const auto operand = [&](const Format& f) { digits = std::max(digits, digits_needed(f)); };
  operand(u.a.fmt), operand(u.b.fmt), operand(u.c.fmt);
  if (u.scale) operand(u.scale->fmt);
  each_rounding(u, [&](const char*, const Round& r) {
    digits = std::max(digits, digits_needed(r.fmt, r.rm));
    if (r.fmt.wraps()) digits = std::max(digits, static_cast<int>(magnitude_bits) + 5);
  });
  return digits;
}

}  // namespace

Capacity capacity(const Unit& u, std::int64_t k, bool supplied) {
  Bound bound;
  const std::int64_t lanes = u.lanes ? u.lanes : std::max<std::int64_t>(k, 1);
  Extent product = unrounded_products(u, supplied);
  bound.meet(product.digits);
  if (u.product.round) product = extent(u.product.round->fmt);
  if (u.scale && u.scale->apply == ScaleApply::term)
    product = times(times(product, extent(u.scale->fmt)), extent(u.scale->fmt));
  const Extent c = both(extent(u.c), extent(u.out.fmt));

  const auto shape = group_shape(u.groups, static_cast<std::size_t>(lanes));
  const bool in_group = u.c_level == CLevel::group, in_block = u.c_level == CLevel::block;
  const auto when = [&](bool joins) { return joins ? std::optional(c) : std::nullopt; };
  Extent t = bound.sum(u.group_sum, product, static_cast<std::int64_t>(shape.size), when(in_group),
                       reach_of(u, CLevel::group), {}, has_lone_lane(shape, lanes));
  const std::int64_t group_bits = bound.stage();
  if (u.scale && u.scale->apply == ScaleApply::group) {
    t = scaled_groups(t, u.scale->fmt);
    bound.meet(t.digits);
  }
  const auto groups = static_cast<std::int64_t>(shape.count);
  if (groups > 1 || in_block)
    t = bound.sum(u.block_sum, t, groups, when(in_block), reach_of(u, CLevel::block));
  const std::int64_t block_bits = bound.stage();
  if (u.c_level == CLevel::late)
    bound.sum(u.c_sum, t, 1, c, reach_of(u, CLevel::late), u.late_frac);
  const std::int64_t late_bits = bound.stage();
  if (u.chain.compensation != Compensation::none) bound.sum({}, c, 1, c, reach_of(u.out));

  const std::optional<Round> promote =
      u.chain.promote ? std::optional(u.chain.promote->round) : std::nullopt;
  const Extent held = promote ? both(c, extent(promote->fmt)) : c;
  for (const auto& last : {promote, u.chain.c_round})
    if (last) bound.sum({}, held, 1, held, reach_of(*last));
  if (bound.bits() > max_register_bits)
    throw std::invalid_argument(fmt::format(
        "unit: its exact sums over k={} need {} bits, the limit is {}; align them (align=F:rtz), "
        "round their "
        "nodes, or take formats of fewer exponent bits",
        k, bound.bits() >= INT64_MAX / 4 ? "over 2^61" : fmt::format("{}", bound.bits()),
        max_register_bits));
  const int digits = code_digits(u, bound.bits());
  if (constexpr int widest = *(std::end(carrier_digits) - 1); digits > widest)
    throw std::invalid_argument(fmt::format(
        "unit: an overflow that keeps the low digits needs all {} of its exact sums over k={}, and "
        "the widest carrier has {}; take overflow=saturate, or operands of fewer exponent bits",
        digits, k, widest));
  return {bound.bits(), digits, group_bits, block_bits, late_bits};
}

}  // namespace widthwise
