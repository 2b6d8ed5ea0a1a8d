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

// Terms that are added: neighbours, or two.
template <class M>
using Neighbours = std::span<Terms<M>>;
template <class M>
struct Pair {
  const Terms<M>&x, &y;

  static constexpr std::size_t size() { return 2; }
  const Terms<M>& front() const { return x; }
};
template <class M, class Of>
HWY_INLINE void each(const Neighbours<M>& all, const Of& of) {
  for (const Terms<M>& t : all) of(t);
}
template <class M, class Of>
HWY_INLINE void each(const Pair<M>& all, const Of& of) {
  of(all.x), of(all.y);
}

// Whether its sums are those of the terms, in no register.
HWY_INLINE bool is_exact(const Sum& s) { return s.align.reference == Reference::exact && !s.width; }

// One of the unit's sums, made ready.
template <class M, class C>
struct Joint {
  Sum sum;
  Place<C> node;  // its slot is null where nodes do not round
  std::optional<LateFrac> late;
  RoundingRule align;
  bool bounded;        // values as wide as the carrier's may overflow its register
  std::int64_t reach;  // of the rounding that follows every sum at once; 0: none does
  bool placed;         // a register may follow whose last digit is that of its terms
  M half, modulus;

  HWY_INLINE Joint(const Adder<Rows<C>>& adder, const Dice<RowWord>& dice, bool is_placed)
      : sum(adder.sum),
        node{adder.node ? &*adder.node : nullptr, dice},
        late(adder.context.late),
        align(sum.align.rm),
        bounded(sum.width && *sum.width < digits_of<M> - 1),
        reach(adder.node ? reach_of(adder.node->description) : adder.context.reach),
        placed(is_placed) {
    if (bounded) half = M(1) << (static_cast<int>(*sum.width) - 1), modulus = half << 1;
  }

  // Whether nothing sees where the last digit of an exact sum lies, which a rounding of this reach
  // follows at once: no register, its own included.
  HWY_INLINE bool value_alone(std::int64_t reach) const {
    if (bounded || (sum.width && sum.order != Order::fused && !reach)) return false;
    return reach || !placed;
  }
  // Whether what lies far below the larger of two terms may be one digit.
  HWY_INLINE bool jams(std::int64_t reach) const {
    return is_exact(sum) && reach && reach <= most_jammed(words_of<M>);
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

template <class M, class C, class All>
HWY_INLINE Total<M> sum_in_window(const Joint<M, C>& j, const All& all, const Count& e,
                                  Fate& fate) {
  const Align& align = j.sum.align;
  const auto& late = j.late;
  const std::int64_t F = window_frac(align, late);
  M total(0);
  each(all, [&](const Terms<M>& t) {
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
  });
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
template <class M, class All>
HWY_INLINE Count last_digit(const All& all) {
  Count last(INT64_MAX);
  each(all, [&](const Terms<M>& t) { last = lesser(last, select(t.m != M(0), t.q, last)); });
  return last;
}

// What the register has below all terms' digits is left away where nothing sees it.
template <class M, class C, class All>
HWY_INLINE Total<M> sum_in_register(const Joint<M, C>& j, const All& all, std::int64_t reach,
                                    Fate& fate) {
  Count lsb(-j.sum.align.frac_bits);
  if (!j.sum.width && j.value_alone(reach)) {
    const Count last = last_digit<M>(all);
    lsb = select(last < Count(INT64_MAX), greater(lsb, last), lsb);
  }
  M total(0);
  each(all, [&](const Terms<M>& t) {
    const M v = in_register(j, j.align, t, lsb, all.size(), fate);
    if (j.sum.overflow == RegisterOverflow::flag) fit(j, v, fate);
    total = fit(j, total + v, fate);
  });
  return {total, lsb};
}

// Of terms that are not cut.
inline constexpr RoundingRule nothing_lost{Rounding{RoundingMode::rtz}};

template <class M, class C, class All>
HWY_INLINE Total<M> sum_exactly(const Joint<M, C>& j, const All& all, std::int64_t reach,
                                Fate& fate) {
  const bool fills_carrier = j.sum.width && !j.bounded, alone = j.value_alone(reach);
  Count of_any(INT64_MAX), last;
  if (fills_carrier || !alone) each(all, [&](const Terms<M>& t) { of_any = lesser(of_any, t.q); });
  last = alone ? last_digit<M>(all) : of_any;
  last = select(last < Count(INT64_MAX), last, Count(0));
  if (fills_carrier)  // a register that holds all that a carrier does, if placed so
    fate.lost = fate.lost | (last - of_any > Count(*j.sum.width - digits_of<M> + 1));
  M total(0);
  each(all, [&](const Terms<M>& t) {
    total = total + in_register(j, nothing_lost, t, last, all.size(), fate);
  });
  return {fit(j, total, fate), last};
}

// lib's special_sum: what infinities and NaN among the terms come to.
struct SpecialSum {
  Truth plus, minus, nan;

  static HWY_INLINE SpecialSum none() { return {Truth(false), Truth(false), Truth(false)}; }
  template <class M>
  HWY_INLINE void take(const Terms<M>& t) {
    nan = nan | is_nan(t);
    const Truth infinite = t.endless & no(t.zero);
    minus = minus | (infinite & t.negative), plus = plus | (infinite & no(t.negative));
  }
  HWY_INLINE Truth endless() const { return nan | plus | minus; }

  template <class M>
  HWY_INLINE void put(Terms<M>& z) const {
    const Truth here = endless();
    z.endless = z.endless | here;
    z.negative = select(here, minus, z.negative);
    z.zero = select(here, nan | (plus & minus), z.zero);
    z.mixed = z.mixed & no(here);
    z.m = select(here, M(0), z.m);
  }
};

// What all terms have a say in.
struct Votes {
  Truth all_negative, any_negative, zeros, endless;

  template <class M>
  HWY_INLINE explicit Votes(const Terms<M>& t)
      : all_negative(t.negative), any_negative(t.negative), zeros(t.zero), endless(t.endless) {}
  template <class M>
  HWY_INLINE void take(const Terms<M>& t) {
    all_negative = all_negative & t.negative, any_negative = any_negative | t.negative;
    zeros = zeros & t.zero, endless = endless | t.endless;
  }
};

template <class M>
HWY_INLINE void put_sum(const Total<M>& total, const Votes& votes, std::int64_t lane, Terms<M>& z) {
  const Truth below = is_negative(total.v);
  const M m = negate_if(below, total.v);
  const Truth none = m == M(0);
  z.negative = below | (none & votes.all_negative);
  z.mixed = none & votes.any_negative & no(votes.all_negative);
  z.zero = votes.zeros, z.endless = votes.endless;
  z.m = m;
  z.lane = lane, z.is_c = false, z.length = digits_of<M>;
}

// All terms aligned once and added as integers. The sum may take the place of one of them.
template <class M, class C, class All>
WIDTHWISE_HERE HWY_NOINLINE void fused_sum(const Joint<M, C>& j, const All& all, std::int64_t reach,
                                           Fate& outer, Terms<M>& z) {
  Votes votes(all.front());
  Fate fate = outer;
  Count e(INT64_MIN);
  each(all, [&](const Terms<M>& t) {
    votes.take(t);
    e = select(t.zero, e, greater(e, t.e));
  });
  const Align& align = j.sum.align;
  const bool floored = align.reference == Reference::max_exponent && align.e_floor;
  e = select(votes.zeros, Count(0), e);
  if (floored) e = select(votes.zeros, Count(*align.e_floor), greater(e, Count(*align.e_floor)));

  Total<M> total;
  switch (align.reference) {
    case Reference::max_exponent: total = sum_in_window(j, all, e, fate); break;
    case Reference::fixed_lsb: total = sum_in_register(j, all, reach, fate); break;
    case Reference::exact: total = sum_exactly(j, all, reach, fate);
  }
  SpecialSum special = SpecialSum::none();
  if (any(votes.endless)) {
    each(all, [&](const Terms<M>& t) { special.take(t); });
    take_back(votes.endless, outer, fate);
  }
  put_sum(total, votes, all.front().lane, z);
  z.q = floored ? total.q : select(votes.zeros, Count(0), total.q);
  z.e = select(votes.zeros, Count(0), e);
  if (any(votes.endless)) special.put(z);
  outer = fate;
}

// A term from the top of the carrier on, but for three digits, moved down from there; a digit that
// is lost makes the last one odd.
template <class M>
HWY_INLINE M jammed(const Terms<M>& t, const Count& zeros, const Count& down) {
  const M top = t.m << zeros;
  const Count n = as_shift<M>(down + Count(3));
  const M kept = top >> n;
  return negate_if(t.negative, kept | select((kept << n) != top, M(1), M(0)));
}

// The sum of two that a rounding follows at once which looks at no more than most_jammed digits:
// what is far below the larger one shows in the last digit alone.
template <class M>
WIDTHWISE_HERE HWY_NOINLINE void jammed_sum(const Terms<M>& x, const Terms<M>& y, Fate& fate,
                                            Terms<M>& z) {
  Votes votes(x);
  votes.take(y);
  constexpr int most = most_jammed(words_of<M>);
  for (const Terms<M>* t : {&x, &y})
    if (t->length > most) fate.lost = fate.lost | ((t->m >> most) != M(0));
  const Count nowhere(-(std::int64_t{1} << 60));
  const auto top = [&](const Terms<M>& t, const Count& zeros) {
    return select(t.m == M(0), nowhere, t.q - zeros);
  };
  const Count x_zeros = leading_zeros(x.m), y_zeros = leading_zeros(y.m);
  const Count x_top = top(x, x_zeros), y_top = top(y, y_zeros), highest = greater(x_top, y_top);
  const Total<M> total{jammed(x, x_zeros, highest - x_top) + jammed(y, y_zeros, highest - y_top),
                       highest + Count(3)};
  SpecialSum special = SpecialSum::none();
  if (any(votes.endless)) special.take(x), special.take(y);
  put_sum(total, votes, x.lane, z);
  z.q = z.e = total.q;
  if (any(votes.endless)) special.put(z);
}

// The sum of two, which a rounding of this reach follows at once, if it is not 0.
template <class M, class C>
HWY_INLINE void sum_of_two(const Joint<M, C>& j, const Terms<M>& x, const Terms<M>& y,
                           std::int64_t reach, Fate& fate, Terms<M>& z) {
  j.jams(reach) ? jammed_sum(x, y, fate, z) : fused_sum(j, Pair<M>{x, y}, reach, fate, z);
}

// What no number is, nodes pass on.
template <class M, class C>
HWY_NOINLINE void round_numbers(Place<C>& at, std::int64_t step, Fate& fate, Terms<M>& z) {
  const Fate before = fate;
  const Terms<M> exact = z;
  rounded_term(at, step, fate, z);
  z = select(exact.endless, exact, z);
  take_back(exact.endless, before, fate);
}

template <class M, class C>
HWY_INLINE void add_pair(Joint<M, C>& j, const Terms<M>& x, const Terms<M>& y, Fate& fate,
                         Terms<M>& z) {
  const std::int64_t step = y.lane;
  sum_of_two(j, x, y, j.reach, fate, z);
  if (!j.node.slot) return;
  if (any(z.endless))
    round_numbers(j.node, step, fate, z);
  else
    rounded_term(j.node, step, fate, z);
}

// x + y, exact, then rounded once.
template <class M, class C>
HWY_INLINE void add_rounded(const Joint<M, C>& exact, Place<C>& at, const Terms<M>& x,
                            const Terms<M>& y, std::int64_t step, Fate& fate, Register<C>& to) {
  Terms<M> sum;
  sum_of_two(exact, x, y, reach_of(at.slot->description), fate, sum);
  rounded(at, sum, step, fate, to);
}

// lib's sum_of_one.
template <class M>
HWY_INLINE void take_sum_of_one(const Terms<M>& t, Terms<M>& z) {
  if (&t != &z) z = t;
  z.q = select(z.zero, Count(0), z.q), z.e = select(z.zero, Count(0), z.e);
  z.mixed = Truth(false), z.is_c = false;
}

// Reduces the terms in the sum's order, in place, but for the last sum, which may take the first
// one's.
template <class M, class C>
HWY_INLINE void reduce(Joint<M, C>& j, Neighbours<M> all, Fate& fate, Terms<M>& z) {
  std::size_t n = all.size();
  if (n == 1 && is_exact(j.sum)) return take_sum_of_one(all[0], z);
  if (n == 2 && j.sum.order == Order::fused) return sum_of_two(j, all[0], all[1], j.reach, fate, z);
  if (n == 1) return fused_sum(j, all, 0, fate, z);  // no node rounds it
  if (j.sum.order == Order::fused) return fused_sum(j, all, j.reach, fate, z);
  if (j.sum.order == Order::sequential) {
    for (std::size_t i = 1; i < n; ++i) add_pair(j, all[0], all[i], fate, i + 1 < n ? all[0] : z);
    return;
  }
  for (; n > 2; n = n / 2 + n % 2) {  // neighbours
    for (std::size_t i = 0; i < n / 2; ++i) add_pair(j, all[2 * i], all[2 * i + 1], fate, all[i]);
    if (n % 2) all[n / 2] = all[n - 1];
  }
  add_pair(j, all[0], all[1], fate, z);
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
