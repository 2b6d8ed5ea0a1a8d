#include "chain_rules.hpp"

// Units whose blocks are exact sums of products, each two doubles until it is rounded
// (docs/exactness.md, 49).
namespace widthwise::blocks {
namespace {

// As the machine rounds by itself.
bool is_machines(const Round& r) { return r == Round{.fmt = binary64}; }

// Whether the chain adds numbers, which may be past the largest double together, and rounds them by
// hand.
bool adds_by_hand(const Chain& chain) {
  const auto by_hand = [](const std::optional<Round>& r) { return r && !is_machines(*r); };
  return by_hand(chain.c_round) || (chain.promote && !is_machines(chain.promote->round));
}

bool is_exact_block(const Unit& u) {
  return plain_exact(u.group_sum) && !u.groups && u.c_level == CLevel::group && !u.scale &&
         !u.late_frac && !u.product.overflow_to_inf_at &&
         u.chain.compensation == Compensation::none;
}

std::optional<Rules> rules_of(const ProductTask& task, const Unit& u, Room room) {
  const bool rounded = u.product.round.has_value();
  if (task.multiplier || !is_exact_block(u) || (rounded && !is_made(*u.product.round)) ||
      !are_doubles(u.a) || !are_doubles(u.b) || !are_doubles(u.c))
    return std::nullopt;
  Rules r{};
  set_shape(r, u, task.k);
  r.group = {.aligned = Aligned::twofold};
  if (rounded) r.product = own_slot(widthwise::Slot::product, u.product.round->rm);
  const bool by_hand = rounded && r.product->by_hand;
  r.plain_twofold = !by_hand;
  r.long_products = !rounded && u.a.fmt.precision() + u.b.fmt.precision() > double_digits;
  if (room == Room::near)
    r.watch = near_watch();
  else if (by_hand || adds_by_hand(u.chain))
    r.watch = far_watch(rounded && !by_hand ? any_digit : least_digit);
  r.digits_below = u.a.fmt.frac_bits + u.b.fmt.frac_bits;
  set_chain(r, u, [&](widthwise::Slot place, const char* where, const Round& to) {
    return is_made(to) ? own_slot(place, to.rm) : slot(place, where, to, room);
  });
  if (r.out.fine) return std::nullopt;
  return r;
}

}  // namespace

std::optional<Rules> twofold_rules(const ProductTask& task, const Unit& flat) {
  return far_or_near([&](Room room) { return rules_of(task, flat, room); });
}

}  // namespace widthwise::blocks
