#include "widthwise/sim/widths.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "bound.hpp"
#include "roundings.hpp"

namespace widthwise {
namespace {

constexpr Bound one{1, 0, true}, below_two{2, 0, false};
constexpr Bound power_of_two(std::int64_t exp) { return {1, exp, true}; }
constexpr Bound count(std::int64_t n) { return {static_cast<std::uint64_t>(n), 0, true}; }

// Elements count as anything below 2, so that a sum's width follows from its lanes and F alone;
// one digit of precision is 1 exactly.
constexpr Bound significand_bound(int precision) { return precision == 1 ? one : below_two; }

// 2 - 2^-fraction: the largest significand there is.
constexpr Bound largest_significand(int frac_bits) {
  if (frac_bits > 62) return below_two;
  return {(std::uint64_t{2} << frac_bits) - 1, -frac_bits, true};
}

// The largest finite number's: where special codes stand above it, a code or two less.
constexpr Bound largest_finite_significand(const Format& f) {
  if (f.frac_bits > 62 || f.nan == NanCodes::ieee) return largest_significand(f.frac_bits);
  const int specials = (f.nan == NanCodes::all_ones) + (f.inf == InfCodes::top);
  const std::uint64_t hidden = std::uint64_t{1} << f.frac_bits;
  const std::uint64_t fraction = (hidden - 1 - static_cast<std::uint64_t>(specials)) & (hidden - 1);
  return {hidden | fraction, -f.frac_bits, true};
}

// Whether rounding can carry a magnitude to the next power of two.
constexpr bool carries(const Rounding& rm) {
  return rm.mode != RoundingMode::rtz && rm.mode != RoundingMode::odd;
}

constexpr ExponentRange join(const ExponentRange& a, const ExponentRange& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

// What stands before a sum.
struct Addend {
  ExponentRange exponent;  // as the aligner sees it
  std::int64_t lsb;        // exponent of its least possible bit
  int fraction;            // bits below its own exponent; many where that is not known
  Bound relative;          // magnitude / 2^exponent
  Bound absolute;          // magnitude
};
constexpr int many = INT32_MAX;

Addend join(const Addend& a, const Addend& b) {
  return {join(a.exponent, b.exponent), std::min(a.lsb, b.lsb), std::max(a.fraction, b.fraction),
          std::max(a.relative, b.relative), std::max(a.absolute, b.absolute)};
}

// --- Operands, registers, products ---------------------------------------------------------------

// All stand at one exponent. In two's complement the number furthest from zero is a power of two.
Addend fixed_number(const Format& f) {
  const std::int64_t last = f.least_digit();
  const Bound ones = f.frac_bits > 62 ? power_of_two(f.frac_bits)
                                      : Bound{(std::uint64_t{1} << f.frac_bits) - 1, 0, true};
  const Bound integer = f.is_signed() ? power_of_two(f.frac_bits) : ones;
  return {exponents_of(f), last, f.frac_bits, integer.times_power(-f.frac_bits),
          integer.times_power(last)};
}

// A posit's largest number is a power of two, a takum's lies below the next one.
Addend tapered_number(const Format& f) {
  const Bound largest = f.is_posit() ? one : below_two;
  return {exponents_of(f), f.least_digit(), f.digits() - 1, significand_bound(f.digits()),
          largest.times_power(f.emax())};
}

// A number of a format with `kept` fraction bits; a carry of the cut may reach the next power of 2.
Addend number(const Format& f, int kept, bool carried) {
  if (f.is_fixed()) return fixed_number(f);
  if (f.is_tapered()) return tapered_number(f);
  ExponentRange exponent = exponents_of(f);
  exponent.max += carried;
  const Bound largest =
      carried ? power_of_two(exponent.max) : largest_finite_significand(f).times_power(f.emax());
  return {exponent, exponent.min - kept, kept, significand_bound(kept + 1), largest};
}

Addend operand(const Operand& x) {
  const int kept = x.keep_frac.value_or(x.fmt.frac_bits);
  return number(x.fmt, kept, kept < x.fmt.frac_bits && carries(x.keep_rm));
}

// Digits.
int significand_of(const Operand& x) {
  return x.fmt.is_float() ? x.keep_frac.value_or(x.fmt.frac_bits) + 1 : x.fmt.digits();
}

Addend rounded(const Round& r) {
  return number(r.fmt, r.keep_frac.value_or(r.fmt.frac_bits), false);
}

Addend multiplied(const Addend& a, const Addend& b) {
  return {{a.exponent.min + b.exponent.min, a.exponent.max + b.exponent.max},
          a.lsb + b.lsb,
          a.fraction + b.fraction,
          a.relative * b.relative,
          a.absolute * b.absolute};
}

// The aligner of a normalised product sees the exponent of its leading bit.
Addend normalised(Addend product, bool reaches_two) {
  product.exponent = {product.lsb, product.exponent.max + reaches_two};
  product.fraction += reaches_two;
  product.relative = product.fraction == 0 ? one : below_two;
  return product;
}

Addend squared_scale(const Format& f) {
  Addend s = number(f, f.frac_bits, false);
  if (f.is_float()) s.relative = largest_significand(f.frac_bits);
  return multiplied(s, s);
}

Addend product_of(const Unit& u) {
  Addend p = multiplied(operand(u.a), operand(u.b));
  if (u.product.round)
    p = rounded(*u.product.round);
  else if (u.product.exponent == ProductExponent::normalised)
    p = normalised(p, p.fraction > 0);
  if (u.scale && u.scale->apply == ScaleApply::term) p = multiplied(p, squared_scale(u.scale->fmt));
  return p;
}

// C's port holds C in the first block and the running sum in every other.
Addend accumulated(const Unit& u) {
  const bool c_starts = u.chain.c_at == CAt::first && !u.chain.promote;
  if (!c_starts) return rounded(u.out);
  return u.lanes == 0 ? operand(u.c) : join(operand(u.c), rounded(u.out));
}

// --- Sums ----------------------------------------------------------------------------------------

struct Addends {
  Addend each;
  std::int64_t number;
  bool is_c = false;
};

// Where a sum's terms are cut.
struct Grid {
  Reference reference;
  std::int64_t fraction;  // bits below the point: 2^E for max_exponent, else 1
  Rounding rm;
  std::optional<LateFrac> late;

  // A term's magnitude once it is cut. A tail may become one unit under any mode but rtz; nearest
  // modes and those away from zero may also reach the bound. (rdn reaches it below zero only, where
  // two's complement ends one further.)
  Bound cut(const Addends& t) const {
    if (reference == Reference::exact) return t.each.absolute;
    const bool fixed = reference == Reference::fixed_lsb;
    const Bound& b = fixed ? t.each.absolute : t.each.relative;
    const std::int64_t own = late ? (t.is_c ? late->F_C : late->F_sum) : fraction;
    const bool dropped = fixed ? t.each.lsb < -own : t.each.fraction > own;
    if (!dropped || rm.mode == RoundingMode::rtz) return b;
    if (rm.mode == RoundingMode::rdn || rm.mode == RoundingMode::odd)
      return std::max(b, power_of_two(-own));
    return b.raised_to(-own);
  }
};

Grid grid(const Align& align, const std::vector<Addends>& terms,
          const std::optional<LateFrac>& late) {
  if (align.reference == Reference::max_exponent && late)
    return {align.reference, std::max(late->F_sum, late->F_C), align.rm, late};
  if (align.reference != Reference::exact) return {align.reference, align.frac_bits, align.rm, {}};
  std::int64_t least = INT64_MAX;
  for (const Addends& t : terms) least = std::min(least, t.each.lsb);
  return {align.reference, saturated(-int128{least}), align.rm, {}};
}

struct Level {
  SumWidths widths;
  Addend result;
};

// What a fused sum hands on: its own E, and a value that nothing normalised.
Addend handed_on(const Sum& sum, const std::vector<Addends>& terms, const SumWidths& w,
                 const Bound& total) {
  Addend t{w.exponent, saturated(-int128{w.fraction}), many, total, total};
  if (sum.align.reference == Reference::max_exponent) {
    if (sum.align.e_floor) t.exponent.min = std::max(t.exponent.min, *sum.align.e_floor);
    t.lsb = saturated(int128{t.exponent.min} - w.fraction);
    t.absolute = total.times_power(t.exponent.max);
  } else if (sum.align.reference == Reference::fixed_lsb) {
    if (w.can_overflow()) t.absolute = power_of_two(saturated(int128{w.width} - 1 - w.fraction));
    t.relative = t.absolute.times_power(saturated(-int128{t.exponent.min}));
  } else {
    t.relative = terms.front().each.relative * count(terms.front().number);
    for (const Addends& x : std::span(terms).subspan(1))
      t.relative = t.relative + x.each.relative * count(x.number);
  }
  return t;
}

// The sum of all terms at once.
Level fused(const Sum& sum, const std::vector<Addends>& terms,
            const std::optional<LateFrac>& late) {
  const Grid g = grid(sum.align, terms, late);
  SumWidths w{.terms = 0,
              .fraction = g.fraction,
              .magnitude = 0,
              .needed = 0,
              .width = 0,
              .exponent = terms.front().each.exponent};
  std::optional<Bound> total;
  for (const Addends& t : terms) {
    const Bound one_term = g.cut(t), all = one_term * count(t.number);
    w.terms += t.number;
    w.magnitude = std::max(w.magnitude, one_term.bits(-g.fraction));
    w.exponent = join(w.exponent, t.each.exponent);
    total = total ? *total + all : all;
  }
  if (sum.align.e_floor && sum.align.reference == Reference::max_exponent)
    w.exponent = join(w.exponent, {*sum.align.e_floor, *sum.align.e_floor});
  w.needed = saturated(int128{total->bits(-g.fraction)} + 1);
  w.width = sum.width.value_or(w.needed);
  return {w, handed_on(sum, terms, w, *total)};
}

Level level(const Sum& sum, const std::vector<Addends>& terms,
            const std::optional<LateFrac>& late = {}) {
  std::int64_t number = 0;
  for (const Addends& t : terms) number += t.number;
  if (sum.order == Order::fused || !sum.node_round || number == 1) return fused(sum, terms, late);
  // Two-input nodes: the widest adds two of the largest terms or nodes.
  const Addend node = rounded(*sum.node_round);
  if (number == 2) return {fused(sum, terms, late).widths, node};
  Addend largest = node;
  for (const Addends& t : terms) largest = join(largest, t.each);
  Level widest = fused(sum, {{largest, 2}}, late);
  widest.widths.terms = number;
  return {widest.widths, node};
}

// The exact sum of two registers, which one rounding follows.
SumWidths added(const Addend& x, const Addend& y) { return fused({}, {{x, 1}, {y, 1}}, {}).widths; }

// A group's exact sum times its scales is aligned at the scales' exponents alone.
Addend scaled_group(const Addend& group, const Format& scale) {
  const Addend s = squared_scale(scale);
  return {s.exponent, saturated(int128{group.lsb} + s.lsb), many, group.absolute * s.relative,
          group.absolute * s.absolute};
}

struct Partition {
  std::int64_t groups, largest;  // lanes of the largest
};
Partition partition(const Unit& u, std::int64_t products) {
  if (!u.groups) return {1, products};
  const auto parts = [&](std::int64_t size) { return (products + size - 1) / size; };
  if (u.groups->consecutive)
    return {parts(*u.groups->consecutive), std::min(*u.groups->consecutive, products)};
  return {std::min(*u.groups->strided, products), parts(*u.groups->strided)};
}

}  // namespace

int ExponentRange::width() const {
  const auto magnitude = [](std::int64_t x) {
    return 64 - std::countl_zero(static_cast<std::uint64_t>(x < 0 ? ~x : x));
  };
  return std::max(magnitude(min), magnitude(max)) + 1;
}

ExponentRange exponents_of(const Format& f) {
  if (f.is_fixed()) return {f.emin(), f.emin()};
  if (f.is_posit()) return {f.least_digit(), f.emax()};
  if (f.is_tapered()) return {-f.emax() - 1, f.emax()};  // a takum's
  if (f.is_table()) return {f.least_digit(), f.emax()};
  return {f.emin(), f.emax()};
}

Widths derive_widths(const Unit& u, std::int64_t k) {
  const Addend a = operand(u.a), b = operand(u.b), product = multiplied(a, b), c = accumulated(u);
  constexpr std::int64_t endless = std::int64_t{1} << 62;  // leaves room for the counts below
  const std::int64_t products = u.lanes != 0 ? u.lanes : std::clamp<std::int64_t>(k, 1, endless);
  const Partition parts = partition(u, products);

  std::vector<Addends> terms{{product_of(u), parts.largest}};
  if (u.c_level == CLevel::group) terms.push_back({c, 1, true});
  const Level groups = level(u.group_sum, terms);
  Addend sum = groups.result;
  if (u.scale && u.scale->apply == ScaleApply::group) sum = scaled_group(sum, u.scale->fmt);

  const int digits_a = significand_of(u.a), digits_b = significand_of(u.b);
  Widths w{.significand_a = digits_a,
           .significand_b = digits_b,
           .product_significand = digits_a + digits_b,
           .product_fraction = product.fraction,
           .product_exponent = product.exponent,
           .product_lsb = product.lsb,
           .products = products,
           .group_sum = groups.widths,
           .block_sum = {},
           .c_sum = {},
           .compensation_sum = {},
           .promote_sum = {},
           .last_sum = {},
           .exponent = groups.widths.exponent};
  if (parts.groups > 1 || u.c_level == CLevel::block) {
    terms = {{sum, parts.groups}};
    if (u.c_level == CLevel::block) terms.push_back({c, 1, true});
    const Level block = level(u.block_sum, terms);
    w.block_sum = block.widths;
    w.exponent = join(w.exponent, block.widths.exponent);
    sum = block.result;
  }
  if (u.c_level == CLevel::late) {
    const Level joined = level(u.c_sum, {{sum, 1}, {c, 1, true}}, u.late_frac);
    w.c_sum = joined.widths;
    w.exponent = join(w.exponent, joined.widths.exponent);
  }
  const Addend running = rounded(u.out), first_c = operand(u.c);
  if (u.chain.compensation != Compensation::none)
    w.compensation_sum = added(join(c, running), running);
  if (const auto& p = u.chain.promote)
    w.promote_sum = added(join(first_c, rounded(p->round)), running);
  if (u.chain.c_at == CAt::last)
    w.last_sum = added(u.chain.promote ? rounded(u.chain.promote->round) : running, first_c);
  return w;
}

template <class Question>
static const Format* first_format(const Unit& u, const Question& holds) {
  const Format* found = nullptr;
  const auto look = [&](const Format& f) {
    if (!found && holds(f)) found = &f;
  };
  look(u.a.fmt), look(u.b.fmt), look(u.c.fmt);
  if (u.scale) look(u.scale->fmt);
  each_rounding(u, [&](const char*, const Round& r) { look(r.fmt); });
  return found;
}

const Format* other_than_float(const Unit& u) {
  return first_format(u, [](const Format& f) { return !f.is_float(); });
}
bool has_quire(const Unit& u) {
  return has_nar(u.group_sum.overflow) || has_nar(u.block_sum.overflow) ||
         has_nar(u.c_sum.overflow);
}
const Format* table_in(const Unit& u) {
  return first_format(u, [](const Format& f) { return f.is_table(); });
}

}  // namespace widthwise
