#include <algorithm>
#include <cmath>

#include "chain_rules.hpp"

// How far roundings may lift a sum (docs/exactness.md, 53).
namespace widthwise::blocks {
namespace {

// Roundings away from zero may multiply a sum at every step that adds next to nothing: those of few
// digits, and those below the largest exponent, the sum's own, with few digits there.
bool lifts(RoundingMode mode) {
  using enum RoundingMode;
  return mode == rdn || mode == rup || mode == raz || mode == odd || mode == sr;
}
double growth(const std::optional<Slot>& s) {
  if (!s || s->largest <= std::ldexp(1.0, most_exponent) || !lifts(s->mode)) return 0;
  return std::log2(1 + std::ldexp(1.0, s->own ? -binary64.frac_bits : -s->frac_bits));
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
