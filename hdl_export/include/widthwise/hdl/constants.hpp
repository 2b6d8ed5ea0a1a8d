#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "widthwise/unit.hpp"

// Everything that hardware has to know about a unit, as one table of named constants. Each dialect
// is a printer of this table, so that nothing is written down twice.
namespace widthwise::hdl {

// Bumped whenever a constant's name, code or meaning changes.
inline constexpr std::int64_t model_abi = 1;

// A number of so many bits that no arithmetic is done with: a code, a hash, the number of a policy.
struct Pattern {
  int width;
  std::vector<std::uint64_t> limbs;  // least significant first, no bit set from `width` on
  bool operator==(const Pattern&) const = default;
};

struct Constant {
  std::string section;  // what it belongs to: "operand A: e4m3fn"; neighbours share it
  std::string name;
  std::variant<std::int64_t, bool, Pattern, std::string> value;  // integer, flag, pattern, text
  std::string comment;
};

// Clocks from operands to their result, and from a block of a running sum to its next; 0 where
// there is no clock or no such sum.
struct Timing {
  int latency = 0, interval = 0;
  bool operator==(const Timing&) const = default;
};

using ConstantTable = std::vector<Constant>;

// The constants of a unit whose hardware will be called `name`. Refuses a unit that check() refuses
// and a name that is no Verilog identifier.
//
// ACC is the sum that is rounded to OUT. A unit that takes all of K at once is given the widths of
// the longest dot product there is (sim/widths.hpp); NUM_TERMS tells how long.
ConstantTable unit_constants(const Unit& unit, std::string_view name, const Timing& timing = {});

// 64 bits that tell units apart, the same in headers, vectors, RTL and golden models: FNV-1a
// (Fowler, Noll, Vo; 64 bits) of to_toml(unit). A unit's name does not enter.
std::uint64_t model_hash(const Unit& unit);

// Refuses what is no simple identifier of Verilog and SystemVerilog, the reserved words included.
void check_identifier(std::string_view name);

}  // namespace widthwise::hdl
