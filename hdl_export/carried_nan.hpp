#pragma once
#include <string>
#include <vector>

#include "netlist.hpp"
#include "widthwise/sim/single_operation.hpp"

namespace widthwise::hdl {

// Which NaN operand an operation hands on (docs/semantics.md, N1), and as which code of the result.
class CarriedNan {
 public:
  CarriedNan(const SingleOperation& s, Netlist& out) : s_(s), out_(out) {}

  // Whether the result can bear what an operand's NaN has: NaR bears nothing.
  bool carries() const { return propagates(s_.nan) && s_.to.has_nan() && s_.to.is_float(); }
  // In the operands' stage: wire NAME_carried of each, and the first NaN's on `carried`.
  void read(const std::vector<std::string>& operands);
  // On a wire `delivered` that code, where an operand's NaN is the result, else `code`. `made`: an
  // earlier NaN came about by itself.
  std::string chosen(const std::string& code, const std::string& made);

 private:
  std::string as_result(const std::string& operand, const Format& from) const;

  const SingleOperation& s_;
  Netlist& out_;
  std::vector<std::string> operands_;
};

}  // namespace widthwise::hdl
