#include <algorithm>
#include <bit>
#include <cmath>

#include "../engine/machine_rounding.hpp"
#include "widthwise/sim/affine.hpp"

// Scales and zero points of ranges, from binary64 where that is sure (docs/exactness.md, 65).
namespace widthwise {
namespace {

// What the scale is a quotient of, by this divisor; rounded.
struct Extent {
  double numerator;
  std::int64_t divisor;
};

Extent extent_of(AffineCover cover, std::int64_t qmin, std::int64_t qmax, double low, double high) {
  if (cover == AffineCover::asymmetric) return {high - low, qmax - qmin};
  const double most = std::max(-low, high);
  if (cover == AffineCover::symmetric) return {most, qmax};
  return {2 * most, qmax - qmin};
}

// Whether a quotient that is off by less than `near` of its last digits rounds to a float as the
// exact one does.
bool is_sure(double quotient) {
  constexpr std::int64_t low_digits = 29, middle = std::int64_t{1} << (low_digits - 1), near = 8;
  if (quotient == 0) return true;
  if (!(quotient >= 0x1p-125 && quotient < 0x1p127)) return false;
  const auto low = std::bit_cast<std::int64_t>(quotient) & (2 * middle - 1);
  return std::abs(low - middle) > near;
}

// The zero point: what zero is, from the least number on; held within the codes.
void set_zero_point(std::int64_t qmin, std::int64_t qmax, double low, AffineParameters& p) {
  const double steps = low / static_cast<double>(p.scale), whole = std::nearbyint(steps);
  const double from_tie = std::abs(std::abs(steps - whole) - 0.5);
  p.sure = p.sure && from_tie > std::abs(steps) * 0x1p-50;
  if (p.sure) p.zero_point = std::clamp(qmin - static_cast<std::int64_t>(whole), qmin, qmax);
}

void find(AffineCover cover, std::int64_t qmin, std::int64_t qmax, double low, double high,
          AffineParameters& p) {
  const bool asymmetric = cover == AffineCover::asymmetric;
  low = std::min(low, 0.0), high = std::max(high, 0.0);
  const auto [numerator, divisor] = extent_of(cover, qmin, qmax, low, high);
  const double quotient = numerator / static_cast<double>(divisor);
  p.scale = static_cast<float>(quotient), p.sure = is_sure(quotient);
  p.zero_point = qmin < 0 ? 0 : asymmetric ? qmin : (qmax + 1) / 2;
  if (p.scale == 0)
    p.scale = 1;
  else if (asymmetric)
    set_zero_point(qmin, qmax, low, p);
}

}  // namespace

void affine_parameters(AffineCover cover, std::int64_t qmin, std::int64_t qmax, const double* low,
                       const double* high, std::size_t count, AffineParameters* found) {
  const MachineRounding mode(RoundingMode::rne);
  for (std::size_t i = 0; i < count; ++i)
    if (std::isfinite(low[i]) && std::isfinite(high[i]))
      find(cover, qmin, qmax, low[i], high[i], found[i]);
    else
      found[i].sure = false;
}

}  // namespace widthwise
