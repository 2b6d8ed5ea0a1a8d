#pragma once
#include "entries.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::hdl {

// The exact product of two elements, and what is done to it before it is summed.
void add_product(Draft& draft, const Unit& u, const Widths& w);

// Every sum that the unit has: ACC is the one that is rounded to OUT, GROUP_SUM and BLOCK_SUM those
// before it; PROMOTE_SUM and LAST_SUM are the exact adders of two after it.
void add_sums(Draft& draft, const Unit& u, const Widths& w);

}  // namespace widthwise::hdl
