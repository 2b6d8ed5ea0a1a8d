#include "unit_block.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

// Every term to the last digit of the least one.
Grid exact_grid(const Term& terms, std::int64_t each) {
  const Exponent span = terms.largest - (terms.least - terms.fraction);
  const int above = terms.bus.width - terms.fraction;
  Grid g;
  g.fixed = true;
  g.floor = terms.largest;
  g.fraction = span;
  const Exponent width = above + span + std::bit_width(static_cast<std::uint64_t>(each)) + 1;
  g.width = static_cast<int>(std::min<Exponent>(width, widest_sum + 1));
  return g;
}

// To the digit of weight 2^-frac_bits, from the largest exponent there is.
Grid fixed_grid(const Sum& s, const Term& terms) {
  Grid g;
  g.fixed = true;
  g.floor = terms.largest;
  g.fraction = s.align.frac_bits + terms.largest;
  return g;
}

// Two's-complement bits that hold the sum of so many terms on a grid, each rounded up to it.
std::int64_t bits_needed(const Term& terms, const Grid& g, int each) {
  const Exponent bits = terms.bus.width - terms.fraction + g.fraction + 2 +
                        std::bit_width(static_cast<unsigned>(each - 1));
  return static_cast<std::int64_t>(bits);
}

void set_register(Grid& g, const Sum& s, std::int64_t needed) {
  const std::int64_t width = s.width.value_or(needed);
  g.width = static_cast<int>(std::min<std::int64_t>(width, widest_sum + 1));
  g.overflows = needed > width;
  g.quire = g.overflows && has_nar(s.overflow);
  g.strict = g.overflows && s.overflow == RegisterOverflow::nar;
  g.saturates = g.overflows && s.overflow == RegisterOverflow::saturate;
  g.in_order = g.fixed && g.overflows && s.overflow != RegisterOverflow::wrap;
}

}  // namespace

UnitBlock::UnitBlock(const Unit& unit, const UnitShape& shape, Netlist& out, Stages& stages,
                     Roundings& roundings)
    : u_(unit),
      lanes_(shape.lanes),
      keeps_(keeps_register(shape.running)),
      widths_(derive_widths(unit, keeps_ ? longest_dot : shape.lanes)),
      shape_(group_shape(unit.groups, static_cast<std::size_t>(shape.lanes))),
      out_(out),
      stages_(stages),
      roundings_(roundings) {}

void UnitBlock::write(const std::string& prefix, std::int64_t step, const Term& products,
                      const Term& c, const std::optional<Scales>& scales) {
  prefix_ = prefix;
  step_ = step;
  mixed_.clear(), masked_flags_.clear(), fixed_.reset();
  if (masks()) write_specials(products, c, scales);
  deliver(join(block_sum(group_sums(products, c, scales), c), c));
}

// Whether NaNs and infinities may come up on the way that the operands do not decide, or flags that
// they forestall. A quire that takes all terms in sees them itself.
bool UnitBlock::masks() const {
  const bool one_sum = groups() == 1 && u_.c_level == CLevel::group;
  for (const Sum* s : {&u_.group_sum, &u_.block_sum, &u_.c_sum})
    if (has_nodes(*s) || may_flag(*s) || (has_nar(s->overflow) && !one_sum)) return true;
  return scales(u_, ScaleApply::group);
}

// NaN or infinity if the products and C make one before any arithmetic.
void UnitBlock::write_specials(const Term& p, const Term& c, const std::optional<Scales>& scales) {
  const Specials s{at("block")};
  out_.section("specials of the block");
  const auto infinite = [&](const char* sign) {
    return fmt::format("|({} & {}{}) | ({} & {}{})", p.inf().name, sign, p.sign().name,
                       c.inf().name, sign, c.sign().name);
  };
  out_.wire({s.plus(), 1}, infinite("~"));
  out_.wire({s.minus(), 1}, infinite(""));
  std::string nan =
      fmt::format("|{} | {} | ({} & {})", p.nan().name, c.nan().name, s.plus(), s.minus());
  if (scales) nan += fmt::format(" | (|{}) | (|{})", scales->a.nan().name, scales->b.nan().name);
  out_.wire({s.nan(), 1}, nan);
  out_.wire({s.inf(), 1}, fmt::format("({} | {}) & !{}", s.plus(), s.minus(), s.nan()));
}

std::vector<std::int64_t> UnitBlock::group_steps() const {
  std::vector<std::int64_t> steps;
  for (std::size_t g = 0; g < shape_.count; ++g)
    for (std::size_t i = 0; i < shape_.size; ++i)
      steps.push_back(step_ + static_cast<std::int64_t>(shape_.lane(g, i)));
  return steps;
}

std::vector<std::int64_t> UnitBlock::block_steps() const {
  std::vector<std::int64_t> steps;
  for (std::size_t g = 0; g < shape_.count; ++g)
    steps.push_back(step_ + static_cast<std::int64_t>(shape_.lane(g, 0)));
  return steps;
}

Term UnitBlock::group_sums(const Term& products, const Term& c,
                           const std::optional<Scales>& scales) {
  Term terms = products;
  if (shape_.strided && groups() > 1)
    terms = stages_.picked(at("dealt"), products, lanes_, [&](const std::string& i) {
      return fmt::format("({0}%{2}*{1} + {0}/{2})", i, groups(), shape_.size);
    });
  const bool with_c = u_.c_level == CLevel::group;
  const Level level{"group_sum", Slot::group_node, u_.group_sum, widths_.group_sum};
  const Term sums =
      sum(level, terms, with_c ? &c : nullptr, group_steps(), groups(), groups() == 1 && with_c);
  if (!scales) return sums;
  out_.stage(at("scale"));
  if (!fixed_ || u_.group_sum.order != Order::fused)
    refuse("apply = group with a group_sum that is not exact", "an exact one is");
  const Exponent floor = *fixed_;
  fixed_.reset();  // scaled sums align at the exponents of their scales
  return stages_.scaled(at("scale"), sums, floor, scales->a, scales->b);
}

Term UnitBlock::block_sum(const Term& sums, const Term& c) {
  const bool with_c = u_.c_level == CLevel::block;
  if (groups() == 1 && !with_c) return sums;
  return sum({"block_sum", Slot::block_node, u_.block_sum, *widths_.block_sum}, sums,
             with_c ? &c : nullptr, block_steps(), 1, u_.c_level != CLevel::late);
}

Term UnitBlock::join(const Term& t, const Term& c) {
  if (u_.c_level != CLevel::late) return t;
  return sum({"join", Slot::c_node, u_.c_sum, *widths_.c_sum, u_.late_frac}, t, &c, {step_}, 1,
             true);
}

// One of the three sums, of x and perhaps C; `last` if only the rounding to `out` follows.
Term UnitBlock::sum(const Level& level, const Term& x, const Term* c,
                    const std::vector<std::int64_t>& steps, int groups, bool last) {
  const std::string name = at(level.name);
  const int each = (x.bus.lanes + (c ? 1 : 0)) / groups;
  const bool exact = level.sum.align.reference == Reference::exact;
  if (each == 1 && exact) return x;
  const bool fused = level.sum.order == Order::fused || each == 1;
  out_.stage(fused ? name + "_align" : name);
  const Term y = !c ? x : keeps_ ? running_c(x, *c) : *c;
  const Term terms = !c      ? x
                     : fused ? with_c(level, name, x, y)
                             : stages_.joined(name + "_terms", x, y);
  if (fused) {
    const bool pair = exact && last && each == 2 && !keeps_;
    const Grid g = pair ? grid_of_two(x, y, reach_of(u_.out)) : grid(level, name, terms, each);
    return add(level, name, terms, groups, g, c != nullptr,
               {.staged = true, .accumulates = keeps_});
  }
  std::vector<std::int64_t> all_steps = steps;
  if (c) all_steps.push_back(step_);
  const Leaves all = leaves(name, terms, all_steps, c != nullptr);
  if (groups == 1) return nodes(level, name, all);
  std::optional<Term> sums;
  for (int g = 0; g < groups; ++g) {
    const std::string group = fmt::format("{}_group{}", name, g);
    const Term one = nodes(level, group, {all.begin() + g * each, all.begin() + (g + 1) * each});
    sums = sums ? stages_.joined(group + "_and_before", *sums, one) : one;
  }
  return *sums;
}

UnitBlock::Leaves UnitBlock::leaves(const std::string& name, const Term& terms,
                                    const std::vector<std::int64_t>& steps, bool last_is_c) {
  Leaves all;
  for (int i = 0; i < terms.bus.lanes; ++i)
    all.push_back({stages_.picked(fmt::format("{}_{}", name, i), terms, 1,
                                  [&](const std::string&) { return std::to_string(i); }),
                   steps[static_cast<std::size_t>(i)], last_is_c && i + 1 == terms.bus.lanes});
  return all;
}

// Two-input sums: neighbours first, or one after the other. Those of one group stand in stages.
Term UnitBlock::nodes(const Level& level, const std::string& name, Leaves x) {
  const bool staged = name == at(level.name);
  const auto next_stage = [&](const char* kind, std::size_t i) {
    if (staged && i > 0) out_.stage(fmt::format("{}_{}{}", name, kind, i));
  };
  int count = 0;
  const auto add = [&](const Leaf& p, const Leaf& q) {
    return node(level, fmt::format("{}_node{}", name, count++), p, q);
  };
  if (level.sum.order == Order::sequential) {
    for (std::size_t i = 1; i < x.size(); ++i) {
      next_stage("node", i - 1);
      x[0] = add(x[0], x[i]);
    }
    return x[0].term;
  }
  for (std::size_t level_of_tree = 0; x.size() > 1; ++level_of_tree) {
    next_stage("level", level_of_tree);
    Leaves next;
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) next.push_back(add(x[i], x[i + 1]));
    if (x.size() % 2) next.push_back(x.back());
    x = std::move(next);
  }
  return x[0].term;
}

UnitBlock::Leaf UnitBlock::node(const Level& level, const std::string& name, const Leaf& x,
                                const Leaf& y) {
  const Sum& s = level.sum;
  const bool exact = s.align.reference == Reference::exact;
  const Term pair = y.is_c ? with_c(level, name, x.term, y.term)
                           : stages_.joined(name + "_terms", x.term, y.term);
  Grid g = exact && s.node_round ? grid_of_two(x.term, y.term, reach_of(*s.node_round))
                                 : grid(level, name, pair, 2);
  if (!exact) set_register(g, s, bits_needed(pair, g, 2));
  const Term sum = add(level, name, pair, 1, g, y.is_c);
  if (!s.node_round) return {sum, x.step};
  if (g.quire && !s.node_round->fmt.has_nan())
    refuse("a quire whose NaR a node rounds to " + to_string(s.node_round->fmt),
           "a node_round to a format with NaN is");
  const Place place{name + "_round", level.slot, *s.node_round, y.step};
  masked_flags_ += " | " + roundings_.round(place, sum, mixed_);
  mixed_.clear(), fixed_.reset();
  return {roundings_.read(place), x.step};
}

// A quire begins with C, which other sums take last.
Term UnitBlock::with_c(const Level& level, const std::string& name, const Term& x, const Term& c) {
  const bool first = has_nar(level.sum.overflow);
  return stages_.joined(name + "_terms", first ? c : x, first ? x : c);
}

// C comes with one block of a running sum. With all others a zero of a product's sign stands for
// it, which changes neither a sum nor its sign.
Term UnitBlock::running_c(const Term& products, const Term& c) {
  roundings_.keep_flags();
  const std::string which = has_nar(u_.group_sum.overflow) ? "first" : "last";
  return stages_.only(which + "_c", "in_" + which, c, products.sign().lane("0"));
}

// The terms on the grid.
Term UnitBlock::add(const Level& level, const std::string& name, const Term& terms, int groups,
                    Grid g, bool last_is_c, const SumStages& stages) {
  if (last_is_c && level.sum.align.reference == Reference::max_exponent)
    g.drop_last = level.sum.align.drop_c_below;
  fixed_ = g.fixed ? g.floor : std::nullopt;
  const Exponent kept = g.late ? std::min(g.late->F_sum, g.late->F_C) : g.fraction;
  if (terms.bus.width - terms.fraction + kept < 1)
    refuse(fmt::format("{}: {} fraction bits", name, level.sum.align.frac_bits),
           "a last digit below the largest term is");
  const Exponent digits = std::max<Exponent>(g.width, terms.bus.width + g.fraction);
  if (digits > widest_sum)
    refuse(fmt::format("{}: a sum over {} digits", name, widest_sum),
           "align it (align=F:rtz), or take formats of fewer exponent bits");
  mixed_ = name + "_mixed";
  const Term t = stages_.sum(name, terms, groups, g, stages);
  if (g.overflows && may_flag(level.sum))
    masked_flags_ += fmt::format(" | {{2'd0, |{}_overflowed, 2'd0}}", name);
  if (g.quire) masked_flags_ += fmt::format(" | {{|{}_nar, 4'd0}}", name);
  return t;
}

Grid UnitBlock::grid(const Level& level, const std::string& name, const Term& terms,
                     int each) const {
  const Sum& s = level.sum;
  if (s.align.reference == Reference::exact) return exact_grid(terms, keeps_ ? longest_dot : each);
  Grid g = s.align.reference == Reference::fixed_lsb ? fixed_grid(s, terms) : window(level, name);
  g.rm = s.align.rm;
  set_register(g, s, level.widths.needed);
  return g;
}

Grid UnitBlock::window(const Level& level, const std::string& name) const {
  if (fixed_) refuse(name + " below the largest exponent of exact sums", "align both alike");
  Grid g;
  g.late = level.late;
  g.fraction = window_frac(level.sum.align, level.late);
  g.floor = level.sum.align.e_floor;
  return g;
}

void UnitBlock::deliver(const Term& t) {
  out_.stage(at("normalise"));
  const Specials s{at("block")};
  roundings_.raise(roundings_.round({at("out"), Slot::out, u_.out, step_, prefix_}, t, mixed_,
                                    masks() ? &s : nullptr));
  if (masked_flags_.empty()) return;
  const std::string raised = masked_flags_.substr(3);
  roundings_.raise(masks() ? fmt::format("({} | {} ? 5'd0 : {})", s.nan(), s.inf(), raised)
                           : raised);
}

}  // namespace widthwise::hdl
