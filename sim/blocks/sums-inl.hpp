// The three sums of a unit (lib's datapath/sum.hpp) in double lanes.
#if defined(WIDTHWISE_BLOCKS_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_SUMS_INL
#undef WIDTHWISE_BLOCKS_SUMS_INL
#else
#define WIDTHWISE_BLOCKS_SUMS_INL
#endif

#include "sim/blocks/arithmetic-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// A summand or a sum, and the power of two with which it votes on an alignment: 0 of an exact zero,
// an infinity or a NaN. A sum that cancelled votes.
struct Term {
  V value, power;
};

// v modulo 2^width, between -2^(width - 1) and 2^(width - 1) - 1, however large.
HWY_INLINE V wrapped(const SumRule& s, V v) {
  const V turns = hn::Round(hn::Mul(v, number(1 / s.wrap)));
  const V rest = hn::Sub(v, hn::Mul(turns, number(s.wrap)));
  const V half = number(s.wrap / 2);
  return hn::IfThenElse(hn::Eq(rest, half), hn::Neg(half), rest);
}
HWY_INLINE V fit(const SumRule& s, V v) {
  if (s.wrap > 0) return wrapped(s, v);
  if (s.least < s.most) return hn::Min(hn::Max(v, number(s.least)), number(s.most));
  return v;
}
// No register holds an infinity or a NaN: `plain` is the sum as it would be without.
HWY_INLINE V unless_special(V plain, V sum) {
  return hn::IfThenElse(infinite_or_nan(plain), plain, sum);
}

// C as a multiple of the last digit that the sum has. One that is dropped keeps its sign.
HWY_INLINE V aligned_c(const SumRule& s, const Term& c, V floor) {
  V x = to_integer(s.mode, hn::Mul(c.value, over(floor, s.frac_bits_of_c)));
  x = hn::Mul(x, number(power_of_two(s.grid - s.frac_bits_of_c)));
  if (s.drop_c_below == 0) return x;
  const M far =
      hn::And(hn::Lt(c.power, hn::Mul(floor, number(s.drop_c_below))), hn::Gt(c.power, number(0)));
  return hn::IfThenElse(far, hn::CopySign(number(0), x), x);
}

template <class Get>
HWY_INLINE Term sum_in_window(const SumRule& s, std::size_t n, bool c_last, const Get& get) {
  V most = number(0);
  for (std::size_t i = 0; i < n; ++i) most = hn::Max(most, get(i).power);
  const V floor = hn::Max(most, number(s.least_power)), up = over(floor, s.frac_bits);
  const V to_grid = number(power_of_two(s.grid - s.frac_bits));
  V total = number(-0.0);
  for (std::size_t i = 0; i < n - c_last; ++i)
    total = hn::Add(total, hn::Mul(to_integer(s.mode, hn::Mul(get(i).value, up)), to_grid));
  if (c_last) total = hn::Add(total, aligned_c(s, get(n - 1), floor));
  const V unit = hn::Mul(floor, number(power_of_two(-s.grid)));
  return {hn::Mul(unless_special(total, fit(s, total)), unit),
          hn::IfThenElseZero(hn::Gt(most, number(0)), floor)};
}

template <class Get>
HWY_INLINE Term sum_in_register(const SumRule& s, std::size_t n, const Get& get) {
  const V up = number(power_of_two(s.frac_bits));
  V most = number(0), total = number(-0.0), plain = total;
  for (std::size_t i = 0; i < n; ++i) {
    const Term t = get(i);
    most = hn::Max(most, t.power);
    plain = hn::Add(plain, t.value);
    V x = to_integer(s.mode, hn::Mul(t.value, up));
    if (s.wrap > 0) x = wrapped(s, x);  // else the sum may be none of a double
    total = fit(s, hn::Add(total, x));
  }
  const V sum = hn::Mul(total, number(power_of_two(-s.frac_bits)));
  return {unless_special(plain, sum), most};
}

template <class Get>
HWY_INLINE Term sum_exactly(std::size_t n, const Get& get) {
  V most = number(0), total = number(-0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const Term t = get(i);
    most = hn::Max(most, t.power);
    total = hn::Add(total, t.value);
  }
  return {total, most};
}

// Every term cut into digits of the slices, each slice summed exactly; then carries move up, so
// that no slice cancels the one above it, and all are added to odd from the lowest on.
template <class Get>
HWY_INLINE Term sum_in_slices(const Slices& slices, std::size_t n, const Get& get) {
  const std::size_t count = slices.count;
  V part[most_slices];
  for (std::size_t j = 0; j < count; ++j) part[j] = number(0);
  V most = number(0), plain = number(-0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const Term t = get(i);
    most = hn::Max(most, t.power);
    plain = hn::Add(plain, t.value);
    V rest = t.value;
    for (std::size_t j = 0; j < count; ++j) {
      const V magic = number(slices.magic[j]);
      const V digits = hn::Sub(hn::Add(rest, magic), magic);
      part[j] = hn::Add(part[j], digits);
      rest = hn::Sub(rest, digits);
    }
  }
  for (std::size_t j = count - 1; j > 0; --j) {
    const V magic = number(slices.magic[j - 1]);
    const V carry = hn::Sub(hn::Add(part[j], magic), magic);
    part[j - 1] = hn::Add(part[j - 1], carry);
    part[j] = hn::Sub(part[j], carry);
  }
  V total = part[count - 1];
  for (std::size_t j = count - 1; j-- > 0;) total = sum_to_odd(part[j], total);
  // The sign of a zero is that of a plain sum, if that is one too; else numbers have cancelled.
  const M zero = hn::And(hn::Eq(total, number(0)), hn::Eq(plain, number(0)));
  return {hn::IfThenElse(zero, plain, unless_special(plain, total)), most};
}

// All terms aligned once and added; C is the last one, if told so.
template <class Get>
HWY_INLINE Term fused_sum(const Rules& rules, const SumRule& s, std::size_t n, bool c_last,
                          const Get& get) {
  switch (s.aligned) {
    case Aligned::window: return sum_in_window(s, n, c_last, get);
    case Aligned::fixed: return sum_in_register(s, n, get);
    case Aligned::slices: return sum_in_slices(rules.slices, n, get);
    case Aligned::exact: break;
    case Aligned::pair:
      if (n != 2) break;
      const Term x = get(0), y = get(1);
      return {sum_to_odd(x.value, y.value), hn::Max(x.power, y.power)};
  }
  return sum_exactly(n, get);
}

HWY_INLINE Term add_pair(const Rules& rules, const SumRule& s, const Term& x, const Term& y,
                         bool c_last) {
  Term z = fused_sum(rules, s, 2, c_last, [&](std::size_t i) HWY_ATTR { return i ? y : x; });
  if (!s.node) return z;
  // Infinities and NaN go on as they are.
  z.value = unless_special(z.value, round(*s.node, z.value));
  z.power = vote(z.value, s.node->least_normal);
  return z;
}

// Neighbours first; the odd last one moves up.
template <class Get>
HWY_INLINE Term sum_as_tree(const Rules& rules, const SumRule& s, std::size_t n, bool c_last,
                            const Get& get) {
  Term terms[most_leaves];
  for (std::size_t i = 0; i < n; ++i) terms[i] = get(i);
  for (; n > 1; n = n / 2 + n % 2) {
    const bool c_in_pair = c_last && n % 2 == 0;
    for (std::size_t i = 0; i < n / 2; ++i)
      terms[i] = add_pair(rules, s, terms[2 * i], terms[2 * i + 1], c_in_pair && i + 1 == n / 2);
    if (n % 2) terms[n / 2] = terms[n - 1];
    c_last &= !c_in_pair;
  }
  return terms[0];
}

template <class Get>
HWY_INLINE Term reduce(const Rules& rules, const SumRule& s, std::size_t n, bool c_last,
                       const Get& get) {
  if (n == 1 || s.order == Order::fused) return fused_sum(rules, s, n, c_last, get);
  if (s.order == Order::pairwise_tree) return sum_as_tree(rules, s, n, c_last, get);
  Term z = get(0);
  for (std::size_t i = 1; i < n; ++i) z = add_pair(rules, s, z, get(i), c_last && i + 1 == n);
  return z;
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
