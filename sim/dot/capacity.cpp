#include "capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise {
namespace {

// Exponents of 62-bit fields and their sums over several stages pass 64 bits: bounds are computed
// in 128.
__extension__ typedef __int128 Exponent;

// Bounds on the finite terms at one point of the unit: multiples of 2^lsb, below 2^top, of at most
// `digits` significant digits, and below 2^(e + above) for the exponent e they align with.
struct Extent {
  Exponent lsb, top;
  std::int64_t digits, above;
};

Extent extent(const Format& f) {
  const Exponent emin = f.emin(), emax = Exponent(f.top_field()) - f.bias;
  return {emin - f.frac_bits, emax + 1, f.precision(), 1};
}

Extent both(const Extent& x, const Extent& y) {
  return {std::min(x.lsb, y.lsb), std::max(x.top, y.top), std::max(x.digits, y.digits), std::max(x.above, y.above)};
}

Extent times(const Extent& x, const Extent& y) {
  return {x.lsb + y.lsb, x.top + y.top, x.digits + y.digits, x.above + y.above};
}

// The largest magnitude a unit meets, stage by stage.
class Bound {
 public:
  void meet(Exponent bits) { bits_ = std::max(bits_, bits); }

  // A sum of n terms and perhaps one more, C; what comes out of it.
  Extent sum(const Sum& s, const Extent& terms, std::int64_t n, const std::optional<Extent>& c,
             std::int64_t reach, const std::optional<LateFrac>& late = {}) {
    const Extent t = c ? both(terms, *c) : terms;
    const Exponent all_digits = Exponent(n) * terms.digits + (c ? c->digits : 0);
    if (c) ++n;
    const std::int64_t carry = std::bit_width(static_cast<std::uint64_t>(n));
    meet(t.digits);
    if (s.node_round) return nodes(s, t, late);
    Extent z{t.lsb, t.top + carry, 0, t.above + carry};
    switch (s.align.reference) {
      case Reference::max_exponent: {
        const std::int64_t F = late ? std::max(late->F_sum, late->F_C) : s.align.frac_bits;
        z.digits = F + t.above + carry;
        if (s.align.e_floor) z.top = std::max(z.top, Exponent(*s.align.e_floor) + t.above + carry);
        z.lsb = std::min(t.lsb, z.top - z.digits) - F;
        break;
      }
      case Reference::fixed_lsb:
        z.digits = std::max<std::int64_t>(1, clamped(z.top + s.align.frac_bits));
        z.lsb = -Exponent(s.align.frac_bits);
        break;
      case Reference::exact: {
        z.digits = clamped(z.top - z.lsb);
        const bool closes = reach && !s.width;
        if (closes)  // every term and every closed gap, if no two overlap
          z.digits = std::min(z.digits + reach, clamped(all_digits + Exponent(n - 1) * (reach + carry) + carry));
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
  Extent nodes(const Sum& s, const Extent& t, const std::optional<LateFrac>& late) {
    Sum plain = s;
    plain.node_round.reset();
    const Extent out = extent(s.node_round->fmt);
    sum(plain, both(t, out), 1, both(t, out), reach_of(*s.node_round), late);
    return both(t, out);
  }
  Exponent bits_ = 64;
};

int code_digits(const Unit& u) {
  int digits = 64;
  const auto operand = [&](const Format& f) { digits = std::max(digits, digits_needed(f)); };
  const auto round = [&](const std::optional<Round>& r) {
    if (r) digits = std::max(digits, digits_needed(r->fmt, r->rm));
  };
  operand(u.a.fmt), operand(u.b.fmt), operand(u.c.fmt);
  if (u.scale) operand(u.scale->fmt);
  round(u.product.round), round(u.group_sum.node_round), round(u.block_sum.node_round), round(u.c_sum.node_round);
  round(u.out), round(u.chain.c_round), round(u.chain.final);
  if (u.chain.promote) round(u.chain.promote->round);
  return digits;
}

}  // namespace

Capacity capacity(const Unit& u, std::int64_t k) {
  Bound bound;
  const std::int64_t lanes = u.lanes ? u.lanes : std::max<std::int64_t>(k, 1);
  const std::int64_t reach = reach_of(u.out);
  Extent product = times(extent(u.a.fmt), extent(u.b.fmt));
  bound.meet(product.digits);
  if (u.product.round) product = extent(u.product.round->fmt);
  if (u.scale && u.scale->apply == ScaleApply::term)
    product = times(times(product, extent(u.scale->fmt)), extent(u.scale->fmt));
  const Extent c = both(extent(u.c.fmt), extent(u.out.fmt));

  const auto shape = group_shape(u.groups, static_cast<std::size_t>(lanes));
  const bool in_group = u.c_level == CLevel::group, in_block = u.c_level == CLevel::block;
  const auto when = [&](bool joins) { return joins ? std::optional(c) : std::nullopt; };
  Extent t = bound.sum(u.group_sum, product, static_cast<std::int64_t>(shape.size), when(in_group),
                       in_group ? reach : 0);
  if (u.scale && u.scale->apply == ScaleApply::group) {
    const Extent scales = times(extent(u.scale->fmt), extent(u.scale->fmt));
    const std::int64_t above = static_cast<std::int64_t>(t.top) + 2;  // e counts the scales alone
    t = times(t, scales);
    t.above = std::max<std::int64_t>(above, 2);
    bound.meet(t.digits);
  }
  const auto groups = static_cast<std::int64_t>(shape.count);
  if (groups > 1 || in_block)
    t = bound.sum(u.block_sum, t, groups, when(in_block), in_block ? reach : 0);
  if (u.c_level == CLevel::late) bound.sum(u.c_sum, t, 1, c, reach, u.late_frac);

  for (const auto& last : {u.chain.promote ? std::optional<Round>(u.chain.promote->round) : std::nullopt, u.chain.c_round})
    if (last) bound.sum({}, c, 1, extent(last->fmt), reach_of(*last));
  if (bound.bits() > max_register_bits)
    throw std::invalid_argument(fmt::format(
        "unit: its exact sums over k={} need {} bits, the limit is {}; align them (align=F:rtz), round their "
        "nodes, or take formats of fewer exponent bits",
        k, bound.bits() >= INT64_MAX / 4 ? "over 2^61" : fmt::format("{}", bound.bits()), max_register_bits));
  return {bound.bits(), code_digits(u)};
}

}  // namespace widthwise
