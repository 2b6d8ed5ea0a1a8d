#pragma once
#include "kernels.hpp"
#include "plan.hpp"

namespace widthwise::wide {

// One of the two ways of computing.
struct Way {
  const char* name;
  const char* limbs;
  const char* needs;  // of the machine
  int limb_bits, lanes;
  int (*spare)(const Chain& chain);  // digits a number has below the kept ones
  int most_random_bits;
  Kernels (*kernels)(const Chain& chain, int limbs);
  double (*nanoseconds)(double limbs);  // of a multiply-add, measured on a Zen 4
  double drawing;                       // more for a rounding by random bits
  double compensating;                  // multiply-adds that take as long as a compensated one
  double blocks_rounding;               // the same, of the one rounding of an exact sum

  int limbs_for(const Chain& chain) const {
    return (chain.precision + spare(chain) + limb_bits - 1) / limb_bits;
  }
};

extern const Way in_words, in_lanes;

// Products a second of one core, about.
double rate(const Way& way, const Chain& chain, int limbs);

}  // namespace widthwise::wide
