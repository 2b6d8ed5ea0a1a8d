#include "stand_in.hpp"

#include "numbers.hpp"

namespace widthwise::hdl {
namespace {

// Of all exponents that doubles have, from which tables are made.
Format standing_in(const Format& f) {
  constexpr int exp_bits = 12;
  return f.is_table() ? ieee_format(exp_bits, f.digits() - 1) : f;
}

void into(const Format& to, const Format& from, std::vector<Code>& codes) {
  if (to == from) return;
  for (Code& code : codes) code = apply(Operation::convert, to, {{from, code}}).code;
}

}  // namespace

StandIn::StandIn(const Dataflow& flow) : real_(flow), flow_(flow) {
  flow_.a = standing_in(flow.a);
  flow_.b = standing_in(flow.b);
  if (flow.c) flow_.c = standing_in(*flow.c);
}

Stimulus StandIn::in_tables(Stimulus s) const {
  into(real_.a, flow_.a, s.a);
  into(real_.b, flow_.b, s.b);
  if (real_.c && !s.running) into(*real_.c, *flow_.c, s.c);
  return s;
}

}  // namespace widthwise::hdl
