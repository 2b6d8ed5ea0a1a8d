// The three sums of a unit (lib's datapath/sum.hpp) for a row of outputs. Sums are in two's
// complement while they grow. Whatever a carrier has no room for is lost: one
// that has, at last the reference's, computes that output.
#if defined(WIDTHWISE_ROWS_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ROWS_SUMS_INL
#undef WIDTHWISE_ROWS_SUMS_INL
#else
#define WIDTHWISE_ROWS_SUMS_INL
#endif

#include "sim/rows/rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

// One of the unit's sums, made ready.
template <class M, class C>
struct Joint {
  Sum sum;
  Place<C> node;  // its slot is null where nodes do not round
  std::optional<LateFrac> late;
  RoundingRule align;
  bool bounded;  // values as wide as the carrier's may overflow its register
  bool placed;   // a register may follow whose last digit is that of its terms, and no rounding
  M half, modulus;

  HWY_INLINE Joint(const Adder<Rows<C>>& adder, const Dice<RowWord>& dice, bool is_placed)
      : sum(adder.sum),
        node{adder.node ? &*adder.node : nullptr, dice},
        late(adder.context.late),
        align(sum.align.rm),
        bounded(sum.width && *sum.width < digits_of<M> - 1),
        placed(is_placed && adder.context.reach == 0) {
    if (bounded) half = M(1) << (static_cast<int>(*sum.width) - 1), modulus = half << 1;
  }

  // Whether nothing sees where the last digit of an exact sum lies, which a rounding may follow at
  // once: no register, its own included.
  HWY_INLINE bool value_alone(bool rounds) const {
    if (bounded || (sum.width && sum.order != Order::fused && !rounds)) return false;
    return rounds || !placed;
  }
};

// A two's-complement value in the sum's register.
template <class M, class C>
HWY_INLINE M fit(const Joint<M, C>& j, const M& v, Fate& fate) {
  if (!j.bounded) return v;
  const M raised = v + j.half;
  const Truth fits = raised < j.modulus;
  if (j.sum.overflow == RegisterOverflow::flag)
    fate.flags = fate.flags | select(fits, Count(0), Count(overflow));
  if (j.sum.overflow != RegisterOverflow::saturate) return (raised & (j.modulus - M(1))) - j.half;
  const M lowest = M(0) - j.half, end = select(is_negative(v), lowest, j.half - M(1));
  return select(fits, v, end);
}

// A term without its n low digits, n < 0: with so many more, in two's complement modulo
// 2^(digits - 1).
template <class M>
HWY_INLINE M wrapped(const RoundingRule& rule, const Terms<M>& t, const Count& n) {
  const M v = cut(rule, t.negative, t.m, n) << as_shift<M>(Count(0) - n);
  return negate_if(t.negative, v);
}

// A term as a multiple of 2^lsb, in two's complement: below 2^room, or lost. Where its length is
// known it goes to the top of the room first, from where all ways lead down.
template <class M>
HWY_INLINE M aligned(const RoundingRule& rule, const Terms<M>& t, const Count& lsb,
                     std::int64_t room, Fate& fate) {
  const Count n = lsb - t.q;
  if (const std::int64_t up = room - t.length; up >= 0) {
    fate.lost = fate.lost | ((n < Count(-up)) & no(t.zero));
    const M raised = t.m << static_cast<int>(up);
    return negate_if(t.negative, cut(rule, t.negative, raised, n + Count(up)));
  }
  fate.lost = fate.lost | ((t.m >> as_shift<M>(n + Count(room))) != M(0));
  return wrapped(rule, t, n);
}

// Digits of each of so many terms that a carrier has room for.
template <class M>
HWY_INLINE std::int64_t room_for(std::size_t terms) {
  return digits_of<M> - 2 - bit_length(static_cast<std::uint64_t>(terms));
}

template <class M>
struct Total {
  M v;      // in two's complement
  Count q;  // where its last digit lies
};

template <class M, class C>
HWY_INLINE Total<M> sum_in_window(const Joint<M, C>& j, std::span<const Terms<M>> all,
                                  const Count& e, Fate& fate) {
  const Align& align = j.sum.align;
  const auto& late = j.late;
  const std::int64_t F = window_frac(align, late);
  M total(0);
  for (const Terms<M>& t : all) {
    const std::int64_t own = !late ? F : t.is_c ? late->F_C : late->F_sum;
    const std::int64_t room = room_for<M>(all.size()) - (F - own);
    Fate here = fate;
    M v(0);
    if (room >= 0)
      v = aligned(j.align, t, e - Count(own), room, here) << static_cast<int>(F - own);
    else
      here.lost = here.lost | (t.m != M(0));
    if (t.is_c && align.drop_c_below) {
      const Truth dropped = t.e < e - Count(*align.drop_c_below);
      here.lost = select(dropped, fate.lost, here.lost);
      v = select(dropped, M(0), v);
    }
    fate = here;
    total = total + v;
  }
  return {fit(j, total, fate), e - Count(F)};
}

// What a register that wraps loses above it had no room for either.
template <class M, class C>
HWY_INLINE M in_register(const Joint<M, C>& j, const RoundingRule& rule, const Terms<M>& t,
                         const Count& lsb, std::size_t terms, Fate& fate) {
  if (j.bounded && j.sum.overflow == RegisterOverflow::wrap) return wrapped(rule, t, lsb - t.q);
  return aligned(rule, t, lsb, room_for<M>(terms), fate);
}

// Where the last digit of any of the terms lies that has one, else at the top of all.
template <class M>
HWY_INLINE Count last_digit(std::span<const Terms<M>> all) {
  Count last(INT64_MAX);
  for (const Terms<M>& t : all) last = lesser(last, select(t.m != M(0), t.q, last));
  return last;
}

// What the register has below all terms' digits is left away where nothing sees it.
template <class M, class C>
HWY_INLINE Total<M> sum_in_register(const Joint<M, C>& j, std::span<const Terms<M>> all,
                                    bool rounds, Fate& fate) {
  Count lsb(-j.sum.align.frac_bits);
  if (!j.sum.width && j.value_alone(rounds)) {
    const Count last = last_digit(all);
    lsb = select(last < Count(INT64_MAX), greater(lsb, last), lsb);
  }
  M total(0);
  for (const Terms<M>& t : all) {
    const M v = in_register(j, j.align, t, lsb, all.size(), fate);
    if (j.sum.overflow == RegisterOverflow::flag) fit(j, v, fate);
    total = fit(j, total + v, fate);
  }
  return {total, lsb};
}

// Of terms that are not cut.
inline constexpr RoundingRule nothing_lost{Rounding{RoundingMode::rtz}};

template <class M, class C>
HWY_INLINE Total<M> sum_exactly(const Joint<M, C>& j, std::span<const Terms<M>> all, bool rounds,
                                Fate& fate) {
  Count last = last_digit(all), of_any(INT64_MAX);
  for (const Terms<M>& t : all) of_any = lesser(of_any, t.q);
  if (!j.value_alone(rounds)) last = of_any;
  last = select(last < Count(INT64_MAX), last, Count(0));
  if (j.sum.width && !j.bounded)  // of a register that holds all that a carrier does, if placed so
    fate.lost = fate.lost | (last - of_any > Count(*j.sum.width - digits_of<M> + 1));
  M total(0);
  for (const Terms<M>& t : all)
    total = total + in_register(j, nothing_lost, t, last, all.size(), fate);
  return {fit(j, total, fate), last};
}

// lib's special_sum, where terms are infinite or NaN.
template <class M>
HWY_INLINE void take_special_sum(std::span<const Terms<M>> all, Terms<M>& z) {
  Truth plus(false), minus(false), nan(false);
  for (const Terms<M>& t : all) {
    nan = nan | is_nan(t);
    const Truth infinite = t.endless & no(t.zero);
    minus = minus | (infinite & t.negative), plus = plus | (infinite & no(t.negative));
  }
  z.endless = nan | plus | minus;
  z.negative = select(z.endless, minus, z.negative);
  z.zero = select(z.endless, nan | (plus & minus), z.zero);
  z.mixed = z.mixed & no(z.endless);
  z.m = select(z.endless, M(0), z.m);
}

// All terms aligned once and added as integers; `rounds`: their sum is rounded then.
template <class M, class C>
WIDTHWISE_HERE HWY_NOINLINE Terms<M> fused_sum(const Joint<M, C>& j, std::span<const Terms<M>> all,
                                               bool rounds, Fate& fate) {
  Truth minus(false), plus(false), voted(false), endless(false);
  const Fate before = fate;
  Count e(INT64_MIN);
  for (const Terms<M>& t : all) {
    minus = minus | t.negative, plus = plus | no(t.negative), voted = voted | no(t.zero);
    endless = endless | t.endless;
    e = select(t.zero, e, greater(e, t.e));
  }
  const Align& align = j.sum.align;
  const bool floored = align.reference == Reference::max_exponent && align.e_floor;
  e = select(voted, e, Count(0));
  if (floored) e = select(voted, greater(e, Count(*align.e_floor)), Count(*align.e_floor));

  Total<M> total;
  switch (align.reference) {
    case Reference::max_exponent: total = sum_in_window(j, all, e, fate); break;
    case Reference::fixed_lsb: total = sum_in_register(j, all, rounds, fate); break;
    case Reference::exact: total = sum_exactly(j, all, rounds, fate);
  }
  Terms<M> z;
  z.negative = is_negative(total.v);
  z.m = negate_if(z.negative, total.v);
  z.zero = no(voted);
  z.q = floored ? total.q : select(voted, total.q, Count(0));
  z.e = select(voted, e, Count(0));
  const Truth none = z.m == M(0), mixed = minus & plus;
  z.negative = select(none, minus & no(mixed), z.negative);
  z.mixed = none & mixed;
  z.endless = endless;
  z.lane = all[0].lane, z.is_c = false, z.length = digits_of<M>;
  if (any(endless)) {
    take_special_sum(all, z);
    take_back(endless, before, fate);
  }
  return z;
}

template <class M, class C>
HWY_INLINE Terms<M> add_pair(Joint<M, C>& j, const Terms<M>& x, const Terms<M>& y, Fate& fate) {
  const Terms<M> pair[2] = {x, y};
  Terms<M> z = fused_sum<M>(j, pair, j.node.slot != nullptr, fate);
  if (j.node.slot) {
    const Fate before = fate;
    const Terms<M> exact = z;
    z = rounded_term(j.node, z, y.lane, fate);
    if (any(exact.endless)) {  // what no number is, nodes pass on
      z = select(exact.endless, exact, z);
      take_back(exact.endless, before, fate);
    }
  }
  z.lane = x.lane;
  return z;
}

// x + y, exact, then rounded once.
template <class M, class C>
HWY_INLINE Register<C> add_rounded(const Joint<M, C>& exact, Place<C>& at, const Terms<M>& x,
                                   const Terms<M>& y, std::int64_t step, Fate& fate) {
  const Terms<M> pair[2] = {x, y};
  return rounded(at, fused_sum<M>(exact, pair, true, fate), step, fate);
}

// lib's sum_of_one.
template <class M>
HWY_INLINE Terms<M> sum_of_one(Terms<M> t) {
  t.q = select(t.zero, Count(0), t.q), t.e = select(t.zero, Count(0), t.e);
  t.mixed = Truth(false), t.is_c = false;
  return t;
}

// Reduces the terms in the sum's order; works in place.
template <class M, class C>
HWY_INLINE Terms<M> reduce(Joint<M, C>& j, std::span<Terms<M>> all, Fate& fate) {
  const bool is_exact = j.sum.align.reference == Reference::exact && !j.sum.width;
  if (all.size() == 1 && is_exact) return sum_of_one(all[0]);
  if (j.sum.order == Order::fused || all.size() == 1) return fused_sum<M>(j, all, false, fate);
  if (j.sum.order == Order::sequential) {
    for (std::size_t i = 1; i < all.size(); ++i) all[0] = add_pair(j, all[0], all[i], fate);
    return all[0];
  }
  for (std::size_t n = all.size(); n > 1; n = n / 2 + n % 2) {  // neighbours
    for (std::size_t i = 0; i < n / 2; ++i) all[i] = add_pair(j, all[2 * i], all[2 * i + 1], fate);
    all[n / 2] = all[n - 1];
  }
  return all[0];
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
