#include "chain_rules.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "widthwise/datapath/block.hpp"

// Units whose every sum has two terms, each rounded as the machine does or from two doubles
// (docs/exactness.md, 48 and 53).
namespace widthwise::blocks {
namespace {

// Formats whose numbers are doubles, and roundings to binary64 by one of the machine's modes, or
// to formats that doubles have digits to spare for.
class PairUnit {
 public:
  PairUnit(const ProductTask& task, const Rounding& own, Room room)
      : task_(task), own_{.fmt = binary64}, room_(room) {
    own_.rm = own;
  }

  // Whether nothing is to do for the lanes once the machine has rounded a sum.
  bool rounds_as_machine() const {
    const Unit& u = task_.unit;
    const Chain& chain = u.chain;
    return is_machine_mode(own_.rm) && is_machines(u.out) && is_machines(chain.c_round) &&
           is_machines(chain.final) && (!chain.promote || is_machines(chain.promote->round)) &&
           are_nodes_own() && (has_own_products() || (has_exact_products() && rounds_products()));
  }

  // Nothing where exact products are scaled or leave doubles, or a sum has more terms than two
  // before it is rounded.
  std::optional<Rules> rules() const {
    const Unit& u = task_.unit;
    if (task_.multiplier || has_other_scales(u) || u.late_frac || u.product.overflow_to_inf_at ||
        !are_doubles(u.a) || !are_doubles(u.b) || !are_doubles(u.c))
      return std::nullopt;
    Rules r{};
    r.mode = own_.rm.mode;
    const GroupShape shape = set_shape(r, u, task_.k);
    const auto c_joins = [&](CLevel level) { return std::size_t{u.c_level == level}; };
    const std::size_t terms = shape.size + c_joins(CLevel::group),
                      sums = shape.count + c_joins(CLevel::block);
    const bool block = sums > 1, late = u.c_level == CLevel::late;
    if (!adds(u.group_sum, terms, !block && !late) || (block && !adds(u.block_sum, sums, !late)) ||
        (late && !adds(u.c_sum, 2, true)))
      return std::nullopt;
    set_chain(r, u, [&](widthwise::Slot place, const char* where, const Round& to) {
      return made(place, where, to);
    });
    r.group = sum(widthwise::Slot::group_node, "group_sum", u.group_sum, r.out);
    if (block) r.block = sum(widthwise::Slot::block_node, "block_sum", u.block_sum, r.out);
    if (late) r.late = sum(widthwise::Slot::c_node, "c_sum", u.c_sum, r.out);
    // Such a sum passes `out` twice; a -0 that came of rounding is no exact zero the second time.
    const SumRule& last = late ? r.late : block ? r.block : r.group;
    if (last.aligned == Aligned::at_once && r.out.plus_zero) refuse_fine("out", r.out);
    return set_products(r) ? std::optional(r) : std::nullopt;
  }

 private:
  // Rounded as the machine rounds by itself, if at all.
  bool is_machines(const std::optional<Round>& r) const { return !r || *r == own_; }
  // By hand doubles are rounded while the machine rounds to nearest.
  bool rounds_products() const {
    return !task_.unit.product.round || own_.rm.mode == RoundingMode::rne;
  }
  bool has_own_products() const { return task_.unit.product.round == own_; }
  bool are_nodes_own() const {
    const Unit& u = task_.unit;
    const auto own = [&](const Sum& s) {
      return s.order == Order::fused || is_machines(s.node_round);
    };
    return own(u.group_sum) && own(u.block_sum) && own(u.c_sum);
  }

  // `last`: only a rounding looks at the sum.
  bool adds(const Sum& s, std::size_t terms, bool last) const {
    if (s.align.reference != Reference::exact || s.width) return false;
    if (terms == 1) return true;
    return s.order == Order::fused ? terms == 2 && last : s.node_round.has_value();
  }
  SumRule sum(widthwise::Slot place, const char* where, const Sum& s, const Slot& out) const {
    SumRule rule{.aligned = Aligned::pair, .order = s.order};
    if (s.order == Order::fused) {
      if (out.own || out.fine) rule.aligned = Aligned::at_once;  // 53 odd digits do not tell
    } else if (s.node_round) {
      rule.node = is_made(*s.node_round) ? made(place, where, *s.node_round)
                                         : node(place, where, s.node_round, true, room_);
    }
    return rule;
  }

  Slot made(widthwise::Slot place, const char* where, const Round& to) const {
    return is_made(to) ? own_slot(place, to.rm, own_.rm.mode) : slot(place, where, to, room_);
  }

  std::int64_t product_digits() const {
    return task_.unit.a.fmt.precision() + task_.unit.b.fmt.precision();
  }
  bool has_exact_products() const {
    const Format &a = task_.unit.a.fmt, &b = task_.unit.b.fmt;
    return product_digits() <= double_digits && a.least_digit() + b.least_digit() >= least_digit &&
           a.emax() + b.emax() < binary64.emax();
  }
  // False where an exact product is to have more digits than a double.
  bool set_products(Rules& r) const {
    const std::optional<Round> round = of_product(task_.unit.product.round);
    if (round) r.product = made(widthwise::Slot::product, "product.round", *round);
    const bool own = r.product && r.product->own;
    r.long_products = !own && product_digits() > double_digits;
    r.digits_below = task_.unit.a.fmt.frac_bits + task_.unit.b.fmt.frac_bits;
    r.late_scale = task_.unit.scale.has_value();
    if (room_ == Room::near)
      r.watch = near_watch();
    else if (!rounds_as_machine() || r.late_scale)
      r.watch = far_watch(has_own_products() && !r.late_scale ? any_digit : least_digit);
    return round || !r.long_products;
  }

  const ProductTask& task_;
  Round own_;
  Room room_;
};

}  // namespace

std::optional<Rules> machine_rules(const ProductTask& task) {
  if (task.unit.scale) return std::nullopt;
  const PairUnit unit(task, task.unit.out.rm, Room::far);
  try {
    return unit.rounds_as_machine() ? unit.rules() : std::nullopt;
  } catch (const Refusal&) {  // of products that are rounded otherwise
    return std::nullopt;
  }
}

std::optional<Rules> pair_rules(const ProductTask& task) {
  return far_or_near(
      [&](Room room) { return PairUnit(task, Rounding(RoundingMode::rne), room).rules(); });
}

}  // namespace widthwise::blocks
