#pragma once
#include "widthwise/unit.hpp"

// Copies of a unit's parts, field by field. Each planner ends with the unit that its engine
// computes, made of them, and compares it with the one that was asked for: a field that came later,
// and that nobody taught the engine, differs from what it is where nobody sets it, and the engine
// refuses. Whoever adds a field to a part adds it here, and to each engine that is to know it.
// So with an enumerator that came later, behind the others, of a field that is copied by `up_to`.
namespace widthwise::fields {

template <class E>
constexpr E up_to(E last, E value) {
  return value <= last ? value : E{};
}
constexpr Flush of(Flush x) { return up_to(Flush::flush_signed_zero, x); }
constexpr Overflow of(Overflow x) { return up_to(Overflow::keep_sign, x); }
constexpr ZeroSign of(ZeroSign x) { return up_to(ZeroSign::always_plus, x); }
constexpr Tininess of(Tininess x) { return up_to(Tininess::as_delivered, x); }
constexpr ProductExponent of(ProductExponent x) { return up_to(ProductExponent::normalised, x); }
constexpr Reference of(Reference x) { return up_to(Reference::fixed_lsb, x); }
constexpr Order of(Order x) { return up_to(Order::pairwise_tree, x); }
constexpr RegisterOverflow of(RegisterOverflow x) { return up_to(RegisterOverflow::wrap_nar, x); }
constexpr ScaleApply of(ScaleApply x) { return up_to(ScaleApply::group, x); }
constexpr CAt of(CAt x) { return up_to(CAt::last, x); }
constexpr Compensation of(Compensation x) { return up_to(Compensation::neumaier, x); }
constexpr CLevel of(CLevel x) { return up_to(CLevel::late, x); }

constexpr Operand of(const Operand& x) {
  return {
      .fmt = x.fmt, .subnormals = of(x.subnormals), .keep_frac = x.keep_frac, .keep_rm = x.keep_rm};
}
constexpr Round of(const Round& r) {
  return {.fmt = r.fmt,
          .rm = r.rm,
          .keep_frac = r.keep_frac,
          .post_norm_frac = r.post_norm_frac,
          .post_norm_rm = r.post_norm_rm,
          .subnormals = of(r.subnormals),
          .overflow = of(r.overflow),
          .zero_sign = of(r.zero_sign),
          .nan_bits = r.nan_bits,
          .tininess = of(r.tininess)};
}
constexpr std::optional<Round> of(const std::optional<Round>& r) {
  return r ? std::optional(of(*r)) : std::nullopt;
}
constexpr Align of(const Align& a) {
  return {.reference = of(a.reference),
          .frac_bits = a.frac_bits,
          .rm = a.rm,
          .e_floor = a.e_floor,
          .drop_c_below = a.drop_c_below};
}
constexpr Sum of(const Sum& s) {
  return {.order = of(s.order),
          .align = of(s.align),
          .width = s.width,
          .overflow = of(s.overflow),
          .node_round = of(s.node_round)};
}
constexpr std::optional<Scale> of(const std::optional<Scale>& s) {
  return s ? std::optional(Scale{.fmt = s->fmt, .block = s->block, .apply = of(s->apply)})
           : std::nullopt;
}
constexpr Chain of(const Chain& c) {
  Chain z{.lane_permutation = c.lane_permutation,
          .c_at = of(c.c_at),
          .c_round = of(c.c_round),
          .compensation = of(c.compensation),
          .final = of(c.final)};
  if (c.promote) z.promote = {.interval = c.promote->interval, .round = of(c.promote->round)};
  return z;
}

// What every engine knows of a unit.
constexpr Unit core(const Unit& u) {
  return {.a = of(u.a),
          .b = of(u.b),
          .c = of(u.c),
          .lanes = u.lanes,
          .group_sum = of(u.group_sum),
          .c_level = of(u.c_level),
          .out = of(u.out)};
}

inline constexpr const char* unknown = "there is more to the unit than the engine knows of";

}  // namespace widthwise::fields
