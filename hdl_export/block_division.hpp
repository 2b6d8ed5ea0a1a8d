#pragma once
#include "stages.hpp"
#include "widthwise/sim/block_quantisation.hpp"

namespace widthwise::hdl {

// The format that an element's largest number, and a block's largest magnitude over it, round to as
// a scale (sim/containers/block_scale.cpp).
Format saturating_scale(const BlockQuantisation& q);
Code largest_code(const Format& f);

// Of a quotient that decides a rounding to so many digits: those, one more, and the one that may be
// 0 in front of them.
constexpr int quotient_digits(int rounded) { return rounded + 2; }

// The stages of a quantiser whose scales divide: from a block's largest magnitude to its scale, and
// from numbers to their quotients by it.
class BlockDivision {
 public:
  BlockDivision(const BlockQuantisation& q, Netlist& out, Stages& stages)
      : q_(q), out_(out), stages_(stages) {}

  // What elements are rounded from; on a wire `scale_code` the scale.
  Term quotients(const Term& x, const Term& peak);
  // Of what a quotient lost before that, beside an element's own flags; else empty.
  std::string flags() const { return q_.to.takes_tensor_scale() ? "" : "single_flags"; }

 private:
  Term tensor_scale();
  Term largest_number();
  std::string rounded_scale(const Term& peak, const Term& by);
  Term divisor_of_tensor(const Term& peak);
  Term divisor(const Term& peak);
  Term in_binary32(const Term& quotient);

  const BlockQuantisation& q_;
  Netlist& out_;
  Stages& stages_;
};

}  // namespace widthwise::hdl
