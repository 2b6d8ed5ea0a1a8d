#pragma once
#include "widthwise/datapath/rounding_slot.hpp"

// What the three sums of a unit (datapath 3.3 to 3.5) are made of: terms as multiples of one digit,
// added in two's complement.
namespace widthwise {

// Terms that are added: neighbours, or two.
template <class M>
struct Pair {
  const Term<M>&x, &y;

  static constexpr std::size_t size() { return 2; }
  constexpr const Term<M>& front() const { return x; }
};
template <class M, class Of>
constexpr void each(std::span<Term<M>> all, const Of& of) {
  for (const Term<M>& t : all) of(t);
}
template <class M, class Of>
constexpr void each(const Pair<M>& all, const Of& of) {
  of(all.x), of(all.y);
}

// One of the unit's sums, made ready; as it stands, an exact one.
template <class M>
struct SumRule {
  Order order = Order::fused;
  Align align{};
  std::optional<std::int64_t> width{};
  RegisterOverflow overflow = RegisterOverflow::wrap;
  std::optional<LateFrac> late{};
  bool placed = false;   // a register may follow whose last digit is that of its terms
  bool bounded = false;  // values as wide as the carrier's may overflow its register
  M half{}, modulus{};   // of that

  constexpr SumRule() = default;
  constexpr SumRule(const Sum& s, const std::optional<LateFrac>& l, bool is_placed)
      : order(s.order),
        align(s.align),
        width(s.width),
        overflow(s.overflow),
        late(l),
        placed(is_placed) {
    if constexpr (has_width<M>)
      bounded = width && *width < digits<M> - 1;
    else
      bounded = width.has_value();
    if (bounded) half = M(M(1) << static_cast<int>(*width - 1)), modulus = M(half << 1);
  }

  // Whether its sums are those of the terms, in no register.
  constexpr bool is_exact() const { return align.reference == Reference::exact && !width; }
  // Whether nothing sees where the last digit of an exact sum lies, which a rounding of this reach
  // follows at once: no register, its own included.
  constexpr bool value_alone(std::int64_t reach) const {
    if (bounded || (width && order != Order::fused && !reach)) return false;
    return reach || !placed;
  }
};

// A value and the weight of its last digit.
template <class M>
struct Total {
  M v{};  // in two's complement
  Int<M> q{};
  Mask<M> nar{};  // a quire's, whatever v says
};

// v in the sum's register.
template <class M, class State>
constexpr M fit(const SumRule<M>& s, const M& v, State& progress) {
  if (!s.bounded) return v;
  const M raised = v + s.half;
  Mask<M> fits = raised < s.modulus;
  if constexpr (!has_width<M>) fits = fits && !is_negative(raised);
  if (!any(no(fits))) return v;
  if (s.overflow == RegisterOverflow::flag)
    progress.raise(select(fits, Int<M>{}, Int<M>{overflow}));
  if (s.overflow != RegisterOverflow::saturate) return M(raised & M(s.modulus - M(1))) - s.half;
  const M end = select(is_negative(v), M(M{} - s.half), M(s.half - M(1)));
  return select(fits, v, end);
}

// Whether the register shows 10...0 for this sum, or does not hold it.
template <class M>
constexpr Mask<M> becomes_nar(const SumRule<M>& s, const M& sum, const M& held) {
  if (!s.bounded || !has_nar(s.overflow)) return {};
  const Mask<M> pattern = held == M(M{} - s.half);
  return s.overflow == RegisterOverflow::wrap_nar ? pattern : pattern | (held != sum);
}

// Digits of each of so many terms that a carrier has room for.
template <class M>
constexpr std::int64_t room_for(std::size_t terms) {
  return digits<M> - 2 - bit_length(static_cast<std::uint64_t>(terms));
}

// The magnitude of a term as a multiple of 2^lsb: below 2^room, or lost. Rounding acts on the
// magnitude, so rtz is sign-magnitude truncation and rdn the arithmetic shift of two's complement:
// far below the window -1, not 0. Where its length is known and room may be short it goes to the
// top of that first, from where all ways lead down.
template <class M, class State>
constexpr M aligned(RoundingMode mode, const Term<M>& t, const Int<M>& lsb,
                    [[maybe_unused]] std::int64_t room, State& progress) {
  const Int<M> n = distance(lsb, t.q);
  if constexpr (State::loses) {
    if (const std::int64_t up = room - t.length; up >= 0) {
      progress.lose((n < Int<M>{-up}) & no(t.zero));
      return cut(mode, t.negative, M(t.m << static_cast<int>(up)), n + Int<M>{up});
    }
    progress.lose(shift_right(t.m, down_by(t.m, n + Int<M>{room})) != M{});
  }
  return round_magnitude(mode, t.negative, t.m, n);
}

// The same where all digits stay: so far up.
template <class M, class State>
constexpr void lose_long(const Term<M>& t, const Int<M>& up, std::int64_t room, State& progress) {
  if (room >= t.length)
    progress.lose((up > Int<M>{room - t.length}) & (t.m != M{}));
  else
    progress.lose(shift_right(t.m, down_by(t.m, Int<M>(Int<M>{room} - up))) != M{});
}

// What a term comes to in a sum, for whoever listens.
template <class M, class Trace>
constexpr void show_aligned(const Term<M>& t, const M& m, const Int<M>& q, const Int<M>& e,
                            Trace& trace) {
  if constexpr (traced<Trace>)
    trace(Stage::align, t,
          Term<M>{
              t.negative && t.m != M{}, t.zero, t.endless, {}, false, t.unknown, m, q, e, t.lane});
}

// Fraction bits of the grid on which terms below the largest exponent are added.
constexpr std::int64_t window_frac(const Align& a, const std::optional<LateFrac>& late) {
  return late ? std::max(late->F_sum, late->F_C) : a.frac_bits;
}

// A term without digits where it is C and far below.
template <class M>
constexpr Term<M> without_far_c(const Align& a, const Term<M>& t, const Int<M>& e) {
  Term<M> z = t;
  z.m = select(t.e < e - Int<M>{*a.drop_c_below}, M{}, t.m);
  return z;
}

// Below the largest exponent: one window of frac_bits for all terms, or one for C and one for the
// rest where C comes late.
template <class M, class All, class State, class Trace>
constexpr Total<M> sum_in_window(const SumRule<M>& s, const All& all, const Int<M>& e,
                                 State& progress, Trace& trace) {
  const std::int64_t F = window_frac(s.align, s.late);
  const Int<M> q = e - F;
  M total{};
  const auto add = [&](const Term<M>& t) {
    const std::int64_t own = !s.late ? F : t.is_c ? s.late->F_C : s.late->F_sum;
    std::int64_t room = 0;
    if constexpr (State::loses) {
      room = room_for<M>(all.size()) - (F - own);
      if (room < 0) return progress.lose(t.m != M{});
    }
    const M m = aligned(s.align.rm.mode, t, Int<M>(e - own), room, progress)
                << static_cast<int>(F - own);
    show_aligned(t, m, q, e, trace);
    total = total + opposite_if<M>(t.negative, m);
  };
  each(all, [&](const Term<M>& t) {
    t.is_c&& s.align.drop_c_below ? add(without_far_c(s.align, t, e)) : add(t);
  });
  return {fit(s, total, progress), q};
}

// Where the last digit of any of the terms lies that has one, else at the top of all.
template <class M, class All>
constexpr Int<M> last_with_digits(const All& all) {
  Int<M> last{INT64_MAX};
  each(all, [&](const Term<M>& t) { last = lesser(last, select(t.m != M{}, t.q, last)); });
  return last;
}

// Against a fixed least digit, lane by lane, for saturation depends on the order. What the register
// has below all terms' digits is left away where nothing sees it.
template <class M, class All, class State, class Trace>
constexpr Total<M> sum_in_register(const SumRule<M>& s, const All& all, const Int<M>& e,
                                   std::int64_t reach, State& progress, Trace& trace) {
  Int<M> lsb{-s.align.frac_bits};
  if (!traced<Trace> && !s.width && s.value_alone(reach)) {
    const Int<M> last = last_with_digits<M>(all);
    lsb = select(last < Int<M>{INT64_MAX}, greater(lsb, last), lsb);
  }
  const bool wraps = s.bounded && (s.overflow == RegisterOverflow::wrap ||
                                   s.overflow == RegisterOverflow::wrap_nar);
  std::int64_t room = 0;
  if constexpr (State::loses) room = room_for<M>(all.size());
  Total<M> total{.q = lsb};
  const auto add = [&](const Term<M>& t) {
    // What a register that wraps loses above it had no room for either.
    const M m = wraps ? round_magnitude(s.align.rm.mode, t.negative, t.m, distance(lsb, t.q))
                      : aligned(s.align.rm.mode, t, lsb, room, progress);
    show_aligned(t, m, lsb, e, trace);
    const M v = opposite_if<M>(t.negative, m);
    if (s.overflow == RegisterOverflow::flag) fit(s, v, progress);
    const M sum = total.v + v;
    total.v = fit(s, sum, progress);
    total.nar = total.nar | becomes_nar(s, sum, total.v);
  };
  if (!has_nar(s.overflow)) {
    each(all, add);
    return total;
  }
  each(all, [&](const Term<M>& t) {
    if (t.is_c) add(t);
  });  // a quire begins with C
  each(all, [&](const Term<M>& t) {
    if (!t.is_c) add(t);
  });
  progress.raise(select(total.nar, Int<M>{invalid}, Int<M>{}));
  return total;
}

// All terms to the digit q, the last that any of them has.
template <class M, class All, class Trace>
constexpr M sum_to_digit(const All& all, const Int<M>& q, const Int<M>& e, Trace& trace) {
  M total{};
  each(all, [&](const Term<M>& t) {
    const M m = moved_up(t.m, distance(t.q, q));  // what cancelled may lie anywhere
    if constexpr (traced<Trace>)
      if (!t.zero) show_aligned(t, m, q, e, trace);
    total = total + opposite_if<M>(t.negative, m);
  });
  return total;
}

}  // namespace widthwise
