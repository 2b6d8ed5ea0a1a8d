#include "block_division.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "widthwise/sim/tables.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::hdl {

Format saturating_scale(const BlockQuantisation& q) {
  Format f = q.to.scale;
  if (q.to.takes_tensor_scale()) f.overflow = Overflow::max;
  return f;
}

Code largest_code(const Format& f) {
  Code code;
  const auto limbs = find_code(f, NamedCode::max_finite);
  std::ranges::copy(*limbs, code.limb);
  return code;
}

Term BlockDivision::tensor_scale() {
  const Code constant{std::uint64_t{std::bit_cast<std::uint32_t>(q_.tensor_scale)}};
  out_.wire({"tensor_scale_code", 32}, q_.tensor_scale_port ? "b" : literal(32, constant));
  return stages_.unpack("tensor", "tensor_scale_code", {.fmt = binary32});
}

Term BlockDivision::largest_number() {
  const Format& f = q_.to.element;
  out_.wire({"most_code", f.width()}, literal(f.width(), largest_code(f)));
  return stages_.unpack("most", "most_code", {.fmt = f});
}

// The largest magnitude over what a scale of 1 takes.
std::string BlockDivision::rounded_scale(const Term& peak, const Term& by) {
  const Format f = saturating_scale(q_);
  const Term wanted = stages_.quotient("wanted", peak, stages_.normalised("scale_by", by),
                                       quotient_digits(f.precision()));
  stages_.deliver("wanted", wanted, {.fmt = f, .rm = {}}, {.rm = "4'd0", .random = {"1'b0", 1}});
  return "wanted_code";
}

// The block's scale times the tensor's. No number but 0 has the code 0: what rounds to it takes the
// least one.
Term BlockDivision::divisor_of_tensor(const Term& peak) {
  const int width = q_.to.scale.width();
  const Term tensor = tensor_scale();
  const std::string wanted =
      rounded_scale(peak, stages_.product("tensor_most", largest_number(), tensor));
  out_.wire({"divisor_code", width}, fmt::format("{0} == {1}'d0 ? {1}'d1 : {0}", wanted, width));
  out_.wire({"scale_code", width},
            fmt::format("special ? {0} : {1} ? {2}'d0 : divisor_code",
                        literal(width, ones<Code>(width)), peak.zero().name, width));
  const Term block = stages_.unpack("block", "divisor_code", {.fmt = q_.to.scale});
  return stages_.normalised("divisor", stages_.product("tensor_block", block, tensor));
}

// A scale that rounds to 0 is 1.
Term BlockDivision::divisor(const Term& peak) {
  const Format& f = q_.to.scale;
  const std::string wanted = rounded_scale(peak, largest_number());
  out_.wire({"divisor_code", f.width()},
            fmt::format("{0} == {1}'d0 ? {2} : {0}", wanted, f.width(),
                        literal(f.width(), Code(std::uint64_t{0x3f800000}))));
  out_.wire({"scale_code", f.width()},
            fmt::format("special ? {} : divisor_code", literal(f.width(), ones<Code>(f.width()))));
  return stages_.normalised("divisor", stages_.unpack("block", "divisor_code", {.fmt = f}));
}

// As numbers over scales in binary32 are defined (docs/semantics.md, B).
Term BlockDivision::in_binary32(const Term& quotient) {
  out_.stage("divide_round");
  stages_.deliver("single", quotient, {.fmt = binary32, .rm = {}},
                  {.rm = "4'd0", .random = {"1'b0", 1}});
  return stages_.unpack("quotient", "single_code", {.fmt = binary32}, quotient.bus.lanes);
}

Term BlockDivision::quotients(const Term& x, const Term& peak) {
  const bool once = q_.to.takes_tensor_scale();
  out_.stage("scale");
  const Term by = once ? divisor_of_tensor(peak) : divisor(peak);
  out_.stage("divide");
  const Format rounded = once ? q_.element() : binary32;
  const Term exact = stages_.quotient(once ? "quotient" : "exact", stages_.normalised("number", x),
                                      by, quotient_digits(rounded.rounding_digits()));
  return once ? exact : in_binary32(exact);
}

}  // namespace widthwise::hdl
