#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/dot/capacity.hpp"
#include "sim/engine/fields.hpp"
#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::exact {
namespace {

constexpr std::int64_t most_exponent = 1 << 20;  // far from where sums of exponents overflow
constexpr std::int64_t most_bits = 1 << 17;      // of a sum, in 64 KiB
constexpr std::int64_t most_width = 120;         // of a register that sums may pass
constexpr std::int64_t most_reach = 96;          // digits of a sum that `out` may look at
constexpr std::int64_t most_k = 1 << 30;         // terms before a word of a sum fills up

// Why the unit has another shape than one sum of all products and C; empty if it has that one.
std::string unlike_one_sum(const Unit& u) {
  if (u.lanes != 0) return "sums are rounded after every block of products";
  if (u.groups) return "groups of products";
  if (u.c_level != CLevel::group) return "C is not one of the sum's addends";
  if (u.product.round || u.product.overflow_to_inf_at) return "products are rounded or overflow";
  if (u.scale && u.scale->apply != ScaleApply::term) return "scales of groups";
  if (u.chain.c_at != CAt::first || u.chain.promote) return "C is added last, or promotion";
  const Sum& s = u.group_sum;
  if (s.order != Order::fused || s.node_round) return "its sums are no fused ones";
  if (s.align.reference == Reference::max_exponent)
    return "its terms are aligned to the largest exponent";
  if (s.align.reference == Reference::exact && s.width)
    return "a register whose last digit depends on the terms";
  return {};
}

constexpr Span span(const Operand& x) {
  const Format& f = x.fmt;
  if (!x.keep_frac) return {f.least_digit(), f.emax() + 1, f.precision()};
  return {f.emin() - *x.keep_frac, f.emax() + 2, *x.keep_frac + 2};  // rounding may carry
}
constexpr Span scaled(const Operand& x, const std::optional<Scale>& scale) {
  return scale ? span(x) * span(Operand{.fmt = scale->fmt}) : span(x);
}

bool moderate(const Unit& u) {
  const auto inside = [](const Format& f) {
    return std::max(-f.emin() + f.frac_bits, f.emax()) < most_exponent;
  };
  return inside(u.a.fmt) && inside(u.b.fmt) && inside(u.c.fmt) &&
         (!u.scale || inside(u.scale->fmt)) &&
         std::abs(u.group_sum.align.frac_bits) < most_exponent;
}

// Whether 64 bits hold the codes.
bool short_codes(const Unit& u) {
  const auto is_short = [](const Format& f) { return digits_needed(f) <= 64; };
  return is_short(u.a.fmt) && is_short(u.b.fmt) && is_short(u.c.fmt) && is_short(u.out.fmt) &&
         (!u.scale || is_short(u.scale->fmt)) && (!u.chain.final || is_short(u.chain.final->fmt));
}
bool is_short(const Round& r) { return reach_of(r) <= 64 && digits_needed(r.fmt, r.rm) <= 64; }

constexpr Terms terms(RoundingMode mode) {
  switch (mode) {
    case RoundingMode::rdn:
    case RoundingMode::rup: return Terms::in_sum;
    case RoundingMode::rne: return Terms::nearest;
    case RoundingMode::rtz:
    case RoundingMode::raz: return Terms::magnitude;
    default: return Terms::stepwise;
  }
}

constexpr Register register_of(const Sum& s, std::int64_t bits, bool flags) {
  if (!s.width || bits < *s.width) return Register::open;
  if (s.overflow == RegisterOverflow::saturate) return Register::saturates;
  return flags && s.overflow == RegisterOverflow::flag ? Register::watched : Register::wraps;
}

// Whether doubles hold all digits of operands and products, far from their own ends, and where they
// have to round or clamp also the register's.
constexpr std::int64_t least = -1000, most = 800;
constexpr bool held(const Span& x) { return x.digits <= 53 && x.last >= least && x.top <= most; }
bool in_doubles(const Plan& p, const Unit& u) {
  if (!held(span(u.a)) || !held(span(u.b)) || !held(p.a) || !held(p.b) || !held(p.a * p.b))
    return false;
  if (u.scale && !held(span(Operand{.fmt = u.scale->fmt}))) return false;
  if (p.terms == Terms::stepwise || p.reg == Register::watched) return false;
  if (p.terms == Terms::whole && p.reg != Register::saturates) return true;
  return least <= p.last && p.last <= most &&
         (p.reg != Register::saturates || *u.group_sum.width <= 51);
}

// One sum: no other is met, nor a chain of them.
Unit as_computed(const Unit& u) {
  using fields::of;
  Unit z = fields::core(u);
  z.product.exponent = of(u.product.exponent);
  z.block_sum = u.block_sum, z.c_sum = u.c_sum, z.late_frac = u.late_frac;
  z.scale = of(u.scale);
  z.chain = {.lane_permutation = u.chain.lane_permutation,
             .compensation = of(u.chain.compensation),
             .final = of(u.chain.final)};
  return z;
}

}  // namespace

Answer plan(const Unit& u, std::size_t k, bool flags) {
  const auto refuse = [](const std::string& why) { return Answer{std::nullopt, why}; };
  if (const std::string why = unlike_one_sum(u); !why.empty()) return refuse(why);
  if (u != as_computed(u)) return refuse(fields::unknown);
  if (has_quire(u)) return refuse("a quire, which knows NaR");
  if (k > most_k) return refuse("more than 2^30 products a sum");
  if (!moderate(u)) return refuse("exponents past 2^20");

  const Sum& s = u.group_sum;
  Plan p{};
  p.a = scaled(u.a, u.scale), p.b = scaled(u.b, u.scale);
  const Span products = p.a * p.b, c = span(u.c);
  const bool fixed = s.align.reference == Reference::fixed_lsb;
  p.last = fixed ? -s.align.frac_bits : std::min(products.last, c.last);
  p.terms = products.last < p.last ? terms(s.align.rm.mode) : Terms::whole;
  const std::int64_t of_term =  // rounding may carry
      std::max({products.top, c.top, p.last}) + 1 - p.last;
  p.bits = of_term + std::bit_width(k + 1);
  p.reg = register_of(s, p.bits, flags);
  p.doubles = in_doubles(p, u);
  p.c_doubles = held(c) && c.last >= p.last;

  if (p.reg == Register::open && p.bits > most_bits)
    return refuse(fmt::format("sums of {} bits; the limit is {}", p.bits, most_bits));
  if (p.reg != Register::open && *s.width > most_width)
    return refuse(
        fmt::format("sums pass a register of {} bits, more than {}", *s.width, most_width));
  if (p.reg == Register::watched && of_term > 124)
    return refuse(fmt::format("terms of {} bits where overflow raises a flag", of_term));
  const bool stepwise = p.reg == Register::saturates || p.reg == Register::watched;
  if (stepwise && u.chain.lane_permutation)
    return refuse("permuted lanes, whose order matters where sums saturate or raise a flag");
  if (reach_of(u.out) > most_reach)
    return refuse(fmt::format("out looks at {} digits", reach_of(u.out)));
  if (p.a.digits > 64 || p.b.digits > 64 || !short_codes(u))
    return refuse("codes or significands of more than 64 bits");
  p.long_rounding = !is_short(u.out) || (u.chain.final && !is_short(*u.chain.final));
  capacity(u, static_cast<std::int64_t>(k));  // throws past the limits that all engines have
  return {p, fmt::format("exact products of {} digits, {} of them a sum, rounded once",
                         products.digits, k)};
}

}  // namespace widthwise::exact
