#include "widthwise/sim/block_quantisation.hpp"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <stdexcept>

#include "scanner.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise {
namespace {

constexpr std::string_view kind = "blocks";
constexpr std::size_t most_numbers = 4096;

// What stands up to the next comma, read by `parse`, which names columns of its own.
template <class Parse>
auto value(Scanner& in, const Parse& parse) {
  const std::string_view text = in.as_given(in.ahead(",)").size());
  in.skip(text.size());
  return parse(text);
}

// Whether there may be such a scale is for check() to say.
void read_tensor_scale(Scanner& in, std::string_view key, BlockQuantisation& q) {
  q.tensor_scale_port = in.accept_port(key);
  if (q.tensor_scale_port) return;
  const std::size_t at = in.at();
  const double given = in.number(key);
  const auto scale = static_cast<float>(given);
  q.tensor_scale = scale;
  if (!std::isfinite(given) || static_cast<double>(scale) == given) return;
  const bool near = scale != 0 && std::isfinite(scale);
  in.fail(at, fmt::format("{} = {}: a number of binary32 is wanted, {}", key, given,
                          near ? fmt::format("as {}", static_cast<double>(scale))
                               : "which ends at 1.4e-45 and 3.4e+38"));
}

void read_argument(Scanner& in, BlockQuantisation& q) {
  const std::size_t at = in.at();
  const std::string key(in.ahead("=,)"));
  in.skip(key.size());
  in.expect('=', fmt::format(" and the value of {}", quoted(key)));
  if (key == "a")
    q.from = value(in, parse_format);
  else if (key == "rounding")
    q.rounding = value(in, parse_rounding);
  else if (key == "tensor_scale")
    read_tensor_scale(in, key, q);
  else if (key == "arithmetic")
    in.fail(at,
            "arithmetic=: its steps in binary32 are not built, hardware divides exactly; leave "
            "it out, or quantise with ww.blocks");
  else
    in.fail(at,
            fmt::format("no argument {}; there are a=, rounding= and tensor_scale=", quoted(key)));
}

bool within(const Format& f, const Format& g) {
  return f.precision() <= g.precision() && f.emax() <= g.emax() &&
         f.least_digit() >= g.least_digit();
}

std::string scale_fault(const BlockQuantisation& q) {
  if (q.to.rule == ScaleRule::pow2)
    return "scale=pow2 rounds a quotient twice, which is not built; scales in e8m0fnu by "
           "scale=rceil are, and ww.blocks takes any";
  if (!(q.tensor_scale > 0) || std::isinf(q.tensor_scale))
    return fmt::format("tensor_scale = {}: a finite, positive number is wanted", q.tensor_scale);
  if ((q.tensor_scale_port || q.tensor_scale != 1) && !q.to.takes_tensor_scale())
    return fmt::format(
        "tensor_scale = {}: there is none; nvfp4 and other scales in ue4m3fn have one",
        q.tensor_scale_port ? "port" : fmt::format("{}", q.tensor_scale));
  return {};
}

// Where scales divide, no quotient by them and no scale is infinite.
std::string element_fault(const BlockQuantisation& q) {
  const Format& f = q.to.element;
  const std::int64_t top = f.emax() - (f.is_fixed() && f.is_signed());
  if (q.to.power_of_two() || (top >= 0 && top <= 120)) return {};
  return fmt::format(
      "elements whose largest number is in the binade of 2^{}: under scales that "
      "divide it is 1 to 2^121",
      top);
}

std::string shape_fault(const BlockQuantisation& q) {
  const bool none = q.to.shape == BlockShape::whole_axis || q.to.shape == BlockShape::whole_array;
  if (none) return "a whole axis has no length; give one, as in block(int8,32,e8m0fnu)";
  if (q.numbers() <= most_numbers) return {};
  return fmt::format("blocks of {} numbers; hardware takes up to {}", q.numbers(), most_numbers);
}

std::string source_fault(const BlockQuantisation& q) {
  if (q.from.is_float() && within(q.from, binary32)) return {};
  return fmt::format("a = {}: numbers are of a float format that binary32 holds, as bfloat16",
                     to_string(q.from));
}

std::string rounding_fault(const BlockQuantisation& q) {
  if (!q.rounding.stochastic()) return {};
  return fmt::format("rounding = {}: it takes random bits; ww.blocks draws them",
                     to_string(q.rounding));
}

std::string option_fault(const BlockQuantisation& q) {
  if (q.to.specials_in_elements)
    return "specials=element is not built; specials=block gives such blocks the NaN scale, and "
           "ww.blocks keeps NaN and infinity in elements";
  if (q.to.raise_on_carry)
    return "carry=raise rounds a second time, which is not built; leave it out, or quantise with "
           "ww.blocks";
  return {};
}

}  // namespace

std::optional<BlockQuantisation> BlockQuantisation::under(std::uint32_t tensor_scale_code) const {
  const auto scale = std::bit_cast<float>(tensor_scale_code);
  if (!(scale > 0) || std::isinf(scale)) return {};
  BlockQuantisation q = *this;
  q.tensor_scale_port = false;
  q.tensor_scale = scale;
  return q;
}

BlockQuantisation parse_block_quantisation(std::string_view text) {
  Scanner in("block quantiser", text);
  if (in.ahead("(") != kind) in.fail(in.at(), "wanted blocks and a format, as in blocks(mxfp4)");
  in.skip(kind.size());
  in.expect('(', " and a block format, as in blocks(mxfp4)");
  BlockQuantisation q{value(in, parse_block_format)};
  while (in.accept(',')) read_argument(in, q);
  in.expect(')', " or a comma and an argument");
  in.expect_end("the end");
  check(q);
  return q;
}

std::string to_string(const BlockQuantisation& q) {
  std::string text = fmt::format("{}({}", kind, to_string(q.to));
  if (q.from != binary32) text += ", a=" + to_string(q.from);
  if (q.rounding != Rounding{}) text += ", rounding=" + to_string(q.rounding);
  if (q.tensor_scale_port)
    text += ", tensor_scale=port";
  else if (q.tensor_scale != 1)
    text += fmt::format(", tensor_scale={}", static_cast<double>(q.tensor_scale));
  return text + ")";
}

void check(const BlockQuantisation& q) {
  check(q.to);
  check(q.from);
  check(q.rounding);
  for (const auto rule :
       {scale_fault, element_fault, shape_fault, source_fault, rounding_fault, option_fault})
    if (const std::string wrong = rule(q); !wrong.empty())
      throw std::invalid_argument(said(fmt::format("blocks({}): {}", to_string(q.to), wrong)));
}

}  // namespace widthwise
