#pragma once
#include "widthwise/datapath/term.hpp"

namespace widthwise {

// Conditions an operand (datapath 3.1): flushes subnormals, then drops low fraction bits. A NaN
// stays one even where the digits that made it one are dropped (docs/semantics.md, D1).
template <class H>
constexpr Factor<H> condition(const Operand& op, Factor<H> x) {
  const bool plus = op.subnormals == Flush::flush_pos_zero;
  const bool tiny = x.kind == Kind::finite && (x.m >> op.fmt.frac_bits) == H{};
  if (tiny && op.subnormals != Flush::keep) x = {Kind::zero, x.negative, H{}, x.q, x.e};
  if (x.kind == Kind::zero && plus) x.negative = false;
  if (x.kind != Kind::finite || !op.keep_frac) return x;

  const int n = op.fmt.frac_bits - *op.keep_frac;
  x.m = round_magnitude(op.keep_rm, x.negative, x.m, n);
  x.q += n;
  if ((x.m >> *op.keep_frac) >> 1 != H{}) x.e += 1;  // a carry moves the field exponent
  if (x.m == H{}) x.kind = Kind::zero;
  return x;
}

}  // namespace widthwise
