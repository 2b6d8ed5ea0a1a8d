#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "widthwise/decide.hpp"
#include "widthwise/format.hpp"
#include "widthwise/random.hpp"

// What the ways of computing chains of multiply-adds in limbs have in common.
namespace widthwise::wide {

using Limb = std::uint64_t;

// A number: its limbs, lowest first, then the exponent of its leading one, then its sign, 0 or ~0.
// Those of several lanes lie side by side, word by word. Zero has no limb set, and an exponent
// below all others.
struct Shape {
  int limbs;
  int limb_bits;
  int leading;  // the bit where the leading one stands, counted from the lowest limb's lowest
  int lanes;

  constexpr std::size_t words() const { return static_cast<std::size_t>(limbs) + 2; }
};
inline constexpr std::int64_t zero_exponent = -max_exponent_magnitude;

// One of a step's roundings.
struct RoundTo {
  RoundingRule rule;
  Slot slot;
  int precision;
  // Exponents before rounding of what is surely a normal number after it: first … first + span.
  std::int64_t first;
  std::uint64_t span;

  constexpr bool inside(std::int64_t exponent) const {
    return static_cast<std::uint64_t>(wrapped_sum(exponent, -first)) <= span;
  }
};

// sum = round(sum + round(a * b)), or round(sum + a * b).
struct Chain {
  int precision;  // the most digits of any number
  std::optional<RoundTo> product;
  RoundTo sum;
};

struct Steps {
  const Limb* a;  // a number for every step, of one lane
  const Limb* b;  // likewise, of all lanes
  Limb* sum;      // a number of all lanes
  Limb* lost;     // of every lane: not 0 once a rounding was inexact
  std::size_t count;
  Where where;          // of lane 0, and which step of the chain is the first:
  std::uint64_t first;  // what the random bits depend on
};

// Bit i of the result: lane i met a result that is no normal number and not zero, so its sum means
// nothing.
using Kernel = unsigned (*)(const Chain& chain, const Steps& steps);

}  // namespace widthwise::wide
