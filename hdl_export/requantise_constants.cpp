#include <fmt/core.h>

#include <array>
#include <bit>

#include "format_constants.hpp"
#include "shared_constants.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

constexpr Format sum_format = fixed_format(32, 0, true);

void add_multiplier(Draft& draft, const SumRequantisation& s) {
  const SumScale m = s.scale();
  Entries x(draft, fmt::format("multiplier: {}", s.multiplier));
  x.text("VARIANT", s.variant);
  x.pattern("MULTIPLIER", 32, Code(m.significand), "times 2^MULTIPLIER_EXP");
  x.integer("MULTIPLIER_EXP", m.exponent);
  if (s.variant == "fp32")
    x.pattern("MULTIPLIER_BINARY32", 32, Code(std::uint64_t{std::bit_cast<std::uint32_t>(m.real)}));
  x.integer("ZERO_POINT", s.zero_point);
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
                       fmt::format("a sum of 32 bits times {}, rounded as {}, to {}", s.multiplier,
                                   s.variant, to_string(s.code())),
                       to_string(s), model_hash(s), "FNV-1a of the requantisation's text"});
  add_overflow_codes(draft, std::array{sum_format, s.code()});
  add_rounding_codes(draft);
  Entries a(draft, fmt::format("operand A: {}", to_string(sum_format)), "A_");
  add_operand(a, {.fmt = sum_format});
  add_multiplier(draft, s);
  Entries y(draft, fmt::format("result: {}", to_string(s.code())), "Y_");
  add_round(y, {.fmt = s.code(), .rm = last});
  add_ports(draft, {.rm = last, .flushes_in = false, .flushes_out = false}, timing);
  return std::move(draft.table);
}

std::uint64_t model_hash(const SumRequantisation& s) { return text_hash(to_string(s)); }

}  // namespace widthwise::hdl
