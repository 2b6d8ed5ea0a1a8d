#include "short_form.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "arguments.hpp"
#include "sim/unit/bound.hpp"
#include "sim/unit/roundings.hpp"
#include "widthwise/sim/operation_text.hpp"

namespace widthwise {
namespace {

// Operands, C among them, and the register. What is not given is in the first format (T2).
Unit start(Arguments& in) {
  Unit u{};
  u.a = {.fmt = in.format(Parameter::a, in.first())};
  u.b = {.fmt = in.format(Parameter::b, u.a.fmt)};
  u.out = in.rounded(in.register_key(), in.first());
  u.c = {.fmt = in.format(Parameter::c, in.first())};
  u.c_level = CLevel::group;
  return u;
}

// Every rounding has the unit's rule, which is asked for last: by then all of them are there.
void finish(Arguments& in, Unit& u) {
  u.chain.final = in.rounded(Parameter::final);
  u.chain.promote = in.promote(Parameter::promote);
  u.scale = in.scale(Parameter::scale);
  const Tininess tininess = in.tininess(Parameter::tininess);
  each_rounding(u, [&](const char*, Round& r) { r.tininess = tininess; });
}

Unit mac(Arguments& in) {
  Unit u = start(in);
  u.lanes = 1;
  u.product.round = in.rounded(Parameter::product, in.first());
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
  Unit u = start(in);
  u.lanes = 1;
  finish(in, u);
  return u;
}

// A tree of rounded adders over blocks of so many products; 0: over all of them.
Unit adder_tree(Arguments& in, std::int64_t fan) {
  Unit u = start(in);
  u.lanes = fan;
  u.product.round = in.rounded(Parameter::product, in.first());
  u.group_sum.order = Order::pairwise_tree;
  u.group_sum.node_round = in.rounded(Parameter::node, in.first());
  u.c_level = CLevel::late;
  finish(in, u);
  return u;
}

Unit tree(Arguments& in) {
  return adder_tree(
      in, in.needed_integer(Parameter::fan,
                            "so many products a tree adds before its sum joins the running one, as "
                            "fan=8; of all products at once it is the kind pairwise"));
}

Unit pairwise(Arguments& in) { return adder_tree(in, 0); }

Unit dot(Arguments& in) {
  Unit u = start(in);
  u.lanes = in.integer(Parameter::lanes).value_or(0);
  const auto align = in.align(Parameter::align);
  if (align) u.group_sum.align = *align;
  u.group_sum.align.e_floor = in.integer(Parameter::floor);
  if (u.group_sum.align.e_floor && !align) in.fail(Parameter::floor, "goes with align=");
  finish(in, u);
  return u;
}

bool of_posits(const Unit& u) { return u.a.fmt.is_posit() && u.b.fmt.is_posit(); }

// Of posits the register is a quire, whose 10...0 is NaR, in which sums outside end or, as the bare
// register has it, those that wrap to it.
RegisterOverflow quire_overflow(Arguments& in, const Unit& u) {
  const auto given = in.overflow(Parameter::overflow);
  if (!of_posits(u)) return given.value_or(RegisterOverflow::wrap);
  if (!u.group_sum.width) {
    if (given) in.fail(Parameter::overflow, "goes with width=");
    return RegisterOverflow::wrap;
  }
  return given == RegisterOverflow::wrap ? RegisterOverflow::wrap_nar
                                         : given.value_or(RegisterOverflow::nar);
}

// Whoever gives floats and fixed point a short register asks what it loses. One of posits or takums
// is for all products, or the page has no such quire.
void check_quire(Arguments& in, const Unit& u) {
  const int128 product = int128{u.a.fmt.emax()} + u.b.fmt.emax();
  const int128 scales = u.scale ? 2 * int128{u.scale->fmt.emax()} : 0;
  const std::int64_t least = saturated(1 + product + scales + u.group_sum.align.frac_bits);
  const bool tapered = u.a.fmt.is_tapered() || u.b.fmt.is_tapered();
  if (tapered && *u.group_sum.width < least)
    in.fail(Parameter::width,
            fmt::format("{} bits: the largest product, down to the last digit of any term, has "
                        "{}, sign and carry bits besides; fixedacc has registers of any width",
                        *u.group_sum.width, least));
}

// The register's least bit is the least that a product or C can have (T3).
Unit kulisch(Arguments& in) {
  constexpr std::int64_t beyond = -max_exponent_magnitude - 1;  // what check() refuses
  const auto lsb = [](const Format& f) { return f.least_digit(); };
  Unit u = start(in);
  finish(in, u);
  const std::int64_t product = std::max(lsb(u.a.fmt) + lsb(u.b.fmt), beyond);
  const std::int64_t scales = u.scale ? std::max(2 * lsb(u.scale->fmt), beyond) : 0;
  const std::int64_t least = std::max(std::min(product + scales, lsb(u.c.fmt)), beyond);
  u.group_sum.align = {.reference = Reference::fixed_lsb, .frac_bits = -least};
  u.group_sum.width = in.integer(Parameter::width);
  u.group_sum.overflow = quire_overflow(in, u);
  if (u.group_sum.width) check_quire(in, u);
  return u;
}

Unit fixedacc(Arguments& in) {
  Unit u = start(in);
  u.group_sum.width = in.integer(Parameter::width);
  u.group_sum.align = {.reference = Reference::fixed_lsb,
                       .frac_bits = in.needed_integer(
                           Parameter::frac, "the bits behind the register's point, as frac=12"),
                       .rm = in.rounding(Parameter::align, RoundingMode::rdn)};
  u.group_sum.overflow = in.overflow(Parameter::overflow).value_or(RegisterOverflow::wrap);
  finish(in, u);
  return u;
}

struct UnitKind {
  std::string_view name;
  Unit (*build)(Arguments&);
  Parameter register_key;
  std::string_view example;
};
constexpr UnitKind kinds[] = {
    {"mac", mac, Parameter::sum, "mac(e5m10)"},
    {"fma", fma, Parameter::sum, "fma(e5m10)"},
    {"tree", tree, Parameter::sum, "tree(e5m10, fan=8)"},
    {"pairwise", pairwise, Parameter::sum, "pairwise(e5m10)"},
    {"dot", dot, Parameter::out, "dot(e5m10, lanes=8)"},
    {"kulisch", kulisch, Parameter::out, "kulisch(e5m10)"},
    {"fixedacc", fixedacc, Parameter::out, "fixedacc(e5m10, width=24, frac=12)"},
    {"kahan", kahan, Parameter::sum, "kahan(e5m10)"},
    {"neumaier", neumaier, Parameter::sum, "neumaier(e5m10)"},
};

const UnitKind* find_kind(std::string_view name) {
  const auto kind = std::ranges::find(kinds, name, &UnitKind::name);
  return kind == std::end(kinds) ? nullptr : &*kind;
}

// What others call a kind.
struct OtherName {
  std::string_view text, kind;
};
constexpr OtherName other_names[] = {
    {"sequential", "mac"},
    {"recursive", "mac"},
    {"naive", "mac"},
    {"serial", "mac"},
    {"fmac", "fma"},
    {"fused", "fma"},
    {"pairwise_sum", "pairwise"},
    {"pairwise_tree", "pairwise"},
    {"adder_tree", "tree"},
    {"exact", "kulisch"},
    {"quire", "kulisch"},
    {"fixed", "fixedacc"},
    {"fixed_point", "fixedacc"},
    {"compensated", "kahan"},
};

std::string kind_hint(std::string_view name) {
  const auto other = std::ranges::find(other_names, name, &OtherName::text);
  if (other != std::end(other_names))
    return fmt::format("; it is {} here, as {}", other->kind, find_kind(other->kind)->example);
  if (const auto op = find_operation(name); op && *op == Operation::fma)
    return "; the operation is fma, and fma(e5m10) the unit that sums by it";
  else if (op)
    return fmt::format("; {} is an operation, which is applied or exported and sums nothing",
                       to_string(*op));
  if (name == "blocks" || name == "requantize")
    return fmt::format("; {} is no unit, and export takes it as it is", name);
  if (name == "affine" || name == "block" || name == "bfp")
    return "; these are numbers with a scale, which ww.affine and ww.blocks make in Python";
  if (name == "table") return "; a table is a format: take mac(table(nf4))";
  std::string_view names[std::size(kinds)];
  std::ranges::transform(kinds, names, &UnitKind::name);
  return nearest(name, names);
}

[[noreturn]] void refuse_kind(const Scanner& in, std::string_view name) {
  in.fail(in.at(), fmt::format("no kind {}{}; there are mac, fma, tree, pairwise, dot, kulisch, "
                               "fixedacc, kahan and neumaier",
                               quoted(name), kind_hint(name)));
}

}  // namespace

std::string_view kind_example(std::string_view name) {
  const UnitKind* kind = find_kind(name);
  return kind ? kind->example : "";
}

Unit read_short_form(Scanner& in) {
  const std::size_t at = in.at();
  const std::string_view name = in.ahead("(");
  const UnitKind* kind = find_kind(name);
  if (!kind) refuse_kind(in, name);
  in.skip(name.size());
  Arguments arguments(in, name, kind->register_key);
  const Unit u = kind->build(arguments);
  arguments.refuse_rest();
  if (const auto wrong = fault(u)) in.fail(at, fmt::format("{}: {}", wrong->field, wrong->message));
  return u;
}

}  // namespace widthwise
