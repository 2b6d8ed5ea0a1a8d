#pragma once
#include <random>
#include <span>
#include <string_view>

#include "rtl_bench.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/wide.hpp"

// What the simulator says, as vectors for exported RTL.
namespace tests {

using Code = widthwise::Wide<65>;  // of every format within the limits
using Random = std::mt19937_64;

struct TestedOperation {
  widthwise::SingleOperation s;
  widthwise::hdl::RtlOptions options{};
};
// "multiply e4m3fn e5m2 -> binary16 tininess=before nan=x86 sr8", operands' formats first. Where no
// rounding is named a port says which.
TestedOperation operation(std::string_view text);
std::vector<widthwise::hdl::RtlFile> rtl(const TestedOperation& op, std::string_view name);

// Codes of all operands, one tuple after the other.
using Tuples = std::vector<std::vector<Code>>;
Tuples every_tuple(std::span<const widthwise::Format> formats);
// Named codes squared, then operands that are named, near one another or random.
Tuples aimed_tuples(std::span<const widthwise::Format> formats, int count, Random& random);

// The operation's module, and what the simulator makes of the operands: in every deterministic mode
// if it has a port for the mode.
Dut dut(const std::string& name, const TestedOperation& op, const Tuples& operands);

// A unit's block on so many sets of operands: named, cancelling or random. Where C's port takes two
// formats, half of them are in the middle of a chain.
Dut dut(const std::string& name, const widthwise::Unit& unit, int count, Random& random,
        const widthwise::hdl::RtlOptions& options = {},
        const widthwise::Multiplier& multiplier = {});

// A unit that keeps a running sum: sums of so many blocks each, C given with the block that reads
// it, whatever else at the others.
Dut running_dut(const std::string& name, const widthwise::Unit& unit,
                const std::vector<std::size_t>& blocks, Random& random,
                widthwise::hdl::RtlOptions options = {});

// Codes as the simulator's arrays hold them.
std::vector<std::byte> packed(const std::vector<Code>& codes, const widthwise::Format& f);

std::string hex(std::uint64_t x, int width);
// Codes side by side, the first in the lowest bits.
std::string bus_digits(const std::vector<Code>& codes, int width);
const std::vector<Code>& named(const widthwise::Format& f);
Code random_code(const widthwise::Format& f, Random& random);
Code near(const Code& code, const widthwise::Format& f, Random& random);
// The codes of port rm, in the order of RoundingMode.
inline constexpr std::uint64_t rm_codes[] = {0, 4, 9, 10, 11, 13, 1, 2, 3, 8, 6};

}  // namespace tests
