#pragma once
#include "widthwise/datapath/term.hpp"

namespace widthwise {

// Conditions an operand (datapath 3.1): flushes subnormals, then drops low fraction bits. A NaN
// stays one even where the digits that made it one are dropped (docs/semantics.md, D1).
template <class H>
constexpr Factor<H> condition(const Operand& op, Factor<H> x) {
  if (op.subnormals != Flush::keep) {
    const Mask<H> tiny = no(x.endless) & ((x.m >> op.fmt.frac_bits) == H{});
    x.zero = x.zero | tiny;
    x.m = select(tiny, H{}, x.m);
    if (op.subnormals == Flush::flush_pos_zero) x.negative = x.negative & no(is_zero(x));
  }
  if (!op.keep_frac) return x;

  const Mask<H> finite = no(x.zero | x.endless);
  const int n = op.fmt.frac_bits - *op.keep_frac;
  const H kept = round_magnitude<H>(op.keep_rm.mode, x.negative, x.m, Int<H>{n});
  const Mask<H> carries = finite & ((kept >> *op.keep_frac) >> 1 != H{});
  x.m = select(finite, kept, x.m);
  x.q = x.q + select(finite, Int<H>{n}, Int<H>{});
  x.e = x.e + select(carries, Int<H>{1}, Int<H>{});  // a carry moves the field exponent
  x.zero = x.zero | (finite & (x.m == H{}));
  return x;
}

}  // namespace widthwise
