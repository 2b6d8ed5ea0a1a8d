#include "shared_constants.hpp"

#include <algorithm>

namespace widthwise::hdl {

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

int rm_width(std::span<const Rounding> used) {
  const auto narrow = [](const Rounding& r) { return rounding_code(r).number < 8; };
  return std::ranges::all_of(used, narrow) ? 3 : 4;
}

void add_identity(Draft& draft, const Identity& id) {
  Entries x(draft, "unit");
  x.text("UNIT_NAME", std::string(id.name));
  x.text("DESCRIPTION", id.description);
  x.text("SPEC", id.spec);
  x.text("CANONICAL", id.spec);
  x.text("GENERATOR", "Widthwise " WIDTHWISE_VERSION);
  x.pattern("MODEL_HASH", 64, Code(id.hash), id.hash_of);
  x.integer("MODEL_ABI", model_abi, "version of these names and codes");
}

void add_overflow_codes(Draft& draft, std::span<const Format> formats) {
  add_codes<Overflow>(draft, "codes: a result that overflows its format");
  if (std::ranges::any_of(formats, &Format::is_fixed))
    add_codes<FixedOverflow>(draft, "codes: fixed point that overflows");
}

void add_rounding_codes(Draft& draft) {
  Entries x(draft, "codes: rounding");
  x.integer("RM_WIDTH", draft.rm_width);
  for (const RoundingCode& rm : rounding_codes)
    if (rm.number >> draft.rm_width == 0) x.pattern(rm.name, draft.rm_width, Code(rm.number));
}

void add_ports(Draft& draft, const Ports& ports, const Timing& timing) {
  Entries x(draft, "ports");
  x.rounding("RM_DEFAULT", ports.rm);
  x.flag("TININESS_AFTER_ROUNDING", ports.tininess == Tininess::after_rounding);
  x.flag("TININESS_AS_DELIVERED", ports.tininess == Tininess::as_delivered,
         "what is delivered below the least normal number; neither: before rounding");
  x.flag("FTZ_IN", ports.flushes_in, "subnormal operands are flushed");
  x.flag("FTZ_OUT", ports.flushes_out, "tiny results are flushed");
  x.integer("FLAGS_WIDTH", 5);
  x.integer("FLAG_NV", 4, "bit number of invalid");
  x.integer("FLAG_DZ", 3, "of division by zero");
  x.integer("FLAG_OF", 2, "of overflow");
  x.integer("FLAG_UF", 1, "of underflow");
  x.integer("FLAG_NX", 0, "of inexact");
  x.integer("LATENCY", timing.latency, "cycles; 0 is combinational");
  if (timing.interval > 0)
    x.integer("II", timing.interval, "cycles from a block of a running sum to its next");
}

}  // namespace widthwise::hdl
