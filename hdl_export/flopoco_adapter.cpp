#include "flopoco_adapter.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "folder_templates.hpp"
#include "widthwise/rounder.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

// Fields as IEEE 754's, whatever is done with what is tiny.
bool is_ieee(Format f) {
  f.daz = f.ftz = false;
  return f.frac_bits > 0 && f == ieee_format(f.exp_bits, f.frac_bits);
}

std::string binary(const Code& code, int width) {
  std::string digits;
  for (int i = width; i-- > 0;) digits += (code & bit<Code>(i)) != Code() ? '1' : '0';
  return digits;
}

std::string top(const Format& f) { return std::to_string(f.width() - 1); }

// The operation whose results differ in nothing.
SingleOperation flushing(SingleOperation s) {
  for (Format& f : s.operands) f.daz = f.ftz = true;
  s.to.daz = s.to.ftz = true;
  s.tininess = Tininess::after_rounding;
  return s;
}

bool flushes(const SingleOperation& s) {
  return std::ranges::all_of(s.read(), &Format::daz) && s.to.ftz &&
         s.tininess == Tininess::after_rounding;
}

std::string command_of(const SingleOperation& s, std::string_view name) {
  const int we = s.to.exp_bits, wf = s.operands[0].frac_bits;
  const std::string what =
      s.op == Operation::multiply
          ? fmt::format("FPMult wE={} wF={}{}", we, wf,
                        s.to.frac_bits == wf ? "" : fmt::format(" wFOut={}", s.to.frac_bits))
          : fmt::format("FPAdd wE={} wF={}{}", we, wf,
                        s.op == Operation::subtract ? " sub=true" : "");
  return fmt::format("flopoco frequency=1 outputFile={}.vhdl {}", name, what);
}

}  // namespace

std::string flopoco_adapter(const SingleOperation& s, std::string_view name) {
  const Code nan = Rounder<Code>(Round{.fmt = s.to}, s.nan).nan_code;
  return filled("flopoco.vhd", {{"NAME", std::string(name)},
                                {"A_TOP", top(s.operands[0])},
                                {"B_TOP", top(s.operands[1])},
                                {"Y_TOP", top(s.to)},
                                {"WE", std::to_string(s.to.exp_bits)},
                                {"QNAN", binary(nan, s.to.width())}});
}

std::string why_no_flopoco_adapter(const Design& design, const DesignRtl& rtl) {
  const SingleOperation* s = std::get_if<SingleOperation>(&design);
  if (!s ||
      (s->op != Operation::add && s->op != Operation::subtract && s->op != Operation::multiply))
    return "FloPoCo's adders and multipliers alone have one";
  if (rtl.clocked) return "it has a clock, and FloPoCo's pipelines do not wait";
  if (find_port(rtl.ports, "rm") || s->rounding != Rounding{})
    return "FloPoCo rounds to nearest even";
  if (propagates(s->nan)) return "FloPoCo's NaN has no payload";
  const auto fits = [&](const Format& f) { return is_ieee(f) && f.exp_bits == s->to.exp_bits; };
  const bool alike = s->op == Operation::multiply || s->operands[0] == s->operands[1];
  if (!fits(s->to) || !std::ranges::all_of(s->read(), fits) || !alike)
    return "FloPoCo's words are for formats of one wE and IEEE 754's bias, infinities and NaN";
  return "";
}

std::string flopoco_text(const Design& design, std::string_view name, const DesignRtl& rtl) {
  if (const std::string reason = why_no_flopoco_adapter(design, rtl); !reason.empty())
    return fmt::format(
        "There is no adapter to a FloPoCo operator here: {}. `widthwise vectors` and `verify` "
        "have\n"
        "its words for every operation: `--words flopoco`, and `--latency` for a pipeline.\n",
        reason);
  const auto& s = std::get<SingleOperation>(design);
  const std::string tiny = flushes(s)
                               ? "as here: what is subnormal is zero, of its sign"
                               : fmt::format(
                                     "zeros on either way, so `make flopoco` finds them; none of\n"
                                     "  `{}` differs",
                                     to_string(flushing(s)));
  return fmt::format(
      "bench/{0}_flopoco.vhd puts a combinational operator of FloPoCo's in the place of `{0}`, "
      "and\n"
      "`make flopoco` holds it to the vectors in GHDL, flags left out:\n\n"
      "    {1}\n"
      "    make flopoco OPERATOR={0}.vhdl\n\n"
      "What FloPoCo's words do not say:\n\n"
      "- Subnormal numbers are {2}.\n"
      "- A NaN has neither sign nor payload there; here it comes back as `Y_QNAN`.\n"
      "- Exponents of 0 and of all ones are numbers there, which have no normal code here: they\n"
      "  come back as zero and as infinity, which is what their values round to.\n"
      "- There are no flags.\n\n"
      "FloPoCo's own `InputIEEE` keeps the upper half of the subnormal numbers, in exponent 0.\n",
      name, command_of(s, name), tiny);
}

}  // namespace widthwise::hdl
