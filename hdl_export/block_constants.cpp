#include <fmt/core.h>

#include <array>
#include <bit>

#include "block_division.hpp"
#include "block_scaling.hpp"
#include "format_constants.hpp"
#include "shared_constants.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/rounder.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::hdl {
namespace {

std::string description(const BlockQuantisation& q) {
  return fmt::format("a block of {} numbers of {} quantised to {} and one scale in {}", q.numbers(),
                     to_string(q.from), to_string(q.element()), to_string(q.to.scale));
}

void add_turns(Entries& x, const BlockQuantisation& q) {
  const BlockScaling scaling = scaling_of(q);
  x.integer("ELEMENT_EMAX", scaling.emax, "exponent of an element's largest number");
  x.pattern("SCALE_UP", scaling.digits + 1, Code(scaling.up),
            "significands of a largest magnitude from which its scale is one exponent more");
  x.pattern("SCALE_DOWN", scaling.digits + 1, Code(scaling.down),
            "below which it is one exponent less");
  x.integer("SCALE_EXP_MAX", scaling.top, "largest exponent of a scale; the least is its negative");
}

void add_division(Entries& x, const BlockQuantisation& q) {
  const Format& f = q.to.element;
  x.pattern("ELEMENT_MOST", f.width(), largest_code(f),
            "the element that a block's largest magnitude is divided by");
  const auto bits = std::bit_cast<std::uint32_t>(q.tensor_scale);
  if (q.to.takes_tensor_scale() && !q.tensor_scale_port)
    x.pattern("TENSOR_SCALE", 32, Code(std::uint64_t{bits}),
              "in binary32: each number is over it, and over its block's scale");
}

void add_block(Draft& draft, const BlockQuantisation& q) {
  Entries x(draft, fmt::format("block: {}", to_string(q.to)));
  x.integer("BLOCK_NUMBERS", static_cast<std::int64_t>(q.numbers()), "that share a scale");
  q.to.power_of_two() ? add_turns(x, q) : add_division(x, q);
  x.pattern("SCALE_OF_SPECIALS", q.to.scale.width(), ones<Code>(q.to.scale.width()),
            q.tensor_scale_port ? "of a block that holds NaN or infinity, or has no tensor scale"
                                : "of a block that holds NaN or infinity");
  x.flag("FLUSHES_BLOCKS", q.to.flush, "a block below 2^-126 is one of zeros");
}

}  // namespace

ConstantTable block_constants(const BlockQuantisation& q, std::string_view name,
                              const Timing& timing) {
  check_identifier(name);
  check(q);
  Draft draft{{}, rm_width({&q.rounding, 1})};
  add_identity(
      draft, {name, description(q), to_string(q), model_hash(q), "FNV-1a of the quantiser's text"});
  add_overflow_codes(draft, std::array{q.from, q.element()});
  add_codes<Flush>(draft, "codes: subnormal numbers");
  add_codes<StochasticVariant>(draft, "codes: variants of stochastic rounding");
  add_rounding_codes(draft);
  Entries a(draft, fmt::format("operand A: {}", to_string(q.from)), "A_");
  add_operand(a, {.fmt = q.from});
  if (q.tensor_scale_port) {
    Entries b(draft, "tensor scale B: binary32, above zero", "B_");
    add_operand(b, {.fmt = binary32});
  }
  add_block(draft, q);
  Entries scale(draft, fmt::format("scale: {}", to_string(q.to.scale)), "SCALE_");
  add_format(scale, q.to.scale);
  const Round round{.fmt = q.element(), .rm = q.rounding};
  Entries y(draft, fmt::format("element: {}", to_string(round.fmt)), "Y_");
  add_round(y, round);
  add_ports(draft,
            {.rm = q.rounding,
             .flushes_in = q.from.daz,
             .flushes_out = Rounder<Code>(round).flush != Flush::keep},
            timing);
  return std::move(draft.table);
}

std::uint64_t model_hash(const BlockQuantisation& q) { return text_hash(to_string(q)); }

}  // namespace widthwise::hdl
