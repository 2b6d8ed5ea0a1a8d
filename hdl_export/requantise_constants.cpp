#include <fmt/core.h>

#include <array>
#include <bit>

#include "format_constants.hpp"
#include "shared_constants.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

std::string multiplier_text(const SumRequantisation& s) {
  return s.multiplier_port ? "a port" : fmt::format("{}", s.multiplier);
}

void add_constant(Entries& x, const SumRequantisation& s) {
  const SumScale m = s.scale();
  x.pattern("MULTIPLIER", 32, Code(m.significand), "times 2^MULTIPLIER_EXP");
  x.integer("MULTIPLIER_EXP", m.exponent);
  if (s.variant == "fp32")
    x.pattern("MULTIPLIER_BINARY32", 32, Code(std::uint64_t{std::bit_cast<std::uint32_t>(m.real)}));
}

void add_port(Entries& x, const SumRequantisation& s) {
  const int width = s.multiplier_format().width();
  if (!s.takes_shift())
    return x.integer("B_WIDTH", width, "binary32 without its sign, whose codes are all numbers");
  x.integer("B_WIDTH", width, "q 2^(h - 31): q, and above it h in two's complement");
  x.integer("B_Q_WIDTH", 32);
  x.integer("B_H_WIDTH", width - 32);
}

void add_multiplier(Draft& draft, const SumRequantisation& s) {
  Entries x(draft, fmt::format("multiplier: {}", multiplier_text(s)));
  x.text("VARIANT", s.variant);
  s.multiplier_port ? add_port(x, s) : add_constant(x, s);
  if (!s.zero_point_port) x.integer("ZERO_POINT", s.zero_point);
  x.integer("QMIN", s.qmin, "the least code that is delivered");
  x.integer("QMAX", s.qmax, "the largest");
}

}  // namespace

ConstantTable requantise_constants(const SumRequantisation& s, std::string_view name,
                                   const Timing& timing) {
  check_identifier(name);
  check(s);
  const Rounding last = s.last_rounding();
  Draft draft{{}, rm_width({&last, 1})};
  add_identity(draft, {name,
                       fmt::format("a sum of 32 bits times {}, rounded as {}, to {}",
                                   multiplier_text(s), s.variant, to_string(s.code())),
                       to_string(s), model_hash(s), "FNV-1a of the requantisation's text"});
  add_overflow_codes(draft, std::array{sum_format, s.code()});
  add_rounding_codes(draft);
  Entries a(draft, fmt::format("operand A: {}", to_string(sum_format)), "A_");
  add_operand(a, {.fmt = sum_format});
  add_multiplier(draft, s);
  if (s.zero_point_port) {
    Entries c(draft, fmt::format("zero point C: {}", to_string(s.code())), "C_");
    add_operand(c, {.fmt = s.code()});
  }
  Entries y(draft, fmt::format("result: {}", to_string(s.code())), "Y_");
  add_round(y, {.fmt = s.code(), .rm = last});
  add_ports(draft, {.rm = last, .flushes_in = false, .flushes_out = false}, timing);
  return std::move(draft.table);
}

std::uint64_t model_hash(const SumRequantisation& s) { return text_hash(to_string(s)); }

}  // namespace widthwise::hdl
