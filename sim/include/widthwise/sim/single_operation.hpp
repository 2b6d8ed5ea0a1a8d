#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "widthwise/sim/block_quantisation.hpp"
#include "widthwise/sim/operation.hpp"
#include "widthwise/sim/sum_requantisation.hpp"
#include "widthwise/unit.hpp"

// What hardware may be made of: a unit, one operation with all its formats, a block's quantiser,
// the requantisation of a sum.
namespace widthwise {

// Whether an operation moves codes about, so that no result could go to another format.
constexpr bool keeps_format(Operation op) {
  switch (op) {
    case Operation::next_up:
    case Operation::next_down:
    case Operation::copysign:
    case Operation::negate:
    case Operation::abs: return true;
    default: return false;
  }
}

struct SingleOperation {
  Operation op;
  std::array<Format, 3> operands;  // a, b, c; those that op does not read are as a
  Format to;
  Rounding rounding{};
  Tininess tininess = Tininess::after_rounding;
  NanResult nan = NanResult::canonical;

  constexpr std::size_t arity() const { return static_cast<std::size_t>(widthwise::arity(op)); }
  constexpr Env env() const { return {rounding, tininess, nan}; }
  constexpr std::span<const Format> read() const { return {operands.data(), arity()}; }
  constexpr bool operator==(const SingleOperation&) const = default;
};

// "add(e4m3fn)", "multiply(e4m3fn, b=e5m2, out=e5m10:rtz, tininess=before, nan=x86)": formats not
// given are the first one (docs/semantics.md, T7).
SingleOperation parse_single_operation(std::string_view text);
std::string to_string(const SingleOperation& s);

// Refuses formats and roundings past the limits, and a result in another format where op has none.
void check(const SingleOperation& s);

using Design = std::variant<Unit, SingleOperation, BlockQuantisation, SumRequantisation>;
// An operation where the text begins with one's name and a bracket, a quantiser behind `blocks(`,
// a requantisation behind `requantize(`, else a unit. fma(e5m10) is the operation; the unit of that
// text is fma(e5m10, sum=e5m10), and printed so.
Design parse_design(std::string_view text);
std::string to_string(const Design& d);

}  // namespace widthwise
