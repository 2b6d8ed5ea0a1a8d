#pragma once
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/elementwise.hpp"

namespace widthwise {

// Every stage of one operation on the first code of each operand: unpack of a, b and c (slot says
// which), exact, normalise, denormalise, round, pack. Operations that never round show the operands
// and the code.
std::vector<TraceRow> trace_operation(Operation op, const Format& to, const Env& env,
                                      std::span<const CodeArray> operands,
                                      RandomSource random = {});

}  // namespace widthwise
