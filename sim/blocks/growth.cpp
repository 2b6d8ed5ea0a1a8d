#include <algorithm>
#include <cmath>

#include "chain_rules.hpp"
#include "widthwise/decide.hpp"

// How far roundings may lift a sum (docs/exactness.md, 53).
namespace widthwise::blocks {
namespace {

// Roundings away from zero may multiply a sum at every step that adds next to nothing: those of few
// digits, and those below the largest exponent, the sum's own, with few digits there.
bool lifts(RoundingMode mode) {
  const auto next_to_nothing = [&](bool negative) {
    return goes_away(mode, negative, false, false, true);
  };
  return mode == RoundingMode::sr || next_to_nothing(false) || next_to_nothing(true);
}
double growth(RoundingMode mode, int frac_bits) {
  return lifts(mode) ? std::log2(1 + std::ldexp(1.0, -frac_bits)) : 0;
}
double growth(const std::optional<Slot>& s) {
  if (!s || s->largest <= std::ldexp(1.0, most_exponent)) return 0;
  if (s->own) return growth(s->mode, binary64.frac_bits);
  const double first = s->first_frac_bits < 0 ? 0 : growth(s->first_mode, s->first_frac_bits);
  return first + growth(s->mode, s->frac_bits);
}
// Of all terms at once, or of two at a time.
double growth(const SumRule& s, std::size_t lanes) {
  if (s.aligned != Aligned::window && s.aligned != Aligned::long_window) return 0;
  const int F = std::min(s.frac_bits, s.frac_bits_of_c);
  if (s.mode == RoundingMode::rtz || (!lifts(s.mode) && F > 0)) return 0;
  const bool at_once = s.order == Order::fused;
  const std::size_t terms = at_once ? lanes + 1 : 2, sums = at_once ? 1 : lanes;
  return static_cast<double>(sums) * std::log2(1 + std::ldexp(static_cast<double>(terms), 1 - F));
}

}  // namespace

void refuse_growth(const Rules& r, std::size_t k) {
  const auto blocks = static_cast<double>((k + r.lanes - 1) / r.lanes);
  const double compensated = r.compensation == Compensation::none ? 1 : 4;
  double binades = blocks * (compensated * growth(r.out) + growth(r.promote));
  for (const SumRule* s : {&r.group, &r.block, &r.late}) {
    binades += static_cast<double>(k) * growth(s->node);
    if (r.watch) binades += blocks * growth(*s, r.lanes);
  }
  const bool near = r.watch && r.watch->most <= std::ldexp(1.0, watched_reach);
  if (binades > (near ? most_exponent - watched_reach - 100 : 16))
    refuse("sums may grow by {:.0f} binades as they are rounded", binades);
}

}  // namespace widthwise::blocks
