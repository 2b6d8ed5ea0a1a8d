// The three sums of a unit (lib's datapath/sum.hpp) for strips of numbers.
#if defined(WIDTHWISE_BLOCKS_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_SUMS_INL
#undef WIDTHWISE_BLOCKS_SUMS_INL
#else
#define WIDTHWISE_BLOCKS_SUMS_INL
#endif

#include "sim/blocks/twofold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// Some strips to be added; C is the last one, if told so.
struct Terms {
  Strip** strips;
  std::size_t count;
  bool c_last;

  HWY_INLINE std::uint64_t first_lane() const { return strips[0]->lane; }
  HWY_INLINE V value(std::size_t i, std::size_t at) const { return load(strips[i]->value + at); }
  HWY_INLINE V power(std::size_t i, std::size_t at) const { return load(strips[i]->power + at); }
  HWY_INLINE V largest_power(std::size_t at) const {
    V most = power(0, at);
    for (std::size_t i = 1; i < count; ++i) most = hn::Max(most, power(i, at));
    return most;
  }
};

// No register holds an infinity or a NaN: `plain` is the sum as it would be without.
HWY_INLINE V unless_special(V plain, V sum) {
  return hn::IfThenElse(infinite_or_nan(plain), plain, sum);
}

// v modulo 2^width, between -2^(width - 1) and 2^(width - 1) - 1, however large.
HWY_INLINE V wrapped(V v, double modulus) {
  const V turns = hn::Round(hn::Mul(v, number(1 / modulus)));
  const V rest = hn::Sub(v, hn::Mul(turns, number(modulus)));
  const V half = number(modulus / 2);
  return hn::IfThenElse(hn::Eq(rest, half), hn::Neg(half), rest);
}
HWY_INLINE V fit(const SumRule& s, V v) {
  if (s.wrap > 0) return wrapped(v, s.wrap);
  if (s.least < s.most) return hn::Min(hn::Max(v, number(s.least)), number(s.most));
  return v;
}

// What a window needs of its sum, ready for the lanes.
struct Window {
  int frac_bits, frac_bits_of_c;
  V least_power, to_grid, c_to_grid, unit, drop_c_below;
  bool drops_c;

  explicit HWY_INLINE Window(const SumRule& s)
      : frac_bits(s.frac_bits),
        frac_bits_of_c(s.frac_bits_of_c),
        least_power(number(s.least_power)),
        to_grid(number(power_of_two(s.grid - s.frac_bits))),
        c_to_grid(number(power_of_two(s.grid - s.frac_bits_of_c))),
        unit(number(power_of_two(-s.grid))),
        drop_c_below(number(s.drop_c_below)),
        drops_c(s.drop_c_below > 0) {}

  // C as a multiple of the sum's last digit. One that is dropped keeps its sign.
  template <class Mode>
  HWY_INLINE V aligned_c(Mode mode, V c, V power, V floor) const {
    V x = to_integer(mode, hn::Mul(c, over(floor, frac_bits_of_c)));
    x = hn::Mul(x, c_to_grid);
    if (!drops_c) return x;
    const M far = hn::And(hn::Lt(power, hn::Mul(floor, drop_c_below)), hn::Gt(power, number(0)));
    return hn::IfThenElse(far, hn::CopySign(number(0), x), x);
  }
};

// Adds to a sum every term as a multiple of the sum's last digit.
template <class Mode, class Add>
HWY_INLINE void add_aligned(const Window& w, Mode mode, const Terms& terms, std::size_t at, V floor,
                            const Add& add) {
  const V up = over(floor, w.frac_bits);
  const std::size_t last = terms.count - terms.c_last;
  for (std::size_t i = 0; i < last; ++i)
    add(hn::Mul(to_integer(mode, hn::Mul(terms.value(i, at), up)), w.to_grid));
  if (terms.c_last) add(w.aligned_c(mode, terms.value(last, at), terms.power(last, at), floor));
}

void sum_in_window(const SumRule& s, const Terms& terms, std::size_t columns, Strip& result) {
  const Window w(s);
  const bool any_width = s.wrap > 0 || s.least < s.most;
  with_mode(s.mode, [&](auto mode) HWY_ATTR {
    for_each_vector(columns, [&](std::size_t at) HWY_ATTR {
      const V most = terms.largest_power(at), floor = hn::Max(most, w.least_power);
      V total = number(-0.0);
      add_aligned(w, mode, terms, at, floor, [&](V x) HWY_ATTR { total = hn::Add(total, x); });
      if (any_width) total = unless_special(total, fit(s, total));
      store(hn::Mul(total, hn::Mul(floor, w.unit)), result.value + at);
      store(hn::IfThenElseZero(hn::Gt(most, number(0)), floor), result.power + at);
    });
  });
}

// Rounded to odd on the way: only a rounding looks at it. Two doubles lose nothing of it.
void sum_in_long_window(const SumRule& s, const Terms& terms, std::size_t columns, Strip& result) {
  const Window w(s);
  with_mode(s.mode, [&](auto mode) HWY_ATTR {
    for_each_vector(columns, [&](std::size_t at) HWY_ATTR {
      const V floor = hn::Max(terms.largest_power(at), w.least_power);
      Twofold total{number(-0.0), number(0), number(0)};
      add_aligned(w, mode, terms, at, floor, [&](V x) HWY_ATTR { total = total + x; });
      const V odd = sum_to_odd(total.high, total.low);
      const V sum = hn::IfThenElse(hn::Eq(total.low, number(0)), total.high, odd);  // maybe -0
      const V value = hn::Mul(sum, hn::Mul(floor, w.unit));
      store(unless_special(total.high, value), result.value + at);
    });
  });
}

void sum_in_register(const SumRule& rule, const Terms& terms, std::size_t columns, bool votes,
                     Strip& result) {
  const SumRule s = rule;
  const V up = number(power_of_two(s.frac_bits)), down = number(power_of_two(-s.frac_bits));
  with_mode(s.mode, [&](auto mode) HWY_ATTR {
    for_each_vector(columns, [&](std::size_t at) HWY_ATTR {
      V total = number(-0.0), plain = total;
      for (std::size_t i = 0; i < terms.count; ++i) {
        const V term = terms.value(i, at);
        plain = hn::Add(plain, term);
        V x = to_integer(mode, hn::Mul(term, up));
        if (s.wrap > 0) x = wrapped(x, s.wrap);  // else the sum may be none of a double
        total = fit(s, hn::Add(total, x));
      }
      if (votes) store(terms.largest_power(at), result.power + at);
      store(unless_special(plain, hn::Mul(total, down)), result.value + at);
    });
  });
}

void sum_exactly(const Terms& terms, std::size_t columns, bool votes, Strip& result) {
  for_each_vector(columns, [&](std::size_t at) HWY_ATTR {
    V total = terms.value(0, at);
    for (std::size_t i = 1; i < terms.count; ++i) total = hn::Add(total, terms.value(i, at));
    if (votes) store(terms.largest_power(at), result.power + at);
    store(total, result.value + at);
  });
}

// One term, or two whose sum `out` rounds from those.
void sum_at_once(const Slot& out, const Terms& terms, const Progress& progress, Strip& result) {
  if (terms.count == 1) return sum_exactly(terms, progress.columns, false, result);
  round_sum(out, progress, terms.first_lane(), false, terms.strips[0]->value,
            terms.strips[1]->value, result);
}

void sum_pair(const Terms& terms, std::size_t columns, bool votes, Strip& result) {
  for_each_vector(columns, [&](std::size_t at) HWY_ATTR {
    const V sum = sum_to_odd(terms.value(0, at), terms.value(1, at));
    if (votes) store(terms.largest_power(at), result.power + at);
    store(sum, result.value + at);
  });
}

void sum_twofold(const Slot& out, const Terms& terms, const Progress& progress, Strip& result) {
  alignas(64) double random[strip_columns] = {};
  if (out.own && out.random_bits > 0) draw(out, progress, terms.first_lane(), random);
  for_each_vector(progress.columns, [&](std::size_t at) HWY_ATTR {
    Twofold total{terms.value(0, at), number(0), number(0)};
    for (std::size_t i = 1; i < terms.count; ++i) total = total + terms.value(i, at);
    settle(out, total, load(random + at), at, progress, result);
  });
}

// All terms aligned once and added.
void fused_sum(const Rules& rules, const SumRule& s, const Progress& progress, const Terms& terms,
               Strip& result) {
  switch (s.aligned) {
    case Aligned::window: return sum_in_window(s, terms, progress.columns, result);
    case Aligned::long_window: return sum_in_long_window(s, terms, progress.columns, result);
    case Aligned::fixed: return sum_in_register(s, terms, progress.columns, rules.votes, result);
    case Aligned::twofold: return sum_twofold(rules.out, terms, progress, result);
    case Aligned::at_once: return sum_at_once(rules.out, terms, progress, result);
    case Aligned::exact: break;
    case Aligned::pair:
      if (terms.count == 2) return sum_pair(terms, progress.columns, rules.votes, result);
  }
  sum_exactly(terms, progress.columns, rules.votes, result);
}

// Infinities and NaN go on as they are, whatever the node's format has.
void add_pair(const Rules& rules, const SumRule& s, const Progress& progress, const Terms& pair,
              Strip& result) {
  const std::uint64_t step = pair.strips[1]->lane;
  result.lane = pair.strips[0]->lane;
  if (s.node && s.node->specials_stay && s.aligned == Aligned::pair)
    return round_sum(*s.node, progress, step, rules.votes, pair.strips[0]->value,
                     pair.strips[1]->value, result);
  fused_sum(rules, s, progress, pair, result);
  if (!s.node) return;
  if (s.node->specials_stay)
    return round(*s.node, progress, step, rules.votes, result.value, result);
  const Strip sum = result;
  round(*s.node, progress, step, rules.votes, sum.value, result);
  for_each_vector(progress.columns, [&](std::size_t at) HWY_ATTR {
    const V x = load(sum.value + at);
    const V power = hn::IfThenZeroElse(infinite_or_nan(x), load(result.power + at));
    store(unless_special(x, load(result.value + at)), result.value + at);
    if (rules.votes) store(power, result.power + at);
  });
}

// Neighbours first; the odd last one moves up. A node takes the place of its left operand.
void sum_as_tree(const Rules& rules, const SumRule& s, const Progress& progress, Terms terms,
                 Strip& result) {
  while (terms.count > 1) {
    const std::size_t n = terms.count, pairs = n / 2;
    const bool c_in_pair = terms.c_last && n % 2 == 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      Strip& node = *terms.strips[2 * i];
      add_pair(rules, s, progress, {terms.strips + 2 * i, 2, c_in_pair && i + 1 == pairs}, node);
      terms.strips[i] = &node;
    }
    if (n % 2) terms.strips[pairs] = terms.strips[n - 1];
    terms = {terms.strips, pairs + n % 2, terms.c_last && !c_in_pair};
  }
  result = *terms.strips[0];
}

void sum_in_turn(const Rules& rules, const SumRule& s, const Progress& progress, const Terms& terms,
                 Strip& result) {
  Strip& total = *terms.strips[0];
  for (std::size_t i = 1; i < terms.count; ++i) {
    Strip* pair[] = {&total, terms.strips[i]};
    add_pair(rules, s, progress, {pair, 2, terms.c_last && i + 1 == terms.count}, total);
  }
  result = total;
}

// Overwrites its terms, but not C.
void reduce(const Rules& rules, const SumRule& s, const Progress& progress, const Terms& terms,
            Strip& result) {
  result.lane = terms.strips[0]->lane;
  if (terms.count == 1 || s.order == Order::fused)
    return fused_sum(rules, s, progress, terms, result);
  if (s.order == Order::pairwise_tree) return sum_as_tree(rules, s, progress, terms, result);
  sum_in_turn(rules, s, progress, terms, result);
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
