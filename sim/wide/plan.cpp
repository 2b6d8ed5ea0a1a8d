#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "codes.hpp"
#include "sim/engine/fields.hpp"
#include "sim/engine/plain.hpp"
#include "sim/engine/unusual.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::wide {
namespace {

using fields::of;

Round bare(const Round& r) { return {.fmt = r.fmt, .rm = r.rm, .overflow = of(r.overflow)}; }
std::optional<Round> bare(const std::optional<Round>& r) {
  return r ? std::optional(bare(*r)) : std::nullopt;
}

bool is_cut(const Unit& u) { return u.group_sum.align.reference == Reference::max_exponent; }

// Whether a block's products are added at once, and not by twos.
bool is_exact_sum(const Unit& u) { return !u.group_sum.node_round && (u.lanes != 1 || is_cut(u)); }

// Whether a register has all digits of every term.
bool is_whole(const Unit& u) {
  const std::int64_t product =
      u.product.round ? u.product.round->fmt.least_digit() : product_last(u);
  const std::int64_t least =
      std::min({product, u.c.fmt.least_digit(), u.lanes ? u.out.fmt.least_digit() : product});
  return u.group_sum.align.reference == Reference::fixed_lsb &&
         -u.group_sum.align.frac_bits <= least;
}

// Whether block scales are powers of two that join exact products, whose last digits nobody asks
// for: a factor's exponent takes them.
bool has_power_scales(const Unit& u) {
  return u.scale && u.scale->apply == ScaleApply::term && u.scale->fmt.precision() == 1 &&
         !u.product.round && u.group_sum.align.reference == Reference::exact;
}

// The unit's formats, and what limbs have of its steps; its final rounding is lib's own.
Unit in_limbs(const Unit& u) {
  Unit plain{.a = {.fmt = u.a.fmt},
             .b = {.fmt = u.b.fmt},
             .c = {.fmt = u.c.fmt},
             .lanes = u.lanes,
             .product = {.round = bare(u.product.round)},
             .c_level = of(u.c_level),
             .out = bare(u.out),
             .chain = {.c_at = of(u.chain.c_at),
                       .c_round = bare(u.chain.c_round),
                       .compensation = of(u.chain.compensation),
                       .final = u.chain.final}};
  if (has_power_scales(u)) plain.scale = u.scale;
  if (u.group_sum.node_round)
    plain.group_sum = {.order = of(u.group_sum.order), .node_round = bare(u.group_sum.node_round)};
  if (is_exact_sum(u) && is_whole(u)) plain.group_sum.align = u.group_sum.align;
  if (is_exact_sum(u) && is_cut(u)) {
    const Align& align = u.group_sum.align;
    plain.group_sum.align = {.reference = align.reference,
                             .frac_bits = align.frac_bits,
                             .rm = align.rm,
                             .e_floor = align.e_floor};
  }
  if (const auto& promote = u.chain.promote)
    plain.chain.promote = {promote->interval, bare(promote->round)};
  return plain;
}

const char* unfit_cut(const Unit& u) {
  if (u.lanes > most_block) return "more than 64 products have to be at hand";
  if (u.product.round) return "terms are cut that were rounded";
  return u.group_sum.align.frac_bits < 0 ? "terms are cut above the largest exponent" : nullptr;
}
// Why sums of some products, or sums of exact ones, are not for limbs.
const char* unfit_sums(const Unit& u) {
  const bool nodes = has_nodes(u.group_sum);
  const bool alone = u.chain.compensation == Compensation::none && !nodes;
  if (!nodes && u.group_sum.node_round) return "nodes of a fused sum, which do not round";
  if (is_exact_sum(u)) {
    if (!alone) return "sums of two of more than one product";
    if (u.c_level != CLevel::group) return "C joins the products after they are added up";
    if (u.chain.promote && u.lanes == 0) return "promotion of all products at once";
    return is_cut(u) ? unfit_cut(u) : nullptr;
  }
  if (u.lanes == 0) return "all products are one block";
  if (u.lanes > most_block) return "more than 64 products a block";
  if (!alone && !u.product.round) return "exact products go to sums of two";
  return nodes && u.c_level == CLevel::group ? "C is a leaf of its tree" : nullptr;
}

std::optional<Round> promotion(const Unit& u) {
  return u.chain.promote ? std::optional(u.chain.promote->round) : std::nullopt;
}

// What is rounded to.
std::vector<Format> results(const Unit& u) {
  std::vector<Format> all{u.out.fmt};
  for (const auto& r : {u.product.round, u.group_sum.node_round, u.chain.c_round, promotion(u)})
    if (r) all.push_back(r->fmt);
  return all;
}
// Subnormals may be flushed, or read as zero, and -0 be NaN.
const char* unfit(Format f) {
  f.ftz = f.daz = false;
  if (f.nan == NanCodes::sign_alone) f.nan = NanCodes::none;
  if (const char* why = unusual(f)) return why;
  return f.emax() <= f.emin() ? "has one binade of normal numbers" : nullptr;
}
// Operands may have any codes, for lib reads them.
std::string unfit_result(const Unit& u) {
  for (const Format& f : results(u))
    if (const char* why = unfit(f)) return fmt::format("{} {}", to_string(f), why);
  return {};
}
// The most significand digits that a number has.
int precision(const Unit& u) {
  int p = std::max({u.a.fmt.precision(), u.b.fmt.precision(), u.c.fmt.precision()});
  for (const Format& f : results(u)) p = std::max(p, f.precision());
  return p;
}

// Whether all numbers of the top binade are there.
bool has_whole_binades(const Format& f) {
  return f.nan == NanCodes::ieee || (f.nan == NanCodes::none && !f.has_inf());
}
// From the top binade a rounding could overflow.
RoundTo round_to(const Round& r, Slot slot) {
  const std::int64_t before_last = r.fmt.emax() - 1;
  return {RoundingRule(r.rm),
          slot,
          r.fmt.precision(),
          r.fmt.emin(),
          static_cast<std::uint64_t>(before_last - r.fmt.emin()),
          before_last + has_whole_binades(r.fmt),
          r.fmt.ftz || r.fmt.daz,
          r.fmt.ftz ? underflowed : 0};
}
std::optional<RoundTo> round_to(const std::optional<Round>& r, Slot slot) {
  return r ? std::optional(round_to(*r, slot)) : std::nullopt;
}

bool has_unsure_zeros(const Unit& u) {
  const auto is_delivered = [](const Format& f) { return f.daz && !f.ftz; };
  for (const auto& r : {std::optional(u.out), promotion(u), u.chain.c_round})
    if (r && is_delivered(r->fmt)) return true;
  return std::ranges::any_of(results(u),
                             [](const Format& f) { return f.nan == NanCodes::sign_alone; });
}

Cut cut(const Align& align) {
  return {RoundingRule(align.rm), static_cast<int>(align.frac_bits),
          align.e_floor.value_or(zero_exponent)};
}

Chain chain_of(const Unit& u, std::size_t k, int precision) {
  const auto& promote = u.chain.promote;
  return {.precision = precision,
          .product = round_to(u.product.round, Slot::product),
          .sum = round_to(u.out, Slot::out),
          .compensation = u.chain.compensation,
          .block = u.lanes ? static_cast<std::size_t>(u.lanes) : k,
          .node = round_to(u.group_sum.node_round, Slot::group_node),
          .in_turn = u.group_sum.order == Order::sequential,
          .exact_sum = is_exact_sum(u),
          .cut = is_cut(u) ? std::optional(cut(u.group_sum.align)) : std::nullopt,
          .interval = promote ? static_cast<std::size_t>(promote->interval) : 0,
          .promote = round_to(promotion(u), Slot::promote),
          .c_at_last = round_to(u.chain.c_round, Slot::c_round),
          .unsure_zeros = has_unsure_zeros(u)};
}

}  // namespace

Answer plan(const Unit& u, std::size_t k) {
  const auto refuse = [](const std::string& why) { return Answer{std::nullopt, why}; };
  if (const char* why = unfit_sums(u)) return refuse(why);
  if (u != in_limbs(u))
    return refuse("there is more to its operands, sums or roundings than formats and modes");
  if (const std::string why = unfit_result(u); !why.empty()) return refuse(why);
  const int p = precision(u);
  if (const auto& last = u.chain.final; last && digits_needed(last->fmt, last->rm) > most_stored)
    return refuse(fmt::format("chain.final looks at more than {} digits", most_stored));
  Chain chain = chain_of(u, k, p);
  for (const auto& r : chain.roundings())
    if (r) chain.random_bits = std::max(chain.random_bits, r->rule.rounding.random_bits);
  return {chain, {}};
}

}  // namespace widthwise::wide
