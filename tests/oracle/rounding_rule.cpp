#include "rounding_rule.hpp"

#include <stdexcept>

namespace oracle {

using widthwise::RoundingMode;
using widthwise::StochasticVariant;

bool goes_up(Rounding how, bool negative, bool lo_odd, std::strong_ordering half) {
  const bool tie = half == 0, nearest = half > 0;
  switch (how.mode) {
    case RoundingMode::rne: return tie ? lo_odd : nearest;
    case RoundingMode::rna: return tie || nearest;
    case RoundingMode::rnz: return !tie && nearest;
    case RoundingMode::rnp: return tie ? !negative : nearest;
    case RoundingMode::rnm: return tie ? negative : nearest;
    case RoundingMode::rno: return tie ? !lo_odd : nearest;
    case RoundingMode::rtz: return false;
    case RoundingMode::rdn: return negative;
    case RoundingMode::rup: return !negative;
    case RoundingMode::raz: return true;
    case RoundingMode::odd: return !lo_odd;
    case RoundingMode::sr: break;
  }
  throw std::invalid_argument("goes_up(how): stochastic rounding needs the number itself");
}

//   plain : floor(delta 2^k)         >= 2^k - r           <=>  delta >= (2^k - r) / 2^k
//   half  : floor(delta 2^(k+1))     >= 2^(k+1) - 2r - 1  <=>  delta >= (2^(k+1) - 2r - 1) /
//   2^(k+1) even  : nearest-even(delta 2^k)  >= 2^k - r           <=>  delta >  the same, or equal
//   to it and
//                                                              2^k - r even
bool goes_up_at_random(Rounding how, const Exact& x, const Gap& gap, std::uint64_t random) {
  const Wide needed = (Wide{1} << how.random_bits) - random;
  const bool plain = how.variant == StochasticVariant::plain;
  const int shift = how.random_bits + (plain ? 0 : 1);
  const Wide numerator = plain ? needed : 2 * needed - 1;
  const Wide threshold = (gap.lo << shift) + (gap.hi - gap.lo) * numerator;
  const auto c = compare(x, {threshold, gap.exp - shift});
  if (how.variant == StochasticVariant::even && c == 0) return needed % 2 == 0;
  return c >= 0;
}

bool goes_up(Rounding how, bool negative, const Exact& x, const Gap& gap, std::uint64_t random) {
  if (how.stochastic()) return goes_up_at_random(how, x, gap, random);
  return goes_up(how, negative, gap.lo_odd, compare(x, middle(gap)));
}

}  // namespace oracle
