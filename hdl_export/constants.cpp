#include "widthwise/hdl/constants.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "format_constants.hpp"
#include "shared_constants.hpp"
#include "sum_constants.hpp"
#include "widthwise/rounder.hpp"
#include "widthwise/sim/single_operation.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::hdl {
namespace {

// A place that rounds to a code. The one whose codes leave the unit is called Y.
struct RoundingPlace {
  std::string_view prefix, key;  // key: in the unit's long text form
  const Round& round;
};

std::vector<RoundingPlace> rounding_places(const Unit& u) {
  std::vector<RoundingPlace> all;
  const auto add = [&](std::string_view prefix, std::string_view key, const Round& r) {
    all.push_back({&r == &result_round(u) ? "Y_" : prefix, key, r});
  };
  const auto add_node = [&](std::string_view prefix, std::string_view key, const Sum& sum) {
    if (has_nodes(sum)) add(prefix, key, *sum.node_round);
  };
  if (u.product.round) add("PROD_ROUND_", "product.round", *u.product.round);
  add_node("GROUP_NODE_", "group_sum.node_round", u.group_sum);
  add_node("BLOCK_NODE_", "block_sum.node_round", u.block_sum);
  add_node("C_NODE_", "c_sum.node_round", u.c_sum);
  add("OUT_", "out", u.out);
  if (u.chain.promote) add("PROMOTE_", "chain.promote.round", u.chain.promote->round);
  if (u.chain.c_round) add("C_ROUND_", "chain.c_round", *u.chain.c_round);
  if (u.chain.final) add("FINAL_", "chain.final", *u.chain.final);
  return all;
}

std::vector<Rounding> roundings(const Unit& u) {
  std::vector<Rounding> used{u.a.keep_rm,          u.b.keep_rm,          u.c.keep_rm,
                             u.group_sum.align.rm, u.block_sum.align.rm, u.c_sum.align.rm};
  for (const RoundingPlace& place : rounding_places(u))
    used.insert(used.end(), {place.round.rm, place.round.post_norm_rm});
  return used;
}

std::vector<Format> formats(const Unit& u) {
  std::vector<Format> all{u.a.fmt, u.b.fmt, u.c.fmt};
  if (u.scale) all.push_back(u.scale->fmt);
  for (const RoundingPlace& place : rounding_places(u)) all.push_back(place.round.fmt);
  return all;
}

std::string description(const Unit& u) {
  const std::string at_a_time = u.lanes == 0   ? "all products at once"
                                : u.lanes == 1 ? "one product at a time"
                                               : fmt::format("{} products at a time", u.lanes);
  return fmt::format("c + sum of a * b, {}; a {}, b {}, c {}, result {}", at_a_time,
                     to_string(u.a.fmt), to_string(u.b.fmt), to_string(u.c.fmt),
                     to_string(result_round(u).fmt));
}

void add_all_codes(Draft& draft, const Unit& u) {
  add_codes<Reference>(draft, "codes: where a sum's terms are aligned");
  add_codes<Order>(draft, "codes: in which order a sum takes its terms");
  add_codes<RegisterOverflow>(draft, "codes: a register that overflows");
  add_overflow_codes(draft, formats(u));
  add_codes<Flush>(draft, "codes: subnormal numbers");
  add_codes<CLevel>(draft, "codes: the sum that C enters");
  add_codes<StochasticVariant>(draft, "codes: variants of stochastic rounding");
  if (u.chain.compensation != Compensation::none)
    add_codes<Compensation>(draft, "codes: what a running sum carries along");
  add_rounding_codes(draft);
}

void add_operands(Draft& draft, const Unit& u) {
  const auto add = [&](std::string_view letter, const Operand& operand) {
    Entries x(draft, fmt::format("operand {}: {}", letter, to_string(operand.fmt)),
              fmt::format("{}_", letter));
    add_operand(x, operand);
  };
  add("A", u.a);
  add("B", u.b);
  add("C", u.c);
  if (!u.scale) return;
  Entries x(draft, fmt::format("scale: {}", to_string(u.scale->fmt)), "SCALE_");
  add_format(x, u.scale->fmt);
  x.integer("BLOCK", u.scale->block, "elements that share a scale");
  x.flag("OF_GROUP", u.scale->apply == ScaleApply::group, "0: of each product");
}

void add_lanes(Draft& draft, const Unit& u, const Widths& w) {
  Entries x(draft, "block and chain");
  x.integer("NUM_TERMS", w.products,
            u.lanes == 0 ? "most products of a sum" : "products of a block");
  x.flag("WHOLE_SUM", u.lanes == 0, "one block takes all products of a sum");
  if (u.groups && u.groups->consecutive)
    x.integer("GROUP_LANES", *u.groups->consecutive, "neighbours in a group");
  if (u.groups && u.groups->strided)
    x.integer("GROUP_STRIDE", *u.groups->strided, "groups, to which lanes are dealt in turn");
  x.policy("C_LEVEL", u.c_level);
  if (u.chain.compensation != Compensation::none) x.policy("COMPENSATION", u.chain.compensation);
  x.flag("C_AT_LAST", u.chain.c_at == CAt::last, "C is added to the end result");
  if (const auto& deal = u.chain.lane_permutation) {
    x.integer("LANE_RUN", deal->run, "neighbours that stay together");
    x.integer("LANE_WAYS", deal->ways, "streams to which runs are dealt in turn");
  }
  if (u.chain.promote)
    x.integer("PROMOTE_INTERVAL", u.chain.promote->interval, "products between promotions");
}

void add_roundings(Draft& draft, const Unit& u) {
  for (const RoundingPlace& place : rounding_places(u)) {
    const std::string format = to_string(place.round.fmt);
    const std::string title = place.prefix == "Y_"
                                  ? fmt::format("result, {}: {}", place.key, format)
                                  : fmt::format("{}: {}", place.key, format);
    Entries x(draft, title, place.prefix);
    add_round(x, place.round);
  }
}

Ports ports(const Unit& u) {
  const auto flushes = [](Flush f) { return f != Flush::keep; };
  return {.rm = result_round(u).rm,
          .tininess = result_round(u).tininess,
          .flushes_in = flushes(flush_of(u.a)) || flushes(flush_of(u.b)) || flushes(flush_of(u.c)),
          .flushes_out = flushes(Rounder<Code>(result_round(u)).flush)};
}

}  // namespace

ConstantTable unit_constants(const Unit& unit, std::string_view name, const Timing& timing) {
  check_identifier(name);
  check(unit);
  const Widths widths = derive_widths(unit);
  Draft draft{{}, rm_width(roundings(unit))};
  add_identity(draft, {name, description(unit), to_string(Design(unit)), model_hash(unit),
                       "FNV-1a of the unit's TOML text"});
  add_all_codes(draft, unit);
  add_operands(draft, unit);
  add_product(draft, unit, widths);
  add_lanes(draft, unit, widths);
  add_sums(draft, unit, widths);
  add_roundings(draft, unit);
  add_ports(draft, ports(unit), timing);
  return std::move(draft.table);
}

std::uint64_t model_hash(const Unit& unit) { return text_hash(to_toml(unit)); }

}  // namespace widthwise::hdl
