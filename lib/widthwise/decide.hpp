#pragma once
#include "widthwise/rounding.hpp"
#include "widthwise/significand.hpp"

// Whether a truncated magnitude moves one step away from zero. The rounding modes live here.
namespace widthwise {

// guard is the first dropped digit, sticky the OR of those below it (docs/semantics.md, R1). Truth
// is a truth, or a mask of many.
template <class Truth>
constexpr Truth goes_away(RoundingMode mode, Truth negative, Truth is_odd, Truth guard,
                          Truth sticky) {
  using enum RoundingMode;
  const auto no = [](Truth x) { return Truth(x == Truth{}); };
  switch (mode) {
    case rne: return Truth(guard & (sticky | is_odd));
    case rna: return guard;
    case rnz: return Truth(guard & sticky);
    case rnp: return Truth(guard & (sticky | no(negative)));
    case rnm: return Truth(guard & (sticky | negative));
    case rno: return Truth(guard & (sticky | no(is_odd)));
    case rtz: return Truth{};
    case rdn: return Truth(negative & (guard | sticky));
    case rup: return Truth(no(negative) & (guard | sticky));
    case raz: return Truth(guard | sticky);
    case odd: return Truth(no(is_odd) & (guard | sticky));
    case sr: return Truth{};  // its random bits decide, see stochastic_away
  }
  return Truth{};
}

// The same as sixteen bits, so that one shift decides for any mode, value by value:
// bit 8 * negative + 4 * odd + 2 * guard + sticky.
constexpr std::uint16_t truth_table(RoundingMode mode) {
  unsigned table = 0;
  for (unsigned i = 0; i < 16; ++i)
    if (goes_away<bool>(mode, i & 8, i & 4, i & 2, i & 1)) table |= 1u << i;
  return static_cast<std::uint16_t>(table);
}
static_assert(truth_table(RoundingMode::rtz) == 0);
static_assert(truth_table(RoundingMode::rna) == 0xcccc);
static_assert(truth_table(RoundingMode::raz) == 0xeeee);

// Added to a dropped part, of at most `most`, this carries where the table goes away from zero: a
// mode does so from any dropped digit on, from half on, above half or never. Bit 1 of the row says
// that the number is negative, bit 0 that its last kept digit is odd.
template <class U>
constexpr U increment_of(std::uint16_t table, unsigned row, const U& most) {
  const unsigned away = table >> 4 * row;  // bit 2 * guard + sticky
  const U below_half = most >> 1;
  return away & 2 ? most : away & 4 ? U(below_half + U(1)) : away & 8 ? below_half : U{};
}
constexpr bool increments_carry(RoundingMode mode) {
  constexpr unsigned most = 7;
  for (unsigned row = 0; row < 4; ++row)
    for (unsigned rest = 0; rest <= most; ++rest) {
      const bool carries = rest + increment_of(truth_table(mode), row, most) > most;
      if (carries != goes_away<bool>(mode, row & 2, row & 1, rest & 4, rest & 3)) return false;
    }
  return true;
}
static_assert([] {
  for (unsigned mode = 0; mode <= static_cast<unsigned>(RoundingMode::sr); ++mode)
    if (!increments_carry(static_cast<RoundingMode>(mode))) return false;
  return true;
}());

struct RoundingRule {
  std::uint16_t table;
  Rounding rounding;

  explicit constexpr RoundingRule(Rounding r) : table(truth_table(r.mode)), rounding(r) {}
};

// rest is the dropped part delta at the top of its carrier: delta = rest / 2^digits. The lowest
// digit may be jammed, which is why digits exceed the k + 1 that are looked at.
template <class U>
constexpr Mask<U> stochastic_away(Rounding rounding, const U& rest, const U& random) {
  const int k = rounding.random_bits;
  const U head = rest >> (digits<U> - 1 - k);  // floor(delta 2^(k+1))
  const U one = bit<U>(k);
  switch (rounding.variant) {
    case StochasticVariant::plain: break;
    case StochasticVariant::half: return head + (random << 1) + U(1) >= one << 1;
    case StochasticVariant::even: {
      const Mask<U> guard = (head & U(1)) != U{}, odd = (head & U(2)) != U{};
      const Mask<U> sticky = U(rest << (k + 1)) != U{};
      return (head >> 1) + select(guard & (sticky | odd), U(1), U{}) + random >= one;
    }
  }
  return (head >> 1) + random >= one;
}

template <class U>
constexpr Mask<U> rounds_away(const RoundingRule& rule, Mask<U> negative, Mask<U> odd,
                              const U& rest, const U& random) {
  if (rule.rounding.stochastic()) return stochastic_away<U>(rule.rounding, rest, random);
  return goes_away<Mask<U>>(rule.rounding.mode, negative, odd, is_negative(rest),
                            U(rest << 1) != U{});
}

}  // namespace widthwise
