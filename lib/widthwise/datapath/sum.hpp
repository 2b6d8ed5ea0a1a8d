#pragma once
#include <algorithm>

#include "widthwise/datapath/rounding_slot.hpp"

// The three sums of a unit (datapath 3.3 to 3.5): each aligns its terms, adds them as integers and
// hands on one term.
namespace widthwise {

// Which NaN or infinity a sum of the terms is, if it is not finite.
template <class M>
constexpr Term<M> special_sum(std::span<const Term<M>> terms) {
  bool plus = false, minus = false, nan = false;
  for (const Term<M>& t : terms) {
    nan |= t.kind == Kind::nan;
    if (t.kind == Kind::infinite) (t.negative ? minus : plus) = true;
  }
  if (nan || (plus && minus)) return {.kind = Kind::nan};
  if (plus || minus) return {.kind = Kind::infinite, .negative = minus};
  return {};
}

template <class M>
constexpr bool is_special(const Term<M>& t) {
  return t.kind == Kind::infinite || t.kind == Kind::nan;
}

// A signed integer in the making, as sign and magnitude.
template <class M>
struct Signed {
  bool negative = false;
  M m{};
};
template <class M>
constexpr Signed<M> plus(const Signed<M>& a, const Signed<M>& b) {
  const bool less = a.m < b.m;
  if constexpr (is_word<M>) {  // signs no branch predictor can guess
    const bool apart = a.negative != b.negative;
    return {a.negative != (apart && less),
            select(apart, negate_if(less, M(a.m - b.m)), M(a.m + b.m))};
  } else {
    if (a.negative == b.negative) return {a.negative, M(a.m + b.m)};
    return less ? Signed<M>{b.negative, M(b.m - a.m)} : Signed<M>{a.negative, M(a.m - b.m)};
  }
}

// v in a two's-complement register; overflowed tells whether it fitted.
template <class M>
constexpr Signed<M> fit(const Sum& sum, Signed<M> v, Flags& flags) {
  if (!sum.width) return v;
  const int top = static_cast<int>(*sum.width) - 1;
  const M limit = M(1) << top, largest = v.negative ? limit : M(limit - M(1));
  if (v.m <= largest) return v;
  if (sum.overflow == RegisterOverflow::flag) flags |= overflow;
  if (sum.overflow == RegisterOverflow::saturate) return {v.negative, largest};
  M low = v.m & M((limit << 1) - M(1));  // modulo 2^width, as a magnitude of the same sign
  if (low > limit || (low == limit && !v.negative)) return {!v.negative, M((limit << 1) - low)};
  return {v.negative && low != M{}, low};
}

// A term as a multiple of 2^lsb. Rounding acts on the magnitude, so rtz is sign-magnitude
// truncation and rdn the arithmetic shift of two's complement: far below the window -1, not 0.
template <class M>
constexpr Signed<M> aligned(const Rounding& rule, const Term<M>& t, std::int64_t lsb) {
  if (t.kind == Kind::zero || t.m == M{}) return {};
  return {t.negative, round_magnitude(rule, t.negative, t.m, distance(lsb, t.q))};
}

template <class M>
constexpr bool dropped(const Align& a, const Term<M>& t, std::int64_t e) {
  return t.is_c && a.drop_c_below && t.e < e - *a.drop_c_below;
}

// Fraction bits of the grid on which terms below the largest exponent are added.
constexpr std::int64_t window_frac(const Align& a, const std::optional<LateFrac>& late) {
  return late ? std::max(late->F_sum, late->F_C) : a.frac_bits;
}

// Below the largest exponent: one window of frac_bits for all terms, or one for C and one for the
// rest where C comes late.
template <class M, class Trace>
constexpr Term<M> sum_in_window(const Sum& sum, std::span<const Term<M>> terms, std::int64_t e,
                                const std::optional<LateFrac>& late, Flags& flags, Trace& trace) {
  const std::int64_t F = window_frac(sum.align, late);
  Signed<M> total;
  for (const Term<M>& t : terms) {
    const std::int64_t own = !late ? F : t.is_c ? late->F_C : late->F_sum;
    Signed<M> v = dropped(sum.align, t, e) ? Signed<M>{} : aligned(sum.align.rm, t, e - own);
    v.m = v.m << static_cast<int>(F - own);
    trace(
        Stage::align, t,
        Term<M>{
            .kind = t.kind, .negative = v.negative, .m = v.m, .q = e - F, .e = e, .lane = t.lane});
    total = plus(total, v);
  }
  total = fit(sum, total, flags);
  return {.kind = Kind::finite, .negative = total.negative, .m = total.m, .q = e - F, .e = e};
}

// Against a fixed least digit, lane by lane, for saturation depends on the order.
template <class M, class Trace>
constexpr Term<M> sum_in_register(const Sum& sum, std::span<const Term<M>> terms, std::int64_t e,
                                  Flags& flags, Trace& trace) {
  const std::int64_t lsb = -sum.align.frac_bits;
  Signed<M> total;
  for (const Term<M>& t : terms) {
    const Signed<M> v = aligned(sum.align.rm, t, lsb);
    trace(Stage::align, t,
          Term<M>{
              .kind = t.kind, .negative = v.negative, .m = v.m, .q = lsb, .e = e, .lane = t.lane});
    if (sum.overflow == RegisterOverflow::flag) fit(sum, v, flags);
    total = fit(sum, plus(total, v), flags);
  }
  return {.kind = Kind::finite, .negative = total.negative, .m = total.m, .q = lsb, .e = e};
}

// Where the digits of all terms lie, exact zeros aside: multiples of 2^last, below 2^top.
struct DigitRange {
  std::int64_t last = INT64_MAX, top = INT64_MIN;
};
template <class M>
constexpr DigitRange digit_range(std::span<const Term<M>> terms) {
  DigitRange x;
  for (const Term<M>& t : terms) {
    if (t.kind == Kind::zero) continue;
    x.last = std::min(x.last, t.q);
    x.top = std::max(x.top, t.q + bit_length(t.m));
  }
  return x;
}

// The last digit that any of the terms has. Zeros have one too, which matters only where it becomes
// the last of a register.
template <class M>
constexpr std::int64_t last_digit(std::span<const Term<M>> terms) {
  std::int64_t q = terms[0].q;
  for (const Term<M>& t : terms) q = std::min(q, t.q);
  return q;
}

// All terms to the digit q, the last that any of them has.
template <class M, class Trace>
constexpr Term<M> sum_exactly(std::span<const Term<M>> terms, std::int64_t e, std::int64_t q,
                              Trace& trace) {
  Signed<M> total;
  for (const Term<M>& t : terms) {
    if (t.kind == Kind::zero) continue;
    Signed<M> v{t.negative, t.m};
    if (t.m != M{}) v.m = t.m << static_cast<int>(t.q - q);  // what cancelled may lie anywhere
    trace(
        Stage::align, t,
        Term<M>{.kind = t.kind, .negative = v.negative, .m = v.m, .q = q, .e = e, .lane = t.lane});
    total = plus(total, v);
  }
  return {.kind = Kind::finite, .negative = total.negative, .m = total.m, .q = q, .e = e};
}

// The same where only a rounding follows that looks `reach` digits below the leading one: terms far
// below a sum that did not cancel matter by their sign alone, so the gap between is closed and the
// carrier stays small, however far the exponents lie apart (docs/semantics.md, D5). Sorts the
// terms.
//
//   | cluster |  …gap…  | cluster |        ->        | cluster | reach zeros | +-1 |
//
template <class M, class Trace>
constexpr Term<M> sum_closing_gaps(std::span<Term<M>> terms, std::int64_t e, std::int64_t reach,
                                   Trace& trace) {
  const auto top = [](const Term<M>& t) { return t.q + bit_length(t.m); };
  const auto zeros =
      std::partition(terms.begin(), terms.end(), [](const Term<M>& t) { return t.m != M{}; });
  terms = terms.first(static_cast<std::size_t>(zeros - terms.begin()));
  std::ranges::make_heap(terms, std::ranges::greater{}, top);  // sort() is lost in a kernel (nvcc)
  std::ranges::sort_heap(terms, std::ranges::greater{}, top);

  const std::int64_t gap = reach + bit_length(terms.size());
  Term<M> sum{.kind = Kind::finite, .e = e};
  while (!terms.empty()) {
    std::int64_t bottom = terms[0].q;
    std::size_t n = 1;
    for (; n < terms.size() && distance(bottom, top(terms[n])) < gap; ++n)
      bottom = std::min(bottom, terms[n].q);
    const Term<M> cluster = sum_exactly<M>(terms.first(n), e, bottom, trace);
    terms = terms.subspan(n);
    if (cluster.m == M{}) continue;
    if (sum.m == M{}) {
      sum = cluster;
      continue;
    }
    sum.m = sum.m << static_cast<int>(reach);
    sum.m = cluster.negative == sum.negative ? M(sum.m + M(1)) : M(sum.m - M(1));
    sum.q -= reach;
    break;
  }
  return sum;
}

// Whether the carrier has room for the exact sum of so many terms, and a digit to spare.
template <class M>
constexpr bool holds_sum(const DigitRange& x, std::size_t terms) {
  if constexpr (requires { Significand<M>::digits; })
    return distance(x.top, x.last) < digits<M> - 1 - bit_length(terms);
  else
    return false;
}

// The sum on which only a rounding follows. Terms that lie close enough for the carrier need no
// sorting; a trace has them sorted nevertheless.
template <class M, class Trace>
constexpr Term<M> sum_to_round(std::span<Term<M>> terms, std::int64_t e, std::int64_t reach,
                               Trace& trace) {
  const DigitRange x = digit_range<M>(terms);
  if (!traced<Trace> && holds_sum<M>(x, terms.size()))
    return sum_exactly<M>(terms, e, x.last, trace);
  return sum_closing_gaps<M>(terms, e, reach, trace);
}

// What a sum is told besides its terms.
struct SumContext {
  std::int64_t reach = 0;  // 0: its exact value is needed; else only a rounding follows
  std::optional<LateFrac> late{};
};

// All terms aligned once and added as integers.
template <class M, class Trace>
WIDTHWISE_APART constexpr Term<M> fused_sum(const Sum& sum, std::span<Term<M>> terms,
                                            const SumContext& context, Flags& flags, Trace& trace) {
  const std::int64_t lane = terms[0].lane;
  bool plus = false, minus = false, voted = false, special = false;
  std::int64_t e = INT64_MIN;
  for (const Term<M>& t : terms) {
    minus |= t.negative, plus |= !t.negative;
    special |= is_special(t);
    if (t.kind == Kind::zero) continue;
    voted = true;
    e = std::max(e, t.e);
  }
  if (special) [[unlikely]]
    return special_sum<M>(terms);
  const bool mixed = plus && minus;
  const bool floored = sum.align.reference == Reference::max_exponent && sum.align.e_floor;
  if (floored) e = std::max(e, *sum.align.e_floor);

  Term<M> z{};
  if (!voted) {
    if (floored) z.q = e - window_frac(sum.align, context.late);
  } else {
    switch (sum.align.reference) {
      case Reference::max_exponent:
        z = sum_in_window<M>(sum, terms, e, context.late, flags, trace);
        break;
      case Reference::fixed_lsb: z = sum_in_register<M>(sum, terms, e, flags, trace); break;
      case Reference::exact:
        if (context.reach && !sum.width) {
          z = sum_to_round<M>(terms, e, context.reach, trace);
        } else {
          z = sum_exactly<M>(terms, e, last_digit<M>(terms), trace);
          const Signed<M> kept = fit(sum, Signed<M>{z.negative, z.m}, flags);
          z.negative = kept.negative, z.m = kept.m;
        }
    }
  }
  z.lane = lane;
  if (z.m == M{}) {
    z.negative = minus && !mixed;
    z.mixed = mixed;
  }
  return z;
}

// One of the three sums with its rounding, if its nodes round.
template <class H>
struct Adder {
  Sum sum;
  std::optional<RoundingSlot<H>> node;
  SumContext context;
};

template <class M, class H, class Trace>
constexpr Term<M> add_pair(const Adder<H>& adder, const Term<M>& x, const Term<M>& y,
                           Progress& progress, Trace& trace) {
  Term<M> pair[2] = {x, y};
  SumContext context = adder.context;
  if (adder.node) context.reach = reach_of(adder.node->description);
  Term<M> z = fused_sum<M>(adder.sum, pair, context, progress.flags, trace);
  if (adder.node && !is_special(z)) z = rounded_term(*adder.node, z, y.lane, progress, trace);
  z.lane = x.lane;
  return z;
}

// The exact sum of one number is that number.
template <class M, class Trace>
constexpr Term<M> sum_of_one(Term<M> t, Trace& trace) {
  if (t.kind == Kind::zero)
    t.q = t.e = 0;
  else
    trace(Stage::align, t, t);
  t.mixed = t.is_c = false;
  return t;
}

// Reduces the terms in the sum's order; works in place.
template <class M, class H, class Trace>
WIDTHWISE_APART constexpr Term<M> reduce(const Adder<H>& adder, std::span<Term<M>> terms,
                                         Progress& progress, Trace& trace) {
  const bool is_exact = adder.sum.align.reference == Reference::exact && !adder.sum.width;
  if (terms.size() == 1 && is_exact && !is_special(terms[0])) return sum_of_one(terms[0], trace);
  if (adder.sum.order == Order::fused || terms.size() == 1)
    return fused_sum<M>(adder.sum, terms, adder.context, progress.flags, trace);
  if (adder.sum.order == Order::sequential) {
    for (std::size_t i = 1; i < terms.size(); ++i)
      terms[0] = add_pair(adder, terms[0], terms[i], progress, trace);
    return terms[0];
  }
  for (std::size_t n = terms.size(); n > 1; n = n / 2 + n % 2) {  // neighbours
    for (std::size_t i = 0; i < n / 2; ++i)
      terms[i] = add_pair(adder, terms[2 * i], terms[2 * i + 1], progress, trace);
    terms[n / 2] = terms[n - 1];  // an odd last moves up; after an even one nobody looks there
  }
  return terms[0];
}

}  // namespace widthwise
