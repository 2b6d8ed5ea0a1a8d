#pragma once
#include <random>
#include <string_view>

#include "rtl_bench.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/wide.hpp"

// What the simulator says, as vectors for exported RTL.
namespace tests {

using Code = widthwise::Wide<65>;  // of every format within the limits
using Random = std::mt19937_64;

// "multiply e4m3fn e5m2 -> binary16 tininess=before sr8", operands' formats first.
widthwise::hdl::RtlOperation operation(std::string_view text);

// Codes of all operands, one tuple after the other.
using Tuples = std::vector<std::vector<Code>>;
Tuples every_tuple(const std::vector<widthwise::Format>& formats);
// Named codes squared, then operands that are named, near one another or random.
Tuples aimed_tuples(const std::vector<widthwise::Format>& formats, int count, Random& random);

// The operation's module, and what the simulator makes of the operands: in every deterministic mode
// if it has a port for the mode.
Dut dut(const std::string& name, const widthwise::hdl::RtlOperation& op, const Tuples& operands);

}  // namespace tests
