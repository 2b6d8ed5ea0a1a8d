#include "short_form.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "arguments.hpp"
#include "sim/unit/roundings.hpp"

namespace widthwise {
namespace {

// Operands, C among them, and the register. What is not given is in the first format (T2).
Unit start(Arguments& in, std::string_view register_key) {
  Unit u{};
  u.a = {.fmt = in.format("a", in.first())};
  u.b = {.fmt = in.format("b", u.a.fmt)};
  u.out = in.rounded(register_key, in.first());
  u.c = {.fmt = in.format("c", in.first())};
  u.c_level = CLevel::group;
  return u;
}

// Every rounding has the unit's rule, which is asked for last: by then all of them are there.
void finish(Arguments& in, Unit& u) {
  u.chain.final = in.rounded("final");
  u.chain.promote = in.promote("promote");
  u.scale = in.scale("scale");
  const Tininess tininess = in.tininess("tininess");
  each_rounding(u, [&](const char*, Round& r) { r.tininess = tininess; });
}

Unit mac(Arguments& in) {
  Unit u = start(in, "sum");
  u.lanes = 1;
  u.product.round = in.rounded("product", in.first());
  u.c_level = CLevel::late;
  finish(in, u);
  return u;
}

Unit compensated(Arguments& in, Compensation how) {
  Unit u = mac(in);
  u.chain.compensation = how;
  return u;
}
Unit kahan(Arguments& in) { return compensated(in, Compensation::kahan); }
Unit neumaier(Arguments& in) { return compensated(in, Compensation::neumaier); }

Unit fma(Arguments& in) {
  Unit u = start(in, "sum");
  u.lanes = 1;
  finish(in, u);
  return u;
}

Unit tree(Arguments& in) {
  Unit u = start(in, "sum");
  u.lanes = in.needed_integer("fan");
  u.product.round = in.rounded("product", in.first());
  u.group_sum.order = Order::pairwise_tree;
  u.group_sum.node_round = in.rounded("node", in.first());
  u.c_level = CLevel::late;
  finish(in, u);
  return u;
}

Unit dot(Arguments& in) {
  Unit u = start(in, "out");
  u.lanes = in.integer("lanes").value_or(0);
  const auto align = in.align("align");
  if (align) u.group_sum.align = *align;
  u.group_sum.align.e_floor = in.integer("floor");
  if (u.group_sum.align.e_floor && !align) in.fail("floor", "goes with align=");
  finish(in, u);
  return u;
}

// The register's least bit is the least that a product or C can have (T3).
Unit kulisch(Arguments& in) {
  constexpr std::int64_t beyond = -max_exponent_magnitude - 1;  // what check() refuses
  const auto lsb = [](const Format& f) { return f.emin() - f.frac_bits; };
  Unit u = start(in, "out");
  finish(in, u);
  const std::int64_t product = std::max(lsb(u.a.fmt) + lsb(u.b.fmt), beyond);
  const std::int64_t scales = u.scale ? std::max(2 * lsb(u.scale->fmt), beyond) : 0;
  const std::int64_t least = std::max(std::min(product + scales, lsb(u.c.fmt)), beyond);
  u.group_sum.align = {.reference = Reference::fixed_lsb, .frac_bits = -least};
  return u;
}

Unit fixedacc(Arguments& in) {
  Unit u = start(in, "out");
  u.group_sum.width = in.integer("width");
  u.group_sum.align = {.reference = Reference::fixed_lsb,
                       .frac_bits = in.needed_integer("frac"),
                       .rm = in.rounding("align", RoundingMode::rdn)};
  u.group_sum.overflow = in.overflow("overflow");
  finish(in, u);
  return u;
}

struct Kind {
  std::string_view name;
  Unit (*build)(Arguments&);
};
constexpr Kind kinds[] = {{"mac", mac},     {"fma", fma},          {"tree", tree},
                          {"dot", dot},     {"kulisch", kulisch},  {"fixedacc", fixedacc},
                          {"kahan", kahan}, {"neumaier", neumaier}};

[[noreturn]] void refuse_kind(const Scanner& in, std::string_view name) {
  std::string_view names[std::size(kinds)];
  std::ranges::transform(kinds, names, &Kind::name);
  in.fail(in.at(), fmt::format("no kind {}{}; there are mac, fma, tree, dot, kulisch, fixedacc, "
                               "kahan and neumaier",
                               quoted(name), nearest(name, names)));
}

}  // namespace

Unit read_short_form(Scanner& in) {
  const std::size_t at = in.at();
  const std::string_view name = in.ahead("(");
  const auto kind = std::ranges::find(kinds, name, &Kind::name);
  if (kind == std::end(kinds)) refuse_kind(in, name);
  in.skip(name.size());
  Arguments arguments(in, name);
  const Unit u = kind->build(arguments);
  arguments.refuse_rest();
  if (const auto wrong = fault(u)) in.fail(at, fmt::format("{}: {}", wrong->field, wrong->message));
  return u;
}

}  // namespace widthwise
