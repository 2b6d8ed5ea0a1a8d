#pragma once
#include <type_traits>

#include "widthwise/numbers.hpp"
#include "widthwise/rounder.hpp"

// Tables: a code says which of a list of values it is (docs/semantics.md, F9).
namespace widthwise {

// Whether this carrier looks codes up. Values of a row would each look at another place; on a GPU
// only the kernels do that have tables there (cuda/kernels/listed.cu), all others refuse them.
template <class U>
#ifdef __CUDACC__
inline constexpr bool looks_up = false;
#else
inline constexpr bool looks_up = std::is_same_v<Mask<U>, bool>&& requires(const U& code) {
  static_cast<std::uint64_t>(code);
};
#endif

template <class U>
constexpr Number<U> listed_number(const TableValue& v) {
  return finite<U>(v.negative, v.exp, U(v.sig));
}

template <class U>
constexpr Number<U> read_listed(const Layout<U>& f, const U& code) {
  const Table& t = *f.format.table;
  const std::int32_t place = t.places[static_cast<std::uint64_t>(U(code & f.magnitude_mask))];
  if (place >= 0) return listed_number<U>(t.values[place]);
  Number<U> x = finite<U>(place == Table::minus_zero, t.least_digit, U{});
  x.nan = place == Table::unlisted, x.zero = !x.nan;
  return x;
}

// --- Order ---------------------------------------------------------------------------------------

// A code's place among the values, both zeros at one; or Table::unlisted.
template <class U>
constexpr std::int32_t place_of(const Layout<U>& f, const U& code) {
  const Table& t = *f.format.table;
  const std::int32_t place = t.places[static_cast<std::uint64_t>(U(code & f.magnitude_mask))];
  return place == Table::minus_zero ? t.places[t.zero] : place;
}

// What stands for no number: the NaN that is wanted, or what 0 becomes.
template <class U>
constexpr Result<U> listed_nan(const Table& t, const U& nan_code) {
  return {t.has_nan ? nan_code : U(t.nan), Int<U>{t.has_nan ? 0 : invalid}};
}

// The code of the value beside, of the end itself where there is none.
template <class U>
constexpr Result<U> listed_beside(const Layout<U>& f, const U& code, bool up) {
  const Table& t = *f.format.table;
  const std::int32_t place = place_of(f, code), next = up ? place + 1 : place - 1;
  if (place == Table::unlisted) return listed_nan(t, f.nan_code);
  return {U(t.values[next < 0 || next == t.count ? place : next].code), Int<U>{}};
}

// Where a code stands in the total order: -0 just below +0, what is no number above all.
template <class U>
constexpr std::int64_t listed_order(const Layout<U>& f, const U& code) {
  const Table& t = *f.format.table;
  const auto at = static_cast<std::uint64_t>(U(code & f.magnitude_mask));
  const std::int32_t place = place_of(f, code);
  if (place == Table::unlisted) return 2 * std::int64_t{t.count} + static_cast<std::int64_t>(at);
  return std::int64_t{2} * place - (t.places[at] == Table::minus_zero);
}

// --- Rounding ------------------------------------------------------------------------------------

// A value as operations take it.
template <class U>
constexpr Number<U> neighbour(const TableValue& v) {
  Number<U> x = normalise(listed_number<U>(v));
  if (x.zero) x.exp = -max_exponent_magnitude;
  return x;
}

// How many values are at most x.
template <class U>
constexpr int values_up_to(const Table& t, const Number<U>& x) {
  int low = 0, high = t.count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (relation(x, neighbour<U>(t.values[middle])) == Relation::less)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Whether a tie goes to the neighbour away from zero: by the last bit of the codes, then to the
// lesser magnitude, and of opposite values to the positive one, which is `far`.
constexpr bool tie_goes_far(RoundingMode mode, const TableValue& near, const TableValue& far,
                            bool negative, bool opposite) {
  const bool near_odd = near.code & 1, differ = near_odd != (far.code & 1);
  switch (mode) {
    case RoundingMode::rne: return differ ? near_odd : opposite;
    case RoundingMode::rno: return differ ? !near_odd : opposite;
    case RoundingMode::rna: return true;
    case RoundingMode::rnp: return !negative;
    case RoundingMode::rnm: return negative;
    default: return opposite;  // rnz
  }
}

// Whether x, between two neighbours, is rounded to the one away from zero: the part of the gap that
// it has passed is what a float drops.
template <class U>
constexpr bool goes_far(const Rounder<U>& to, Number<U> x, const TableValue& near,
                        const TableValue& far, const U& random) {
  x.sig = shift_right_jam<U>(x.sig, 1) << 1;  // sums take the lowest digit for a carry's room
  Number<U> from = neighbour<U>(near);
  from.negative = !from.negative;
  const Number<U> part = exact_sum(x, from), gap = exact_sum(neighbour<U>(far), from);
  const U passed =
      fraction_of<U>(shift_right_jam<U>(part.sig, Int<U>{gap.exp - part.exp}), gap.sig);
  if (!is_nearest(to.rule.rounding.mode))
    return rounds_away<U>(to.rule, x.negative, near.code & 1, passed, random);
  const bool odd = tie_goes_far(to.rule.rounding.mode, near, far, x.negative, x.zero);
  return goes_away<bool>(RoundingMode::rne, x.negative, odd, is_negative(passed),
                         U(passed << 1) != U{});
}

template <class U>
constexpr Result<U> past_end(const TableValue& end) {
  return {U(end.code), overflow | inexact};
}

template <class U>
constexpr Result<U> deliver_listed(const Rounder<U>& to, Number<U> x, const U& random) {
  const Table& t = *to.layout.format.table;
  if (x.nan) return listed_nan(t, to.nan_code);
  if (x.infinite) return past_end<U>(x.negative ? t.least() : t.largest());
  if (x.zero) x = neighbour<U>({});

  const int below = values_up_to(t, x);
  if (below == 0) return past_end<U>(t.least());
  const TableValue& low = t.values[below - 1];
  if (relation(x, neighbour<U>(low)) == Relation::equal) return {U(low.code), 0};
  if (below == t.count) return past_end<U>(low);
  const TableValue& high = t.values[below];
  const TableValue &near = x.negative ? high : low, &far = x.negative ? low : high;
  return {U((goes_far(to, x, near, far, random) ? far : near).code), inexact};
}

}  // namespace widthwise
