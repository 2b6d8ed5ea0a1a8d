#pragma once
#include "entries.hpp"

namespace widthwise::hdl {

// What becomes of subnormal operands, the format's own policy included.
Flush flush_of(const Operand& operand);

// Refuses formats whose codes constants and RTL do not know; and those that RTL does not round to.
void require_known(const Format& f);
void require_rounded(const Format& f);

// Widths, exponents and named codes of a format, under the prefix of `x`.
void add_format(Entries& x, const Format& f);
void add_operand(Entries& x, const Operand& operand);
// A place that rounds: its format with the NaN it delivers, and its policies.
void add_round(Entries& x, const Round& r, NanResult nan = NanResult::canonical);

}  // namespace widthwise::hdl
