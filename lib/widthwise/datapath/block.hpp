#pragma once
#include "widthwise/datapath/product.hpp"
#include "widthwise/datapath/sum.hpp"

// One block of a unit: products -> group sums -> block sum -> join with C -> normalise and round.
namespace widthwise {

// The same for the sum that takes C in, which only `out` looks at. 0 where its exact value is
// needed: by another sum, or by further nodes of its own.
constexpr std::int64_t reach_of(const Unit& u, CLevel level) {
  if (u.c_level != level) return 0;
  const bool in_group = level == CLevel::group;
  const Order order = in_group ? u.group_sum.order : u.block_sum.order;
  const bool one_node = in_group ? u.lanes == 1 : level == CLevel::late || !u.groups;
  return order == Order::fused || one_node ? reach_of(u.out) : 0;
}

// Products keep the sign of their factors: zero_sign is about sums.
constexpr std::optional<Round> of_product(std::optional<Round> r) {
  if (r) r->zero_sign = ZeroSign::ieee;
  return r;
}

// Where a compensated sum rounds besides `out`, and as that does; named for what each makes.
template <class H>
struct CompensationSlots {
  RoundingSlot<H> addend, difference, error, compensation, compensated;

  explicit constexpr CompensationSlots(const Round& r)
      : addend(Slot::addend, r),
        difference(Slot::difference, r),
        error(Slot::error, r),
        compensation(Slot::compensation, r),
        compensated(Slot::compensated, r) {}
};

// A unit made ready for carriers M and H: its formats laid out and its roundings prepared.
template <class M, class H>
struct Datapath {
  Unit unit;
  Layout<H> a, b, c;
  std::optional<Layout<H>> scale;
  std::optional<RoundingSlot<H>> product_round;
  Adder<H> group_sum, block_sum, c_sum;
  RoundingSlot<H> out;
  std::optional<RoundingSlot<H>> c_round, promote, final;
  std::optional<CompensationSlots<H>> compensation;

  explicit constexpr Datapath(const Unit& u)
      : unit(u),
        a(u.a.fmt),
        b(u.b.fmt),
        c(u.c.fmt),
        scale(u.scale ? std::optional<Layout<H>>(std::in_place, u.scale->fmt) : std::nullopt),
        product_round(slot_if<H>(Slot::product, of_product(u.product.round))),
        group_sum(adder(u.group_sum, Slot::group_node, CLevel::group)),
        block_sum(adder(u.block_sum, Slot::block_node, CLevel::block)),
        c_sum(adder(u.c_sum, Slot::c_node, CLevel::late)),
        out(Slot::out, u.out),
        c_round(slot_if<H>(Slot::c_round, u.chain.c_round)),
        promote(u.chain.promote ? slot_if<H>(Slot::promote, u.chain.promote->round) : std::nullopt),
        final(slot_if<H>(Slot::final, u.chain.final)),
        compensation(u.chain.compensation == Compensation::none
                         ? std::nullopt
                         : std::optional<CompensationSlots<H>>(std::in_place, u.out)) {
    c_sum.context.late = u.late_frac;
  }

 private:
  constexpr Adder<H> adder(const Sum& sum, Slot slot, CLevel level) const {
    return {sum,
            slot_if<H>(slot, has_nodes(sum) ? sum.node_round : std::nullopt),
            {.reach = reach_of(unit, level)}};
  }
};

// A lane: two operands, conditioned, and their block scales where the unit has them.
template <class H>
struct Lane {
  Factor<H> a, b, scale_a, scale_b;
};

// Room for one block's terms, lent by the caller: for lanes + 1 products, as many of one group, and
// one sum a group and C.
template <class M>
struct Scratch {
  std::span<Term<M>> products, group, sums;
};

template <class M, class H, class Multiplier, class Trace>
constexpr Term<M> product(const Datapath<M, H>& u, const Lane<H>& lane, std::int64_t step,
                          const Multiplier& multiplier, Progress& progress, Trace& trace) {
  Term<M> z = exact_product<M>(u.unit.product, lane.a, lane.b, step, multiplier);
  trace(Stage::product, z, z);
  if (u.product_round) {
    const bool zero = z.kind == Kind::zero;
    z = rounded_term(*u.product_round, z, step, progress, trace);
    if (zero && z.kind == Kind::zero) z.q = 0;
  }
  if (u.scale && u.unit.scale->apply == ScaleApply::term) {
    scale_by(lane.scale_a, z);
    scale_by(lane.scale_b, z);
    trace(Stage::scale, z, z);
  }
  return z;
}

// A group sum times its two scales. It aligns at the exponents of the scales alone, and is an
// exact zero only if all its products were, or a scale is.
template <class M, class H>
constexpr Term<M> scaled_group(const Term<M>& sum, bool zero_products, const Lane<H>& lane) {
  Term<M> z = sum;
  if (z.kind == Kind::finite && z.m == M{}) z.kind = Kind::zero;  // times infinity it is NaN
  scale_by(lane.scale_a, z);
  scale_by(lane.scale_b, z);
  z.e = lane.scale_a.e + lane.scale_b.e;
  if (z.kind == Kind::infinite || z.kind == Kind::nan) return z;
  const bool zero_scale = lane.scale_a.kind == Kind::zero || lane.scale_b.kind == Kind::zero;
  z.kind = zero_products || zero_scale ? Kind::zero : Kind::finite;
  z.mixed = sum.mixed;
  if (z.mixed) z.negative = false;
  return z;
}

// Which lanes make up group g: `size` neighbours, or every `count`-th lane.
struct GroupShape {
  std::size_t count, size;
  bool strided;
  constexpr std::size_t lane(std::size_t g, std::size_t i) const {
    return strided ? g + i * count : g * size + i;
  }
};
constexpr GroupShape group_shape(const std::optional<Groups>& groups, std::size_t lanes) {
  if (!groups) return {1, lanes, false};
  if (groups->strided) {
    const std::size_t count = std::min(static_cast<std::size_t>(*groups->strided), lanes);
    return {count, (lanes + count - 1) / count, true};
  }
  const auto size = static_cast<std::size_t>(*groups->consecutive);
  return {(lanes + size - 1) / size, size, false};
}

template <class H>
constexpr bool scale_is_nan(const Lane<H>& lane) {
  return lane.scale_a.kind == Kind::nan || lane.scale_b.kind == Kind::nan;
}

// All products of the block; NaN or infinity if they and C make one before any arithmetic.
template <class M, class H, class Multiplier, class Trace>
constexpr Term<M> multiply_lanes(const Datapath<M, H>& u, std::span<const Lane<H>> lanes,
                                 const Term<M>& c, std::int64_t first, std::span<Term<M>> products,
                                 const Multiplier& multiplier, Progress& progress, Trace& trace) {
  bool nan = false;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    products[i] =
        product(u, lanes[i], first + static_cast<std::int64_t>(i), multiplier, progress, trace);
    nan |= u.scale && scale_is_nan(lanes[i]);
  }
  products[lanes.size()] = c;
  if (nan) return {.kind = Kind::nan};
  return special_sum<M>(products.first(lanes.size() + 1));
}

// The terms of group g: in their places if they are neighbours, else side by side in `room`. C lies
// behind all products, and joins them where there is one group.
template <class T>
constexpr std::span<T> group_terms(const GroupShape& shape, std::size_t g, bool with_c,
                                   std::span<T> products, std::span<T> room) {
  const std::size_t lanes = products.size() - 1, first = shape.lane(g, 0);
  if (!shape.strided) return products.subspan(first, std::min(shape.size, lanes - first) + with_c);
  std::size_t n = 0;
  for (; n < shape.size && shape.lane(g, n) < lanes; ++n) room[n] = products[shape.lane(g, n)];
  return room.first(n);
}

template <class M>
constexpr bool are_zeros(std::span<const Term<M>> terms) {
  return std::ranges::all_of(terms, [](const Term<M>& t) { return t.kind == Kind::zero; });
}

// The sum of every group, with C where it belongs there. Works in place.
template <class M, class H, class Trace>
constexpr std::span<Term<M>> sum_groups(const Datapath<M, H>& u, std::span<const Lane<H>> lanes,
                                        const Scratch<M>& s, Progress& progress, Trace& trace) {
  const GroupShape shape = group_shape(u.unit.groups, lanes.size());
  const bool with_c = u.unit.c_level == CLevel::group;
  const bool scales = u.unit.scale && u.unit.scale->apply == ScaleApply::group;
  for (std::size_t g = 0; g < shape.count; ++g) {
    const std::span<Term<M>> terms =
        group_terms(shape, g, with_c, s.products.first(lanes.size() + 1), s.group);
    const bool zero_products = scales && are_zeros<M>(terms);
    s.sums[g] = reduce(u.group_sum, terms, progress, trace);
    trace(Stage::group_sum, s.sums[g], s.sums[g]);
    if (scales) {
      s.sums[g] = scaled_group(s.sums[g], zero_products, lanes[shape.lane(g, 0)]);
      trace(Stage::scale, s.sums[g], s.sums[g]);
    }
  }
  return s.sums.first(shape.count);
}

// One block of lanes from position `first` along k, and C: a code of the unit's out format.
template <class M, class H, class Multiplier, class Trace>
constexpr H block(const Datapath<M, H>& u, std::span<const Lane<H>> lanes, const Factor<H>& acc,
                  std::int64_t first, const Scratch<M>& s, const Multiplier& multiplier,
                  Progress& progress, Trace& trace) {
  const Term<M> c = term<M>(acc, first, true);
  trace(Stage::unpack, c, c);
  Term<M> z = multiply_lanes(u, lanes, c, first, s.products, multiplier, progress, trace);
  if (z.kind == Kind::zero) {
    std::span<Term<M>> sums = sum_groups(u, lanes, s, progress, trace);
    if (u.unit.c_level == CLevel::block) {
      s.sums[sums.size()] = c;
      sums = s.sums.first(sums.size() + 1);
    }
    z = sums.size() == 1 ? sums[0] : reduce(u.block_sum, sums, progress, trace);
    trace(Stage::block_sum, z, z);
    if (u.unit.c_level == CLevel::late) {
      Term<M> pair[2] = {z, c};
      z = reduce(u.c_sum, std::span<Term<M>>(pair), progress, trace);
    }
    trace(Stage::join, z, z);
  }
  return rounded(u.out, z, first, progress, trace);
}

}  // namespace widthwise
