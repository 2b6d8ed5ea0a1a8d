#pragma once
#include "widthwise/unit.hpp"

// Copies of a unit's parts, field by field. Each planner ends with the unit that its engine
// computes, made of them, and compares it with the one that was asked for: a field that came later,
// and that nobody taught the engine, differs from what it is where nobody sets it, and the engine
// refuses. Whoever adds a field to a part adds it here, and to each engine that is to know it.
namespace widthwise::fields {

constexpr Operand of(const Operand& x) {
  return {.fmt = x.fmt, .subnormals = x.subnormals, .keep_frac = x.keep_frac, .keep_rm = x.keep_rm};
}
constexpr Round of(const Round& r) {
  return {.fmt = r.fmt,
          .rm = r.rm,
          .keep_frac = r.keep_frac,
          .post_norm_frac = r.post_norm_frac,
          .post_norm_rm = r.post_norm_rm,
          .subnormals = r.subnormals,
          .overflow = r.overflow,
          .zero_sign = r.zero_sign,
          .nan_bits = r.nan_bits,
          .tininess = r.tininess};
}
constexpr std::optional<Round> of(const std::optional<Round>& r) {
  return r ? std::optional(of(*r)) : std::nullopt;
}
constexpr Align of(const Align& a) {
  return {.reference = a.reference,
          .frac_bits = a.frac_bits,
          .rm = a.rm,
          .e_floor = a.e_floor,
          .drop_c_below = a.drop_c_below};
}
constexpr Sum of(const Sum& s) {
  return {.order = s.order,
          .align = of(s.align),
          .width = s.width,
          .overflow = s.overflow,
          .node_round = of(s.node_round)};
}
constexpr std::optional<Scale> of(const std::optional<Scale>& s) {
  return s ? std::optional(Scale{.fmt = s->fmt, .block = s->block, .apply = s->apply})
           : std::nullopt;
}
constexpr Chain of(const Chain& c) {
  Chain z{.lane_permutation = c.lane_permutation,
          .c_at = c.c_at,
          .c_round = of(c.c_round),
          .compensation = c.compensation,
          .final = of(c.final)};
  if (c.promote) z.promote = {.interval = c.promote->interval, .round = of(c.promote->round)};
  return z;
}

inline constexpr const char* unknown = "there is more to the unit than the engine knows of";

}  // namespace widthwise::fields
