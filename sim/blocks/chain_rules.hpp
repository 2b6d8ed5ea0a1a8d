#pragma once
#include <cmath>

#include "slots.hpp"
#include "widthwise/datapath/block.hpp"

// What every unit has: the shape of a block, and the roundings of its chain.
namespace widthwise::blocks {

inline constexpr std::int64_t most_lanes = 16384;  // a block lies in one panel

// The roundings of a chain, each by make(place, name, description).
template <class MakeSlot>
void set_chain(Rules& r, const Unit& u, const MakeSlot& make) {
  using enum widthwise::Slot;
  const auto made = [&](widthwise::Slot place, const char* where, const std::optional<Round>& to) {
    return to ? std::optional<Slot>(make(place, where, *to)) : std::nullopt;
  };
  r.out = make(out, "out", u.out);
  r.c_round = made(c_round, "chain.c_round", u.chain.c_round);
  r.c_last = u.chain.c_at == CAt::last;
  if (u.chain.promote) {
    r.promote = make(promote, "chain.promote.round", u.chain.promote->round);
    r.interval = static_cast<std::size_t>(u.chain.promote->interval);
  }
  r.final = made(final, "chain.final", u.chain.final);
  r.compensation = u.chain.compensation;
  if (r.compensation == Compensation::none) return;
  r.compensated = {make(addend, "out", u.out), make(difference, "out", u.out),
                   make(error, "out", u.out), make(widthwise::Slot::compensation, "out", u.out),
                   make(compensated, "out", u.out)};
}

inline GroupShape set_shape(Rules& r, const Unit& u, std::size_t k) {
  const auto lanes = u.lanes ? static_cast<std::size_t>(u.lanes) : k;
  if (lanes > most_lanes) refuse("more than {} products a block", most_lanes);
  const GroupShape shape = group_shape(u.groups, lanes);
  r.lanes = lanes;
  r.last_step = (k - 1) / lanes * lanes;
  r.group_count = shape.count, r.group_size = shape.size, r.strided = shape.strided;
  r.c_level = u.c_level;
  return shape;
}

// make(room): far, or near where some exponent is out of range else.
template <class Make>
auto far_or_near(const Make& make) {
  try {
    return make(Room::far);
  } catch (const Refusal& refusal) {
    if (!refusal.of_range) throw;
    return make(Room::near);
  }
}
// Of products whose last digits are 2^least_digit or above, and magnitudes up to 2^most.
inline Watch watch(int least_digit, std::int64_t most) {
  return {least_digit, std::ldexp(1.0, least_digit + double_digits - 1),
          std::ldexp(1.0, static_cast<int>(most))};
}
inline Watch near_watch() { return watch(-watched_reach, watched_reach); }
inline Watch far_watch(int least_digit) { return watch(least_digit, most_exponent); }

bool scales_terms(const Unit& u);
// Whether scales of terms are powers of two, and they and the operands doubles.
bool has_power_scales(const Unit& u);
// Whether there are other scales than those, or what they meet is not a rounded product.
bool has_other_scales(const Unit& u);

// Refuses units whose sums may leave a double's exponents as k products are added, however small
// those are.
void refuse_growth(const Rules& r, std::size_t k);

// An exact sum that is not rounded, of all its terms at once.
bool plain_exact(const Sum& s);
// Exact sums of exact sums are one: C joins the products, and groups do not matter.
Unit flattened(Unit u);

// Rules of a unit whose every sum is rounded to binary64 by one of the machine's modes; nothing of
// any other.
std::optional<Rules> machine_rules(const ProductTask& task);

// Rules of a unit whose every sum of two numbers is rounded, in whatever way; nothing of any other.
std::optional<Rules> pair_rules(const ProductTask& task);

// Rules of a unit, flattened, whose blocks are exact sums of products, rounded once; nothing of any
// other.
std::optional<Rules> twofold_rules(const ProductTask& task, const Unit& flat);

}  // namespace widthwise::blocks
