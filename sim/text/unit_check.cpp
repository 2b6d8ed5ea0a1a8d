#include <fmt/core.h>

#include <numeric>

#include "reading.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise {
namespace {

constexpr std::int64_t most = max_exponent_magnitude;

// Gathers the first thing that is wrong; what follows it is not looked at.
class Rules {
 public:
  std::optional<Fault> broken;

  template <class... Args>
  void need(bool ok, std::string_view field, fmt::format_string<Args...> text, Args&&... args) {
    if (ok || broken) return;
    broken = Fault{std::string(field), said(fmt::format(text, std::forward<Args>(args)...))};
  }

  void range(const std::string& field, std::int64_t value, std::int64_t from, std::int64_t to) {
    need(from <= value && value <= to, field, "{} is not in {} to {}", value, from, to);
  }
  void range(const std::string& field, const std::optional<std::int64_t>& value, std::int64_t from,
             std::int64_t to) {
    if (value) range(field, *value, from, to);
  }

  void format(const std::string& field, const Format& f) {
    const auto wrong = fault(f);
    need(!wrong, field, "{}: {}", to_string(f), wrong ? wrong->message : "");
  }

  void rounding(const std::string& field, const Rounding& r) {
    const auto wrong = fault(r);
    need(!wrong, field, "{}", wrong ? wrong->message : "");
  }
  void deterministic(const std::string& field, const Rounding& r) {
    need(!r.stochastic(), field,
         "{}: stochastic rounding is refused here; take rtz, rdn, odd or a nearest mode",
         to_string(r));
  }

  void kept_bits(const std::string& field, const std::optional<int>& kept, const Format& f) {
    if (kept)
      need(0 <= *kept && *kept <= f.frac_bits, field, "{} of the {} fraction bits of {}", *kept,
           f.frac_bits, to_string(f));
  }
};

// What cuts or flushes the fields of a float.
void float_only(Rules& rules, const std::string& field, bool used, const Format& f) {
  rules.need(!used || f.is_float(), field, "{} is no float: leave it out", to_string(f));
}

void operand(Rules& rules, const std::string& at, const Operand& x) {
  rules.format(at + ".fmt", x.fmt);
  float_only(rules, at + ".keep_frac", x.keep_frac.has_value(), x.fmt);
  float_only(rules, at + ".subnormals", x.subnormals != Flush::keep, x.fmt);
  rules.kept_bits(at + ".keep_frac", x.keep_frac, x.fmt);
  rules.deterministic(at + ".keep_rm", x.keep_rm);
}

// The code goes from block to block: what reads it there has to find the NaN it was.
void nan_bits(Rules& rules, const std::string& field, std::uint64_t code, const Format& f) {
  rules.need(f.width() >= 64 || code >> f.width() == 0, field,
             "{:#x} does not fit the {} bits of {}", code, f.width(), to_string(f));
  if (rules.broken) return;
  rules.need(f.has_nan(), field, "{} has no NaN: leave it out", to_string(f));
  std::vector<std::uint64_t> limbs(static_cast<std::size_t>(f.width() + 63) / 64);
  limbs.front() = code;
  rules.need(value_of(f, limbs.data()).kind == Kind::nan, field,
             "{:#x} is no NaN of {}: take a code that is one, or leave it out", code, to_string(f));
}

void round(Rules& rules, const std::string& at, const Round& r) {
  rules.format(at + ".fmt", r.fmt);
  float_only(rules, at + ".keep_frac", r.keep_frac.has_value(), r.fmt);
  float_only(rules, at + ".post_norm_frac", r.post_norm_frac.has_value(), r.fmt);
  float_only(rules, at + ".subnormals", r.subnormals != Flush::keep, r.fmt);
  float_only(rules, at + ".overflow", r.overflow != Overflow::ieee, r.fmt);
  float_only(rules, at + ".nan_bits", r.nan_bits.has_value(), r.fmt);
  rules.rounding(at + ".rm", r.rm);
  rules.need(!r.fmt.is_table() || r.rm.mode != RoundingMode::odd, at + ".rm",
             "odd: codes of {} are in no order; take rno or another", to_string(r.fmt));
  rules.kept_bits(at + ".keep_frac", r.keep_frac, r.fmt);
  if (r.post_norm_frac)
    rules.range(at + ".post_norm_frac", std::int64_t{*r.post_norm_frac}, 0, max_register_bits);
  rules.deterministic(at + ".post_norm_rm", r.post_norm_rm);
  if (r.nan_bits && !rules.broken) nan_bits(rules, at + ".nan_bits", *r.nan_bits, r.fmt);
}

void round(Rules& rules, const std::string& at, const std::optional<Round>& r) {
  if (r) round(rules, at, *r);
}

void align(Rules& rules, const std::string& at, const Align& x) {
  const bool fixed = x.reference == Reference::fixed_lsb;
  const std::int64_t bits = fixed ? most : max_register_bits;
  rules.range(at + ".frac_bits", x.frac_bits, -bits, bits);
  rules.deterministic(at + ".rm", x.rm);
  rules.range(at + ".e_floor", x.e_floor, -most, most);
  rules.range(at + ".drop_c_below", x.drop_c_below, -most, most);
}

void sum(Rules& rules, const std::string& at, const Sum& x) {
  align(rules, at + ".align", x.align);
  rules.range(at + ".width", x.width, 1, max_register_bits);
  rules.need(!has_nar(x.overflow) || (x.width && x.align.reference == Reference::fixed_lsb),
             at + ".overflow", "{} is a quire's, a register of a width with a fixed last digit",
             word(x.overflow));
  round(rules, at + ".node_round", x.node_round);
}

void groups(Rules& rules, const Unit& u) {
  if (!u.groups) return;
  rules.need(u.groups->consecutive.has_value() != u.groups->strided.has_value(), "groups",
             "either consecutive, lanes a group, or strided, groups");
  rules.range("groups.consecutive", u.groups->consecutive, 1, max_lanes);
  rules.range("groups.strided", u.groups->strided, 1, max_lanes);
  rules.need(u.c_level != CLevel::group, "c_level",
             "group needs one group; with groups C enters at block or late");
}

// Whether every group of a block, wherever the block lies along k, has one scale. Permuted lanes
// and blocks of all of k can only be looked at when k is known.
bool one_scale_a_group(const Unit& u) {
  const std::int64_t lanes = u.lanes, block = u.scale->block;
  if (lanes == 0 || u.chain.lane_permutation || block % lanes == 0) return true;
  if (!u.groups) return false;
  if (u.groups->strided) return *u.groups->strided >= lanes;
  return std::gcd(block, lanes) % *u.groups->consecutive == 0;
}

// Scales add to the exponents of products: the limit holds for the sum.
void scaled_range(Rules& rules, const Unit& u) {
  const Format &a = u.a.fmt, &b = u.b.fmt, &s = u.scale->fmt;
  const std::int64_t low = a.emin() + b.emin() + 2 * s.emin();  // four times 2^61 at most
  const std::int64_t high = a.emax() + b.emax() + 2 * s.emax();
  rules.need(-most <= low && high <= most, "scale.fmt",
             "{} takes the exponents of products of {} and {} past +-(2^62 - 1)", to_string(s),
             to_string(a), to_string(b));
}

void scale(Rules& rules, const Unit& u) {
  if (!u.scale) return;
  rules.format("scale.fmt", u.scale->fmt);
  rules.range("scale.block", u.scale->block, 1, most);
  if (rules.broken) return;
  scaled_range(rules, u);
  if (u.scale->apply == ScaleApply::term) return;
  rules.need(u.c_level != CLevel::group, "scale.apply",
             "group would scale C too, which enters at c_level = group; take term, or C at block");
  rules.need(one_scale_a_group(u), "scale.block",
             "{} elements a scale: the groups of a block of {} lanes must lie inside one scale's "
             "elements",
             u.scale->block, u.lanes);
}

void chain(Rules& rules, const Unit& u) {
  const Chain& c = u.chain;
  if (c.lane_permutation) {
    rules.range("chain.lane_permutation.run", c.lane_permutation->run, 1, most);
    rules.range("chain.lane_permutation.ways", c.lane_permutation->ways, 1, most);
  }
  rules.need((c.c_at == CAt::last) == c.c_round.has_value(), "chain.c_round",
             "it goes with c_at = last: give both or neither");
  round(rules, "chain.c_round", c.c_round);
  round(rules, "chain.final", c.final);
  if (!c.promote) return;
  rules.range("chain.promote.interval", c.promote->interval, 1, most);
  rules.need(u.lanes != 0 && c.promote->interval % u.lanes == 0, "chain.promote.interval",
             "{} is not a multiple of lanes = {}", c.promote->interval, u.lanes);
  round(rules, "chain.promote.round", c.promote->round);
}

// A compensated chain adds pairs, exactly and then rounded by out: products and C have no other way
// to meet, and the error that is carried along has either sign.
void compensation(Rules& rules, const Unit& u) {
  if (u.chain.compensation == Compensation::none) return;
  const auto need = [&](bool ok, std::string_view field, std::string_view instead) {
    rules.need(ok, field, "compensated sums (chain.compensation) {}", instead);
  };
  need(u.lanes == 1, "lanes", "take one product at a time: lanes = 1");
  need(!u.groups, "groups", "have no groups: leave it out");
  need(u.group_sum == Sum{}, "group_sum", "add two numbers exactly and round by out: leave it out");
  need(u.block_sum == Sum{}, "block_sum", "add two numbers exactly and round by out: leave it out");
  need(u.c_sum == Sum{}, "c_sum", "add two numbers exactly and round by out: leave it out");
  need(u.c_level == CLevel::late, "c_level", "start with C in the running sum: late");
  need(!u.late_frac, "late_frac", "align nothing: leave it out");
  need(!u.scale || u.scale->apply == ScaleApply::term, "scale.apply", "scale each product: term");
  const bool either_sign =
      u.out.fmt.is_table() ? u.out.fmt.table->least().negative : u.out.fmt.is_signed();
  need(either_sign, "out.fmt", "have errors of either sign: take a signed format");
}

}  // namespace

std::optional<Fault> fault(const Unit& u) {
  Rules rules;
  operand(rules, "a", u.a);
  operand(rules, "b", u.b);
  operand(rules, "c", u.c);
  rules.range("lanes", u.lanes, 0, max_lanes);
  round(rules, "product.round", u.product.round);
  rules.range("product.overflow_to_inf_at", u.product.overflow_to_inf_at, -most, most);
  groups(rules, u);
  sum(rules, "group_sum", u.group_sum);
  sum(rules, "block_sum", u.block_sum);
  sum(rules, "c_sum", u.c_sum);
  if (u.late_frac) {
    rules.range("late_frac.F_sum", u.late_frac->F_sum, -max_register_bits, max_register_bits);
    rules.range("late_frac.F_C", u.late_frac->F_C, -max_register_bits, max_register_bits);
  }
  round(rules, "out", u.out);
  if (!rules.broken) scale(rules, u);
  if (!rules.broken) chain(rules, u);
  if (!rules.broken) compensation(rules, u);
  return rules.broken;
}

void check(const Unit& u) {
  if (const auto wrong = fault(u))
    throw std::invalid_argument(fmt::format("unit: {}: {}", wrong->field, wrong->message));
}

}  // namespace widthwise
