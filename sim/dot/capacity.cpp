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

// A unit's stages, one after the other.
class Stages {
 public:
  Stages(const Unit& u, std::int64_t k, bool supplied)
      : u_(u),
        lanes_(u.lanes ? u.lanes : std::max<std::int64_t>(k, 1)),
        supplied_(supplied),
        shape_(group_shape(u.groups, static_cast<std::size_t>(lanes_))),
        c_(both(extent(u.c), extent(u.out.fmt))) {}

  // Digits of codes apart.
  Capacity need() {
    Capacity z{};
    Extent t = sum_group(term());
    z.group_bits = bound_.stage();
    t = sum_block(scaled_group(t));
    z.block_bits = bound_.stage();
    join_late(t);
    z.late_bits = bound_.stage();
    add_registers();
    z.magnitude_bits = bound_.bits();
    return z;
  }

 private:
  bool scales(ScaleApply what) const { return u_.scale && u_.scale->apply == what; }
  std::optional<Extent> c_at(CLevel level) const {
    return u_.c_level == level ? std::optional(c_) : std::nullopt;
  }

  Extent term() {
    Extent x = unrounded_products(u_, supplied_);
    bound_.meet(x.digits);
    if (u_.product.round) x = extent(u_.product.round->fmt);
    if (!scales(ScaleApply::term)) return x;
    const Extent scale = extent(u_.scale->fmt);
    return times(times(x, scale), scale);
  }
  Extent sum_group(const Extent& terms) {
    return bound_.sum(u_.group_sum, terms, static_cast<std::int64_t>(shape_.size),
                      c_at(CLevel::group), reach_of(u_, CLevel::group), {},
                      has_lone_lane(shape_, lanes_));
  }
  Extent scaled_group(const Extent& sum) {
    if (!scales(ScaleApply::group)) return sum;
    const Extent x = scaled_groups(sum, u_.scale->fmt);
    bound_.meet(x.digits);
    return x;
  }
  Extent sum_block(const Extent& groups) {
    const auto n = static_cast<std::int64_t>(shape_.count);
    if (n == 1 && u_.c_level != CLevel::block) return groups;
    return bound_.sum(u_.block_sum, groups, n, c_at(CLevel::block), reach_of(u_, CLevel::block));
  }
  void join_late(const Extent& block) {
    if (u_.c_level == CLevel::late)
      bound_.sum(u_.c_sum, block, 1, c_, reach_of(u_, CLevel::late), u_.late_frac);
  }
  // Compensated sums, promotion, and a C that comes last.
  void add_registers() {
    const Chain& chain = u_.chain;
    if (chain.compensation != Compensation::none) bound_.sum({}, c_, 1, c_, reach_of(u_.out));
    const std::optional<Round> promote =
        chain.promote ? std::optional(chain.promote->round) : std::nullopt;
    const Extent held = promote ? both(c_, extent(promote->fmt)) : c_;
    for (const auto& last : {promote, chain.c_round})
      if (last) bound_.sum({}, held, 1, held, reach_of(*last));
  }

  const Unit& u_;
  std::int64_t lanes_;
  bool supplied_;
  GroupShape shape_;
  Extent c_;
  Bound bound_;
};

void require_register(std::int64_t bits, std::int64_t k) {
  if (bits <= max_register_bits) return;
  throw std::invalid_argument(fmt::format(
      "unit: its exact sums over k={} need {} bits, the limit is {}; align them (align=F:rtz), "
      "round their nodes, or take formats of fewer exponent bits",
      k, bits >= INT64_MAX / 4 ? "over 2^61" : fmt::format("{}", bits), max_register_bits));
}
void require_carrier(int digits, std::int64_t k) {
  constexpr int widest = *(std::end(carrier_digits) - 1);
  if (digits <= widest) return;
  throw std::invalid_argument(fmt::format(
      "unit: an overflow that keeps the low digits needs all {} of its exact sums over k={}, and "
      "the widest carrier has {}; take overflow=saturate, or operands of fewer exponent bits",
      digits, k, widest));
}

}  // namespace

Capacity capacity(const Unit& u, std::int64_t k, bool supplied) {
  Capacity z = Stages(u, k, supplied).need();
  require_register(z.magnitude_bits, k);
  z.code_digits = code_digits(u, z.magnitude_bits);
  require_carrier(z.code_digits, k);
  return z;
}

}  // namespace widthwise
