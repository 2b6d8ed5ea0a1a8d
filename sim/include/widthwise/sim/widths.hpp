#pragma once
#include <cstdint>
#include <optional>

#include "widthwise/unit.hpp"

// The widths that a unit's description implies: what an exported header carries, what the planner
// asks before it takes a carrier. Formulas: the datapath page, 2.4.
//
//   accumulator :  | sign | carry | integer of a term . fraction |
//                           <--- magnitude of a term ------------>   + carry + 1 = needed
namespace widthwise {

struct ExponentRange {
  std::int64_t min, max;
  int width() const;  // bits of a signed integer that holds both ends
  constexpr bool operator==(const ExponentRange&) const = default;
};

// Of a format's numbers as an aligner sees them (lib/widthwise/unpack.hpp): those of fixed point
// stand at one exponent, posits and takums at that of their leading digit.
ExponentRange exponents_of(const Format& f);

// One of the three sums. Counts of bits saturate at 2^63 - 1.
struct SumWidths {
  std::int64_t terms;      // of the largest instance; C is one where it enters here
  std::int64_t fraction;   // bits below the point, which stands at 2^E for max_exponent, else at 1
  std::int64_t magnitude;  // of the largest aligned term, sign apart
  std::int64_t needed;     // two's complement with sign: no input can overflow it
  std::int64_t width;      // the unit's own register, or what is needed
  ExponentRange exponent;  // of the terms, as the aligner sees them, and of e_floor

  constexpr bool can_overflow() const { return needed > width; }
  constexpr std::int64_t carry() const { return needed - 1 - magnitude; }
  constexpr std::int64_t integer() const { return width - 1 - fraction; }  // carry bits included
};

struct Widths {
  // The exact product a * b, before product.round and scales.
  int significand_a, significand_b;  // hidden bit included; keep_frac bits where fewer are used
  int product_significand;           // of both together
  int product_fraction;              // of these below 2^(exponent a + exponent b)
  ExponentRange product_exponent;    // sums of the operands' field exponents
  std::int64_t product_lsb;          // exponent of the least bit of the least product

  std::int64_t products;  // a block; for a unit that takes all of K, the K that was assumed
  SumWidths group_sum;
  std::optional<SumWidths> block_sum, c_sum;  // where there are several groups; where C joins late
  std::optional<SumWidths> compensation_sum;  // what adds and subtracts running sums
  std::optional<SumWidths> promote_sum, last_sum;  // the exact adders before promote and c_round
  ExponentRange exponent;                          // of all aligners together

  // The sum that is rounded to the result.
  constexpr const SumWidths& accumulator() const {
    return c_sum ? *c_sum : block_sum ? *block_sum : group_sum;
  }
};

// A dot product longer than this is no concern of a unit that takes all of K at once.
inline constexpr std::int64_t longest_dot = std::int64_t{1} << 32;

// k counts only for a unit of lanes = 0: the longest dot product it will be given.
Widths derive_widths(const Unit& u, std::int64_t k = longest_dot);

// The first of a unit's formats that is no float, that is a table; null where there is none.
const Format* other_than_float(const Unit& u);
const Format* table_in(const Unit& u);

// Whether a sum's register has a pattern for NaR.
bool has_quire(const Unit& u);

}  // namespace widthwise
