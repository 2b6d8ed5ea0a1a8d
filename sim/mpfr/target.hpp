#pragma once
#include "deliver.hpp"
#include "widthwise/sim/mpfr_oracle.hpp"

namespace widthwise::mpfr {

inline Target target(const Format& to, const Env& env, std::uint64_t random) {
  return {.round = {.fmt = to, .rm = env.rounding, .tininess = env.tininess}, .random = random};
}

inline OracleResult packed(const Format& to, const Delivered& d, Flags raised) {
  return {limbs(d.code, code_bits(to)), d.flags | raised};
}

// A computation's code, whatever it is of. The sign of a zero sum hangs on the mode.
Delivered delivered(const Target& to, const Computation& c);

}  // namespace widthwise::mpfr
