#pragma once
#include "widthwise/datapath/align.hpp"

// Exact sums on which only a rounding follows that looks `reach` digits below the leading one:
// terms far below a sum that did not cancel matter by their sign alone, so the gap between is
// closed and the carrier stays small, however far the exponents lie apart (docs/semantics.md, D5).
namespace widthwise {

// Digits that the rounding after a jammed sum looks at, and that its terms have, at most: two of
// them with what is lost, a carry and a sign are left (docs/exactness.md, 55).
template <class M>
inline constexpr int most_jammed = digits<M> - 4;

// Whether what lies far below the larger of two terms may be one digit.
template <class M>
constexpr bool jams(const SumRule<M>& s, std::int64_t reach) {
  return s.is_exact() && reach && reach <= most_jammed<M>;
}

template <class M>
constexpr Mask<M> too_long_to_jam(const Term<M>& t) {
  if (t.length <= most_jammed<M>) return {};
  return M(t.m >> most_jammed<M>) != M{};
}

// What no exponent is below.
template <class N>
inline constexpr std::int64_t lowest = -(std::int64_t{1} << 60);  // and sums of a few have room
template <>
inline constexpr std::int64_t lowest<std::int64_t> = INT64_MIN;

// A term from the top of the carrier on, but for three digits, moved down from there; a digit that
// is lost makes the last one odd.
template <class M>
constexpr M jammed(const Term<M>& t, const Int<M>& zeros, const Int<M>& down) {
  const M top = shift_left(t.m, zeros);
  const Int<M> n = lesser(down, Int<M>{digits<M> - 4}) + Int<M>{3};
  const M kept = shift_right(top, n);
  return opposite_if<M>(t.negative, kept | select(shift_left(kept, n) != top, M(1), M{}));
}

// The sum of two terms: what is far below the larger one shows in the last digit alone.
template <class M>
constexpr Total<M> jammed_sum(const Term<M>& x, const Term<M>& y) {
  const auto top = [](const Term<M>& t, const Int<M>& zeros) {
    return select(t.m == M{}, Int<M>{lowest<Int<M>>}, t.q + (Int<M>{digits<M>} - zeros));
  };
  const Int<M> x_zeros = Significand<M>::leading_zeros(x.m),
               y_zeros = Significand<M>::leading_zeros(y.m);
  const Int<M> x_top = top(x, x_zeros), y_top = top(y, y_zeros), highest = greater(x_top, y_top);
  return {
      jammed(x, x_zeros, distance(highest, x_top)) + jammed(y, y_zeros, distance(highest, y_top)),
      distance(highest, Int<M>{digits<M> - 3})};
}

// Where the digits of all terms lie, terms without any aside: multiples of 2^last, below 2^top.
struct DigitRange {
  std::int64_t last = INT64_MAX, top = INT64_MIN;
};
template <class M, class All>
constexpr DigitRange digit_range(const All& all) {
  DigitRange x;
  each(all, [&](const Term<M>& t) {
    if (t.m == M{}) return;
    x.last = std::min(x.last, t.q);
    x.top = std::max(x.top, t.q + bit_length(t.m));
  });
  return x;
}

// Whether the carrier has room for the exact sum of so many terms, and a digit to spare.
template <class M>
constexpr bool holds_sum(const DigitRange& x, std::size_t terms) {
  if constexpr (has_width<M>)
    return distance(x.top, x.last) < digits<M> - 1 - bit_length(terms);
  else
    return false;
}

// Sorts the terms and closes the gaps.
//
//   | cluster |  …gap…  | cluster |        ->        | cluster | reach zeros | +-1 |
//
template <class M, class Trace>
constexpr Total<M> sum_closing_gaps(std::span<Term<M>> terms, std::int64_t e, std::int64_t reach,
                                    Trace& trace) {
  const auto top = [](const Term<M>& t) { return t.q + bit_length(t.m); };
  const auto zeros =
      std::partition(terms.begin(), terms.end(), [](const Term<M>& t) { return t.m != M{}; });
  terms = terms.first(static_cast<std::size_t>(zeros - terms.begin()));
  std::ranges::make_heap(terms, std::ranges::greater{}, top);  // sort() is lost in a kernel (nvcc)
  std::ranges::sort_heap(terms, std::ranges::greater{}, top);

  const std::int64_t gap = reach + bit_length(terms.size());
  Total<M> sum;
  while (!terms.empty()) {
    std::int64_t bottom = terms[0].q;
    std::size_t n = 1;
    for (; n < terms.size() && distance(bottom, top(terms[n])) < gap; ++n)
      bottom = std::min(bottom, terms[n].q);
    const M cluster = sum_to_digit<M>(terms.first(n), bottom, e, trace);
    terms = terms.subspan(n);
    if (cluster == M{}) continue;
    if (sum.v == M{}) {
      sum = {cluster, bottom};
      continue;
    }
    sum.v = M(sum.v << static_cast<int>(reach)) + opposite_if<M>(is_negative(cluster), M(1));
    sum.q -= reach;
    break;
  }
  return sum;
}
template <class M, class Trace>
constexpr Total<M> sum_closing_gaps(const Pair<M>& terms, std::int64_t e, std::int64_t reach,
                                    Trace& trace) {
  Term<M> both[2] = {terms.x, terms.y};
  return sum_closing_gaps(std::span<Term<M>>(both), e, reach, trace);
}

// The sum on which only a rounding follows. Terms that lie close enough for the carrier need no
// sorting; a trace has them sorted nevertheless.
template <class M, class All, class Trace>
constexpr Total<M> sum_to_round(const All& all, std::int64_t e, std::int64_t reach, Trace& trace) {
  if constexpr (!traced<Trace>) {
    const DigitRange x = digit_range<M>(all);
    if (holds_sum<M>(x, all.size()))
      return x.top == INT64_MIN ? Total<M>{}
                                : Total<M>{sum_to_digit<M>(all, x.last, e, trace), x.last};
  }
  return sum_closing_gaps(all, e, reach, trace);
}

}  // namespace widthwise
