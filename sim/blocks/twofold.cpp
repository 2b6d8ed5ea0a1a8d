#include "chain_rules.hpp"
#include "sim/engine/machine_rounding.hpp"

// Units whose blocks are exact sums of products, each two doubles until it is rounded
// (docs/exactness.md, 49).
namespace widthwise::blocks {
namespace {

// To binary64, by a mode that knows no ties but even ones, or by chance.
bool is_known(const Round& r) {
  using enum RoundingMode;
  const bool known =
      is_machine_mode(r.rm) || r.rm.stochastic() || r.rm == Rounding(odd) || r.rm == Rounding(raz);
  return is_own(r) && known && r.rm.random_bits <= most_random_bits;
}
bool is_nearest(const Round& r) { return r == Round{.fmt = binary64}; }

// The machine adds to nearest, and blocks alone are rounded by hand.
bool is_by_hand(const std::optional<Round>& r) { return r && is_known(*r) && !is_nearest(*r); }
bool are_blocks_alone_by_hand(const Unit& u) {
  const auto& promote = u.chain.promote;
  return !is_by_hand(u.product.round) && !is_by_hand(u.chain.c_round) &&
         !is_by_hand(u.chain.final) && !(promote && is_by_hand(promote->round));
}

// Whether the chain adds numbers, which may be past the largest double together, and rounds them by
// hand.
bool adds_by_hand(const Chain& chain) {
  const auto by_hand = [](const std::optional<Round>& r) { return r && !is_nearest(*r); };
  return by_hand(chain.c_round) || (chain.promote && !is_nearest(chain.promote->round));
}

bool is_exact_block(const Unit& u) {
  return plain_exact(u.group_sum) && !u.groups && u.c_level == CLevel::group && !u.scale &&
         !u.late_frac && !u.product.overflow_to_inf_at &&
         u.chain.compensation == Compensation::none;
}

std::optional<Rules> rules_of(const ProductTask& task, const Unit& u, Room room) {
  const bool rounded = u.product.round.has_value();
  if (task.multiplier || !is_exact_block(u) || !are_blocks_alone_by_hand(u) ||
      (rounded && !is_nearest(*u.product.round)) || !are_doubles(u.a) || !are_doubles(u.b) ||
      !are_doubles(u.c))
    return std::nullopt;
  Rules r{};
  set_shape(r, u, task.k);
  r.group = {.aligned = Aligned::twofold};
  if (rounded) r.product = own_slot(widthwise::Slot::product, {});
  r.plain_twofold = true;
  r.long_products = !rounded && u.a.fmt.precision() + u.b.fmt.precision() > double_digits;
  if (room == Room::near)
    r.watch = near_watch();
  else if (adds_by_hand(u.chain))
    r.watch = far_watch(rounded ? any_digit : least_digit);
  r.digits_below = u.a.fmt.frac_bits + u.b.fmt.frac_bits;
  set_chain(r, u, [&](widthwise::Slot place, const char* where, const Round& to) {
    return is_known(to) ? own_slot(place, to.rm) : slot(place, where, to, room);
  });
  return r;
}

}  // namespace

std::optional<Rules> twofold_rules(const ProductTask& task, const Unit& flat) {
  return far_or_near([&](Room room) { return rules_of(task, flat, room); });
}

}  // namespace widthwise::blocks
