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

// Digits of whatever a register holds from one block to the next.
constexpr int longest_register(const Unit& u) {
  int digits = std::max(u.c.fmt.precision(), u.out.fmt.precision());
  if (u.chain.promote) digits = std::max(digits, u.chain.promote->round.fmt.precision());
  if (u.chain.c_round) digits = std::max(digits, u.chain.c_round->fmt.precision());
  return digits;
}

// A unit made ready for carriers M and H: its formats laid out and its roundings prepared.
template <class M, class H>
struct Datapath {
  Unit unit;
  Layout<H> a, b, c;
  std::optional<Layout<H>> scale;
  int product_digits, register_digits;  // at most
  std::optional<RoundingSlot<H>> product_round;
  Adder<M, H> group_sum, block_sum, c_sum;
  SumRule<M> exact_sum;  // of registers
  RoundingSlot<H> out;
  std::optional<RoundingSlot<H>> c_round, promote, final;
  std::optional<CompensationSlots<H>> compensation;

  explicit constexpr Datapath(const Unit& u)
      : unit(u),
        a(u.a.fmt),
        b(u.b.fmt),
        c(u.c.fmt),
        scale(u.scale ? std::optional<Layout<H>>(std::in_place, u.scale->fmt) : std::nullopt),
        product_digits(u.a.fmt.precision() + u.b.fmt.precision()),
        register_digits(longest_register(u)),
        product_round(slot_if<H>(Slot::product, of_product(u.product.round))),
        group_sum(adder(u.group_sum, Slot::group_node, CLevel::group,
                        is_placed(u.block_sum) || is_placed(u.c_sum))),
        block_sum(adder(u.block_sum, Slot::block_node, CLevel::block, is_placed(u.c_sum))),
        c_sum(adder(u.c_sum, Slot::c_node, CLevel::late, false)),
        out(Slot::out, u.out),
        c_round(slot_if<H>(Slot::c_round, u.chain.c_round)),
        promote(u.chain.promote ? slot_if<H>(Slot::promote, u.chain.promote->round) : std::nullopt),
        final(slot_if<H>(Slot::final, u.chain.final)),
        compensation(u.chain.compensation == Compensation::none
                         ? std::nullopt
                         : std::optional<CompensationSlots<H>>(std::in_place, u.out)) {}

 private:
  // Whether its last digit is that of its terms.
  static constexpr bool is_placed(const Sum& s) {
    return s.align.reference == Reference::exact && s.width;
  }
  // `placed`: such a register follows.
  constexpr Adder<M, H> adder(const Sum& sum, Slot slot, CLevel level, bool placed) const {
    const auto late = level == CLevel::late ? unit.late_frac : std::nullopt;
    return {{sum, late, placed},
            slot_if<H>(slot, has_nodes(sum) ? sum.node_round : std::nullopt),
            has_nodes(sum) ? reach_of(*sum.node_round) : reach_of(unit, level)};
  }
};

// A lane: two operands, conditioned, and their block scales where the unit has them.
template <class H>
struct Lane {
  Factor<H> a, b, scale_a, scale_b;
};
template <class H>
constexpr const Factor<H>& factor_a(std::span<const Lane<H>> lanes, std::size_t i) {
  return lanes[i].a;
}
template <class H>
constexpr const Factor<H>& factor_b(std::span<const Lane<H>> lanes, std::size_t i) {
  return lanes[i].b;
}
template <class H>
constexpr const Factor<H>& factor_scale_a(std::span<const Lane<H>> lanes, std::size_t i) {
  return lanes[i].scale_a;
}
template <class H>
constexpr const Factor<H>& factor_scale_b(std::span<const Lane<H>> lanes, std::size_t i) {
  return lanes[i].scale_b;
}

// Room for one block's terms, lent by the caller: for lanes + 1 products, as many of one group, and
// one sum a group and C.
template <class M>
struct Scratch {
  std::span<Term<M>> products, group, sums;
};

template <class M, class H, class Lanes, class Multiplier, class State, class Trace>
WIDTHWISE_WITHIN constexpr void product(const Datapath<M, H>& u, const Lanes& lanes, std::size_t i,
                                        std::int64_t step, const Multiplier& multiplier,
                                        State& progress, Trace& trace, Term<M>& z) {
  exact_product(u.unit.product, factor_a(lanes, i), factor_b(lanes, i), step, multiplier, z);
  z.length = u.product_digits;
  if constexpr (traced<Trace>)  // neither has digits to show
    if (factor_a(lanes, i).endless || factor_b(lanes, i).endless) z.m = M{}, z.q = Int<M>{};
  trace(Stage::product, z, z);
  if (u.product_round) {
    const Mask<M> zero = is_zero(z);
    round_term(*u.product_round, step, progress, trace, z);
    z.q = select(zero & is_zero(z), Int<M>{}, z.q);
  }
  if (u.scale && u.unit.scale->apply == ScaleApply::term) {
    const int digits = u.unit.scale->fmt.precision();
    scale_by(factor_scale_a(lanes, i), digits, z);
    scale_by(factor_scale_b(lanes, i), digits, z);
    trace(Stage::scale, z, z);
  }
}

// A group sum times its two scales. It aligns at the exponents of the scales alone, and is an
// exact zero only if all its products were, or a scale is.
template <class M, class H, class State>
constexpr void scale_group(const Mask<M>& zero_products, const Factor<H>& a, const Factor<H>& b,
                           [[maybe_unused]] int digits, [[maybe_unused]] State& progress,
                           Term<M>& z) {
  if constexpr (State::loses)
    progress.lose(M(z.m >> (widthwise::digits<M> - 2 - 2 * digits)) != M{});
  z.zero = select(z.endless, z.zero, z.m == M{});  // times infinity it is NaN
  z.length = z.unknown;
  scale_by(a, digits, z);
  scale_by(b, digits, z);
  z.e = a.e + b.e;
  z.zero = select(z.endless, z.zero, zero_products | is_zero(a) | is_zero(b));
  z.m = select(z.zero, M{}, z.m);  // nodes without a zero made a number of none
  z.mixed = z.mixed & no(z.endless);
  z.negative = z.negative & no(z.mixed);
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

// A block under way: its lanes, where its terms lie, and its unit.
template <class M, class H, class Lanes>
struct Block {
  const Datapath<M, H>& unit;
  const Lanes& lanes;
  GroupShape shape;
  std::span<Term<M>> products, room, sums;  // products are where their sum would be, if it is one

  constexpr Block(const Datapath<M, H>& u, const Lanes& l, const Scratch<M>& s)
      : unit(u),
        lanes(l),
        shape(group_shape(u.unit.groups, l.size())),
        products((l.size() == 1 ? s.sums : s.products).first(l.size() + 1)),
        room(s.group),
        sums(s.sums) {}

  constexpr bool scales_groups() const {
    return unit.scale && unit.unit.scale->apply == ScaleApply::group;
  }
  // C where the sum that it joins reads it, if that takes neighbours.
  constexpr Term<M>& place_of_c(Term<M>& late) const {
    return unit.unit.c_level == CLevel::group   ? products[lanes.size()]
           : unit.unit.c_level == CLevel::block ? sums[shape.count]
                                                : late;
  }

  // NaN and infinities that make one of the block before any arithmetic.
  constexpr SpecialSum<M> specials(const Term<M>& c) const {
    SpecialSum<M> z;
    for (const Term<M>& t : products.first(lanes.size())) z.take(t);
    z.take(c);
    for (std::size_t i = 0; unit.scale && i < lanes.size(); ++i)
      z.nan = z.nan | is_nan(factor_scale_a(lanes, i)) | is_nan(factor_scale_b(lanes, i));
    return z;
  }

  // The sum of a group, with C where it belongs there.
  template <class State, class Trace>
  constexpr void sum_group(std::size_t g, State& progress, Trace& trace) const {
    const bool with_c = unit.unit.c_level == CLevel::group;
    const std::span<Term<M>> terms = group_terms(shape, g, with_c, products, room);
    Term<M>& z = sums[g];
    Mask<M> zero_products{};
    if (scales_groups()) {
      zero_products = terms[0].zero;
      for (const Term<M>& t : terms) zero_products = zero_products & t.zero;
    }
    reduce(unit.group_sum, terms, progress, trace, z);
    trace(Stage::group_sum, z, z);
    if (!scales_groups()) return;
    const std::size_t lane = shape.lane(g, 0);
    scale_group(zero_products, factor_scale_a(lanes, lane), factor_scale_b(lanes, lane),
                unit.unit.scale->fmt.precision(), progress, z);
    trace(Stage::scale, z, z);
  }

  // Its products and C, added.
  template <class State, class Trace>
  constexpr Term<M>& sum(const Term<M>& c, State& progress, Trace& trace) const {
    for (std::size_t g = 0; g < shape.count; ++g) sum_group(g, progress, trace);
    const std::size_t n = shape.count + (unit.unit.c_level == CLevel::block);
    Term<M>& z = sums[0];
    if (n > 1) reduce(unit.block_sum, sums.first(n), progress, trace, z);
    trace(Stage::block_sum, z, z);
    if (unit.unit.c_level == CLevel::late) reduce_pair(unit.c_sum, z, c, progress, trace, z);
    trace(Stage::join, z, z);
    return z;
  }

  // The same where infinities or NaN are about: some blocks are one before any of them is added.
  template <class State, class Trace>
  WIDTHWISE_APART constexpr Term<M>& sum_with_specials(Term<M>& c, State& progress,
                                                       Trace& trace) const {
    const SpecialSum<M> special = specials(c);
    const Mask<M> here = special.endless();
    const State before = progress;
    Term<M>& z = any(no(here)) ? sum(c, progress, trace) : c;
    progress.take_back(here, before);
    special.put(z);
    return z;
  }
};

// One block of lanes from position `first` along k added to C: a register of the unit's out format.
template <class M, class H, class Lanes, class Multiplier, class State, class Trace>
constexpr void block(const Datapath<M, H>& u, const Lanes& lanes, std::int64_t first,
                     const Scratch<M>& scratch, const Multiplier& multiplier, State& progress,
                     Trace& trace, Register<H>& acc) {
  const Block<M, H, Lanes> at(u, lanes, scratch);
  Term<M> late;
  Term<M>& c = at.place_of_c(late);
  put_term(acc.value, first, true, u.register_digits, c);
  trace(Stage::unpack, c, c);
  Mask<M> endless = c.endless;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Term<M>& z = at.products[i];
    product(u, lanes, i, first + static_cast<std::int64_t>(i), multiplier, progress, trace, z);
    endless = endless | z.endless;
    if (at.scales_groups())
      endless = endless | factor_scale_a(lanes, i).endless | factor_scale_b(lanes, i).endless;
  }
  const Term<M>& z =
      any(endless) ? at.sum_with_specials(c, progress, trace) : at.sum(c, progress, trace);
  round_to(u.out, z, first, progress, trace, acc);
}

}  // namespace widthwise
