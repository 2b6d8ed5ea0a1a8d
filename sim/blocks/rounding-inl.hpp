// Strips of numbers rounded to a slot of the unit (lib's rounded() and deliver()), with the flags
// they raise. Compiled once for every instruction set, within kernels.cpp.
#if defined(WIDTHWISE_BLOCKS_ROUNDING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_BLOCKS_ROUNDING_INL
#undef WIDTHWISE_BLOCKS_ROUNDING_INL
#else
#define WIDTHWISE_BLOCKS_ROUNDING_INL
#endif

#include "sim/blocks/own-inl.hpp"
#include "sim/engine/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::blocks::HWY_NAMESPACE {

// --- To whole numbers ----------------------------------------------------------------------------

template <class Mode>
struct ByMode {
  Mode mode;
  HWY_INLINE V operator()(V x, std::size_t, V) const { return to_integer(mode, x); }
};

// By random bits as whole numbers below 2^k: away from zero where the part that is cut off, in
// units of 2^-k, and those reach 2^k together (lib's stochastic_away).
struct ByChance {
  StochasticVariant variant;
  double one;  // 2^k
  const double* random;

  HWY_INLINE V operator()(V x, std::size_t at, V) const {
    const V whole = hn::Trunc(x);
    return moved(x, whole, hn::Abs(hn::Sub(x, whole)), at);
  }
  HWY_INLINE V moved(V x, V whole, V cut_off, std::size_t at) const {
    V rest = hn::Mul(cut_off, number(one));
    if (variant == StochasticVariant::even) rest = hn::Round(rest);
    const double enough = variant == StochasticVariant::half ? one - 0.5 : one;
    const M away = hn::Ge(rest, hn::Sub(number(enough), load(random + at)));
    const V z = hn::IfThenElse(away, hn::Add(whole, hn::CopySignToAbs(number(1), x)), whole);
    return hn::CopySign(z, x);
  }
};

// By more bits than a number rounded to odd answers to: what is cut off comes of its two terms.
template <class Number>
struct ByFineChance {
  ByChance chance;
  const Number& exact;

  HWY_INLINE V operator()(V x, std::size_t at, V up) const {
    const V whole = hn::Trunc(x);
    const auto [one, other] = exact.terms(at);
    const TwoSum z = two_sum(one, other);
    const V faint = hn::Max(hn::Abs(hn::Mul(z.lost, up)), number(0x1p-1000));  // no less, if not 0
    const V lost = hn::IfThenElse(hn::Eq(z.lost, number(0)), z.lost, hn::CopySign(faint, z.lost));
    const V cut_off = sum_to_odd(hn::Sub(hn::Mul(z.sum, up), whole), lost);
    return chance.moved(x, whole, hn::Abs(cut_off), at);
  }
};

// The words of one call for every output.
HWY_NOINLINE void call(widthwise::Slot place, std::size_t columns, Draws& draws) {
  using Philox = widthwise::HWY_NAMESPACE::Philox;
  const Philox::Lanes d;
  const Philox philox(draws.first.seed);
  constexpr std::size_t calls = 4;  // side by side
  for (std::size_t at = 0; at < columns; at += calls * hn::Lanes(d)) {
    Philox::H words[calls][4];
    for (std::size_t i = 0; i < calls; ++i)
      Philox::count(hn::Iota(d, draws.first.index + at + i * hn::Lanes(d)), draws.call, place,
                    words[i]);
    philox(words);
    for (std::size_t i = 0; i < calls; ++i)
      for (std::size_t word = 0; word < 4; ++word)
        hn::StoreU(words[i][word], d, draws.words[word] + at + i * hn::Lanes(d));
  }
}
// The words for a step's rounding of some outputs, which steps side by side share.
HWY_INLINE const Draws& drawn(const RandomField& field, widthwise::Slot place,
                              const Progress& progress, std::uint64_t step) {
  const std::uint64_t number = step / field.steps_a_call();
  Draws& draws = (*progress.draws)[static_cast<std::size_t>(place)];
  if (!draws.are_of(progress.first, progress.columns, number)) {
    draws.first = progress.first, draws.columns = progress.columns, draws.call = number;
    call(place, progress.columns, draws);
  }
  return draws;
}
// The random bits out of them, of the outputs from one on.
HWY_INLINE I random_bits(const RandomField& field, const Draws& draws, std::uint64_t step,
                         std::size_t at) {
  const auto from = static_cast<int>(step % field.steps_a_call()) * field.width;
  const I mask = hn::Set(Ints(), field.width == 16 ? 0xffff : 0xffffffff);
  const auto* words = reinterpret_cast<const std::int64_t*>(draws.words[from / 32]);
  const I all = hn::And(hn::ShiftRightSame(hn::LoadU(Ints(), words + at), from % 32), mask);
  return hn::ShiftRightSame(all, field.width - field.bits);
}
// Those of one rounding of every output, as numbers.
HWY_INLINE void draw(const Slot& s, const Progress& progress, std::uint64_t step, double* random) {
  const RandomField field(s.random_bits);
  const Draws& draws = drawn(field, s.place, progress, step);
  for_each_vector(progress.columns, [&](std::size_t at) HWY_ATTR {
    store(hn::ConvertTo(Doubles(), random_bits(field, draws, step, at)), random + at);
  });
}

// --- One number ----------------------------------------------------------------------------------

HWY_INLINE V by_sign(V x, const double (&two)[2]) {
  return hn::IfThenElse(has_minus(x), number(two[1]), number(two[0]));
}

// Whether x, which was rounded to y, is tiny by a rule: below the least normal number, or the only
// ones there are. After rounding none is that is not delivered as such a one, but for some that
// only subnormals' steps have brought to the least normal number.
template <class Whole>
HWY_INLINE M is_tiny(const Slot& s, Tininess rule, const Whole& whole, std::size_t at, V x, V y) {
  const V least = number(s.tiny_below);
  const M delivered = hn::Lt(hn::Abs(y), least), below = hn::Lt(hn::Abs(x), least);
  if (rule == Tininess::before_rounding) return below;
  if (rule == Tininess::as_delivered) return delivered;
  const M reached = hn::AndNot(delivered, below);
  if (hn::AllFalse(Doubles(), reached)) [[likely]]
    return delivered;
  const V free =
      cut(x, s.frac_bits, 0x1p-960, [&](V part, V up) HWY_ATTR { return whole(part, at, up); });
  return hn::Or(delivered, hn::And(reached, hn::Lt(hn::Abs(free), least)));
}

// A code that is read as zero has been delivered. What is tiny may be too large as well, where a
// format has subnormals alone.
template <class Whole>
HWY_INLINE M is_flushed(const Slot& s, const Whole& whole, std::size_t at, V x, V y) {
  const Tininess rule = s.daz ? Tininess::as_delivered : s.tininess;
  const M there = hn::And(hn::Ne(y, number(0)), hn::Le(hn::Abs(y), number(s.largest)));
  return hn::And(is_tiny(s, rule, whole, at, x, y), there);
}
template <class Whole>
HWY_INLINE V flushed(const Slot& s, const Whole& whole, std::size_t at, V x, V y) {
  const V zero = s.flush == Flush::flush_signed_zero ? hn::CopySign(number(0), y) : number(0);
  return hn::IfThenElse(is_flushed(s, whole, at, x, y), zero, y);
}

HWY_INLINE M is_infinite(V x) {
  return hn::Eq(hn::Abs(x), number(std::numeric_limits<double>::infinity()));
}

// Without subnormals: 0, which counts as even, or the least number, whatever lies between.
template <class Whole>
HWY_INLINE V beside_gap(const Slot& s, const Whole& whole, std::size_t at, V x, V rounded) {
  const V least = number(s.tiny_below), size = hn::Abs(x), twice = hn::Add(size, size);
  const V below_tie = hn::IfThenElse(hn::Eq(twice, least), number(0.5), number(0.25));
  const V part = hn::IfThenElse(hn::Gt(twice, least), number(0.75), below_tie);
  const V end =
      s.has_zero ? whole(hn::CopySignToAbs(part, x), at, number(1)) : hn::CopySign(number(1), x);
  const M inside = hn::And(hn::Lt(size, least), hn::Ne(x, number(0)));
  return hn::IfThenElse(inside, hn::Mul(end, least), rounded);
}

// Between 2^e and 2^(e + 1), codes e + bias and the next one, of which the mode asks whether it is
// even.
HWY_INLINE V by_code(const Slot& s, V x, V rounded) {
  const V size = hn::Abs(x), low = leading_power(x);
  const bool nearest = s.mode != RoundingMode::odd, to_even = s.mode == RoundingMode::rne;
  const M between = nearest ? hn::Eq(size, hn::Mul(low, number(1.5))) : hn::Ne(size, low);
  const M asks = hn::And(between, hn::Ge(size, number(s.least_normal)));
  const I code = hn::Add(hn::ShiftRight<52>(bits(low)), hn::Set(Ints(), s.bias - 1023));
  const I last_bit = hn::And(code, hn::Set(Ints(), 1));
  const M stays = hn::RebindMask(Doubles(), hn::Eq(last_bit, hn::Set(Ints(), to_even ? 0 : 1)));
  const V end = hn::CopySignToAbs(hn::IfThenElse(stays, low, hn::Add(low, low)), x);
  return hn::IfThenElse(hn::And(asks, hn::Not(infinite_or_nan(x))), end, rounded);
}

// Whether all of a vector are numbers of a format that has every sign and zero, once they are
// rounded. Nearly all vectors are.
HWY_INLINE bool are_inside(const Slot& s, V rounded) {
  const M inside = hn::Le(hn::Abs(rounded), number(s.largest));
  return s.is_signed && s.has_zero && hn::AllTrue(Doubles(), inside);
}

// What lies past the largest number, infinities, NaN and what a format has no code for: below zero,
// or zero itself.
HWY_INLINE V past_the_end(const Slot& s, V x, V rounded) {
  if (are_inside(s, rounded)) [[likely]]
    return rounded;
  const M past = hn::Gt(hn::Abs(rounded), number(s.largest));
  V z = hn::IfThenElse(past, by_sign(x, s.past), rounded);
  if (!s.is_signed) z = hn::IfThenElse(hn::Lt(rounded, number(0)), number(s.nan), z);
  if (!s.has_zero) z = hn::IfThenElse(hn::Eq(x, number(0)), by_sign(x, s.zero), z);
  z = hn::IfThenElse(is_infinite(x), by_sign(x, s.infinite), z);
  return hn::IfThenElse(hn::Eq(x, x), z, number(s.nan));
}

// An exact number, an infinity or NaN on its way through a slot: before the rounding proper, after
// it, after flushing, and as the slot's format holds it.
struct Passage {
  V exact, cut, kept, result;
};

template <class Whole>
HWY_INLINE Passage rounded(const Slot& s, const Whole& whole, std::size_t at, V x) {
  if (s.plus_zero) x = hn::Add(x, number(0));
  if (s.first_frac_bits >= 0)
    x = cut(x, s.first_frac_bits, s.least_normal,
            [&](V y, V) HWY_ATTR { return to_integer(s.first_mode, y); });
  const bool machine = s.machine && HWY_TARGET != HWY_SCALAR;  // there no number overflows
  V y = machine ? hn::PromoteTo(Doubles(), hn::DemoteTo(Floats(), x))
                : cut(x, s.frac_bits, s.least_normal,
                      [&](V part, V up) HWY_ATTR { return whole(part, at, up); });
  if (s.gap) y = beside_gap(s, whole, at, x, y);
  if (s.even_code) y = by_code(s, x, y);
  V z = y;
  if (s.flush != Flush::keep) z = flushed(s, whole, at, x, y);
  if (!s.signed_zero) z = hn::Add(z, number(0));
  return {x, y, z, machine ? z : past_the_end(s, x, z)};
}

// What that raises (lib's pack()).
template <class Whole>
HWY_INLINE I raised(const Slot& s, const Whole& whole, std::size_t at, const Passage& p) {
  const Ints d;
  const M lossy = hn::Ne(p.exact, p.cut);
  I z = flag(lossy, inexact);
  const M below = hn::And(lossy, hn::Lt(hn::Abs(p.exact), number(s.tiny_below)));
  if (!hn::AllFalse(Doubles(), below)) {  // no rule calls tiny what is not
    const M tiny = is_tiny(s, s.tininess, whole, at, p.exact, p.cut);
    z = hn::Or(z, flag(hn::And(below, tiny), underflow));
  }
  if (s.flush != Flush::keep && !s.daz)
    z = hn::Or(z, flag(is_flushed(s, whole, at, p.exact, p.cut), underflow | inexact));
  if (are_inside(s, p.cut)) [[likely]]
    return z;
  const M over = hn::Gt(hn::Abs(p.cut), number(s.largest));
  z = hn::IfThenElse(hn::RebindMask(d, over), hn::Set(d, overflow | inexact), z);
  const auto instead = [&](M when, int flags) HWY_ATTR {
    z = hn::IfThenElse(hn::RebindMask(d, when), hn::Set(d, flags), z);
  };
  if (!s.is_signed) instead(hn::Lt(p.kept, number(0)), invalid);
  if (!s.has_zero) instead(hn::Eq(p.exact, number(0)), s.zero_flags);
  const M infinite = is_infinite(p.exact);
  instead(infinite, s.infinite_flags[0]);
  if (!s.is_signed) instead(hn::And(infinite, has_minus(p.exact)), s.infinite_flags[1]);
  const M is_number = hn::Eq(p.exact, p.exact);
  return hn::IfThenElse(hn::RebindMask(d, is_number), z, hn::Set(d, s.nan_flags));
}

// --- Strips --------------------------------------------------------------------------------------

// x(at), of every vector of a strip, as a slot's format holds it, and how it votes if anything asks
// for that.
template <bool flags, class Whole, class Number>
HWY_INLINE void round_each(const Slot& to, const Whole& whole, const Progress& progress, bool votes,
                           const Number& x, Strip& result) {
  const Slot s = to;  // of one's own: no store can change it
  for_each_vector(progress.columns, [&](std::size_t at) HWY_ATTR {
    const Passage p = rounded(s, whole, at, x(at));
    store(p.result, result.value + at);
    if (votes) store(vote(p.result, s.least_normal), result.power + at);
    if constexpr (flags) raise(raised(s, whole, at, p), progress.flags + at);
  });
}

// --- Strips that the machine converts ------------------------------------------------------------

HWY_INLINE bool is_conversion(const Slot& s) {
  return s.machine && s.flush == Flush::keep && HWY_TARGET != HWY_SCALAR;
}
// x(at), or what rounds to the same: of sums, most of which are doubles, those are looked at first.
template <class Number>
HWY_INLINE V for_floats(const Number& x, std::size_t at) {
  if constexpr (requires { x.terms(at); }) {
    const auto [one, other] = x.terms(at);
    const V sum = hn::Add(one, other);
    if (hn::AllTrue(Doubles(), is_exact_sum(one, other, sum))) [[likely]]
      return sum;
    return sum_to_odd(one, other);
  } else {
    return x(at);
  }
}

// `zero` is what an exact zero is added to: +0 makes +0 of it, -0 changes nothing.
template <class Number>
HWY_INLINE void convert_each(const Slot& s, double zero, std::size_t columns, bool votes,
                             const Number& x, Strip& result) {
  const V least_normal = number(s.least_normal);
  for_each_vector(columns, [&](std::size_t at) HWY_ATTR {
    const V exact = hn::Add(for_floats(x, at), number(zero));
    const V z = hn::PromoteTo(Doubles(), hn::DemoteTo(Floats(), exact));
    store(z, result.value + at);
    if (votes) store(vote(z, least_normal), result.power + at);
  });
}

template <class Mode, class Number>
struct CutFirst {
  Mode mode;
  int frac_bits;
  double least_normal, zero;
  const Number& x;
  HWY_INLINE V operator()(std::size_t at) const {
    return cut(hn::Add(x(at), number(zero)), frac_bits, least_normal,
               [&](V y, V) HWY_ATTR { return to_integer(mode, y); });
  }
};
template <class Number>
HWY_INLINE void convert_strip(const Slot& s, std::size_t columns, bool votes, const Number& x,
                              Strip& result) {
  const double zero = s.plus_zero ? 0.0 : -0.0;
  if (s.first_frac_bits < 0) return convert_each(s, zero, columns, votes, x, result);
  with_mode(s.first_mode, [&](auto mode) HWY_ATTR {
    const CutFirst<decltype(mode), Number> first{mode, s.first_frac_bits, s.least_normal, zero, x};
    convert_each(s, -0.0, columns, votes, first, result);
  });
}

// Compiled anew for the usual modes.
template <bool flags, class Number>
HWY_INLINE void round_strip(const Slot& to, const Progress& progress, std::uint64_t step,
                            bool votes, const Number& x, Strip& result) {
  if (to.random_bits > 0) {
    alignas(64) double random[strip_columns];
    draw(to, progress, step, random);
    const ByChance chance{to.variant, power_of_two(to.random_bits), random};
    if constexpr (requires { x.terms(0); })
      if (to.fine)
        return round_each<flags>(to, ByFineChance<Number>{chance, x}, progress, votes, x, result);
    return round_each<flags>(to, chance, progress, votes, x, result);
  }
  with_mode(to.mode, [&](auto mode) HWY_ATTR {
    round_each<flags>(to, ByMode<decltype(mode)>{mode}, progress, votes, x, result);
  });
}
template <class Number>
HWY_INLINE void own_strip(const Slot& to, const Progress& progress, std::uint64_t step, bool votes,
                          const Number& x, Strip& result) {
  alignas(64) double random[strip_columns];
  if constexpr (requires { x.terms(0); })
    if (to.random_bits > 0) draw(to, progress, step, random);
  own_each(to, random, x, progress, votes, result);
}
template <class Number>
HWY_INLINE void round_strip(const Slot& to, const Progress& progress, std::uint64_t step,
                            bool votes, const Number& x, Strip& result) {
  if (to.own) return own_strip(to, progress, step, votes, x, result);
  if (progress.flags) return round_strip<true>(to, progress, step, votes, x, result);
  if (is_conversion(to)) return convert_strip(to, progress.columns, votes, x, result);
  round_strip<false>(to, progress, step, votes, x, result);
}

struct Loaded {
  const double* from;
  HWY_INLINE V operator()(std::size_t at) const { return load(from + at); }
};
void round(const Slot& to, const Progress& progress, std::uint64_t step, bool votes,
           const double* from, Strip& result) {
  round_strip(to, progress, step, votes, Loaded{from}, result);
}

// x + y so rounded.
struct Added {
  const double *x, *y;
  HWY_INLINE Pair terms(std::size_t at) const { return {load(x + at), load(y + at)}; }
  HWY_INLINE V operator()(std::size_t at) const { return sum_to_odd(terms(at)); }
};
void round_sum(const Slot& to, const Progress& progress, std::uint64_t step, bool votes,
               const double* x, const double* y, Strip& result) {
  round_strip(to, progress, step, votes, Added{x, y}, result);
}

}  // namespace widthwise::blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
