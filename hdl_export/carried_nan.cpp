#include "carried_nan.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "widthwise/layout.hpp"

namespace widthwise::hdl {
namespace {

// The leading digits of a fraction in another that is longer or shorter.
std::string fraction_in(int wanted, const std::string& code, int there) {
  const int kept = std::min(wanted, there);
  if (kept == 0) return fmt::format("{}'d0", wanted);
  const std::string digits = fmt::format("{}[{}:{}]", code, there - 1, there - kept);
  return kept == wanted ? digits : fmt::format("{{{}, {}'d0}}", digits, wanted - kept);
}

}  // namespace

// The sign, the exponent's field and the fraction, of which what the result lacks is 0.
std::string CarriedNan::as_result(const std::string& operand, const Format& from) const {
  const Format& to = s_.to;
  std::vector<std::string> fields;
  if (to.is_signed())
    fields.push_back(to.has_signed_nans() && from.is_signed()
                         ? fmt::format("{}[{}]", operand, from.width() - 1)
                         : "1'b0");
  fields.push_back(fmt::format("{}'d0", to.exp_bits));
  if (to.frac_bits > 0)
    fields.push_back(to.has_nan_payloads() ? fraction_in(to.frac_bits, operand, from.frac_bits)
                                           : fmt::format("{}'d0", to.frac_bits));
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : ", ") + field;
  return fmt::format("{} | {{{}}}", literal(to.width(), Layout<Code>(to).nan_code), text);
}

void CarriedNan::read(const std::vector<std::string>& operands) {
  operands_ = operands;
  std::string first;
  for (std::size_t i = operands.size(); i-- > 0;) {
    const std::string& x = operands[i];
    const Bus carried{x + "_carried", s_.to.width()};
    out_.wire(carried, as_result(x, s_.operands[i]));
    first = first.empty() ? carried.name : fmt::format("{}_nan ? {} : {}", x, carried.name, first);
  }
  out_.wire({"carried", s_.to.width()}, first);
}

std::string CarriedNan::chosen(const std::string& code, const std::string& made) {
  std::string any;
  for (const std::string& x : operands_) any += (any.empty() ? "" : " | ") + x + "_nan";
  const std::string when = made.empty() ? any : fmt::format("({}) & ~{}", any, made);
  const Bus delivered{"delivered", s_.to.width()};
  out_.wire(delivered, fmt::format("{} ? carried : {}", when, code));
  return delivered.name;
}

}  // namespace widthwise::hdl
