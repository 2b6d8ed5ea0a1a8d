#include "way.hpp"

#include <algorithm>

#include "draws.hpp"

namespace widthwise::wide {

constinit const Way in_words{.name = "wide",
                             .limbs = "limbs of 64 bits",
                             .needs = "BMI2",
                             .limb_bits = 64,
                             .lanes = 1,
                             .spare = [](const Chain&) { return 0; },
                             .most_random_bits = most_random_bits,
                             .kernels = [](const Chain&, int limbs) { return word_kernels(limbs); },
                             .nanoseconds = [](double n) { return 7 + 5 * n + 0.45 * n * n; },
                             .drawing = 9,
                             .compensating = 11,
                             .blocks_rounding = 2};
constinit const Way in_lanes{.name = "wide52",
                             .limbs = "limbs of 52 bits in 8 lanes",
                             .needs = "52-bit multiply-add (AVX-512 IFMA)",
                             .limb_bits = 52,
                             .lanes = 8,
                             .spare = &digits_below,
                             .most_random_bits = Draws::most_bits,
                             .kernels =
                                 [](const Chain& chain, int limbs) {
                                   Kernels all = lane_kernels(limbs);
                                   if (!chain.product) all.chain = fused_lane_kernel(limbs, chain);
                                   return all;
                                 },
                             .nanoseconds = [](double n) { return 1.5 + 0.8 * n + 0.14 * n * n; },
                             .drawing = 1.2,
                             .compensating = 3,
                             .blocks_rounding = 0.8};

namespace {

// What a product takes, in multiply-adds whose products are rounded, where a rounding takes so many
// times the least one.
double multiply_adds(const Way& way, const Chain& chain, double rounding) {
  double z = chain.product ? 1 : 1.1;
  if (chain.node) z = 1.5;
  if (chain.compensation != Compensation::none) z = way.compensating;
  z *= rounding;
  if (chain.exact_sum)
    z = (chain.cut ? 0.9 : 0.7) + rounding * way.blocks_rounding / static_cast<double>(chain.block);
  return chain.promote ? z + 4 * rounding / static_cast<double>(chain.interval) : z;
}

// Sums that are rounded up, down or away go out of a short range, and are then another engine's.
bool drifts(const RoundTo& r) {
  using enum RoundingMode;
  const RoundingMode mode = r.rule.rounding.mode;
  return r.span < 40 && (mode == rup || mode == rdn || mode == raz);
}

}  // namespace

// Times as long, in formats of few binades, whose results are often subnormal, zero or too large.
double of_few_binades(const Way& way, std::uint64_t span) {
  if (way.lanes == 1) return span < 100 ? 2 : 1;
  return span < 20 ? 2.4 : span < 50 ? 1.6 : 1;
}

// To round to fewer digits than others have (many limbs of 64 bits: to fewer) takes as long as all
// else.
double rate(const Way& way, const Chain& chain, int limbs) {
  const int fewest = way.lanes > 1        ? chain.precision
                     : limbs <= few_limbs ? 0
                                          : way.limb_bits * (limbs - 1) + 1;
  double few = 1, fewer_digits = 1;
  for (const auto& r : chain.roundings())
    if (r) {
      few = std::max(few, of_few_binades(way, r->span));
      if (r->precision < fewest) fewer_digits = 2;
    }
  const auto drawn = std::ranges::count_if(
      chain.roundings(), [](const auto& r) { return r && r->rule.rounding.stochastic(); });
  const double least = chain.exact_sum ? 4 : 0;
  const double each =
      std::max(way.nanoseconds(limbs), least) + way.drawing * static_cast<double>(drawn);
  return (drifts(chain.sum) ? 0.2e9 : 1e9) / each /
         multiply_adds(way, chain, std::max(few, fewer_digits)) / (chain.cut ? few : 1);
}

}  // namespace widthwise::wide
