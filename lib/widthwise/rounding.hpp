#pragma once
#include <cstdint>

namespace widthwise {

// How a number between two neighbours picks one (IEEE 754-2019, 4.3, and the literature's others).
enum class RoundingMode : std::uint8_t {
  rne,  // nearest; ties to even
  rna,  // nearest; ties away from zero
  rnz,  // nearest; ties towards zero
  rnp,  // nearest; ties towards +infinity
  rnm,  // nearest; ties towards -infinity
  rno,  // nearest; ties to odd
  rtz,  // towards zero
  rdn,  // towards -infinity
  rup,  // towards +infinity
  raz,  // away from zero
  odd,  // an inexact result takes the odd neighbour
  sr,   // stochastic: random bits decide
};
inline constexpr int deterministic_modes = 11;
constexpr bool is_nearest(RoundingMode m) { return m <= RoundingMode::rno; }

// How a stochastic rounding compares the dropped part delta (in units of the last kept place) with
// its k random bits r (docs/semantics.md, R6).
enum class StochasticVariant : std::uint8_t {
  plain,  // floor(delta 2^k) + r >= 2^k
  half,   // floor(delta 2^(k+1)) + 2r + 1 >= 2^(k+1)
  even,   // rne(delta 2^k) + r >= 2^k
};

struct Rounding {
  RoundingMode mode = RoundingMode::rne;
  int random_bits = 0;  // k of sr, 1 to 64
  StochasticVariant variant = StochasticVariant::plain;

  constexpr Rounding() = default;
  constexpr Rounding(RoundingMode m) : mode(m) {}
  constexpr Rounding(int k, StochasticVariant v)
      : mode(RoundingMode::sr), random_bits(k), variant(v) {}
  constexpr bool operator==(const Rounding&) const = default;
  constexpr bool stochastic() const { return mode == RoundingMode::sr; }
};

// Which results are tiny: what raises underflow where it is inexact too, and what `ftz` flushes
// (docs/semantics.md, R3).
enum class Tininess : std::uint8_t {
  before_rounding,  // the exact one lies below the least normal number
  after_rounding,   // it still does when rounded as if the exponent had no lower end
  as_delivered,     // its code is one of a number below the least normal one
};

// Which quiet NaN an operation delivers.
enum class NanResult : std::uint8_t {
  canonical,  // the format's own, whatever the operands
  propagate,  // the first NaN operand's sign and payload, made quiet (IEEE 754-2019, 6.2.3)
  negative,   // the format's own with its sign bit set
  x86,  // as propagate; one that the operation makes is negative, and 0 * infinity beside a NaN
        // none
};
constexpr bool propagates(NanResult n) { return n == NanResult::propagate || n == NanResult::x86; }
constexpr bool makes_negative(NanResult n) {
  return n == NanResult::negative || n == NanResult::x86;
}

// What an integer holds in place of a value that it cannot (docs/semantics.md, E6).
enum class InvalidInteger : std::uint8_t {
  riscv,  // the end of the range on that side; NaN as +infinity
  x86,    // the one code: the least signed number, all ones of an unsigned one
  arm,    // the end of the range on that side; NaN as 0
};

// Everything an operation may depend on besides its operands. Passed in; never global.
struct Env {
  Rounding rounding{};
  Tininess tininess = Tininess::after_rounding;  // RISC-V, x86; Arm is before_rounding
  NanResult nan = NanResult::canonical;
};

// Exception flags (IEEE 754-2019, clause 7). Results carry them; nothing is sticky in here.
using Flags = int;
inline constexpr Flags inexact = 1, underflow = 2, overflow = 4, divide_by_zero = 8, invalid = 16;

}  // namespace widthwise
